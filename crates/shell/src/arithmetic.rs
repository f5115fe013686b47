//! Arithmetic on signed 64-bit integers that wrap: the tree, and its evaluation.
//!
//! Expansions are done first and in order, then the expression is evaluated: expand every part of
//! [`ArithmeticExpr::expansions`], and give the texts to [`evaluate`]. Unlike in a shell, the text of an expansion is
//! never pasted into the expression: it must be a number or the name of a variable, or be the whole expression.

use skillgate_core::Span;
use thiserror::Error;

use crate::error::SyntaxError;
use crate::parse::parse_arithmetic_text;
use crate::word::WordPart;

/// How many operators, operands and bytes of variables one evaluation may look at.
pub const MAX_STEPS: usize = 100_000;

/// How deep an evaluation may nest, through operators and through variables whose values are expressions.
pub const MAX_EVALUATION_DEPTH: usize = 256;

/// How deep the expression in the value of a variable may nest.
const VALUE_DEPTH: usize = 32;

/// An arithmetic expression with what must be expanded before it is evaluated.
#[derive(Clone, PartialEq, Debug)]
pub struct ArithmeticExpr {
    /// The tree.
    pub root: Arithmetic,
    /// `$x`, `${…}`, `$(…)`, `$((…))` and backquotes in the order in which they stand.
    pub expansions: Vec<WordPart>,
    /// Without the parentheses around it.
    pub span: Span,
}

/// A node of an arithmetic expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Arithmetic {
    /// What it is.
    pub kind: ArithmeticKind,
    /// Where it stands.
    pub span: Span,
}

