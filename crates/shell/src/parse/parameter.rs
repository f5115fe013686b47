//! What begins with a dollar sign.

use skillgate_core::Span;

use crate::arithmetic::{Arithmetic, ArithmeticExpr, ArithmeticKind};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::{
    Parameter, ParameterName, ParameterOperation, RemoveSide, ReplaceScope, Special, UnsetRule, Word, WordPart,
};

use super::cursor::{Parser, Result};

impl Parser<'_> {
    /// Whether the dollar at the position begins an expansion; otherwise it stands for itself.
    pub(super) fn dollar_begins_expansion(&self, quoted: bool) -> bool {
        match self.peek_at(1) {
            None => false,
            Some(b'\'' | b'"') => !quoted,
            // `\`: a line continuation is refused by `dollar`.
            Some(b'\\') => self.continuation_at(1) > 0,
            Some(byte) => {
                matches!(byte, b'(' | b'{' | b'[' | b'_')
                    || byte.is_ascii_alphanumeric()
                    || Special::from_byte(byte).is_some()
            }
        }
    }

    /// At a dollar that begins an expansion.
    pub(super) fn dollar(&mut self, quoted: bool) -> Result<WordPart> {
        let start = self.pos;
        let name = match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') => return self.dollar_arithmetic(),
            Some(b'(') => return self.dollar_substitution(),
            Some(b'{') => return self.braced_parameter(quoted),
            Some(b'[') => return Err(self.unsupported(2, "`$[…]` arithmetic")),
            Some(b'\'') => return self.ansi_c_quoted(),
            Some(b'"') => return Err(self.unsupported(2, "a translated string `$\"…\"`")),
            Some(b'\\') => return Err(self.unsupported(2, "a line continuation after `$`")),
            Some(digit @ b'0'..=b'9') => {
                self.advance(2);
                ParameterName::Positional(u32::from(digit - b'0'))
            }
            Some(byte) => match Special::from_byte(byte) {
                Some(special) => {
                    self.advance(2);
                    ParameterName::Special(special)
                }
                None => {
                    self.advance(1);
                    self.variable()?
                }
            },
            None => return Err(self.unexpected("a parameter")),
        };
        let span = self.span_from(start);
        Ok(WordPart::Parameter(Box::new(Parameter { name, operation: ParameterOperation::Value, span })))
    }

    fn variable(&mut self) -> Result<ParameterName> {
        let length = self.name_at(0);
        if length == 0 {
            self.refuse_hole(HolePlace::Name)?;
            return Err(self.bad("a name, a number or one of `@*#?-$!` must follow"));
        }
        let from = self.pos;
        self.advance(length);
        Ok(ParameterName::Variable(self.text[from..self.pos].to_owned()))
    }

    fn bad(&self, reason: &'static str) -> crate::error::SyntaxError {
        self.error_here(SyntaxErrorKind::BadSubstitution(reason))
    }

    /// At `${`.
    fn braced_parameter(&mut self, quoted: bool) -> Result<WordPart> {
        let start = self.pos;
        self.advance(2);
        self.enter(start)?;
        let (name, length) = self.parameter_name()?;
        let operation = if length { ParameterOperation::Length } else { self.parameter_operation(quoted)? };
        if self.at_end() {
            return Err(self.error(start, start + 2, SyntaxErrorKind::Unterminated("parameter expansion")));
        }
        self.refuse_hole(HolePlace::Name)?;
        if self.peek() != Some(b'}') {
            return Err(self.bad("`}` was expected"));
        }
        self.leave();
        self.advance(1);
        Ok(WordPart::Parameter(Box::new(Parameter { name, operation, span: self.span_from(start) })))
    }

    /// After `${`: the name, and whether its length is asked for.
    fn parameter_name(&mut self) -> Result<(ParameterName, bool)> {
        self.refuse_hole(HolePlace::Name)?;
        let mut length = false;
        if self.peek() == Some(b'#') {
            // `${#}` and `${#:-x}` are about `$#`; `${#x}`, `${#@}`, `${##}` ask for a length.
            length = match self.peek_at(1) {
                None | Some(b'}') => false,
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => true,
                Some(byte) => Special::from_byte(byte).is_some() && self.peek_at(2) == Some(b'}'),
            };
        }
        if length {
            self.advance(1);
        }
        let name = match self.peek() {
            Some(b'0'..=b'9') => {
                let digits = self.digits_at(0);
                let number = self.text[self.pos..self.pos + digits].parse();
                let Ok(number) = number else { return Err(self.bad("the number of the parameter is too large")) };
                self.advance(digits);
                ParameterName::Positional(number)
            }
            Some(b'!')
                if self.peek_at(1).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_@*#?$!".contains(&byte)) =>
            {
                return Err(self.unsupported(1, "indirect expansion"));
            }
            Some(byte) => match Special::from_byte(byte) {
                Some(special) => {
                    self.advance(1);
                    ParameterName::Special(special)
                }
                None => self.variable()?,
            },
            None => self.variable()?,
        };
        Ok((name, length))
    }

    fn parameter_operation(&mut self, quoted: bool) -> Result<ParameterOperation> {
        self.refuse_hole(HolePlace::Name)?;
        let doubled = self.peek_at(1).is_some() && self.peek_at(1) == self.peek();
        let twice = if doubled { 2 } else { 1 };
        Ok(match self.peek() {
            None | Some(b'}') => ParameterOperation::Value,
            Some(b':') => match self.peek_at(1).and_then(unset_rule) {
                Some(rule) => {
                    self.advance(2);
                    ParameterOperation::Unset { rule, or_empty: true, word: self.operand(quoted, false, !quoted)? }
                }
                None => self.substring()?,
            },
            Some(side @ (b'#' | b'%')) => {
                self.advance(twice);
                let side = if side == b'#' { RemoveSide::Prefix } else { RemoveSide::Suffix };
                ParameterOperation::Remove { side, longest: doubled, pattern: self.operand(false, false, false)? }
            }
            Some(b'/') => self.replace()?,
            Some(case @ (b'^' | b',')) => {
                self.advance(twice);
                if !matches!(self.peek(), None | Some(b'}')) {
                    return Err(self.unsupported(1, "a pattern of a case change"));
                }
                ParameterOperation::Case { upper: case == b'^', all: doubled }
            }
            Some(b'[') => {
                // The subscript would be arithmetic.
                let inside = self.digits_at(1).max(self.name_at(1)) + 1;
                self.advance(inside);
                self.refuse_hole(HolePlace::Arithmetic)?;
                return Err(self.unsupported(1, "an array"));
            }
            Some(b'@') => return Err(self.unsupported(1, "a parameter transformation")),
            Some(byte) => match unset_rule(byte) {
                Some(rule) => {
                    self.advance(1);
                    ParameterOperation::Unset { rule, or_empty: false, word: self.operand(quoted, false, !quoted)? }
                }
                None => return Err(self.bad("an operator or `}` was expected")),
            },
        })
    }

    /// At the `/` of `${x/p/r}`.
    fn replace(&mut self) -> Result<ParameterOperation> {
        self.advance(1);
        let scope = match self.peek() {
            Some(b'/') => ReplaceScope::All,
            Some(b'#') => ReplaceScope::Prefix,
            Some(b'%') => ReplaceScope::Suffix,
            _ => ReplaceScope::First,
        };
        if scope != ReplaceScope::First {
            self.advance(1);
        }
        let pattern = self.operand(false, true, false)?;
        if self.peek() != Some(b'/') {
            let replacement = Word { parts: Vec::new(), span: self.span_from(self.pos) };
            return Ok(ParameterOperation::Replace { scope, pattern, replacement });
        }
        self.advance(1);
        let replacement = self.operand(false, false, false)?;
        for part in &replacement.parts {
            // bash 5.2 puts the matched text there, older ones do not.
            if let WordPart::Literal { text, span } = part
                && text.contains('&')
            {
                let kind = SyntaxErrorKind::Unsupported("an unquoted `&` in a replacement");
                return Err(crate::error::SyntaxError { kind, span: *span });
            }
        }
        Ok(ParameterOperation::Replace { scope, pattern, replacement })
    }

    /// At the `:` of `${x:offset:length}`.
    fn substring(&mut self) -> Result<ParameterOperation> {
        self.advance(1);
        self.without_holes(HolePlace::Arithmetic, |parser| {
            let offset = parser.substring_part()?;
            if parser.peek() != Some(b':') {
                return Ok(ParameterOperation::Substring { offset, length: None });
            }
            parser.advance(1);
            let length = Some(parser.substring_part()?);
            Ok(ParameterOperation::Substring { offset, length })
        })
    }

    fn substring_part(&mut self) -> Result<ArithmeticExpr> {
        if matches!(self.peek(), Some(b':' | b'}')) {
            // Left out: zero, as in bash.
            let span: Span = self.span_from(self.pos);
            let root = Arithmetic { kind: ArithmeticKind::Number(0), span };
            return Ok(ArithmeticExpr { root, expansions: Vec::new(), span });
        }
        self.arithmetic_expression()
    }
}

fn unset_rule(byte: u8) -> Option<UnsetRule> {
    Some(match byte {
        b'-' => UnsetRule::Default,
        b'=' => UnsetRule::Assign,
        b'?' => UnsetRule::Fail,
        b'+' => UnsetRule::Alternative,
        _ => return None,
    })
}
