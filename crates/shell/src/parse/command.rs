//! Lists, pipelines and simple commands.

use crate::ast::{AndOr, Assignment, Command, Connector, List, ListItem, Pipeline, SimpleCommand};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::{Word, WordPart};

use super::compound::Reserved;
use super::cursor::{Parser, Result};
use super::word::{Role, is_name};

impl Parser<'_> {
    /// Commands up to something that no command begins with: the end, `)`, `;;`, a closing reserved word.
    pub(super) fn list(&mut self) -> Result<List> {
        self.skip_lines()?;
        let start = self.pos;
        let mut end = start;
        let mut items = Vec::new();
        while !self.at_list_end() {
            let from = self.pos;
            let and_or = self.and_or()?;
            let span = and_or.span;
            self.skip_blanks();
            let mut background = None;
            let mut separated = true;
            match self.peek() {
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.advance(1),
                Some(b'&') if !matches!(self.peek_at(1), Some(b'&')) => {
                    background = Some(self.span(self.pos, self.pos + 1));
                    self.advance(1);
                }
                _ => separated = false,
            }
            end = if separated { self.pos } else { span.end.max(from) };
            items.push(ListItem { and_or, background, span });
            if !(self.skip_lines()? || separated) {
                break;
            }
        }
        Ok(List { items, span: self.span(start, end.max(start)) })
    }

    fn at_list_end(&self) -> bool {
        match self.peek() {
            None => self.at_end(),
            Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            Some(_) => self.reserved().is_some_and(|(word, _)| word.closes()),
        }
    }

    fn and_or(&mut self) -> Result<AndOr> {
        let start = self.pos;
        let first = self.pipeline()?;
        let mut end = first.span;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = if self.starts_with("&&") {
                Connector::And
            } else if self.starts_with("||") {
                Connector::Or
            } else {
                break;
            };
            self.advance(2);
            self.skip_lines()?;
            let pipeline = self.pipeline()?;
            end = pipeline.span;
            rest.push((connector, pipeline));
        }
        Ok(AndOr { first, rest, span: self.span(start, end.end) })
    }

    fn pipeline(&mut self) -> Result<Pipeline> {
        let start = self.pos;
        let mut negated = false;
        while let Some((Reserved::Not, length)) = self.reserved() {
            negated = !negated;
            self.advance(length);
            self.skip_blanks();
        }
        let mut stages = vec![self.command()?];
        let mut stderr_too = Vec::new();
        let mut end = self.pos;
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            let both = self.peek_at(1) == Some(b'&');
            self.advance(if both { 2 } else { 1 });
            stderr_too.push(both);
            self.skip_lines()?;
            stages.push(self.command()?);
            end = self.pos;
        }
        stderr_too.push(false);
        Ok(Pipeline { negated, stages, stderr_too, span: self.span(start, end) })
    }

    fn command(&mut self) -> Result<Command> {
        self.refuse_hole(HolePlace::Command)?;
        if self.peek() == Some(b'(') || self.reserved().is_some() {
            let start = self.pos;
            self.enter(start)?;
            let command = self.compound_or_function()?;
            self.leave();
            return Ok(command);
        }
        self.simple_command()
    }

    fn simple_command(&mut self) -> Result<Command> {
        let start = self.pos;
        let mut end = start;
        let mut command = SimpleCommand {
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            span: self.span_from(start),
        };
        loop {
            self.skip_blanks();
            if self.peek() == Some(b'#') {
                break;
            }
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&command.words)? {
                command.assignments.push(assignment);
            } else if command.words.is_empty() {
                let word = self.without_holes(HolePlace::Command, |parser| parser.word(Role::Argument))?;
                if word.parts.is_empty() {
                    break;
                }
                let bare = command.assignments.is_empty() && command.redirects.is_empty();
                if bare && let Some(name) = self.function_parentheses(&word)? {
                    return self.function_body(start, name);
                }
                self.check_command_word(&word)?;
                command.words.push(word);
            } else {
                let word = self.word(Role::Argument)?;
                if word.parts.is_empty() {
                    break;
                }
                self.check_before_redirect(&word)?;
                command.words.push(word);
            }
            end = self.pos;
        }
        if self.peek() == Some(b'(') {
            return Err(self.unexpected("an operator or a line end"));
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(self.unexpected("a command"));
        }
        command.span = self.span(start, end);
        Ok(Command::Simple(command))
    }

    /// `name=value` or `name+=value`, if no word came before.
    fn assignment(&mut self, words: &[Word]) -> Result<Option<Assignment>> {
        if !words.is_empty() {
            return Ok(None);
        }
        let start = self.pos;
        let length = self.name_at(0);
        let append = match (self.peek_at(length), self.peek_at(length + 1)) {
            _ if length == 0 => return Ok(None),
            (Some(b'='), _) => false,
            (Some(b'+'), Some(b'=')) => true,
            _ => return Ok(None),
        };
        let name = self.text[start..start + length].to_owned();
        self.advance(length + if append { 2 } else { 1 });
        if self.peek() == Some(b'(') {
            return Err(self.unsupported(1, "an array"));
        }
        // The value's first byte stands after the `=`, so a tilde there is one.
        let value = self.word(Role::Value)?;
        Ok(Some(Assignment { name, append, value, span: self.span_from(start) }))
    }

    /// What a shell would read as something else than the name of a command.
    fn check_command_word(&self, word: &Word) -> Result<()> {
        self.check_before_redirect(word)?;
        let Some(WordPart::Literal { text, .. }) = word.parts.first() else { return Ok(()) };
        let unsupported = |construct| {
            Err(crate::error::SyntaxError { kind: SyntaxErrorKind::Unsupported(construct), span: word.span })
        };
        if let Some(WordPart::Literal { .. }) = word.parts.get(1) {
            return unsupported("a line continuation inside the name of a command");
        }
        if let Some(open) = text.find('[')
            && is_name(&text.as_bytes()[..open])
        {
            // bash reads a subscript here, even over blanks and quotes; only one that ends at once and assigns nothing
            // is the name of a command.
            let assigns = |part: &WordPart| match part {
                WordPart::Literal { text, .. } => text.contains("]=") || text.contains("]+="),
                _ => false,
            };
            if !text.contains(']') || word.parts.iter().any(assigns) {
                return unsupported("an array");
            }
        }
        Ok(())
    }

    /// `{fd}>`, and a number that a line continuation separates from its operator.
    fn check_before_redirect(&self, word: &Word) -> Result<()> {
        if !matches!(self.peek(), Some(b'<' | b'>')) {
            return Ok(());
        }
        let mut text = String::new();
        for part in &word.parts {
            match part {
                WordPart::Literal { text: piece, .. } => text.push_str(piece),
                _ => return Ok(()),
            }
        }
        let named = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let construct = if named.is_some_and(|name| is_name(name.as_bytes())) {
            "a named file descriptor"
        } else if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            "a line continuation in a redirection"
        } else {
            return Ok(());
        };
        let span = word.span.to(self.span(self.pos, self.pos + 1));
        Err(crate::error::SyntaxError { kind: SyntaxErrorKind::Unsupported(construct), span })
    }
}
