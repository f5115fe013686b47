//! Lines of a text that may end with LF, CRLF, a lone CR or a mixture of them.

use memchr::{memchr2, memmem, memrchr2};
use skillgate_core::Span;
use std::sync::LazyLock;

/// One line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// First byte.
    pub(crate) start: usize,
    /// After the last byte of its text.
    pub(crate) end: usize,
    /// First byte of the next line.
    pub(crate) next: usize,
}

impl Line {
    /// The line's text without its end.
    pub(crate) fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }

    /// The line without its end.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// The lines of `text[span]`, with offsets into `text`. A text that ends with a line end has no empty line after it.
pub(crate) fn lines(text: &str, span: Span) -> impl Iterator<Item = Line> + '_ {
    let bytes = text.as_bytes();
    let mut at = span.start;
    std::iter::from_fn(move || {
        if at >= span.end {
            return None;
        }
        let line = line_at(bytes, at, span.end);
        at = line.next;
        Some(line)
    })
}

/// The line of `text[span]` that holds the byte at `at`; the line starts at `from` or behind it.
pub(crate) fn line_around(text: &str, span: Span, from: usize, at: usize) -> Line {
    let before = memrchr2(b'\n', b'\r', &text.as_bytes()[from..at]);
    let start = before.map_or(from, |length| from + length + 1);
    line_at(text.as_bytes(), start, span.end)
}

/// The line that starts at `start`, unless nothing does.
pub(crate) fn first_line(bytes: &[u8], start: usize) -> Option<Line> {
    (start < bytes.len()).then(|| line_at(bytes, start, bytes.len()))
}

/// The line that starts at `start`, before `limit`.
fn line_at(bytes: &[u8], start: usize, limit: usize) -> Line {
    let end = memchr2(b'\n', b'\r', &bytes[start..limit]).map_or(limit, |length| start + length);
    let next = match bytes[end..limit] {
        [] => end,
        [b'\r', b'\n', ..] => end + 2,
        _ => end + 1,
    };
    Line { start, end, next }
}

static HYPHENS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("---"));

/// The first delimiter among the lines of `bytes` from `from` on, where a line starts.
pub(crate) fn delimiter(bytes: &[u8], from: usize) -> Option<Line> {
    let starts_line = |at: usize| at == from || matches!(bytes[at - 1], b'\n' | b'\r');
    let mut next = from;
    while let Some(skip) = HYPHENS.find(&bytes[next..]) {
        let at = next + skip;
        next = at + 1;
        if starts_line(at) {
            let line = line_at(bytes, at, bytes.len());
            if is_delimiter(&bytes[at..line.end]) {
                return Some(line);
            }
            next = line.end;
        }
    }
    None
}

/// Whether the line is exactly `---`, trailing blanks allowed.
pub(crate) fn is_delimiter(line: &[u8]) -> bool {
    line.strip_prefix(b"---").is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// Whether the text is blank.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// How many bytes of blanks the line starts with.
pub(crate) fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_ends_a_line() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("a\r\nb\rc\nd", vec!["a", "b", "c", "d"]),
            ("\n\r\n\r", vec!["", "", ""]),
        ] {
            let found: Vec<_> = lines(text, Span::new(0, text.len())).map(|line| line.text(text)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn only_three_hyphens_delimit() {
        for (line, expected) in
            [("---", true), ("--- \t", true), ("----", false), (" ---", false), ("--- a", false), ("--", false)]
        {
            assert_eq!(is_delimiter(line.as_bytes()), expected, "{line:?}");
        }
    }

    #[test]
    fn the_first_line_that_is_a_delimiter_is_found_behind_other_hyphens() {
        for text in
            ["", "a", "---", "a\n---\n", "a---\n----\r--- \t\r\nb", "\u{e4} -----\n\r\n---x\n---", "-\n--\n ---\n"]
        {
            let expected = lines(text, Span::new(0, text.len())).find(|line| is_delimiter(line.text(text).as_bytes()));
            assert_eq!(delimiter(text.as_bytes(), 0), expected, "{text:?}");
        }
    }
}
