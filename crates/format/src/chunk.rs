//! Cutting a header that is not YAML into its top-level keys, so that each can be read alone.

use crate::key;
use crate::lines::{Line, indent, is_blank, lines};
use skillgate_core::Span;

/// One top-level key with everything that belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chunk {
    /// The key as written.
    pub(crate) key: String,
    /// The key's bytes.
    pub(crate) key_span: Span,
    /// From the start of the key's line to the end of its last line that is not blank, without the line end.
    pub(crate) span: Span,
    /// What follows the colon on the key's line, without surrounding blanks.
    pub(crate) first: Span,
    /// Where the lines after the key's line begin.
    pub(crate) rest: usize,
}

impl Chunk {
    /// The bytes of the value: from its first byte, on the key's line or below.
    pub(crate) fn value_span(&self) -> Span {
        if self.first.is_empty() {
            Span::new(self.rest.min(self.span.end), self.span.end)
        } else {
            Span::new(self.first.start, self.span.end)
        }
    }
}

/// Cuts `text[inner]`; `None` when something stands before the first key or there is no key.
pub(crate) fn chunks(text: &str, inner: Span) -> Option<Vec<Chunk>> {
    let all: Vec<Line> = lines(text, inner).collect();
    let mut found: Vec<Chunk> = Vec::new();
    let mut base = None;
    // Searching for the end of a quoted or bracketed value may look at every byte a few times, not once per key.
    let mut budget = 4 * inner.len();
    let mut i = 0;
    while let Some(line) = all.get(i) {
        let content = line.text(text);
        let key = key_of(content).filter(|_| base.is_none_or(|base| indent(content) <= base));
        if let Some(length) = key {
            let start = line.start + indent(content);
            base.get_or_insert(indent(content));
            let key_span = Span::new(start, start + length);
            let after = &text[key_span.end + 1..line.end];
            let first_start = key_span.end + 1 + indent(after);
            let first = Span::new(first_start, first_start + after.trim().len());
            let close = closing_line(text, &all[i..], first, &mut budget);
            found.push(Chunk {
                key: unquoted(&text[key_span.range()]).to_owned(),
                key_span,
                span: Span::new(line.start, all[i + close].end),
                first,
                rest: line.next,
            });
            i += close + 1;
            continue;
        }
        match found.last_mut() {
            // A comment at the margin belongs to nobody.
            Some(chunk) if !is_blank(content) && !content.starts_with('#') => chunk.span.end = line.end,
            None if !is_blank(content) && !content.trim_start().starts_with('#') => return None,
            _ => {}
        }
        i += 1;
    }
    (!found.is_empty()).then_some(found)
}

/// The length of the key that a line begins with: without white space, unless it is a known key in another spelling.
fn key_of(line: &str) -> Option<usize> {
    let content = line.trim_start_matches([' ', '\t']);
    let colon = content
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| content[at + 1..].is_empty() || content[at + 1..].starts_with([' ', '\t']))?;
    let key = &content[..colon];
    let plausible = match key.chars().next()? {
        '"' | '\'' => key.len() > 2 && key.ends_with(&key[..1]),
        '-' | '#' | '[' | '{' | '?' | '*' | '&' | '!' | '|' | '>' | '@' | '`' | '%' | ',' => false,
        _ => !key.contains([' ', '\t', '"']) || key::find(key).is_some(),
    };
    plausible.then_some(colon)
}

fn unquoted(key: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote)) {
            return inner;
        }
    }
    key
}

/// How many lines further a quoted or bracketed value ends, when it ends cleanly; else 0.
fn closing_line(text: &str, rest: &[Line], first: Span, budget: &mut usize) -> usize {
    let bytes = text.as_bytes();
    let Some(opening) =
        bytes.get(first.start).filter(|byte| !first.is_empty() && matches!(byte, b'"' | b'\'' | b'[' | b'{'))
    else {
        return 0;
    };
    let quoted = matches!(opening, b'"' | b'\'');
    let (mut depth, mut quote) = (0usize, None);
    for (index, line) in rest.iter().enumerate() {
        let mut at = line.start.max(first.start);
        while at < line.end {
            if *budget == 0 {
                return 0;
            }
            *budget -= 1;
            let byte = bytes[at];
            match (quote, byte) {
                (Some(b'"'), b'\\') => at += 1,
                (Some(b'\''), b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 1,
                (Some(open), _) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'[' | b'{') => depth += 1,
                (None, b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if quote.is_none() && (quoted || depth == 0) {
                let after = text.get(at..line.end).unwrap_or_default().trim_start();
                return if after.is_empty() || after.starts_with('#') { index } else { 0 };
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_keeps_what_belongs_to_it() {
        for (text, expected) in [
            ("a: b\nc: d\n", Some(vec!["a: b", "c: d"])),
            ("a: b\nand more\nc: d", Some(vec!["a: b\nand more", "c: d"])),
            ("a:\n- x\n- y: z\nc: d", Some(vec!["a:\n- x\n- y: z", "c: d"])),
            ("a: x\n\n  Word: y\n\nb: z", Some(vec!["a: x\n\n  Word: y", "b: z"])),
            ("a: \"x\nb: y\"\nc: d", Some(vec!["a: \"x\nb: y\"", "c: d"])),
            ("a: \"x\nb: y\nc: d", Some(vec!["a: \"x", "b: y", "c: d"])),
            ("a: {\n\"b\": 1\n}\nc: d", Some(vec!["a: {\n\"b\": 1\n}", "c: d"])),
            ("a: [x] [y]\nb: [p", Some(vec!["a: [x] [y]", "b: [p"])),
            ("# c\n a: b\n c: d", Some(vec![" a: b", " c: d"])),
            ("a: x\nwords with: colon\nb: y", Some(vec!["a: x\nwords with: colon", "b: y"])),
            ("a: x\nallowed tools: y", Some(vec!["a: x", "allowed tools: y"])),
            ("text\na: b", None),
            ("- a", None),
            ("", None),
        ] {
            let found = chunks(text, Span::new(0, text.len()))
                .map(|chunks| chunks.iter().map(|chunk| &text[chunk.span.range()]).collect::<Vec<_>>());
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
