//! The grammar of expressions, from the weakest operator to the strongest.

use crate::lexer::{FUNCTIONS, Token};
use crate::parser::Parser;
use crate::regex::Matcher;
use crate::syntax::{Arithmetic, Builtin, Comparison, Expression, Place, Regex};
use crate::{Fault, unsupported, wrong};
use std::rc::Rc;

/// Assignments and what they compute first.
const ASSIGNMENTS: &[(&str, Option<Arithmetic>)] = &[
    ("=", None),
    ("+=", Some(Arithmetic::Add)),
    ("-=", Some(Arithmetic::Subtract)),
    ("*=", Some(Arithmetic::Multiply)),
    ("/=", Some(Arithmetic::Divide)),
    ("%=", Some(Arithmetic::Remainder)),
    ("^=", Some(Arithmetic::Power)),
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

fn both(left: Expression, right: Expression) -> Box<[Expression; 2]> {
    Box::new([left, right])
}

impl Parser {
    pub(crate) fn expression(&mut self) -> Result<Expression, Fault> {
        self.deeper(Self::assignment)
    }

    fn assignment(&mut self) -> Result<Expression, Fault> {
        let condition = self.or()?;
        if self.takes_sign("?") {
            self.skip_newlines();
            let then = self.expression()?;
            self.skip_newlines();
            self.expect(":")?;
            self.skip_newlines();
            let otherwise = self.expression()?;
            return Ok(Expression::Condition(Box::new([condition, then, otherwise])));
        }
        Ok(condition)
    }

    fn or(&mut self) -> Result<Expression, Fault> {
        let mut left = self.and()?;
        while self.takes_sign("||") {
            self.skip_newlines();
            left = Expression::Or(both(left, self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, Fault> {
        let mut left = self.membership()?;
        while self.takes_sign("&&") {
            self.skip_newlines();
            left = Expression::And(both(left, self.membership()?));
        }
        Ok(left)
    }

    fn membership(&mut self) -> Result<Expression, Fault> {
        let mut left = self.matching()?;
        while self.takes_word("in") {
            let contains = Expression::Contains(self.array_name()?, vec![left]);
            left = self.compared(contains)?;
        }
        Ok(left)
    }

    fn array_name(&mut self) -> Result<crate::syntax::Variable, Fault> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.take();
                self.array(&name)
            }
            _ => self.unexpected(),
        }
    }

    fn matching(&mut self) -> Result<Expression, Fault> {
        let mut left = self.comparison()?;
        loop {
            let wanted = if self.takes_sign("~") {
                true
            } else if self.takes_sign("!~") {
                false
            } else {
                return Ok(left);
            };
            let right = self.comparison()?;
            left = Expression::Match(wanted, Box::new(left), regex_of(right));
        }
    }

    fn comparison(&mut self) -> Result<Expression, Fault> {
        let left = self.concatenation()?;
        self.compared(left)
    }

    /// The comparisons that follow a value.
    fn compared(&mut self, mut left: Expression) -> Result<Expression, Fault> {
        while let Some((sign, comparison)) =
            COMPARISONS.iter().find(|(sign, _)| self.is_sign(sign) && !(self.in_print && *sign == ">"))
        {
            self.expect(sign)?;
            left = Expression::Compare(*comparison, both(left, self.concatenation()?));
        }
        if self.is_sign("|") && matches!(self.peek_after(1), Token::Word("getline")) {
            return unsupported("a pipe from a command");
        }
        Ok(left)
    }

    pub(crate) fn concatenation(&mut self) -> Result<Expression, Fault> {
        let mut left = self.sum()?;
        while self.begins_operand() {
            left = Expression::Concatenate(both(left, self.sum()?));
        }
        Ok(left)
    }

    /// Whether what follows can be joined without a sign.
    fn begins_operand(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::String(_) | Token::Regex(_) | Token::Name(_) | Token::Call(_) => true,
            Token::Word("getline") => false,
            Token::Sign(sign) => matches!(*sign, "$" | "!" | "(" | "++" | "--"),
            _ => false,
        }
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let mut left = self.product()?;
        loop {
            let operator = if self.takes_sign("+") {
                Arithmetic::Add
            } else if self.takes_sign("-") {
                Arithmetic::Subtract
            } else {
                return Ok(left);
            };
            left = Expression::Arithmetic(operator, both(left, self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let mut left = self.unary()?;
        loop {
            let operator = if self.takes_sign("*") {
                Arithmetic::Multiply
            } else if self.takes_sign("/") {
                Arithmetic::Divide
            } else if self.takes_sign("%") {
                Arithmetic::Remainder
            } else {
                return Ok(left);
            };
            left = Expression::Arithmetic(operator, both(left, self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        if self.takes_sign("!") {
            return Ok(Expression::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes_sign("-") {
            return Ok(Expression::Negative(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes_sign("+") {
            return Ok(Expression::Positive(Box::new(self.deeper(Self::unary)?)));
        }
        self.power()
    }

    fn power(&mut self) -> Result<Expression, Fault> {
        let base = self.postfix()?;
        if !self.takes_sign("^") {
            return Ok(base);
        }
        // To the right, and a sign before the exponent belongs to it.
        let exponent = self.deeper(Self::unary)?;
        Ok(Expression::Arithmetic(Arithmetic::Power, both(base, exponent)))
    }

    fn postfix(&mut self) -> Result<Expression, Fault> {
        let primary = self.primary()?;
        let Expression::Place(place) = primary else { return Ok(primary) };
        let changes =
            ["++", "--"].iter().chain(ASSIGNMENTS.iter().map(|(sign, _)| sign)).any(|sign| self.is_sign(sign));
        if let Place::Variable(variable) = *place
            && changes
        {
            self.is_scalar(variable);
        }
        if self.takes_sign("++") {
            return Ok(Expression::Step(place, 1.0, true));
        }
        if self.takes_sign("--") {
            return Ok(Expression::Step(place, -1.0, true));
        }
        let found = ASSIGNMENTS.iter().find(|(sign, _)| self.is_sign(sign));
        if let Some((sign, operator)) = found {
            self.expect(sign)?;
            self.skip_newlines();
            let value = self.expression()?;
            return Ok(Expression::Assign(place, *operator, Box::new(value)));
        }
        Ok(Expression::Place(place))
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        match self.peek().clone() {
            Token::Number(number) => {
                self.take();
                Ok(Expression::Number(number))
            }
            Token::String(text) => {
                self.take();
                Ok(Expression::Text(text))
            }
            Token::Regex(text) => {
                self.take();
                Ok(Expression::Matches(Rc::new(Matcher::compile(&text)?)))
            }
            Token::Sign("(") => self.grouped(),
            Token::Sign("$") => {
                self.take();
                let index = self.deeper(Self::field_index)?;
                Ok(Expression::Place(Box::new(Place::Field(index))))
            }
            Token::Sign(sign @ ("++" | "--")) => {
                self.take();
                match self.deeper(Self::primary)? {
                    Expression::Place(place) => {
                        Ok(Expression::Step(place, if sign == "++" { 1.0 } else { -1.0 }, false))
                    }
                    _ => self.unexpected(),
                }
            }
            Token::Word("getline") => {
                self.take();
                self.getline()
            }
            Token::Name(name) if name == "length" => {
                self.take();
                Ok(Expression::Builtin(Builtin::Length, Vec::new()))
            }
            Token::Name(name) if FUNCTIONS.contains(&name.as_str()) => {
                self.take();
                // A blank before the parenthesis is no matter with these.
                if self.is_sign("(") { self.builtin(&name) } else { self.unexpected() }
            }
            Token::Name(name) => {
                self.take();
                if self.takes_sign("[") {
                    let array = self.array(&name)?;
                    return Ok(Expression::Place(Box::new(Place::Element(array, self.subscripts()?))));
                }
                let variable = self.variable(&name)?;
                Ok(Expression::Place(Box::new(Place::Variable(variable))))
            }
            Token::Call(name) if FUNCTIONS.contains(&name.as_str()) => {
                self.take();
                self.builtin(&name)
            }
            Token::Call(name) => {
                self.take();
                self.call(&name)
            }
            _ => self.unexpected(),
        }
    }

    /// What stands behind `$`: one operand, with a sign or a step.
    fn field_index(&mut self) -> Result<Expression, Fault> {
        if self.takes_sign("-") {
            return Ok(Expression::Negative(Box::new(self.deeper(Self::field_index)?)));
        }
        if self.takes_sign("+") {
            return Ok(Expression::Positive(Box::new(self.deeper(Self::field_index)?)));
        }
        self.primary()
    }

    /// An expression in parentheses, or a list of them before `in`.
    fn grouped(&mut self) -> Result<Expression, Fault> {
        self.expect("(")?;
        let outer = std::mem::replace(&mut self.in_print, false);
        let list = self.list(")");
        self.in_print = outer;
        let mut list = list?;
        if list.len() > 1 {
            if !self.takes_word("in") {
                return self.unexpected();
            }
            return Ok(Expression::Contains(self.array_name()?, list));
        }
        match list.pop() {
            Some(only) => Ok(Expression::Group(Box::new(only))),
            None => self.unexpected(),
        }
    }

    /// The subscripts of an element, up to `]`.
    pub(crate) fn subscripts(&mut self) -> Result<Vec<Expression>, Fault> {
        let outer = std::mem::replace(&mut self.in_print, false);
        let list = self.list("]");
        self.in_print = outer;
        let list = list?;
        if list.is_empty() { self.unexpected() } else { Ok(list) }
    }

    fn getline(&mut self) -> Result<Expression, Fault> {
        let begins_place = matches!(self.peek(), Token::Name(name) if name != "length") || self.is_sign("$");
        let place = if begins_place {
            match self.primary()? {
                Expression::Place(place) => Some(place),
                _ => return self.unexpected(),
            }
        } else {
            None
        };
        let file = if self.takes_sign("<") { Some(Box::new(self.postfix()?)) } else { None };
        Ok(Expression::Getline(place, file))
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, Fault> {
        self.expect("(")?;
        let outer = std::mem::replace(&mut self.in_print, false);
        let list = self.list(")");
        self.in_print = outer;
        list
    }

    fn call(&mut self, name: &str) -> Result<Expression, Fault> {
        if self.parameters.iter().any(|parameter| parameter == name) {
            return wrong(format!("type error in {name}: it is no function"));
        }
        let function = self.function(name);
        let arguments = self.arguments()?;
        self.called(function, arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            if let Expression::Place(variable) = argument
                && let Place::Variable(variable) = **variable
            {
                self.pass(variable, function, place);
            }
        }
        Ok(Expression::Call(function, arguments))
    }

    fn builtin(&mut self, name: &str) -> Result<Expression, Fault> {
        if name == "system" {
            return unsupported("system()");
        }
        let arguments = self.arguments()?;
        let count = arguments.len();
        let counted = |wanted: std::ops::RangeInclusive<usize>| {
            if wanted.contains(&count) { Ok(()) } else { wrong(format!("wrong number of arguments in call to {name}")) }
        };
        let mut rest = arguments.into_iter();
        let mut next = || rest.next().unwrap_or(Expression::Number(0.0));
        let (builtin, wanted) = match name {
            "sub" | "gsub" => {
                counted(2..=3)?;
                let (regex, replacement) = (regex_of(next()), next());
                let place = match rest.next() {
                    None => None,
                    Some(Expression::Place(place)) => Some(place),
                    Some(_) => return self.unexpected(),
                };
                return Ok(Expression::Substitute(name == "gsub", regex, Box::new(replacement), place));
            }
            "match" => {
                counted(2..=2)?;
                return Ok(Expression::Find(Box::new(next()), regex_of(next())));
            }
            "split" => {
                counted(2..=3)?;
                let text = next();
                let array = match next() {
                    Expression::Place(place) => match *place {
                        Place::Variable(variable) => self.must_be_array(variable),
                        _ => return self.unexpected(),
                    },
                    _ => return self.unexpected(),
                };
                return Ok(Expression::Split(Box::new(text), array, rest.next().map(regex_of)));
            }
            "length" if count == 1 => match next() {
                Expression::Place(place) => {
                    if let Place::Variable(variable) = *place {
                        return Ok(Expression::LengthOf(variable));
                    }
                    return Ok(Expression::Builtin(Builtin::Length, vec![Expression::Place(place)]));
                }
                other => return Ok(Expression::Builtin(Builtin::Length, vec![other])),
            },
            "length" => (Builtin::Length, 0..=1),
            "atan2" => (Builtin::Atan2, 2..=2),
            "close" => (Builtin::Close, 1..=1),
            "cos" => (Builtin::Cos, 1..=1),
            "exp" => (Builtin::Exp, 1..=1),
            "fflush" => (Builtin::Flush, 0..=1),
            "index" => (Builtin::Index, 2..=2),
            "int" => (Builtin::Int, 1..=1),
            "log" => (Builtin::Log, 1..=1),
            "rand" => (Builtin::Rand, 0..=0),
            "sin" => (Builtin::Sin, 1..=1),
            "sprintf" => (Builtin::Sprintf, 1..=usize::MAX),
            "sqrt" => (Builtin::Sqrt, 1..=1),
            "srand" => (Builtin::Srand, 0..=1),
            "substr" => (Builtin::Substr, 2..=3),
            "mktime" => (Builtin::Mktime, 1..=1),
            "strftime" => (Builtin::Strftime, 1..=3),
            "systime" => (Builtin::Systime, 0..=0),
            "tolower" => (Builtin::ToLower, 1..=1),
            _ => (Builtin::ToUpper, 1..=1),
        };
        counted(wanted)?;
        Ok(Expression::Builtin(builtin, rest.collect()))
    }
}

/// What matches: a regular expression as it is, any other value as the text of one.
fn regex_of(expression: Expression) -> Regex {
    match expression {
        Expression::Matches(matcher) => Regex::Known(matcher),
        other => Regex::Value(Box::new(other)),
    }
}
