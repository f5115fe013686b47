//! Redirections.

use crate::ast::{Redirect, RedirectOperator, RedirectTarget};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::Word;

use super::cursor::{Parser, Result};
use super::word::Role;

impl Parser<'_> {
    /// A redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>> {
        let start = self.pos;
        let digits = self.digits_at(0);
        match self.peek_at(digits) {
            Some(b'<' | b'>') => {}
            Some(b'&') if digits == 0 && self.peek_at(1) == Some(b'>') => {
                return self.redirect_both(start).map(Some);
            }
            _ => return Ok(None),
        }
        let mut fd = None;
        if digits > 0 {
            fd = Some(self.descriptor(start, start + digits)?);
            self.advance(digits);
        }
        if self.starts_with("<(") || self.starts_with(">(") {
            return Err(self.unsupported(2, "process substitution"));
        }
        let operators = [
            ("<<<", RedirectOperator::HereString),
            ("<<-", RedirectOperator::HereDocument),
            ("<<", RedirectOperator::HereDocument),
            ("<&", RedirectOperator::DuplicateInput),
            ("<>", RedirectOperator::ReadWrite),
            ("<", RedirectOperator::Read),
            (">>", RedirectOperator::Append),
            (">&", RedirectOperator::DuplicateOutput),
            (">|", RedirectOperator::Clobber),
            (">", RedirectOperator::Write),
        ];
        let (token, operator) = operators
            .into_iter()
            .find(|(token, _)| self.starts_with(token))
            .expect("the byte at the position is `<` or `>`, and both are in the table");
        self.advance(token.len());
        let (operator, target) = match operator {
            RedirectOperator::HereDocument => {
                let document = self.here_document(start, token == "<<-")?;
                (operator, RedirectTarget::HereDocument(document))
            }
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput => self.duplicate(fd, operator)?,
            // As in the value of an assignment, a tilde behind a colon is one.
            RedirectOperator::HereString => (operator, RedirectTarget::HereString(self.target(Role::Value)?)),
            _ => (operator, RedirectTarget::File(self.target(Role::Single)?)),
        };
        Ok(Some(Redirect { fd, operator, target, span: self.span_from(start) }))
    }

    /// All redirections that follow a compound command.
    pub(super) fn redirects(&mut self) -> Result<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            // A blank that is not followed by a redirection is not part of the command, but nobody needs its end.
            let before = self.pos;
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => {
                    self.pos = before;
                    return Ok(redirects);
                }
            }
        }
    }

    /// At `&>`.
    fn redirect_both(&mut self, start: usize) -> Result<Redirect> {
        let append = self.peek_at(2) == Some(b'>');
        self.advance(if append { 3 } else { 2 });
        if !append && self.peek() == Some(b'(') {
            return Err(self.unsupported(1, "process substitution"));
        }
        let operator = if append { RedirectOperator::AppendBoth } else { RedirectOperator::WriteBoth };
        let target = RedirectTarget::File(self.target(Role::Single)?);
        Ok(Redirect { fd: None, operator, target, span: self.span_from(start) })
    }

    fn target(&mut self, role: Role) -> Result<Word> {
        self.skip_blanks();
        if self.starts_with("<(") || self.starts_with(">(") {
            return Err(self.unsupported(2, "process substitution"));
        }
        // Digits before an operator are its descriptor, never the name of a file.
        let digits = self.digits_at(0);
        if digits > 0 && matches!(self.peek_at(digits), Some(b'<' | b'>')) {
            return Err(self.unexpected("a file name"));
        }
        self.expect_word(role, "a file name")
    }

    /// After `<&` or `>&`.
    fn duplicate(&mut self, fd: Option<u32>, operator: RedirectOperator) -> Result<(RedirectOperator, RedirectTarget)> {
        self.skip_blanks();
        let start = self.pos;
        let word = self.without_holes(HolePlace::Redirection, |parser| {
            parser.expect_word(Role::Single, "a file descriptor or `-`")
        })?;
        let Some(text) = word.known_text() else {
            let kind = SyntaxErrorKind::Unsupported("a file descriptor that is known only when the program runs");
            return Err(self.error(start, self.pos, kind));
        };
        if text == "-" {
            return Ok((operator, RedirectTarget::Close));
        }
        let number = text.strip_suffix('-').unwrap_or(&text);
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            if number.len() != text.len() {
                return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported("moving a file descriptor")));
            }
            let number = self.parse_descriptor(number, start, self.pos)?;
            return Ok((operator, RedirectTarget::Descriptor(number)));
        }
        // bash reads `>&file` as `&>file`.
        if operator == RedirectOperator::DuplicateOutput && fd.is_none() {
            return Ok((RedirectOperator::WriteBoth, RedirectTarget::File(word)));
        }
        Err(self.error(start, self.pos, SyntaxErrorKind::InvalidFileDescriptor(shortened(&text))))
    }

    fn descriptor(&self, start: usize, end: usize) -> Result<u32> {
        self.parse_descriptor(&self.text[start..end], start, end)
    }

    fn parse_descriptor(&self, digits: &str, start: usize, end: usize) -> Result<u32> {
        // No shell has more descriptors than fit into an `int`.
        match digits.parse::<u32>() {
            Ok(number) if i32::try_from(number).is_ok() => Ok(number),
            _ => Err(self.error(start, end, SyntaxErrorKind::InvalidFileDescriptor(shortened(digits)))),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(20).collect()
}
