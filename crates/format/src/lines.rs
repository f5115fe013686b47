//! Lines of a text that may end with LF, CRLF, a lone CR or a mixture of them.

use memchr::{memchr2, memrchr2};
use skillgate_core::Span;

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
        let start = at;
        let end = memchr2(b'\n', b'\r', &bytes[start..span.end]).map_or(span.end, |length| start + length);
        let next = match bytes[end..span.end] {
            [] => end,
            [b'\r', b'\n', ..] => end + 2,
            _ => end + 1,
        };
        at = next;
        Some(Line { start, end, next })
    })
}

/// The line of `text[span]` that holds the byte at `at`; the line starts at `from` or behind it.
pub(crate) fn line_around(text: &str, span: Span, from: usize, at: usize) -> Line {
    let before = memrchr2(b'\n', b'\r', &text.as_bytes()[from..at]);
    let start = before.map_or(from, |length| from + length + 1);
    lines(text, Span::new(start, span.end)).next().unwrap_or(Line { start, end: span.end, next: span.end })
}

/// Whether the line is exactly `---`, trailing blanks allowed.
pub(crate) fn is_delimiter(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
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
            assert_eq!(is_delimiter(line), expected, "{line:?}");
        }
    }
}
