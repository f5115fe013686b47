//! As much Markdown as expansion needs: code fences and code spans, in linear time.

use crate::lines::{Line, indent, is_blank, line_around, lines};
use memchr::{memchr, memchr2};
use skillgate_core::Span;
use std::collections::BTreeMap;

/// The opening line of a fence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FenceMark {
    byte: u8,
    length: usize,
    /// Block quote markers before it.
    depth: usize,
    /// The info string in the line, without surrounding blanks.
    info: Span,
}

/// A code fence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fence {
    /// From the first byte of the opening line to the last of the closing line, without its line end.
    pub(crate) whole: Span,
    /// The info string.
    pub(crate) info: Span,
    /// The lines between.
    pub(crate) content: Span,
    /// Whether it is closed; an open fence runs to the end of the text.
    pub(crate) closed: bool,
}

/// A code span with its backticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CodeSpan {
    /// The whole of it.
    pub(crate) whole: Span,
    /// An inline injection: `` !`cmd` `` at the start of a line or after white space; the content is the command.
    pub(crate) injection: Option<Span>,
}

/// Fences and code spans of a text, each in order and not overlapping.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    pub(crate) fences: Vec<Fence>,
    pub(crate) spans: Vec<CodeSpan>,
}

/// Passes over block quote markers: how many, and where the rest begins.
fn quote_prefix(line: &str) -> (usize, usize) {
    let bytes = line.as_bytes();
    let (mut depth, mut at) = (0, 0);
    loop {
        let blank = indent(&line[at..]);
        if bytes.get(at + blank) != Some(&b'>') {
            return (depth, at);
        }
        depth += 1;
        at += blank + 1;
    }
}

/// Passes over one list marker.
fn list_marker(text: &str) -> Option<usize> {
    let blank = indent(text);
    let rest = text.as_bytes().get(blank..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marker = match rest {
        [b'-' | b'*' | b'+', b' ' | b'\t', ..] => 1,
        _ if (1..=9).contains(&digits)
            && matches!(rest.get(digits), Some(b'.' | b')'))
            && matches!(rest.get(digits + 1), Some(b' ' | b'\t')) =>
        {
            digits + 1
        }
        _ => return None,
    };
    Some(blank + marker + 1)
}

/// Reads a line as the opening of a fence; it may stand in block quotes and behind a list marker.
pub(crate) fn fence_open(line: &str) -> Option<FenceMark> {
    // Nearly every line begins with something that stands before no fence.
    let first = line.as_bytes().get(indent(line));
    if first.is_none_or(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'#' | b'|')) {
        return None;
    }
    let (depth, mut at) = quote_prefix(line);
    if let Some(marker) = list_marker(&line[at..]) {
        at += marker;
    }
    at += indent(&line[at..]);
    let rest = &line.as_bytes()[at..];
    let byte = *rest.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = rest.iter().take_while(|found| **found == byte).count();
    let info = &line[at + length..];
    if length < 3 || byte == b'`' && info.contains('`') {
        return None;
    }
    Some(FenceMark { byte, length, depth, info: trimmed(line, at + length) })
}

/// The place of `line[from..]` without white space around it.
fn trimmed(line: &str, from: usize) -> Span {
    let rest = &line[from..];
    // Nearly always there is none, and the search for other white space than blanks takes its time.
    let (first, last) = (rest.bytes().next(), rest.bytes().next_back());
    if [first, last].iter().all(|byte| byte.is_none_or(|byte| byte.is_ascii_graphic())) {
        return Span::new(from, line.len());
    }
    let start = from + (rest.len() - rest.trim_start().len());
    Span::new(start, start + rest.trim().len())
}

/// Whether the line closes the fence.
pub(crate) fn fence_close(line: &str, mark: &FenceMark) -> bool {
    let (depth, at) = quote_prefix(line);
    let rest = &line[trimmed(line, at).range()];
    depth == mark.depth && rest.len() >= mark.length && rest.bytes().all(|byte| byte == mark.byte)
}

