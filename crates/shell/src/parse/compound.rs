//! Compound commands, functions and reserved words.

use crate::ast::{CaseArm, CaseTerminator, Command, CompoundCommand, CompoundKind, FunctionDefinition, List};
use crate::error::{HolePlace, SyntaxError, SyntaxErrorKind};
use crate::word::Word;

use super::cursor::{Parser, Result};
use super::word::{Role, is_metacharacter};

/// The words that are not names of commands where a command may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reserved {
    Not,
    OpenBrace,
    CloseBrace,
    OpenConditional,
    CloseConditional,
    If,
    Then,
    Elif,
    Else,
    Fi,
    For,
    While,
    Until,
    Do,
    Done,
    Case,
    Esac,
    Function,
    Select,
    Coproc,
    Time,
}

impl Reserved {
    const ALL: [(&'static str, Self); 21] = [
        ("!", Self::Not),
        ("{", Self::OpenBrace),
        ("}", Self::CloseBrace),
        ("[[", Self::OpenConditional),
        ("]]", Self::CloseConditional),
        ("if", Self::If),
        ("then", Self::Then),
        ("elif", Self::Elif),
        ("else", Self::Else),
        ("fi", Self::Fi),
        ("for", Self::For),
        ("while", Self::While),
        ("until", Self::Until),
        ("do", Self::Do),
        ("done", Self::Done),
        ("case", Self::Case),
        ("esac", Self::Esac),
        ("function", Self::Function),
        ("select", Self::Select),
        ("coproc", Self::Coproc),
        ("time", Self::Time),
    ];

    /// Whether the word ends a list instead of beginning a command.
    pub(super) fn closes(self) -> bool {
        match self {
            Self::CloseBrace
            | Self::CloseConditional
            | Self::Then
            | Self::Elif
            | Self::Else
            | Self::Fi
            | Self::Do
            | Self::Done
            | Self::Esac => true,
            Self::Not
            | Self::OpenBrace
            | Self::OpenConditional
            | Self::If
            | Self::For
            | Self::While
            | Self::Until
            | Self::Case
            | Self::Function
            | Self::Select
            | Self::Coproc
            | Self::Time => false,
        }
    }
}

impl Parser<'_> {
    /// The reserved word at the position and its length, if a whole word stands here.
    pub(super) fn reserved(&self) -> Option<(Reserved, usize)> {
        let (text, word) = Reserved::ALL.into_iter().find(|(text, _)| self.is_whole_word(text))?;
        Some((word, text.len()))
    }

    pub(super) fn is_whole_word(&self, text: &str) -> bool {
        if !self.starts_with(text) {
            return false;
        }
        let mut after = text.len();
        while self.continuation_at(after) > 0 {
            after += self.continuation_at(after);
        }
        match self.peek_at(after) {
            Some(byte) => is_metacharacter(byte),
            None => self.pos + after >= self.end(),
        }
    }

