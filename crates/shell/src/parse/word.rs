//! Words: literal runs, quotes, expansions, tildes and holes up to the next operator or blank.

use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::{Word, WordPart};

use super::cursor::{Parser, Result};

/// What a word is read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A word that may become several fields.
    Argument,
    /// The value of an assignment.
    Value,
    /// A word that becomes one field: a target, a subject, an operand, a pattern.
    Single,
    /// The right side of `=~`: parentheses and `|` belong to the word.
    Regex,
}

/// The parts of a word, with the run of literal bytes that is still open.
struct Parts {
    parts: Vec<WordPart>,
    run: Option<usize>,
}

impl Parts {
    fn close(&mut self, parser: &Parser<'_>) {
        if let Some(start) = self.run.take() {
            let text = parser.text[start..parser.pos].to_owned();
            parser.count(text.len());
            self.parts.push(WordPart::Literal { text, span: parser.span_from(start) });
        }
    }
}

pub(super) fn is_metacharacter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

impl Parser<'_> {
    /// A word; one without parts if none begins here.
    pub(super) fn word(&mut self, role: Role) -> Result<Word> {
        let start = self.pos;
        let mut word = Parts { parts: Vec::new(), run: None };
        // The unquoted byte before the position, for tildes.
        let mut before = None;
        let mut assignment = role == Role::Value;
        let mut first_equals = role == Role::Argument;
        let mut open_parentheses = Vec::new();
        loop {
            if self.at_hole() {
                word.close(self);
                let part = self.take_hole(role != Role::Argument)?;
                word.parts.push(part);
                before = None;
                continue;
            }
            let Some(byte) = self.peek() else { break };
            if role == Role::Regex && regex_character(byte, self.pos, &mut open_parentheses) {
                word.run.get_or_insert(self.pos);
                self.advance(1);
                continue;
            }
            match byte {
                _ if is_metacharacter(byte) => break,
                b'~' if self.pos == start || assignment && matches!(before, Some(b'=' | b':')) => {
                    word.close(self);
                    match self.tilde(false, assignment)? {
                        Some(part) => word.parts.push(part),
                        None => {
                            word.run = Some(self.pos);
                            self.advance(1);
                        }
                    }
                    before = None;
                    continue;
                }
                b'=' if std::mem::take(&mut first_equals) => {
                    assignment = self.names_variable(&word);
                    if assignment {
                        word.run.get_or_insert(self.pos);
                        self.advance(1);
                        before = Some(byte);
                        continue;
                    }
                }
                _ => {}
            }
            // A line continuation is as if it were not there.
            let joins = self.continuation_at(0) > 0;
            if self.quoting_or_expansion(byte, &mut word)? {
                before = before.filter(|_| joins);
                continue;
            }
            word.run.get_or_insert(self.pos);
            self.advance(1);
            // `=` counts only where it ends the name of an assignment.
            before = if byte == b':' { Some(byte) } else { None };
        }
        if let Some(open) = open_parentheses.first() {
            return Err(self.error(*open, *open + 1, SyntaxErrorKind::Unterminated("parenthesis")));
        }
        word.close(self);
        let word = Word { parts: word.parts, span: self.span_from(start) };
        if role != Role::Regex {
            self.refuse_after_word(&word)?;
        }
        Ok(word)
    }

    /// Whether what was read of a word so far is the name of a variable, so that an `=` makes it look like an assignment.
    fn names_variable(&self, word: &Parts) -> bool {
        let mut name = String::new();
        for part in &word.parts {
            let WordPart::Literal { text, .. } = part else { return false };
            name.push_str(text);
        }
        name.push_str(word.run.map_or("", |start| &self.text[start..self.pos]));
        self.count(name.len());
        is_name(name.as_bytes())
    }

    /// A word that must be there.
    pub(super) fn expect_word(&mut self, role: Role, expected: &'static str) -> Result<Word> {
        // At the beginning of a word `#` begins a comment.
        if self.peek() == Some(b'#') {
            return Err(self.unexpected(expected));
        }
        let word = self.word(role)?;
        if word.parts.is_empty() { Err(self.unexpected(expected)) } else { Ok(word) }
    }

    /// Takes a quote, an escape or an expansion. False if the byte is an ordinary character.
    fn quoting_or_expansion(&mut self, byte: u8, word: &mut Parts) -> Result<bool> {
        match byte {
            b'\\' if self.continuation_at(0) > 0 => {
                word.close(self);
                self.advance(self.continuation_at(0));
            }
            b'\\' => {
                word.close(self);
                word.parts.push(self.backslash()?);
            }
            b'\'' => {
                word.close(self);
                self.single_quoted(&mut word.parts)?;
            }
            b'"' => {
                word.close(self);
                word.parts.push(self.double_quoted()?);
            }
            b'`' => {
                word.close(self);
                word.parts.push(self.backquotes(false)?);
            }
            b'$' if self.dollar_begins_expansion(false) => {
                word.close(self);
                word.parts.push(self.dollar(false)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What may not follow a word directly: the parenthesis of an extended glob or of an array.
    fn refuse_after_word(&self, word: &Word) -> Result<()> {
        if self.peek() != Some(b'(') {
            return Ok(());
        }
        let last = match word.parts.last() {
            Some(WordPart::Literal { text, .. }) => text.bytes().last(),
            _ => None,
        };
        match last {
            Some(b'?' | b'*' | b'+' | b'@' | b'!') => {
                Err(self.error(self.pos - 1, self.pos + 1, SyntaxErrorKind::Unsupported("an extended glob")))
            }
            Some(b'=') => Err(self.unsupported(1, "an array")),
            _ => Ok(()),
        }
    }

    /// At `~` where a tilde prefix may stand. `None` if it is an ordinary character. `in_operand`: inside `${…}`, where
    /// `}` ends a word; elsewhere operators do, and `:` in an assignment.
    fn tilde(&mut self, in_operand: bool, assignment: bool) -> Result<Option<WordPart>> {
        let start = self.pos;
        let mut length = 1;
        while self.peek_at(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.-+".contains(&byte)) {
            length += 1;
        }
        let ends = match self.peek_at(length) {
            Some(b'\\') if self.continuation_at(length) > 0 => {
                return Err(self.unsupported(length + 1, "a line continuation in a tilde prefix"));
            }
            Some(b'/') => true,
            Some(b':') if in_operand => return Err(self.unsupported(length + 1, "a tilde prefix before `:`")),
            Some(byte) if in_operand => byte == b'}',
            Some(b':') if !assignment => return Err(self.unsupported(length + 1, "a tilde prefix before `:`")),
            Some(byte) => byte == b':' || is_metacharacter(byte),
            // At a hole the prefix does not end, at the end it does.
            None => start + length >= self.end(),
        };
        if !ends {
            return Ok(None);
        }
        let user = &self.text[start + 1..start + length];
        if user.starts_with(|first: char| first.is_ascii_digit() || first == '+' || first == '-') {
            return Err(self.unsupported(length, "the directory stack"));
        }
        let user = if user.is_empty() { None } else { Some(user.to_owned()) };
        self.advance(length);
        Ok(Some(WordPart::Tilde { user, span: self.span_from(start) }))
    }

    /// The operand of `${x:-…}` and its like, up to `}` or, with `stop_at_slash`, an unquoted `/`.
    ///
    /// With `quoted` the operand stands between double quotes and is text like the rest of them; otherwise its own
    /// quoting counts. A hole in it is data, split only where `split_holes` says so.
    pub(super) fn operand(&mut self, quoted: bool, stop_at_slash: bool, split_holes: bool) -> Result<Word> {
        let start = self.pos;
        let mut word = Parts { parts: Vec::new(), run: None };
        let mut single_quotes = 0;
        loop {
            if self.at_hole() {
                word.close(self);
                let part = self.take_hole(!split_holes)?;
                word.parts.push(part);
                continue;
            }
            let Some(byte) = self.peek() else { break };
            match byte {
                b'}' => break,
                b'/' if stop_at_slash => break,
                b'"' if self.in_document => {
                    return Err(self.unsupported(1, "a double quote in an expansion of a here-document"));
                }
                // bash takes the quotes away first, and then the name goes on.
                b'"' if quoted
                    && self.text[..self.pos].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                    && matches!(word.parts.last(), Some(WordPart::Parameter(_))) =>
                {
                    return Err(self.unsupported(1, "a double quote behind the name of a variable in quotes"));
                }
                _ if quoted && self.is_operand_text(byte) => {
                    single_quotes += self.quoted_operand_text(&mut word.parts)?;
                    continue;
                }
                b'`' if quoted => {
                    word.parts.push(self.backquotes(!self.in_document)?);
                    continue;
                }
                b'$' if quoted => {
                    word.parts.push(self.dollar(true)?);
                    continue;
                }
                b'~' if self.pos == start => {
                    if let Some(part) = self.tilde(true, false)? {
                        word.parts.push(part);
                        continue;
                    }
                }
                b'~' if self.bytes[start..self.pos].iter().all(|byte| matches!(byte, b'\\' | b'\r' | b'\n')) => {
                    return Err(self.unsupported(1, "a line continuation before a tilde"));
                }
                // Where the value of an assignment is expanded, bash takes it for a home directory.
                b'~' if self.text[start..self.pos].ends_with(':') => {
                    return Err(self.unsupported(1, "a tilde behind a colon in an expansion"));
                }
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    return Err(self.unsupported(2, "process substitution"));
                }
                b'\r' => {
                    // The CR of a line end is not text.
                    word.close(self);
                    self.advance(1);
                    continue;
                }
                _ => {}
            }
            if self.quoting_or_expansion(byte, &mut word)? {
                continue;
            }
            word.run.get_or_insert(self.pos);
            self.advance(1);
        }
        word.close(self);
        if single_quotes % 2 == 1 {
            // To bash it opens a quotation, in which `}` is text; to other shells it is a character.
            let construct = "a single quote without another one in an expansion in double quotes";
            return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported(construct)));
        }
        Ok(Word { parts: word.parts, span: self.span_from(start) })
    }

    /// Whether a byte of an operand between double quotes is text; a dollar is, when nothing follows it.
    fn is_operand_text(&self, byte: u8) -> bool {
        match byte {
            b'"' | b'`' => false,
            b'$' => !self.dollar_begins_expansion(true),
            _ => true,
        }
    }

    /// A run of text of an operand between double quotes: only a few characters can be escaped, and `'` is one of them
    /// that cannot.
    fn quoted_operand_text(&mut self, parts: &mut Vec<WordPart>) -> Result<usize> {
        let start = self.pos;
        let mut text = String::new();
        let mut single_quotes = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => break,
                _ if !self.is_operand_text(byte) => break,
                b'\\' if self.continuation_at(0) > 0 => self.advance(self.continuation_at(0)),
                b'\\' => {
                    self.advance(1);
                    self.refuse_hole(HolePlace::Escape)?;
                    match self.peek() {
                        Some(b'"') if self.in_document => {
                            return Err(self.unsupported(1, "a double quote in an expansion of a here-document"));
                        }
                        Some(b'$' | b'`' | b'"' | b'\\' | b'}') => {
                            text.push_str(&self.text[self.pos..self.pos + 1]);
                            self.advance(1);
                        }
                        Some(b'\'') => {
                            text.push_str("\\'");
                            self.advance(1);
                        }
                        _ => text.push('\\'),
                    }
                }
                b'\r' => self.advance(1),
                _ => {
                    let from = self.pos;
                    self.advance(1);
                    while self.peek().is_some_and(|byte| !b"}\"$`\\\r".contains(&byte)) {
                        self.advance(1);
                    }
                    let run = &self.text[from..self.pos];
                    single_quotes += run.matches('\'').count();
                    text.push_str(run);
                }
            }
        }
        parts.push(WordPart::Quoted { text, span: self.span_from(start) });
        Ok(single_quotes)
    }
}

/// Whether a metacharacter belongs to a regular expression. White space and operators do inside parentheses.
fn regex_character(byte: u8, at: usize, open: &mut Vec<usize>) -> bool {
    match byte {
        b'(' => open.push(at),
        b')' if !open.is_empty() => {
            open.pop();
        }
        b'|' => {}
        _ => return !open.is_empty() && byte != b'\r' && is_metacharacter(byte),
    }
    true
}

pub(super) fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
