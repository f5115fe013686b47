//! `[[ … ]]`.

use crate::ast::{BinaryTest, Conditional, ConditionalKind, UnaryTest};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::Word;

use super::cursor::{Parser, Result};
use super::word::Role;

impl Parser<'_> {
    /// At `[[`.
    pub(super) fn conditional(&mut self) -> Result<Conditional> {
        let start = self.pos;
        self.advance(2);
        let test = self.any_of(start)?;
        self.skip_lines_in_conditional()?;
        if self.at_end() {
            return Err(self.error(start, start + 2, SyntaxErrorKind::Unterminated("`[[`")));
        }
        if !self.is_whole_word("]]") {
            return Err(self.unexpected("`&&`, `||` or `]]`"));
        }
        self.advance(2);
        Ok(Conditional { kind: test.kind, span: self.span_from(start) })
    }

    /// Blanks and newlines; there are no comments here.
    fn skip_lines_in_conditional(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.newline_at(0) == 0 {
                return Ok(());
            }
            self.skip_lines()?;
        }
    }

    fn any_of(&mut self, open: usize) -> Result<Conditional> {
        self.joined(open, "||", Self::all_of, ConditionalKind::Any)
    }

    fn all_of(&mut self, open: usize) -> Result<Conditional> {
        self.joined(open, "&&", Self::test, ConditionalKind::All)
    }

    fn joined(
        &mut self,
        open: usize,
        token: &str,
        operand: fn(&mut Self, usize) -> Result<Conditional>,
        kind: fn(Vec<Conditional>) -> ConditionalKind,
    ) -> Result<Conditional> {
        self.skip_lines_in_conditional()?;
        let start = self.pos;
        let first = operand(self, open)?;
        let mut end = self.pos;
        let mut rest = Vec::new();
        loop {
            self.skip_lines_in_conditional()?;
            if !self.starts_with(token) {
                break;
            }
            self.advance(token.len());
            rest.push(operand(self, open)?);
            end = self.pos;
        }
        if rest.is_empty() {
            return Ok(first);
        }
        rest.insert(0, first);
        Ok(Conditional { kind: kind(rest), span: self.span(start, end) })
    }

    fn test(&mut self, open: usize) -> Result<Conditional> {
        self.skip_lines_in_conditional()?;
        let start = self.pos;
        if self.at_end() {
            return Err(self.error(open, open + 2, SyntaxErrorKind::Unterminated("`[[`")));
        }
        if self.is_whole_word("!") {
            self.advance(1);
            let inner = self.nested(start, |parser| parser.test(open))?;
            return Ok(Conditional { kind: ConditionalKind::Not(Box::new(inner)), span: self.span_from(start) });
        }
        if self.peek() == Some(b'(') {
            self.advance(1);
            let inner = self.nested(start, |parser| parser.any_of(open))?;
            self.skip_lines_in_conditional()?;
            if self.peek() != Some(b')') {
                return Err(if self.at_end() {
                    self.error(start, start + 1, SyntaxErrorKind::Unterminated("parenthesis"))
                } else {
                    self.unexpected("`)`")
                });
            }
            self.advance(1);
            return Ok(Conditional { kind: inner.kind, span: self.span_from(start) });
        }
        if self.is_whole_word("]]") {
            return Err(self.unexpected("a test"));
        }
        let first = self.expect_word(Role::Single, "a test")?;
        self.skip_blanks();
        let kind = match first.plain_text() {
            Some(operator) if let Some(test) = UnaryTest::of_operator(operator) => {
                let operand = self.operand_word()?;
                ConditionalKind::Unary { test, operand }
            }
            Some("-g" | "-k" | "-o" | "-u" | "-G" | "-N" | "-O" | "-R") => {
                return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported("this test of `[[ ]]`")));
            }
            _ => self.binary_test(first)?,
        };
        Ok(Conditional { kind, span: self.span_from(start) })
    }

    fn operand_word(&mut self) -> Result<Word> {
        self.skip_blanks();
        if self.is_whole_word("]]") {
            return Err(self.unexpected("an operand"));
        }
        self.expect_word(Role::Single, "an operand")
    }

    /// After a word: an operator and the right side, or nothing.
    fn binary_test(&mut self, left: Word) -> Result<ConditionalKind> {
        self.refuse_hole(HolePlace::Operator)?;
        let test = match self.peek() {
            Some(b'<') => Some((BinaryTest::Before, 1)),
            Some(b'>') => Some((BinaryTest::After, 1)),
            _ => BinaryTest::OPERATORS
                .iter()
                .find(|(text, _)| !matches!(*text, "<" | ">") && self.is_whole_word(text))
                .map(|(text, test)| (*test, text.len())),
        };
        let Some((test, length)) = test else {
            let ends = match self.peek() {
                None => true,
                Some(b'\n' | b'\r' | b')' | b'&' | b'|') => true,
                Some(_) => self.is_whole_word("]]"),
            };
            if ends {
                return Ok(ConditionalKind::Unary { test: UnaryTest::NotEmpty, operand: left });
            }
            return Err(self.unexpected("an operator of `[[ ]]`"));
        };
        let at = self.pos;
        self.advance(length);
        self.skip_blanks();
        let right = match test {
            BinaryTest::Regex => self.expect_word(Role::Regex, "a regular expression")?,
            test if test.on_numbers().is_some() => self.without_holes(HolePlace::Arithmetic, Self::operand_word)?,
            _ => self.operand_word()?,
        };
        if test.on_numbers().is_some()
            && let Some((index, span)) = crate::walk::first_hole(&left)
        {
            let kind = SyntaxErrorKind::UnsafeHole { index, place: HolePlace::Arithmetic };
            return Err(crate::error::SyntaxError { kind, span });
        }
        if right.plain_text() == Some("]]") {
            return Err(self.error(at, self.pos, SyntaxErrorKind::Unterminated("test")));
        }
        Ok(ConditionalKind::Binary { test, left, right })
    }
}