    /// Takes a reserved word that must stand here; `open` is the word that asks for it.
    fn expect_reserved(&mut self, word: Reserved, expected: &'static str, open: (usize, &'static str)) -> Result<()> {
        match self.reserved() {
            Some((found, length)) if found == word => {
                self.advance(length);
                Ok(())
            }
            _ if self.at_end() => Err(self.never_closed(open)),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn never_closed(&self, (start, word): (usize, &'static str)) -> SyntaxError {
        self.error(start, start + word.len(), SyntaxErrorKind::Unterminated(word))
    }

    /// At `(` or a reserved word.
    pub(super) fn compound_or_function(&mut self) -> Result<Command> {
        let start = self.pos;
        if let Some((Reserved::Function, length)) = self.reserved() {
            self.advance(length);
            self.skip_blanks();
            let word = self.without_holes(HolePlace::Function, |parser| parser.word(Role::Single))?;
            let Some(name) = word.plain_text().filter(|name| is_function_name(name)).map(str::to_owned) else {
                return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported("this name of a function")));
            };
            self.skip_blanks();
            self.empty_parentheses()?;
            return self.function_body(start, name);
        }
        Ok(Command::Compound(self.compound(start)?))
    }

    fn compound(&mut self, start: usize) -> Result<CompoundCommand> {
        if self.starts_with("((") {
            return self.arithmetic_command(start);
        }
        if self.peek() == Some(b'(') {
            return self.subshell(start);
        }
        let Some((word, length)) = self.reserved() else {
            return Err(self.unexpected("a compound command"));
        };
        let unsupported = match word {
            Reserved::Select => "`select`",
            Reserved::Coproc => "`coproc`",
            Reserved::Time => "`time`",
            _ => "",
        };
        if !unsupported.is_empty() {
            return Err(self.unsupported(length, unsupported));
        }
        if word == Reserved::OpenConditional {
            let kind = CompoundKind::Conditional(self.conditional()?);
            return self.finish_compound(start, kind);
        }
        if word == Reserved::Not || word == Reserved::Function || word.closes() {
            return Err(self.unexpected("a command"));
        }
        self.advance(length);
        let kind = match word {
            Reserved::OpenBrace => self.group(start)?,
            Reserved::If => self.if_command(start)?,
            Reserved::For => self.for_command(start)?,
            Reserved::While => self.while_command((start, "while"), false)?,
            Reserved::Until => self.while_command((start, "until"), true)?,
            _ => self.case_command(start)?,
        };
        self.finish_compound(start, kind)
    }

    fn finish_compound(&mut self, start: usize, kind: CompoundKind) -> Result<CompoundCommand> {
        let redirects = self.redirects()?;
        Ok(CompoundCommand { kind, redirects, span: self.span_from(start) })
    }

    fn group(&mut self, start: usize) -> Result<CompoundKind> {
        let list = self.list_until((start, "{"))?;
        self.expect_reserved(Reserved::CloseBrace, "`}`", (start, "{"))?;
        Ok(CompoundKind::Group(list))
    }

    fn subshell(&mut self, start: usize) -> Result<CompoundCommand> {
        self.advance(1);
        let list = self.list_until((start, "("))?;
        if self.at_end() {
            return Err(self.never_closed((start, "(")));
        }
        if self.peek() != Some(b')') {
            return Err(self.unexpected("`)`"));
        }
        self.advance(1);
        self.finish_compound(start, CompoundKind::Subshell(list))
    }

    fn arithmetic_command(&mut self, start: usize) -> Result<CompoundCommand> {
        let expr = self.double_parenthesised(start, 2)?;
        self.finish_compound(start, CompoundKind::Arithmetic(expr))
    }

    /// Commands that must not be empty inside a construct that began at `open`.
    fn list_until(&mut self, open: (usize, &'static str)) -> Result<List> {
        let list = self.list()?;
        match (list.items.is_empty(), self.at_end()) {
            (true, true) => Err(self.never_closed(open)),
            (true, false) => Err(self.unexpected("a command")),
            (false, _) => Ok(list),
        }
    }

    fn if_command(&mut self, start: usize) -> Result<CompoundKind> {
        let open = (start, "if");
        let mut branches = Vec::new();
        loop {
            let condition = self.list_until(open)?;
            self.expect_reserved(Reserved::Then, "`then`", open)?;
            let body = self.list_until(open)?;
            branches.push((condition, body));
            match self.reserved() {
                Some((Reserved::Elif, length)) => self.advance(length),
                Some((Reserved::Else, length)) => {
                    self.advance(length);
                    let otherwise = Some(self.list_until(open)?);
                    self.expect_reserved(Reserved::Fi, "`fi`", open)?;
                    return Ok(CompoundKind::If { branches, otherwise });
                }
                _ => {
                    self.expect_reserved(Reserved::Fi, "`elif`, `else` or `fi`", open)?;
                    return Ok(CompoundKind::If { branches, otherwise: None });
                }
            }
        }
    }

    fn while_command(&mut self, open: (usize, &'static str), until: bool) -> Result<CompoundKind> {
        let condition = self.list_until(open)?;
        let body = self.do_group(open)?;
        Ok(CompoundKind::While { until, condition, body })
    }

    fn do_group(&mut self, open: (usize, &'static str)) -> Result<List> {
        self.expect_reserved(Reserved::Do, "`do`", open)?;
        let body = self.list_until(open)?;
        self.expect_reserved(Reserved::Done, "`done`", open)?;
        Ok(body)
    }

    fn for_command(&mut self, start: usize) -> Result<CompoundKind> {
        self.skip_blanks();
        if self.starts_with("((") {
            return Err(self.unsupported(2, "the arithmetic `for`"));
        }
        let length = self.name_at(0);
        let variable = self.text[self.pos..self.pos + length].to_owned();
        self.advance(length);
        self.refuse_hole(HolePlace::Name)?;
        if length == 0 || self.peek().is_some_and(|byte| !is_metacharacter(byte) && self.continuation_at(0) == 0) {
            return Err(if self.at_end() {
                self.never_closed((start, "for"))
            } else {
                self.unexpected("a variable name")
            });
        }
        self.skip_blanks();
        let separated = self.peek() == Some(b';');
        if separated {
            self.advance(1);
        }
        self.skip_lines()?;
        let mut words = None;
        if !separated && self.is_whole_word("in") {
            self.advance(2);
            let list = words.insert(Vec::new());
            loop {
                self.skip_blanks();
                if self.peek() == Some(b'#') {
                    break;
                }
                let word = self.word(Role::Argument)?;
                if word.parts.is_empty() {
                    break;
                }
                list.push(word);
            }
            if self.peek() == Some(b';') {
                self.advance(1);
            } else if self.newline_at(0) == 0 && self.peek() != Some(b'#') {
                return Err(if self.at_end() { self.never_closed((start, "for")) } else { self.unexpected("`;`") });
            }
            self.skip_lines()?;
        }
        let body = self.do_group((start, "for"))?;
        Ok(CompoundKind::For { variable, words, body })
    }

    fn case_command(&mut self, start: usize) -> Result<CompoundKind> {
        let open = (start, "case");
        self.skip_blanks();
        let subject = self.expect_word(Role::Single, "a word")?;
        self.skip_lines()?;
        if !self.is_whole_word("in") {
            return Err(if self.at_end() { self.never_closed(open) } else { self.unexpected("`in`") });
        }
        self.advance(2);
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if let Some((Reserved::Esac, length)) = self.reserved() {
                self.advance(length);
                return Ok(CompoundKind::Case { subject, arms });
            }
            if self.at_end() {
                return Err(self.never_closed(open));
            }
            let (arm, last) = self.case_arm()?;
            arms.push(arm);
            if last {
                self.expect_reserved(Reserved::Esac, "`;;` or `esac`", open)?;
                return Ok(CompoundKind::Case { subject, arms });
            }
        }
    }

    /// One arm, and whether nothing separates it from what follows.
    fn case_arm(&mut self) -> Result<(CaseArm, bool)> {
        let start = self.pos;
        if self.peek() == Some(b'(') {
            self.advance(1);
            self.skip_blanks();
        }
        let mut patterns: Vec<Word> = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.expect_word(Role::Single, "a pattern")?);
            self.skip_blanks();
            match self.peek() {
                Some(b'|') if self.peek_at(1) != Some(b'|') => self.advance(1),
                Some(b')') => break,
                _ => return Err(self.unexpected("`|` or `)`")),
            }
        }
        self.advance(1);
        let body = self.list()?;
        let endings =
            [(";;&", CaseTerminator::TryNext), (";;", CaseTerminator::Break), (";&", CaseTerminator::FallThrough)];
        let found = endings.into_iter().find(|(token, _)| self.starts_with(token));
        let (terminator, last) = match found {
            Some((token, terminator)) => {
                self.advance(token.len());
                (terminator, false)
            }
            None => (CaseTerminator::Break, true),
        };
        Ok((CaseArm { patterns, body, terminator, span: self.span_from(start) }, last))
    }

    /// After the first word of a command: the name, if `()` makes it a function.
    pub(super) fn function_parentheses(&mut self, word: &Word) -> Result<Option<String>> {
        let mut ahead = 0;
        while matches!(self.peek_at(ahead), Some(b' ' | b'\t')) {
            ahead += 1;
        }
        if self.peek_at(ahead) != Some(b'(') {
            return Ok(None);
        }
        self.advance(ahead);
        let Some(name) = word.plain_text().filter(|name| is_function_name(name)).map(str::to_owned) else {
            return Err(self.unexpected("an operator or a line end"));
        };
        self.empty_parentheses()?;
        Ok(Some(name))
    }

    /// `()`, if an opening parenthesis stands here.
    fn empty_parentheses(&mut self) -> Result<()> {
        if self.peek() != Some(b'(') {
            return Ok(());
        }
        self.advance(1);
        self.skip_blanks();
        self.refuse_hole(HolePlace::Function)?;
        if self.peek() != Some(b')') {
            return Err(self.unexpected("`)`"));
        }
        self.advance(1);
        Ok(())
    }

    /// After the name: the compound command that a call runs.
    pub(super) fn function_body(&mut self, start: usize, name: String) -> Result<Command> {
        self.skip_lines()?;
        self.refuse_hole(HolePlace::Command)?;
        let from = self.pos;
        self.enter(from)?;
        let body = self.compound(from)?;
        self.leave();
        Ok(Command::Function(FunctionDefinition { name, body: std::sync::Arc::new(body), span: self.span_from(start) }))
    }
}

fn is_function_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
}
