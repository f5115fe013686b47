//! Arithmetic: precedence climbing in place. The precedences are bash's; unary operators bind tighter than `**`.

use skillgate_core::Span;

use crate::arithmetic::{Arithmetic, ArithmeticExpr, ArithmeticKind, BinaryOperator, UnaryOperator, parse_number};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::WordPart;

use super::cursor::{Parser, Result};

/// Binary operators by token, longest first, with their precedence.
const BINARY: [(&str, BinaryOperator, u8); 19] = [
    ("**", BinaryOperator::Power, 11),
    ("<<", BinaryOperator::ShiftLeft, 8),
    (">>", BinaryOperator::ShiftRight, 8),
    ("<=", BinaryOperator::LessOrEqual, 7),
    (">=", BinaryOperator::GreaterOrEqual, 7),
    ("==", BinaryOperator::Equal, 6),
    ("!=", BinaryOperator::NotEqual, 6),
    ("&&", BinaryOperator::And, 2),
    ("||", BinaryOperator::Or, 1),
    ("+", BinaryOperator::Add, 9),
    ("-", BinaryOperator::Subtract, 9),
    ("*", BinaryOperator::Multiply, 10),
    ("/", BinaryOperator::Divide, 10),
    ("%", BinaryOperator::Remainder, 10),
    ("<", BinaryOperator::Less, 7),
    (">", BinaryOperator::Greater, 7),
    ("&", BinaryOperator::BitAnd, 5),
    ("^", BinaryOperator::BitXor, 4),
    ("|", BinaryOperator::BitOr, 3),
];

/// Assignment operators, longest first.
const ASSIGNMENTS: [(&str, Option<BinaryOperator>); 11] = [
    ("<<=", Some(BinaryOperator::ShiftLeft)),
    (">>=", Some(BinaryOperator::ShiftRight)),
    ("+=", Some(BinaryOperator::Add)),
    ("-=", Some(BinaryOperator::Subtract)),
    ("*=", Some(BinaryOperator::Multiply)),
    ("/=", Some(BinaryOperator::Divide)),
    ("%=", Some(BinaryOperator::Remainder)),
    ("&=", Some(BinaryOperator::BitAnd)),
    ("^=", Some(BinaryOperator::BitXor)),
    ("|=", Some(BinaryOperator::BitOr)),
    ("=", None),
];

