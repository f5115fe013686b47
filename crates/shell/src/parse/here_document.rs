//! Here-documents: the delimiter when the operator is read, the body after the next newline.

use std::sync::{Arc, OnceLock};

use skillgate_core::Span;

use crate::ast::{HereDocument, HereDocumentBody};
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::WordPart;

use super::cursor::{Parser, PendingDocument, Result};

/// Where a body lies: its lines, and where the text after the delimiter's line begins.
struct BodyRange {
    end: usize,
    after: usize,
}

impl Parser<'_> {
    /// After `<<` or `<<-`: the delimiter. `operator` is where the redirection began.
    pub(super) fn here_document(&mut self, operator: usize, strip_tabs: bool) -> Result<HereDocument> {
        self.skip_blanks();
        let (delimiter, quoted) = self.delimiter()?;
        let body = Arc::new(OnceLock::new());
        self.pending.push(PendingDocument {
            delimiter: delimiter.clone(),
            quoted,
            strip_tabs,
            operator: self.span_from(operator),
            body: Arc::clone(&body),
        });
        Ok(HereDocument { delimiter, quoted, strip_tabs, body })
    }

    fn delimiter(&mut self) -> Result<(String, bool)> {
        let start = self.pos;
        let mut text = String::new();
        let mut quoted = false;
        if self.peek() == Some(b'#') {
            return Err(self.unexpected("a here-document delimiter"));
        }
        loop {
            self.refuse_hole(HolePlace::Delimiter)?;
            match self.peek() {
                None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>') => break,
                Some(b'$' | b'`') => return Err(self.unsupported(1, "an expansion in a here-document delimiter")),
                Some(b'\\') if self.continuation_at(0) > 0 => {
                    return Err(self.unsupported(2, "a line continuation in a here-document delimiter"));
                }
                Some(b'\\') => {
                    quoted = true;
                    self.advance(1);
                    let from = self.pos;
                    self.character()?;
                    text.push_str(&self.text[from..self.pos]);
                }
                Some(quote @ (b'\'' | b'"')) => {
                    quoted = true;
                    let open = self.pos;
                    self.advance(1);
                    let from = self.pos;
                    while self.peek().is_some_and(|byte| byte != quote && !matches!(byte, b'\n' | b'\r' | b'\\')) {
                        self.advance(1);
                    }
                    self.refuse_hole(HolePlace::Delimiter)?;
                    match self.peek() {
                        Some(byte) if byte == quote => {}
                        Some(_) => return Err(self.unsupported(1, "this character in a here-document delimiter")),
                        None => {
                            return Err(self.error(open, open + 1, SyntaxErrorKind::Unterminated("quote")));
                        }
                    }
                    text.push_str(&self.text[from..self.pos]);
                    self.advance(1);
                }
                Some(_) => {
                    let from = self.pos;
                    self.character()?;
                    text.push_str(&self.text[from..self.pos]);
                }
            }
        }
        if self.pos == start { Err(self.unexpected("a here-document delimiter")) } else { Ok((text, quoted)) }
    }

    /// Moves over one character of any length.
    fn character(&mut self) -> Result<()> {
        self.refuse_hole(HolePlace::Delimiter)?;
        let rest = self.text.get(self.pos..self.end());
        match rest.and_then(|rest| rest.chars().next()) {
            Some(character) => self.advance(character.len_utf8()),
            None => return Err(self.unexpected("a character")),
        }
        Ok(())
    }

    /// At the start of the line after the operators: reads the bodies of all documents of that line.
    pub(super) fn here_document_bodies(&mut self) -> Result<()> {
        for document in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let Some(range) = self.body_range(&document)? else {
                return Err(unterminated(document.operator));
            };
            let parts = if document.quoted {
                if self.hole_before(range.end).is_some() {
                    return Err(self.unsafe_hole(HolePlace::QuotedHereDocument));
                }
                self.literal_body(start, range.end, document.strip_tabs)
            } else {
                self.within(range.end, |parser| parser.expanded_body(document.strip_tabs))?
            };
            let span = self.span(start, range.end);
            self.seek(range.after);
            document
                .body
                .set(HereDocumentBody { parts, span })
                .expect("a document is pending once, so its body is set once");
        }
        Ok(())
    }

    /// At the end of a text: no document may be left without its body.
    pub(super) fn finish_here_documents(&mut self) -> Result<()> {
        match self.pending.first() {
            Some(document) => Err(unterminated(document.operator)),
            None => Ok(()),
        }
    }

    /// Finds the line that is the delimiter. `None` if there is none.
    fn body_range(&self, document: &PendingDocument) -> Result<Option<BodyRange>> {
        let bytes = self.bytes;
        let end = self.end();
        let mut at = self.pos;
        while at < end {
            let line = at;
            // One logical line: in a body that is expanded, a backslash before the line end joins the next line.
            let mut joined = false;
            let mut has_hole = false;
            let (content, next) = loop {
                let (stop, hole) = self.scan_line(at);
                has_hole |= hole;
                let newline = newline_length(bytes, stop, end);
                let slashes = bytes[line..stop].iter().rev().take_while(|byte| **byte == b'\\').count();
                at = stop + newline;
                if document.quoted || slashes % 2 == 0 || newline == 0 {
                    break (stop, at);
                }
                joined = true;
            };
            at = next;
            if has_hole {
                continue;
            }
            let text = &self.text[line..content];
            let stripped = if document.strip_tabs { text.trim_start_matches('\t') } else { text };
            if joined {
                if stripped.replace("\\\r\n", "").replace("\\\n", "") == document.delimiter {
                    let construct = "a line continuation in the last line of a here-document";
                    return Err(self.error(line, content, SyntaxErrorKind::Unsupported(construct)));
                }
            } else if stripped == document.delimiter {
                return Ok(Some(BodyRange { end: line, after: next }));
            }
        }
        Ok(None)
    }

    fn scan_line(&self, from: usize) -> (usize, bool) {
        let bytes = self.bytes;
        self.scan(from, |at| usize::from(!matches!(bytes[at], b'\n' | b'\r')))
    }

    fn literal_body(&self, start: usize, end: usize, strip_tabs: bool) -> Vec<WordPart> {
        let raw = &self.text[start..end];
        if raw.is_empty() {
            return Vec::new();
        }
        let mut text = String::with_capacity(raw.len());
        for line in raw.split_inclusive('\n') {
            let line = if strip_tabs { line.trim_start_matches('\t') } else { line };
            match line.strip_suffix("\r\n") {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
                None => text.push_str(line),
            }
        }
        vec![WordPart::Quoted { text, span: self.span(start, end) }]
    }

    fn expanded_body(&mut self, strip_tabs: bool) -> Result<Vec<WordPart>> {
        let start = self.pos;
        let outer = std::mem::replace(&mut self.in_document, true);
        let parts = self.nested(start, |parser| parser.text_and_expansions(None, strip_tabs))?;
        self.in_document = outer;
        Ok(parts)
    }
}

fn unterminated(operator: Span) -> crate::error::SyntaxError {
    crate::error::SyntaxError { kind: SyntaxErrorKind::Unterminated("here-document"), span: operator }
}

fn newline_length(bytes: &[u8], at: usize, end: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') if at < end => 1,
        Some(b'\r') if at < end => 2,
        _ => 0,
    }
}
