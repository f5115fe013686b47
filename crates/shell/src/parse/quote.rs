//! Quoting: backslash, `'…'`, `"…"`, `$'…'`, and the text of here-documents.

use crate::error::{HolePlace, SyntaxErrorKind};
use crate::hole::SingleQuoteRule;
use crate::word::WordPart;

use super::cursor::{Parser, Result};

/// Collects quoted text and where it began.
struct Text {
    text: String,
    start: Option<usize>,
}

impl Text {
    fn new() -> Self {
        Self { text: String::new(), start: None }
    }

    fn push(&mut self, at: usize, piece: &str) {
        self.start.get_or_insert(at);
        self.text.push_str(piece);
    }

    fn flush(&mut self, parser: &Parser<'_>, parts: &mut Vec<WordPart>) {
        if let Some(start) = self.start.take() {
            let text = std::mem::take(&mut self.text);
            parts.push(WordPart::Quoted { text, span: parser.span_from(start) });
        }
    }
}

impl Parser<'_> {
    /// At a backslash that is not a line continuation, outside quotes.
    pub(super) fn backslash(&mut self) -> Result<WordPart> {
        let start = self.pos;
        self.advance(1);
        self.refuse_hole(HolePlace::Escape)?;
        let Some(character) = self.text.get(self.pos..self.end()).and_then(|rest| rest.chars().next()) else {
            return Err(self.error(start, self.pos, SyntaxErrorKind::Unterminated("escape")));
        };
        self.advance(character.len_utf8());
        Ok(WordPart::Quoted { text: character.to_string(), span: self.span_from(start) })
    }

    /// At `'`. Gives several parts when holes stand in it.
    pub(super) fn single_quoted(&mut self, parts: &mut Vec<WordPart>) -> Result<()> {
        let open = self.pos;
        let mut text = Text::new();
        text.push(open, "");
        self.advance(1);
        let mut run = self.pos;
        loop {
            if let Some((_, hole)) = self.hole_before(self.pos + 1).filter(|_| self.at_hole()) {
                match hole.in_single_quotes {
                    // The hole's text is taken as it stands: it stays inside the current run.
                    SingleQuoteRule::Literal => self.seek(hole.span.end),
                    SingleQuoteRule::Substitute => {
                        text.push(run, &self.text[run..self.pos]);
                        text.flush(self, parts);
                        parts.push(self.take_hole(true)?);
                        run = self.pos;
                        text.push(run, "");
                    }
                }
                continue;
            }
            match self.peek() {
                None => return Err(self.error(open, open + 1, SyntaxErrorKind::Unterminated("single quote"))),
                Some(b'\'') => break,
                Some(b'\r') => {
                    text.push(run, &self.text[run..self.pos]);
                    self.advance(1);
                    run = self.pos;
                }
                Some(_) => self.advance(1),
            }
        }
        text.push(run, &self.text[run..self.pos]);
        self.advance(1);
        text.flush(self, parts);
        Ok(())
    }

    /// At `"`.
    pub(super) fn double_quoted(&mut self) -> Result<WordPart> {
        let start = self.pos;
        self.advance(1);
        self.enter(start)?;
        let parts = self.text_and_expansions(Some(b'"'), false)?;
        if self.at_end() {
            return Err(self.error(start, start + 1, SyntaxErrorKind::Unterminated("double quote")));
        }
        self.leave();
        self.advance(1);
        Ok(WordPart::DoubleQuoted { parts, span: self.span_from(start) })
    }

    /// Text with expansions, up to `close` or the end of the region: what stands between double quotes, and the body of
    /// a here-document.
    pub(super) fn text_and_expansions(&mut self, close: Option<u8>, strip_tabs: bool) -> Result<Vec<WordPart>> {
        let mut parts = Vec::new();
        let mut text = Text::new();
        if strip_tabs {
            self.skip_tabs();
        }
        loop {
            if self.at_hole() {
                text.flush(self, &mut parts);
                parts.push(self.take_hole(true)?);
                continue;
            }
            let at = self.pos;
            let Some(byte) = self.peek() else { break };
            if Some(byte) == close {
                break;
            }
            match byte {
                b'\\' if self.continuation_at(0) > 0 => {
                    text.flush(self, &mut parts);
                    self.advance(self.continuation_at(0));
                }
                b'\\' => {
                    self.advance(1);
                    self.refuse_hole(HolePlace::Escape)?;
                    match self.peek() {
                        Some(next @ (b'$' | b'`' | b'\\' | b'"')) if next != b'"' || close == Some(b'"') => {
                            self.advance(1);
                            text.push(at, &self.text[at + 1..self.pos]);
                        }
                        _ => text.push(at, "\\"),
                    }
                }
                b'$' if !self.dollar_begins_expansion(true) => {
                    self.advance(1);
                    text.push(at, "$");
                }
                b'$' | b'`' => {
                    let part = if byte == b'`' { self.backquotes(close.is_some())? } else { self.dollar(true)? };
                    if strip_tabs && self.passed_line_end(at) {
                        let construct = "an expansion over several lines in a `<<-` here-document";
                        return Err(self.error(at, self.pos, SyntaxErrorKind::Unsupported(construct)));
                    }
                    // Flush with the span ending where the expansion began.
                    if let Some(start) = text.start.take() {
                        let text = std::mem::take(&mut text.text);
                        parts.push(WordPart::Quoted { text, span: self.span(start, at) });
                    }
                    parts.push(part);
                }
                b'\n' | b'\r' => {
                    self.advance(self.newline_at(0));
                    text.push(at, "\n");
                    if strip_tabs {
                        self.skip_tabs();
                    }
                }
                _ => {
                    self.plain_run(close);
                    text.push(at, &self.text[at..self.pos]);
                }
            }
        }
        text.flush(self, &mut parts);
        Ok(parts)
    }

    fn skip_tabs(&mut self) {
        while self.peek() == Some(b'\t') {
            self.advance(1);
        }
    }

    fn plain_run(&mut self, close: Option<u8>) {
        while let Some(byte) = self.peek() {
            if matches!(byte, b'\\' | b'$' | b'`' | b'\n' | b'\r') || Some(byte) == close {
                break;
            }
            self.advance(1);
        }
    }

    /// At `$'`.
    pub(super) fn ansi_c_quoted(&mut self) -> Result<WordPart> {
        let start = self.pos;
        self.advance(2);
        let mut text: Vec<u8> = Vec::new();
        loop {
            self.refuse_hole(HolePlace::Escape)?;
            match self.peek() {
                None => return Err(self.error(start, start + 2, SyntaxErrorKind::Unterminated("single quote"))),
                Some(b'\'') => break,
                Some(b'\\') => self.ansi_c_escape(&mut text)?,
                Some(b'\r') => self.advance(1),
                Some(byte) => {
                    text.push(byte);
                    self.advance(1);
                }
            }
        }
        self.advance(1);
        let span = self.span_from(start);
        if text.contains(&0) {
            let kind = SyntaxErrorKind::InvalidCharacter { character: '\0' };
            return Err(crate::error::SyntaxError { kind, span });
        }
        match String::from_utf8(text) {
            Ok(text) => Ok(WordPart::Quoted { text, span }),
            Err(_) => Err(crate::error::SyntaxError {
                kind: SyntaxErrorKind::Unsupported("`$'…'` with bytes that are not UTF-8"),
                span,
            }),
        }
    }

    fn ansi_c_escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let start = self.pos;
        self.advance(1);
        self.refuse_hole(HolePlace::Escape)?;
        let Some(byte) = self.peek() else {
            return Err(self.error(start, self.pos, SyntaxErrorKind::Unterminated("escape")));
        };
        let simple = match byte {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => byte,
            b'0'..=b'7' => {
                let value = self.digits(8, 3);
                // As in bash: three digits that exceed a byte lose the high bit.
                text.push(u8::try_from(value & 0xff).unwrap_or(0));
                return Ok(());
            }
            b'x' | b'u' | b'U' => {
                self.advance(1);
                let most = match byte {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let from = self.pos;
                let value = self.digits(16, most);
                if self.pos == from {
                    return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported("an escape without digits")));
                }
                if byte == b'x' {
                    text.push(u8::try_from(value).unwrap_or(0));
                } else if let Some(character) = char::from_u32(value) {
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    return Err(self.error(start, self.pos, SyntaxErrorKind::Unsupported("this code point")));
                }
                return Ok(());
            }
            b'c' => return Err(self.error(start, self.pos + 1, SyntaxErrorKind::Unsupported("the escape `\\c`"))),
            // Every other backslash stays, and the character is read as itself.
            _ => {
                text.push(b'\\');
                return Ok(());
            }
        };
        text.push(simple);
        self.advance(1);
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.advance(1);
        }
        value
    }
}