impl Parser<'_> {
    /// At `$((`.
    pub(super) fn dollar_arithmetic(&mut self) -> Result<WordPart> {
        let start = self.pos;
        let expr = self.nested(start, |parser| parser.double_parenthesised(start, 3))?;
        Ok(WordPart::Arithmetic { expr, span: self.span_from(start) })
    }

    /// At an opening that ends with `((` and is `length` bytes long: the expression and the `))`.
    pub(super) fn double_parenthesised(&mut self, start: usize, length: usize) -> Result<ArithmeticExpr> {
        self.advance(length);
        let expr = self.without_holes(HolePlace::Arithmetic, Self::arithmetic_expression)?;
        if self.starts_with("))") {
            self.advance(2);
            return Ok(expr);
        }
        if self.at_end() {
            let kind = SyntaxErrorKind::Unterminated("arithmetic expression");
            return Err(self.error(start, start + length, kind));
        }
        self.refuse_hole(HolePlace::Arithmetic)?;
        let reason =
            "an operator or `))` was expected; a subshell after `(` or `$(` needs a blank between the parentheses";
        Err(self.error_here(SyntaxErrorKind::BadArithmetic(reason)))
    }

    /// An expression up to something that is not part of one. Nothing at all is zero.
    pub(crate) fn arithmetic_expression(&mut self) -> Result<ArithmeticExpr> {
        let mut expansions = Vec::new();
        self.skip_arithmetic_blanks()?;
        let start = self.pos;
        let root = if self.at_end() || self.peek() == Some(b')') {
            Arithmetic { kind: ArithmeticKind::Number(0), span: self.span_from(start) }
        } else {
            self.sequence(&mut expansions)?
        };
        Ok(ArithmeticExpr { span: root.span, root, expansions })
    }

    /// White space. A line continuation joins what stands around it in bash, so it must stand beside white space.
    fn skip_arithmetic_blanks(&mut self) -> Result<()> {
        let start = self.pos;
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.advance(1),
                Some(b'\\') if self.continuation_at(0) > 0 => {
                    let length = self.continuation_at(0);
                    let blank = |byte: Option<u8>| matches!(byte, Some(b' ' | b'\t' | b'\n' | b'\r'));
                    if self.pos == start && !blank(self.peek_at(length)) {
                        return Err(self.unsupported(length, "a line continuation inside arithmetic without a blank"));
                    }
                    self.advance(length);
                }
                _ => return Ok(()),
            }
        }
    }

    fn bad_arithmetic(&self, reason: &'static str) -> crate::error::SyntaxError {
        self.error_here(SyntaxErrorKind::BadArithmetic(reason))
    }

    /// Expressions joined by commas.
    fn sequence(&mut self, expansions: &mut Vec<WordPart>) -> Result<Arithmetic> {
        let start = self.pos;
        let first = self.nested(start, |parser| parser.assignment_expression(expansions))?;
        let mut rest = Vec::new();
        while self.peek() == Some(b',') {
            self.advance(1);
            let from = self.pos;
            let next = self.nested(from, |parser| parser.assignment_expression(expansions))?;
            rest.push((BinaryOperator::Comma, next));
        }
        Ok(chain(first, rest))
    }

    /// `x = …`, `c ? a : b`, or a chain of binary operators.
    fn assignment_expression(&mut self, expansions: &mut Vec<WordPart>) -> Result<Arithmetic> {
        self.skip_arithmetic_blanks()?;
        let start = self.pos;
        let left = self.binary(1, expansions)?;
        if self.peek() == Some(b'?') {
            self.advance(1);
            let then = self.nested(start, |parser| parser.assignment_expression(expansions))?;
            if self.peek() != Some(b':') {
                return Err(self.bad_arithmetic("`:` was expected after `?`"));
            }
            self.advance(1);
            let otherwise = self.nested(start, |parser| parser.assignment_expression(expansions))?;
            let span = left.span.to(otherwise.span);
            let parts = Box::new((left, then, otherwise));
            return Ok(Arithmetic { kind: ArithmeticKind::Choice(parts), span });
        }
        let assignment = ASSIGNMENTS.iter().find(|(token, _)| self.starts_with(token));
        let Some((token, operator)) = assignment.filter(|_| !self.starts_with("==")) else { return Ok(left) };
        let ArithmeticKind::Variable(name) = left.kind else {
            return Err(self.bad_arithmetic("only a variable can be assigned to"));
        };
        self.advance(token.len());
        let value = self.nested(start, |parser| parser.assignment_expression(expansions))?;
        let span = left.span.to(value.span);
        Ok(Arithmetic { kind: ArithmeticKind::Assign { name, operator: *operator, value: Box::new(value) }, span })
    }

    fn binary_operator(&self) -> Option<(&'static str, BinaryOperator, u8)> {
        let found = BINARY.iter().find(|(token, _, _)| self.starts_with(token))?;
        // `+=` and its like assign; `<=`, `>=`, `==`, `!=` are found as they are.
        let assigns = ASSIGNMENTS.iter().any(|(token, _)| token.len() > found.0.len() && self.starts_with(token));
        if assigns { None } else { Some(*found) }
    }

    /// A chain of operators of at least the given precedence.
    fn binary(&mut self, least: u8, expansions: &mut Vec<WordPart>) -> Result<Arithmetic> {
        let mut left = self.operand_of_arithmetic(expansions)?;
        loop {
            let Some((_, _, precedence)) = self.binary_operator().filter(|(_, _, found)| *found >= least) else {
                return Ok(left);
            };
            let mut rest = Vec::new();
            while let Some((token, operator, found)) = self.binary_operator() {
                if found != precedence {
                    break;
                }
                let from = self.pos;
                self.advance(token.len());
                // `**` groups from the right, all others from the left.
                let next = if operator == BinaryOperator::Power { precedence } else { precedence + 1 };
                let right = self.nested(from, |parser| parser.binary(next, expansions))?;
                rest.push((operator, right));
            }
            left = chain(left, rest);
            // What remains binds looser, or the loop would have taken it inside an operand.
        }
    }

    /// Unary operators and what they apply to.
    fn operand_of_arithmetic(&mut self, expansions: &mut Vec<WordPart>) -> Result<Arithmetic> {
        self.skip_arithmetic_blanks()?;
        self.refuse_hole(HolePlace::Arithmetic)?;
        let start = self.pos;
        let kind = match self.peek() {
            Some(sign @ (b'+' | b'-')) if self.peek_at(1) == Some(sign) => {
                self.advance(2);
                self.skip_arithmetic_blanks()?;
                let Some(name) = self.arithmetic_name() else {
                    return Err(self.bad_arithmetic("`++` and `--` need a variable; put a blank between two signs"));
                };
                ArithmeticKind::Step { name, up: sign == b'+', before: true }
            }
            Some(sign @ (b'+' | b'-' | b'!' | b'~')) => {
                self.advance(1);
                let operator = match sign {
                    b'+' => UnaryOperator::Plus,
                    b'-' => UnaryOperator::Minus,
                    b'!' => UnaryOperator::Not,
                    _ => UnaryOperator::Complement,
                };
                let inner = self.nested(start, |parser| parser.operand_of_arithmetic(expansions))?;
                let span = self.span(start, self.pos).to(inner.span);
                return Ok(Arithmetic { kind: ArithmeticKind::Unary(operator, Box::new(inner)), span });
            }
            Some(b'(') => {
                self.advance(1);
                self.skip_arithmetic_blanks()?;
                let inner = self.sequence(expansions)?;
                self.refuse_hole(HolePlace::Arithmetic)?;
                if self.peek() != Some(b')') {
                    return Err(if self.at_end() {
                        self.error(start, start + 1, SyntaxErrorKind::Unterminated("parenthesis"))
                    } else {
                        self.bad_arithmetic("an operator or `)` was expected")
                    });
                }
                self.advance(1);
                inner.kind
            }
            Some(b'$' | b'`') => self.arithmetic_expansion(expansions)?,
            Some(b'0'..=b'9') => self.arithmetic_number()?,
            Some(b'\'' | b'"') => return Err(self.unsupported(1, "a quote in arithmetic")),
            None if self.at_end() => return Err(self.bad_arithmetic("a number or a variable was expected")),
            _ => match self.arithmetic_name() {
                None => return Err(self.bad_arithmetic("a number or a variable was expected")),
                Some(name) if self.starts_with("++") || self.starts_with("--") => {
                    let up = self.peek() == Some(b'+');
                    self.advance(2);
                    ArithmeticKind::Step { name, up, before: false }
                }
                Some(name) => ArithmeticKind::Variable(name),
            },
        };
        let span = self.span_from(start);
        self.end_of_operand(span)?;
        Ok(Arithmetic { kind, span })
    }

    /// After an operand: nothing may be glued to it that a shell would join with it as text.
    fn end_of_operand(&mut self, operand: Span) -> Result<()> {
        match self.peek() {
            Some(b'[') => return Err(self.subscript()),
            Some(b'$' | b'`') => {
                return Err(self.bad_arithmetic("an expansion glued to an operand; put an operator between"));
            }
            _ => {}
        }
        self.skip_arithmetic_blanks()?;
        self.refuse_hole(HolePlace::Arithmetic)?;
        if self.starts_with("++") || self.starts_with("--") {
            let kind = SyntaxErrorKind::BadArithmetic("`++` and `--` need a variable beside them");
            return Err(self.error(operand.start.min(self.pos), self.pos + 2, kind));
        }
        Ok(())
    }

    fn subscript(&self) -> crate::error::SyntaxError {
        self.unsupported(1, "an array")
    }

    fn arithmetic_name(&mut self) -> Option<String> {
        let length = self.name_at(0);
        if length == 0 {
            return None;
        }
        let name = self.text[self.pos..self.pos + length].to_owned();
        self.advance(length);
        Some(name)
    }

    fn arithmetic_number(&mut self) -> Result<ArithmeticKind> {
        let start = self.pos;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_#@".contains(&byte)) {
            self.advance(1);
        }
        self.refuse_hole(HolePlace::Arithmetic)?;
        match parse_number(&self.text[start..self.pos]) {
            Some(number) => Ok(ArithmeticKind::Number(number)),
            None => {
                let kind = SyntaxErrorKind::BadArithmetic("not a number of 64 bits in its base");
                Err(self.error(start, self.pos, kind))
            }
        }
    }

    fn arithmetic_expansion(&mut self, expansions: &mut Vec<WordPart>) -> Result<ArithmeticKind> {
        if self.pure_arithmetic {
            return Err(self.unsupported(1, "an expansion in the value of a variable"));
        }
        let part = if self.peek() == Some(b'`') {
            self.backquotes(false)?
        } else if self.dollar_begins_expansion(true) {
            self.dollar(true)?
        } else {
            return Err(self.bad_arithmetic("a parameter was expected after `$`"));
        };
        let glued = self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_#@".contains(&byte));
        if glued {
            return Err(self.bad_arithmetic("text glued to an expansion; put an operator between"));
        }
        expansions.push(part);
        Ok(ArithmeticKind::Expansion(expansions.len() - 1))
    }
}

fn chain(first: Arithmetic, rest: Vec<(BinaryOperator, Arithmetic)>) -> Arithmetic {
    match rest.last() {
        None => first,
        Some((_, last)) => {
            let span = first.span.to(last.span);
            Arithmetic { kind: ArithmeticKind::Chain { first: Box::new(first), rest }, span }
        }
    }
}