/// Finds fences and code spans. Lines without a backtick or a tilde are looked at only where they may end a paragraph with
/// backticks in it, or a block quote with a fence in it.
pub(crate) fn scan(text: &str) -> Markdown {
    let bytes = text.as_bytes();
    let all = Span::new(0, text.len());
    let mut found = Markdown::default();
    let mut paragraph = Paragraph::default();
    let mut next = 0;
    while let Some(skip) = memchr2(b'`', b'~', &bytes[next..]) {
        let line = line_around(text, all, next, next + skip);
        if !paragraph.runs.is_empty()
            && lines(text, Span::new(next, line.start)).any(|line| starts_block(line.text(text)))
        {
            paragraph.end(text, &mut found.spans);
        }
        next = line.next;
        let content = line.text(text);
        if let Some(mark) = fence_open(content) {
            paragraph.end(text, &mut found.spans);
            let fence = fence_at(text, line, &mark);
            next = fence.1;
            found.fences.push(fence.0);
            continue;
        }
        if starts_block(content) {
            paragraph.end(text, &mut found.spans);
        }
        paragraph.add(text, line);
    }
    paragraph.end(text, &mut found.spans);
    found
}

/// The fence that `open` opens, and where the first line starts that is not of it.
fn fence_at(text: &str, open: Line, mark: &FenceMark) -> (Fence, usize) {
    let inside = Span::new(open.next, text.len());
    let fence = |end: usize, content_end: usize, closed: bool| Fence {
        whole: Span::new(open.start, end),
        info: mark.info.shifted(open.start),
        content: Span::new(open.next, content_end),
        closed,
    };
    let closed = |line: Line| (fence(line.end, line.start, true), line.next);
    if mark.depth == 0 {
        let mut next = inside.start;
        while let Some(skip) = memchr(mark.byte, &text.as_bytes()[next..]) {
            let line = line_around(text, inside, next, next + skip);
            if fence_close(line.text(text), mark) {
                return closed(line);
            }
            next = line.next;
        }
    } else {
        for line in lines(text, inside) {
            // A fence in a block quote ends with the quote.
            if quote_prefix(line.text(text)).0 < mark.depth {
                return (fence(line.start, line.start, false), line.start);
            }
            if fence_close(line.text(text), mark) {
                return closed(line);
            }
        }
    }
    (fence(text.len(), text.len(), false), text.len())
}

/// Whether a code span cannot reach over the start of this line.
fn starts_block(line: &str) -> bool {
    // Nearly every line begins with a letter, or is blank.
    match line.as_bytes().get(indent(line)) {
        Some(byte) if byte.is_ascii_alphabetic() => return false,
        None => return true,
        Some(_) => {}
    }
    let (depth, at) = quote_prefix(line);
    let rest = line[at..].trim_start();
    is_blank(rest) || depth > 0 || rest.starts_with(['#', '|']) || list_marker(rest).is_some()
}

/// A run of backticks in the paragraph.
struct Run {
    start: usize,
    length: usize,
    /// Where the line starts that it stands in.
    line_start: usize,
}

/// Backtick runs among which the next of a length is looked for one by one.
const FEW_RUNS: usize = 16;

/// The backtick runs of one paragraph.
#[derive(Default)]
struct Paragraph {
    runs: Vec<Run>,
}

impl Paragraph {
    fn add(&mut self, text: &str, line: Line) {
        let bytes = text.as_bytes();
        let mut at = line.start;
        while let Some(skip) = memchr(b'`', &bytes[at..line.end]) {
            let start = at + skip;
            let length = bytes[start..line.end].iter().take_while(|byte| **byte == b'`').count();
            self.runs.push(Run { start, length, line_start: line.start });
            at = start + length;
        }
    }

    /// Pairs the runs as CommonMark does: the next run of the same length closes.
    fn end(&mut self, text: &str, spans: &mut Vec<CodeSpan>) {
        if self.runs.is_empty() {
            return;
        }
        // For a few runs the next of a length is found sooner by looking.
        let by_length = (self.runs.len() > FEW_RUNS).then(|| {
            let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (i, run) in self.runs.iter().enumerate() {
                by_length.entry(run.length).or_default().push(i);
            }
            by_length
        });
        let bytes = text.as_bytes();
        let mut i = 0;
        while let Some(run) = self.runs.get(i) {
            if let Some(injection) = self.injection(text, i) {
                spans.push(injection);
                i += 2;
                continue;
            }
            let escaped = bytes[run.line_start..run.start].iter().rev().take_while(|byte| **byte == b'\\').count() % 2;
            let length = run.length - escaped;
            let closing = match &by_length {
                None => (i + 1..self.runs.len()).find(|index| self.runs[*index].length == length),
                Some(by_length) => by_length.get(&length).and_then(|same| {
                    let next = same.partition_point(|index| *index <= i);
                    same.get(next).copied()
                }),
            };
            match closing {
                Some(close) if length > 0 => {
                    let whole = Span::new(run.start + escaped, self.runs[close].start + length);
                    spans.push(CodeSpan { whole, injection: None });
                    i = close + 1;
                }
                _ => i += 1,
            }
        }
        self.runs.clear();
    }