/// The nodes of arithmetic.
#[derive(Clone, PartialEq, Debug)]
pub enum ArithmeticKind {
    /// A constant.
    Number(i64),
    /// A variable without a dollar sign.
    Variable(String),
    /// An index into [`ArithmeticExpr::expansions`].
    Expansion(usize),
    /// `-x` and its like.
    Unary(UnaryOperator, Box<Arithmetic>),
    /// `++x`, `--x`, `x++`, `x--`.
    Step {
        /// The variable.
        name: String,
        /// True for `++`.
        up: bool,
        /// Whether the operator stands before the variable: the result is the new value.
        before: bool,
    },
    /// Operators of one precedence, applied from left to right: `a - b + c`. A chain of `**` has one operator, because
    /// it groups from the right.
    Chain {
        /// The leftmost operand.
        first: Box<Arithmetic>,
        /// The others.
        rest: Vec<(BinaryOperator, Arithmetic)>,
    },
    /// `c ? a : b`.
    Choice(Box<(Arithmetic, Arithmetic, Arithmetic)>),
    /// `x = …`, `x += …`.
    Assign {
        /// The variable.
        name: String,
        /// The operator before the `=`.
        operator: Option<BinaryOperator>,
        /// The right side.
        value: Box<Arithmetic>,
    },
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum UnaryOperator {
    Plus,
    Minus,
    Not,
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOperator {
    Comma,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// The variables that an evaluation reads and assigns.
pub trait Variables {
    /// The value of a variable; `None` when it is unset. Both unset and empty count as zero.
    fn get(&mut self, name: &str) -> Option<String>;

    /// Assigns a variable.
    ///
    /// # Errors
    ///
    /// Whatever forbids it, as [`ArithmeticError::NotAssignable`].
    fn set(&mut self, name: &str, value: i64) -> Result<(), ArithmeticError>;
}

/// Why an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ArithmeticError {
    /// Division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A negative exponent.
    #[error("the exponent {0} is below zero")]
    NegativeExponent(i64),
    /// The text of an expansion is neither a number nor a name.
    #[error("{0:?} is neither a number nor the name of a variable")]
    NotANumber(String),
    /// The value of a variable is not an expression.
    #[error("the value of `{name}` is not arithmetic: {error}")]
    BadValue {
        /// The variable.
        name: String,
        /// What is wrong with its value.
        error: SyntaxError,
    },
    /// A variable cannot be assigned.
    #[error("`{0}` cannot be assigned")]
    NotAssignable(String),
    /// Operators or variables nest too deep, or a variable refers to itself.
    #[error("nested deeper than {MAX_EVALUATION_DEPTH} levels")]
    TooDeep,
    /// More steps than [`MAX_STEPS`].
    #[error("more than {MAX_STEPS} steps")]
    TooManySteps,
    /// Fewer texts were given than the expression has expansions.
    #[error("expansion {0} was not done")]
    MissingExpansion(usize),
}

/// Parses an expression that holds no expansions, such as the value of a variable or an operand of `[[ … -eq … ]]`.
///
/// # Errors
///
/// As [`parse`](crate::parse()); the spans are those of `text`.
pub fn parse(text: &str, max_depth: usize) -> Result<ArithmeticExpr, SyntaxError> {
    parse_arithmetic_text(text, max_depth)
}

/// Evaluates an expression. `expansions` are the texts of [`ArithmeticExpr::expansions`].
///
/// Values wrap at 64 bits. The value of a variable may be an expression, as in bash, but it may not hold expansions.
///
/// # Errors
///
/// An [`ArithmeticError`]; assignments made before it stay.
pub fn evaluate(
    expr: &ArithmeticExpr,
    expansions: &[String],
    variables: &mut dyn Variables,
) -> Result<i64, ArithmeticError> {
    let mut evaluation = Evaluation { variables, steps: MAX_STEPS, depth: 0 };
    if let ArithmeticKind::Expansion(index) = expr.root.kind
        && let Some(text) = expansions.get(index)
        && let Ok(whole) = parse(text.trim_matches([' ', '\t', '\n']), VALUE_DEPTH)
    {
        // An expansion that is the whole expression, as in `$(( $(… | paste -sd+) ))`, cannot be read in two ways: nothing stands
        // beside it that binds more tightly.
        evaluation.charge(1 + text.len())?;
        return evaluation.value(&whole.root, &[]);
    }
    evaluation.value(&expr.root, expansions)
}

/// A constant: decimal, `0x…`, octal `0…`, or `base#digits` with a base from 2 to 64. `None` if it is none, or does not
/// fit into 64 bits.
#[must_use]
pub fn parse_number(text: &str) -> Option<i64> {
    let (base, digits) = match text.split_once('#') {
        Some((base, digits)) if base.bytes().all(|byte| byte.is_ascii_digit()) => {
            (base.parse().ok().filter(|base| (2..=64).contains(base))?, digits)
        }
        Some(_) => return None,
        None => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => (16, digits),
            None if text.len() > 1 && text.starts_with('0') => (8, &text[1..]),
            None => (10, text),
        },
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for byte in digits.bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            _ => return None,
        };
        let digit = i64::from(digit);
        if digit >= base {
            return None;
        }
        value = value.checked_mul(base)?.checked_add(digit)?;
    }
    Some(value)
}

struct Evaluation<'v> {
    variables: &'v mut dyn Variables,
    steps: usize,
    depth: usize,
}

