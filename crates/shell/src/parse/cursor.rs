//! The parser's position in the text. Bytes of holes are invisible to [`Parser::peek`], so that no rule can read them.

use std::sync::{Arc, OnceLock};

use skillgate_core::Span;

use crate::ast::HereDocumentBody;
use crate::error::{HolePlace, SyntaxError, SyntaxErrorKind};
use crate::hole::Hole;
use crate::word::WordPart;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// A here-document whose operator was read and whose body begins after the next newline.
#[derive(Debug)]
pub(super) struct PendingDocument {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    pub(super) operator: Span,
    pub(super) body: Arc<OnceLock<HereDocumentBody>>,
}

#[derive(Debug)]
pub(super) struct Parser<'s> {
    pub(super) text: &'s str,
    pub(super) bytes: &'s [u8],
    pub(super) pos: usize,
    /// End of the region that is being parsed.
    end: usize,
    /// The end, or the start of the next hole before it.
    limit: usize,
    holes: &'s [Hole],
    next_hole: usize,
    depth: usize,
    max_depth: usize,
    /// The span of everything, when the text is not a piece of the source.
    fixed: Option<Span>,
    pub(super) pending: Vec<PendingDocument>,
    /// Inside a substitution on a line whose here-documents have not begun.
    pub(super) line_has_documents: bool,
    /// Why holes are refused here, if they are.
    forbidden: Option<HolePlace>,
    /// Arithmetic without expansions.
    pub(super) pure_arithmetic: bool,
    /// Inside the body of a here-document, outside substitutions.
    pub(super) in_document: bool,
    /// Bytes looked at by loops, for the tests of linear time.
    #[cfg(test)]
    pub(super) work: std::cell::Cell<usize>,
}