    /// The injection whose opening backtick is run `i`.
    fn injection(&self, text: &str, i: usize) -> Option<CodeSpan> {
        let (open, close) = (self.runs.get(i)?, self.runs.get(i + 1)?);
        if open.length != 1 || close.length != 1 || open.line_start != close.line_start {
            return None;
        }
        let before = text[open.line_start..open.start].strip_suffix('!')?;
        let source = Span::new(open.start + 1, close.start);
        let placed = before.is_empty() || before.ends_with(char::is_whitespace);
        (placed && !source.slice(text)?.trim().is_empty())
            .then(|| CodeSpan { whole: Span::new(open.start - 1, close.start + 1), injection: Some(source) })
    }
}

/// Inline injections wherever they stand in `span`, code or not: the form alone counts.
pub(crate) fn inline_injections(text: &str, span: Span) -> Vec<CodeSpan> {
    let mut found = Vec::new();
    for line in lines(text, span) {
        let mut at = line.start;
        while let Some(start) = text[at..line.end].find("!`").map(|skip| at + skip) {
            at = start + 2;
            let placed = start == line.start || text[line.start..start].ends_with(char::is_whitespace);
            if !placed {
                continue;
            }
            let Some(length) = text[at..line.end].find('`') else { break };
            let source = Span::new(at, at + length);
            if !text[source.range()].trim().is_empty() {
                found.push(CodeSpan { whole: Span::new(start, source.end + 1), injection: Some(source) });
                at = source.end + 1;
            }
        }
    }
    found
}

/// The command of a line that is nothing but one injection.
pub(crate) fn whole_line_injection(text: &str, line: Line) -> Option<CodeSpan> {
    let content = line.text(text);
    let command = content.trim().strip_prefix("!`")?.strip_suffix('`')?;
    if command.contains('`') || command.trim().is_empty() {
        return None;
    }
    let start = line.start + (content.len() - content.trim_start().len());
    let source = Span::new(start + 2, start + 2 + command.len());
    Some(CodeSpan { whole: Span::new(start, source.end + 1), injection: Some(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_open_and_close_by_their_marks() {
        for (text, expected) in [
            ("```\na\n```\n", vec![("", "a\n", true)]),
            ("```sh\na\n````\nb", vec![("sh", "a\n", true)]),
            ("````\n```\na\n```\n````", vec![("", "```\na\n```\n", true)]),
            ("~~~ x y\n```\n~~~", vec![("x y", "```\n", true)]),
            ("``` a`b\n", vec![]),
            ("``\n", vec![]),
            ("- ```!\n  ls\n  ```", vec![("!", "  ls\n", true)]),
            ("> ```\n> a\nb", vec![("", "> a\n", false)]),
            ("```\nopen", vec![("", "open", false)]),
            ("```\u{c}sé\u{a0}\na\n```", vec![("sé", "a\n", true)]),
            ("```\r\na\r\n```\r\nb", vec![("", "a\r\n", true)]),
        ] {
            let found: Vec<_> = scan(text)
                .fences
                .iter()
                .map(|fence| (&text[fence.info.range()], &text[fence.content.range()], fence.closed))
                .collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn spans_pair_by_length_within_a_paragraph() {
        for (text, expected) in [
            ("a `b` c", vec!["`b`"]),
            ("`` a`b `` c", vec!["`` a`b ``"]),
            ("a `b\nc` d", vec!["`b\nc`"]),
            ("a `b\n\nc` d", vec![]),
            ("- a ` b\n- c ` d", vec![]),
            ("\\`a` b`", vec!["` b`"]),
            ("a ``` b", vec![]),
            ("!`ls` `x`", vec!["!`ls`", "`x`"]),
            ("k=!`ls`", vec!["`ls`"]),
            ("` !`x`", vec!["` !`"]),
            ("!``", vec![]),
            ("!` `", vec!["` `"]),
        ] {
            let found: Vec<_> = scan(text).spans.iter().map(|span| &text[span.whole.range()]).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