impl Evaluation<'_> {
    fn charge(&mut self, steps: usize) -> Result<(), ArithmeticError> {
        self.steps = self.steps.checked_sub(steps).ok_or(ArithmeticError::TooManySteps)?;
        Ok(())
    }

    fn value(&mut self, node: &Arithmetic, expansions: &[String]) -> Result<i64, ArithmeticError> {
        self.charge(1)?;
        if self.depth >= MAX_EVALUATION_DEPTH {
            return Err(ArithmeticError::TooDeep);
        }
        self.depth += 1;
        let value = self.value_of_kind(&node.kind, expansions);
        self.depth -= 1;
        value
    }

    fn value_of_kind(&mut self, kind: &ArithmeticKind, expansions: &[String]) -> Result<i64, ArithmeticError> {
        match kind {
            ArithmeticKind::Number(number) => Ok(*number),
            ArithmeticKind::Variable(name) => self.variable(name),
            ArithmeticKind::Expansion(index) => {
                let text = expansions.get(*index).ok_or(ArithmeticError::MissingExpansion(*index))?;
                self.expansion(text)
            }
            ArithmeticKind::Unary(operator, inner) => {
                let value = self.value(inner, expansions)?;
                Ok(match operator {
                    UnaryOperator::Plus => value,
                    UnaryOperator::Minus => value.wrapping_neg(),
                    UnaryOperator::Not => i64::from(value == 0),
                    UnaryOperator::Complement => !value,
                })
            }
            ArithmeticKind::Step { name, up, before } => {
                let old = self.variable(name)?;
                let new = if *up { old.wrapping_add(1) } else { old.wrapping_sub(1) };
                self.variables.set(name, new)?;
                Ok(if *before { new } else { old })
            }
            ArithmeticKind::Chain { first, rest } => {
                let mut value = self.value(first, expansions)?;
                for (operator, operand) in rest {
                    value = match (operator, value) {
                        (BinaryOperator::And, 0) => 0,
                        (BinaryOperator::Or, 1..) | (BinaryOperator::Or, ..=-1) => 1,
                        _ => {
                            let right = self.value(operand, expansions)?;
                            apply(*operator, value, right)?
                        }
                    };
                }
                Ok(value)
            }
            ArithmeticKind::Choice(parts) => {
                let (condition, then, otherwise) = parts.as_ref();
                let chosen = if self.value(condition, expansions)? != 0 { then } else { otherwise };
                self.value(chosen, expansions)
            }
            ArithmeticKind::Assign { name, operator, value } => {
                // bash reads the old value before it evaluates the right side.
                let old = match operator {
                    Some(operator) => Some((*operator, self.variable(name)?)),
                    None => None,
                };
                let right = self.value(value, expansions)?;
                let new = match old {
                    Some((operator, old)) => apply(operator, old, right)?,
                    None => right,
                };
                self.variables.set(name, new)?;
                Ok(new)
            }
        }
    }

    fn expansion(&mut self, text: &str) -> Result<i64, ArithmeticError> {
        let trimmed = text.trim_matches([' ', '\t', '\n']);
        let (negative, digits) = match trimmed.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        if let Some(number) = parse_number(digits) {
            return Ok(if negative { number.wrapping_neg() } else { number });
        }
        let mut bytes = trimmed.bytes();
        let name = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name { self.variable(trimmed) } else { Err(ArithmeticError::NotANumber(text.chars().take(40).collect())) }
    }

    fn variable(&mut self, name: &str) -> Result<i64, ArithmeticError> {
        let Some(text) = self.variables.get(name) else { return Ok(0) };
        self.charge(1 + text.len())?;
        let trimmed = text.trim_matches([' ', '\t', '\n']);
        if trimmed.is_empty() {
            return Ok(0);
        }
        if let Some(number) = parse_number(trimmed) {
            return Ok(number);
        }
        let expr =
            parse(trimmed, VALUE_DEPTH).map_err(|error| ArithmeticError::BadValue { name: name.to_owned(), error })?;
        self.value(&expr.root, &[])
    }
}

fn apply(operator: BinaryOperator, left: i64, right: i64) -> Result<i64, ArithmeticError> {
    Ok(match operator {
        BinaryOperator::Comma => right,
        BinaryOperator::Or => i64::from(left != 0 || right != 0),
        BinaryOperator::And => i64::from(left != 0 && right != 0),
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::Equal => i64::from(left == right),
        BinaryOperator::NotEqual => i64::from(left != right),
        BinaryOperator::Less => i64::from(left < right),
        BinaryOperator::LessOrEqual => i64::from(left <= right),
        BinaryOperator::Greater => i64::from(left > right),
        BinaryOperator::GreaterOrEqual => i64::from(left >= right),
        BinaryOperator::ShiftLeft => left.wrapping_shl(shift(right)),
        BinaryOperator::ShiftRight => left.wrapping_shr(shift(right)),
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => {
            return Err(ArithmeticError::DivisionByZero);
        }
        BinaryOperator::Divide => left.wrapping_div(right),
        BinaryOperator::Remainder => left.wrapping_rem(right),
        BinaryOperator::Power => power(left, right)?,
    })
}

/// The distance of a shift: the low six bits, as the processor takes them.
fn shift(distance: i64) -> u32 {
    u32::try_from(distance & 63).expect("six bits fit")
}

fn power(base: i64, exponent: i64) -> Result<i64, ArithmeticError> {
    let Ok(mut left) = u64::try_from(exponent) else { return Err(ArithmeticError::NegativeExponent(exponent)) };
    let mut value = 1i64;
    let mut square = base;
    while left > 0 {
        if left & 1 == 1 {
            value = value.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    Ok(value)
}