impl<'s> Parser<'s> {
    pub(super) fn new(text: &'s str, holes: &'s [Hole], max_depth: usize) -> Self {
        let mut parser = Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            end: text.len(),
            limit: 0,
            holes,
            next_hole: 0,
            depth: 0,
            max_depth,
            fixed: None,
            pending: Vec::new(),
            line_has_documents: false,
            forbidden: None,
            pure_arithmetic: false,
            in_document: false,
            #[cfg(test)]
            work: std::cell::Cell::new(0),
        };
        parser.set_limit();
        parser
    }

    /// A parser of a text that was made from the source under `span`, at the same depth.
    pub(super) fn for_rewritten<'t>(&self, text: &'t str, span: Span) -> Parser<'t> {
        let mut parser = Parser::new(text, &[], self.max_depth);
        parser.depth = self.depth;
        parser.line_has_documents = self.line_has_documents;
        parser.fixed = Some(self.fixed.unwrap_or(span));
        parser
    }

    fn set_limit(&mut self) {
        self.limit = match self.holes.get(self.next_hole) {
            Some(hole) if hole.span.start < self.end => hole.span.start,
            _ => self.end,
        };
    }

    // Looking.

    /// The next byte; none at the end and at a hole.
    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    /// The byte `by` further on, if no hole and no end lies before it.
    pub(super) fn peek_at(&self, by: usize) -> Option<u8> {
        let at = self.pos + by;
        if at < self.limit { self.bytes.get(at).copied() } else { None }
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.end
    }

    pub(super) fn at_hole(&self) -> bool {
        self.pos == self.limit && self.limit < self.end
    }

    /// The end of the region.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn starts_with(&self, token: &str) -> bool {
        self.bytes.get(self.pos..self.limit).is_some_and(|rest| rest.starts_with(token.as_bytes()))
    }

    /// Length of the newline `by` bytes further on: 1, 2 for CRLF, 0 for none.
    pub(super) fn newline_at(&self, by: usize) -> usize {
        match self.peek_at(by) {
            Some(b'\n') => 1,
            Some(b'\r') => 2,
            _ => 0,
        }
    }

    /// Length of the line continuation `by` bytes further on; 0 for none.
    pub(super) fn continuation_at(&self, by: usize) -> usize {
        if self.peek_at(by) != Some(b'\\') {
            return 0;
        }
        match self.newline_at(by + 1) {
            0 => 0,
            newline => 1 + newline,
        }
    }

    /// How far the name of a variable reaches from `by` bytes further on; 0 for none.
    pub(super) fn name_at(&self, by: usize) -> usize {
        let mut length = 0;
        while let Some(byte) = self.peek_at(by + length) {
            let letter = byte.is_ascii_alphabetic() || byte == b'_';
            if !(letter || length > 0 && byte.is_ascii_digit()) {
                break;
            }
            length += 1;
        }
        self.count(length);
        length
    }

    pub(super) fn digits_at(&self, by: usize) -> usize {
        let mut length = 0;
        while self.peek_at(by + length).is_some_and(|byte| byte.is_ascii_digit()) {
            length += 1;
        }
        self.count(length);
        length
    }

    /// Counts work in tests, and is nothing elsewhere.
    #[cfg(test)]
    pub(super) fn count(&self, bytes: usize) {
        self.work.set(self.work.get() + bytes);
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "the counter exists only in tests")]
    pub(super) fn count(&self, _bytes: usize) {}

    // Moving.

    /// Moves on inside the visible bytes.
    pub(super) fn advance(&mut self, by: usize) {
        self.count(by);
        self.pos = (self.pos + by).min(self.limit);
    }

    /// Moves on to a later place and past the holes before it.
    pub(super) fn seek(&mut self, pos: usize) {
        self.pos = pos;
        while self.holes.get(self.next_hole).is_some_and(|hole| hole.span.start < pos) {
            self.next_hole += 1;
        }
        self.set_limit();
    }

    /// Runs `parse` with the region's end at `end`, and restores it.
    pub(super) fn within<T>(&mut self, end: usize, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.end, end);
        self.set_limit();
        let result = parse(self);
        self.end = outer;
        self.set_limit();
        result
    }

    /// Where the first byte that `stop` accepts lies, holes passed over; the region's end if there is none.
    /// Also whether a hole was passed. `stop` gets a position and returns how far to go on, or 0 to stop there.
    pub(super) fn scan(&self, from: usize, mut step: impl FnMut(usize) -> usize) -> (usize, bool) {
        let mut at = from;
        let mut next = self.holes.partition_point(|hole| hole.span.end <= from);
        let mut passed = false;
        while at < self.end {
            if let Some(hole) = self.holes.get(next) {
                if hole.span.end <= at {
                    next += 1;
                    continue;
                }
                if hole.span.start <= at {
                    at = hole.span.end;
                    passed = true;
                    continue;
                }
            }
            match step(at) {
                0 => break,
                by => at += by,
            }
        }
        self.count(at - from);
        (at.min(self.end), passed)
    }

    /// Whether a line ends between `from` and the position, other than in a hole.
    pub(super) fn passed_line_end(&self, from: usize) -> bool {
        let bytes = self.bytes;
        let (stop, _) = self.scan(from, |at| usize::from(at < self.pos && bytes[at] != b'\n'));
        stop < self.pos
    }

    /// Blanks and line continuations.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.advance(1),
                Some(b'\\') if self.continuation_at(0) > 0 => self.advance(self.continuation_at(0)),
                _ => return,
            }
        }
    }

    /// Blanks, comments and newlines, with the here-documents that the newlines begin. Whether there was a newline.
    pub(super) fn skip_lines(&mut self) -> Result<bool> {
        let mut seen = false;
        loop {
            self.skip_blanks();
            if self.peek() == Some(b'#') {
                let bytes = self.bytes;
                let (end, _) = self.scan(self.pos, |at| usize::from(!matches!(bytes[at], b'\n' | b'\r')));
                self.seek(end);
            }
            if self.newline_at(0) == 0 {
                return Ok(seen);
            }
            self.newline()?;
            seen = true;
        }
    }

    /// A newline token: the bodies of the here-documents of its line follow.
    fn newline(&mut self) -> Result<()> {
        if self.line_has_documents {
            let construct = "a line break in a substitution on the line of a here-document";
            return Err(self.error_here(SyntaxErrorKind::Unsupported(construct)));
        }
        self.advance(self.newline_at(0));
        self.here_document_bodies()
    }

    // Spans and errors.

    /// From `start` to the position.
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span(start, self.pos)
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        self.fixed.unwrap_or_else(|| Span::new(start, end))
    }

    pub(super) fn error(&self, start: usize, end: usize, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError { kind, span: self.span(start, end) }
    }

    /// An error about the character at the position.
    pub(super) fn error_here(&self, kind: SyntaxErrorKind) -> SyntaxError {
        let length = self.text.get(self.pos..self.end).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.error(self.pos, self.pos + length, kind)
    }

    /// An error about the next `length` bytes, and what they cut of a character.
    pub(super) fn unsupported(&self, length: usize, construct: &'static str) -> SyntaxError {
        let end = self.text.ceil_char_boundary(self.pos + length).min(self.end);
        self.error(self.pos, end, SyntaxErrorKind::Unsupported(construct))
    }

    /// Whatever stands here is not what was expected.
    pub(super) fn unexpected(&self, expected: &'static str) -> SyntaxError {
        if let Some(index) = self.hole_index() {
            let kind = SyntaxErrorKind::UnsafeHole { index, place: HolePlace::Command };
            return SyntaxError { kind, span: self.holes[index].span };
        }
        let bytes = self.bytes;
        let first = bytes.get(self.pos).copied();
        let length = match first {
            None => 0,
            Some(b'\n' | b'\r') => 1,
            Some(b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>') => {
                let run = bytes[self.pos..self.limit.max(self.pos)].iter().take(3);
                run.take_while(|byte| Some(**byte) == first).count().max(1)
            }
            Some(_) => self.text.get(self.pos..self.limit).map_or(0, |rest| {
                let word = rest.chars().take(20).take_while(|c| !c.is_whitespace() && !"|&;()<>".contains(*c));
                word.map(char::len_utf8).sum::<usize>().max(rest.chars().next().map_or(0, char::len_utf8))
            }),
        };
        let found = match first {
            _ if self.at_end() => "the end".to_owned(),
            Some(b'\n' | b'\r') => "a line end".to_owned(),
            _ => format!("`{}`", self.text.get(self.pos..self.pos + length).unwrap_or_default().escape_debug()),
        };
        let length = if self.at_end() { 0 } else { length };
        self.error(self.pos, self.pos + length, SyntaxErrorKind::UnexpectedToken { found, expected })
    }

    pub(super) fn expect_end(&self, expected: &'static str) -> Result<()> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    // Depth.

    /// Goes one level deeper; `start` is where the level begins. Each is paired with a [`Parser::leave`], except when an
    /// error ends the whole parse. A pair takes less of the stack than a closure would.
    pub(super) fn enter(&mut self, start: usize) -> Result<()> {
        if self.depth >= self.max_depth {
            let kind = SyntaxErrorKind::TooDeep { limit: self.max_depth };
            return Err(self.error(start, self.pos.max(start), kind));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(&mut self, start: usize, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter(start)?;
        let result = parse(self);
        self.leave();
        result
    }

    // Holes.

    /// The index of the hole at the position.
    pub(super) fn hole_index(&self) -> Option<usize> {
        if self.at_hole() { Some(self.next_hole) } else { None }
    }

    /// The next hole that begins before `end`, with its index.
    pub(super) fn hole_before(&self, end: usize) -> Option<(usize, Hole)> {
        self.holes.get(self.next_hole).filter(|hole| hole.span.start < end).map(|hole| (self.next_hole, *hole))
    }

    /// Takes the hole at the position as data; an error where holes are refused.
    pub(super) fn take_hole(&mut self, quoted: bool) -> Result<WordPart> {
        if let Some(place) = self.forbidden {
            return Err(self.unsafe_hole(place));
        }
        let index = self.next_hole;
        let span = self.holes[index].span;
        self.seek(span.end);
        Ok(WordPart::Hole { index, quoted, span })
    }

    /// The error for the next hole.
    pub(super) fn unsafe_hole(&self, place: HolePlace) -> SyntaxError {
        let index = self.next_hole;
        let span = self.holes.get(index).map_or(Span::at(self.pos), |hole| hole.span);
        SyntaxError { kind: SyntaxErrorKind::UnsafeHole { index, place }, span }
    }

    /// An error if a hole begins here.
    pub(super) fn refuse_hole(&self, place: HolePlace) -> Result<()> {
        if self.at_hole() { Err(self.unsafe_hole(place)) } else { Ok(()) }
    }

    /// Runs `parse` with every hole refused; an outer reason stays.
    pub(super) fn without_holes<T>(
        &mut self,
        place: HolePlace,
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.forbidden;
        self.forbidden = outer.or(Some(place));
        let result = parse(self);
        self.forbidden = outer;
        result
    }
}
