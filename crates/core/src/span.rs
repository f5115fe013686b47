use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// A half-open range of byte offsets into a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte; never below `start`.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; an `end` below `start` gives the empty span at `start`.
    #[inline]
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The empty span at `offset`.
    #[inline]
    #[must_use]
    pub const fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// Length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span covers no byte.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that covers both.
    #[inline]
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The same span `by` bytes further on: a span inside a part becomes a span of the whole.
    #[inline]
    #[must_use]
    pub const fn shifted(self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }

    /// Whether `other` lies inside this span.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The text under the span; `None` when it leaves `text` or cuts a character.
    #[inline]
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.start..self.end)
    }

    /// The span as a range.
    #[inline]
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

/// A place in a text as an editor shows it; both numbers count from 1, columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Maps byte offsets of one text to positions. Lines end at LF, CRLF or a lone CR. The text is gone through once, when the
/// first position is asked for.
#[derive(Clone, Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: OnceLock<Vec<usize>>,
}

impl<'a> LineIndex<'a> {
    /// An index of `text`.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, starts: OnceLock::new() }
    }

    /// The first byte of every line.
    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| starts(self.text))
    }

    /// The position of a byte offset; an offset past the end is the position of the end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let starts = self.starts();
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts[line - 1];
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }
}

fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => starts.push(i + 1),
            b'\r' if bytes.get(i + 1) != Some(&b'\n') => starts.push(i + 1),
            _ => {}
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_every_line_end() {
        let index = LineIndex::new("a\nßx\r\nc\rd");
        for (offset, line, column) in [(0, 1, 1), (2, 2, 1), (4, 2, 2), (7, 3, 1), (9, 4, 1), (10, 4, 2), (99, 4, 2)] {
            assert_eq!(index.position(offset), Position { line, column }, "offset {offset}");
        }
        assert_eq!(index.position(3), Position { line: 2, column: 1 }, "inside a character");
    }

    #[test]
    fn a_backward_range_is_empty() {
        assert!(Span::new(5, 3).is_empty());
        assert_eq!(Span::new(1, 9).slice("abc"), None);
    }
}
