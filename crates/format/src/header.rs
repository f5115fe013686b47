//! Finding the header block: at the start, after some text, or in a fence around the whole file.

use crate::lines::{Line, delimiter, first_line, is_blank, is_delimiter, lines};
use crate::markdown::{FenceMark, fence_close, fence_open};
use skillgate_core::Span;

/// Lines of plain text that may stand before a misplaced header.
const MAX_TEXT_LINES: usize = 3;

/// Where a header stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// At the first byte.
    Start,
    /// After blank lines, a heading, comments or a little text.
    After,
    /// In a code fence that opens the file.
    Fenced,
}

/// A block between two delimiters, and what is body when it is the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    /// Both delimiters and what is between them, with the last line end.
    pub(crate) whole: Span,
    /// What is between the delimiters.
    pub(crate) inner: Span,
    /// The rest of the file.
    pub(crate) body: Parts,
}

/// The parts of a file that are not its header, in order: one, or one before and one behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parts {
    spans: [Span; 2],
    count: usize,
}

impl Parts {
    pub(crate) const fn one(span: Span) -> Self {
        Self { spans: [span, span], count: 1 }
    }

    const fn around(before: Span, behind: Span) -> Self {
        Self { spans: [before, behind], count: 2 }
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans[..self.count]
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Located {
    /// A header at the start, or a block that is a header if it reads as one.
    Block(Block),
    /// An opening delimiter at the start without a closing one.
    Unclosed(Span),
    /// Nothing that looks like a header.
    Missing,
}

/// Looks for the header of `text`, whose content begins at `start`.
pub(crate) fn locate(text: &str, start: usize) -> Located {
    let all = Span::new(start, text.len());
    let Some(first) = lines(text, all).next() else { return Located::Missing };
    if is_delimiter(first.text(text).as_bytes()) {
        return match block_at(text, first) {
            Some((whole, inner)) => {
                let body = Parts::one(Span::new(whole.end, text.len()));
                Located::Block(Block { place: Place::Start, whole, inner, body })
            }
            None => Located::Unclosed(first.span()),
        };
    }
    fenced(text, all).or_else(|| after_text(text, all)).map_or(Located::Missing, Located::Block)
}

/// The header at `start` of a file's first bytes, when its closing line is complete; the body is empty.
pub(crate) fn prefix_block(prefix: &[u8], start: usize) -> Option<Block> {
    // A carriage return at the very end may be half of a line end.
    let complete = |line: &Line| line.next > line.end && prefix[line.end..] != *b"\r";
    let open = first_line(prefix, start).filter(|line| complete(line) && is_delimiter(&prefix[start..line.end]))?;
    let close = delimiter(prefix, open.next).filter(complete)?;
    let (whole, inner) = (Span::new(start, close.next), Span::new(open.next, close.start));
    Some(Block { place: Place::Start, whole, inner, body: Parts::one(Span::at(close.next)) })
}

/// The block that begins with the delimiter `open`.
fn block_at(text: &str, open: Line) -> Option<(Span, Span)> {
    let close = delimiter(text.as_bytes(), open.next)?;
    Some((Span::new(open.start, close.next), Span::new(open.next, close.start)))
}

/// A file that is one fence, or begins with a fence around its header alone.
fn fenced(text: &str, all: Span) -> Option<Block> {
    let mut rest = lines(text, all).skip_while(|line| is_blank(line.text(text)));
    let fence_line = rest.next()?;
    let fence = fence_open(fence_line.text(text))?;
    let open = rest.find(|line| !is_blank(line.text(text)))?;
    if !is_delimiter(open.text(text).as_bytes()) {
        return None;
    }
    let (whole, inner) = block_at(text, open)?;
    let after = Span::new(whole.end, text.len());
    let body = match closing_line(text, after, &fence) {
        None => after,
        Some(close) if is_blank(&text[close.next..]) => Span::new(after.start, close.start),
        Some(close) if is_blank(&text[after.start..close.start]) => Span::new(close.next, text.len()),
        // The fence is an example inside a file that goes on.
        Some(_) => return None,
    };
    Some(Block { place: Place::Fenced, whole, inner, body: Parts::one(body) })
}

/// The line that closes the outer fence: fences with an info string inside it open inner ones.
fn closing_line(text: &str, span: Span, outer: &FenceMark) -> Option<Line> {
    let mut inner: Vec<FenceMark> = Vec::new();
    for line in lines(text, span) {
        let content = line.text(text);
        if fence_close(content, inner.last().unwrap_or(outer)) {
            if inner.pop().is_none() {
                return Some(line);
            }
        } else if let Some(mark) = fence_open(content) {
            inner.push(mark);
        }
    }
    None
}

/// A block after blank lines, at most one heading, comments and a few lines of text, outside fences.
fn after_text(text: &str, all: Span) -> Option<Block> {
    let (mut headings, mut texts) = (0, 0);
    let mut fence: Option<FenceMark> = None;
    let mut comment = false;
    for line in lines(text, all) {
        let content = line.text(text);
        let trimmed = content.trim();
        if comment {
            comment = !trimmed.contains("-->");
        } else if let Some(mark) = &fence {
            texts += 1;
            if fence_close(content, mark) {
                fence = None;
            }
        } else if is_delimiter(content.as_bytes()) {
            let (whole, inner) = block_at(text, line)?;
            let body = Parts::around(Span::new(all.start, whole.start), Span::new(whole.end, text.len()));
            return Some(Block { place: Place::After, whole, inner, body });
        } else if trimmed.is_empty() {
        } else if let Some(rest) = trimmed.strip_prefix("<!--") {
            comment = !rest.contains("-->");
        } else if trimmed.starts_with('#') {
            headings += 1;
        } else {
            texts += 1;
            fence = fence_open(content);
        }
        if headings > 1 || texts > MAX_TEXT_LINES {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(Place, &str, &str)>) {
        let found = match locate(text, 0) {
            Located::Block(block) => {
                let body: String = block.body.spans().iter().filter_map(|span| span.slice(text)).collect();
                Some((block.place, block.inner.slice(text).unwrap_or_default().to_owned(), body))
            }
            Located::Unclosed(_) | Located::Missing => None,
        };
        let expected = expected.map(|(place, inner, body)| (place, inner.to_owned(), body.to_owned()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn headers_are_found_where_they_stand() {
        use Place::{After, Fenced, Start};
        for (text, expected) in [
            ("---\na: b\n---\nx", Some((Start, "a: b\n", "x"))),
            ("---\n---\n", Some((Start, "", ""))),
            ("---\r\na: b\r\n--- \r\nx", Some((Start, "a: b\r\n", "x"))),
            ("---\ra: b\r---\rx", Some((Start, "a: b\r", "x"))),
            ("---\na: |\n  x\n  ---\n  y\n---\nz", Some((Start, "a: |\n  x\n  ---\n  y\n", "z"))),
            ("---\na: b\n----\nx\n---\ny", Some((Start, "a: b\n----\nx\n", "y"))),
            ("---\na: b\n", None),
            ("----\na: b\n---\n", None),
            ("# T\n\n---\na: b\n---\nx", Some((After, "a: b\n", "# T\n\nx"))),
            ("<!-- c\nd -->\n---\na: b\n---\nx", Some((After, "a: b\n", "<!-- c\nd -->\nx"))),
            ("\n---\na: b\n---\nx", Some((After, "a: b\n", "\nx"))),
            ("1\n2\n3\n4\n---\na: b\n---\nx", None),
            ("# A\n# B\n---\na: b\n---\nx", None),
            ("t\n```\n---\na: b\n---\n", None),
            ("```markdown\n---\na: b\n---\nx\n```\n", Some((Fenced, "a: b\n", "x\n"))),
            ("```\n---\na: b\n---\nx\n```sh\nls\n```\ny\n```", Some((Fenced, "a: b\n", "x\n```sh\nls\n```\ny\n"))),
            ("```yaml\n---\na: b\n---\n```\n# X\n", Some((Fenced, "a: b\n", "# X\n"))),
            ("```markdown\n---\na: b\n---\nx\n```\nso it is\n", None),
            ("", None),
        ] {
            check(text, expected);
        }
    }
}
