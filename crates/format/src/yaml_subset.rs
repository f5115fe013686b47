//! The part of YAML that nearly every header is written in, read without the event parser.
//!
//! [`read`] answers with exactly what [`crate::yaml`] builds from the parser's events (values, styles, spans and number of
//! events), in a small part of the time, or it declines and leaves the text to the parser. It never refuses a text, so that
//! all errors are the parser's.
//!
//! Why that is right: every form below is one that YAML reads in a single way wherever it stands, and each line is looked at
//! in full before it is taken. What could make a difference declines: a tab, a lone carriage return, a character that is not
//! printable or that some version of YAML takes for a line end; a key that is not letters, digits, `_` and `-`; an indicator at
//! the start of a value, so anchors, tags, aliases, mappings in braces and nested dashes; `: ` and ` #` inside a plain value;
//! escapes beyond `\"`, `\\`, `\/`, `\n` and `\t`; a quoted value or a bracket that does not end on its line; a block text
//! with an indentation that is given, changes, or goes on to the end of the text; a line that does not fit its neighbours. A
//! property test compares both readers on made and hostile texts.

use crate::yaml::is_null;
use memchr::{memchr, memchr2};
use skillgate_core::{Entry, Scalar, ScalarStyle, Span, Value, ValueKind};

/// Nesting of mappings; deeper ones are the parser's.
const MAX_DEPTH: usize = 8;
/// Bytes of a key; the parser has a bound on longer ones.
const MAX_KEY: usize = 128;
/// Events around the document: start and end of the stream and of the document.
const FRAME: u32 = 4;

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Subset {
    /// The document's mapping.
    pub(crate) value: Value,
    /// Events the parser would have given.
    pub(crate) events: u32,
    /// Values and keys in the tree, the root included.
    pub(crate) nodes: usize,
}

/// Reads `text`; `None` leaves it to the parser. Every offset is moved on by `base`.
pub(crate) fn read(text: &str, base: usize) -> Option<Subset> {
    if !is_ordinary(text) {
        return None;
    }
    let mut reader = Reader { text, bytes: text.as_bytes(), base, at: 0, looked: None, events: FRAME, nodes: 0 };
    let value = reader.map(0, 0)?;
    (reader.at == text.len()).then_some(Subset { value, events: reader.events, nodes: reader.nodes })
}

/// Bytes that are looked at together while they are plain.
const BLOCK: usize = 32;

/// Whether every character is printable and of one meaning in every version of YAML, and every line ends with LF or CRLF.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Without a branch and in one width, so that it is done for many bytes at once.
    let odd = |byte: &u8| u8::from(byte.wrapping_sub(b' ') > b'~' - b' ') & u8::from(*byte != b'\n');
    let is_plain = |block: &[u8; BLOCK]| block.iter().fold(0, |any, byte| any | odd(byte)) == 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].first_chunk().is_some_and(is_plain) {
            at += BLOCK;
            continue;
        }
        let end = bytes.len().min(at + BLOCK);
        while at < end {
            at += match bytes[at] {
                b' '..=b'~' | b'\n' => 1,
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                0x80.. => match text[at..].chars().next() {
                    Some('\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') | None => return false,
                    Some(c) if c < '\u{a0}' => return false,
                    Some(c) => c.len_utf8(),
                },
                _ => return false,
            };
        }
    }
    true
}

/// The bytes of a key.
const KEY: [bool; 256] = {
    let mut is_key = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        is_key[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        byte += 1;
    }
    is_key
};

/// A line that was looked at.
#[derive(Clone, Copy)]
struct Looked {
    at: usize,
    /// `None` where it is blank.
    line: Option<Line>,
    /// The end of the line's text, line end excluded.
    end: usize,
    next: usize,
}

/// A line that is not blank.
#[derive(Clone, Copy)]
struct Line {
    /// Where its text starts, behind the blanks.
    start: usize,
    /// Where its text ends, before the blanks at its end.
    end: usize,
    /// How many blanks stand before it.
    indent: usize,
    next: usize,
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    base: usize,
    /// Where the next line starts.
    at: usize,
    /// The last line that was looked at: where a value goes on over lines, the one behind it is looked at twice.
    looked: Option<Looked>,
    events: u32,
    nodes: usize,
}

impl Reader<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(start, end).shifted(self.base)
    }

    /// The end of the line's text, line end excluded, and the start of the line after it.
    fn line_end(&self, at: usize) -> (usize, usize) {
        match memchr(b'\n', &self.bytes[at..]) {
            Some(0) => (at, at + 1),
            Some(length) if self.bytes[at + length - 1] == b'\r' => (at + length - 1, at + length + 1),
            Some(length) => (at + length, at + length + 1),
            None => (self.bytes.len(), self.bytes.len()),
        }
    }

    /// The line at `at`.
    fn line(&mut self, at: usize) -> Looked {
        if let Some(looked) = self.looked.filter(|looked| looked.at == at) {
            return looked;
        }
        let (end, next) = self.line_end(at);
        let content = &self.bytes[at..end];
        let indent = content.iter().take_while(|byte| **byte == b' ').count();
        let blank = content[indent..].iter().rev().take_while(|byte| **byte == b' ').count();
        let line = Line { start: at + indent, end: end - blank, indent, next };
        let looked = Looked { at, line: (line.start < line.end).then_some(line), end, next };
        self.looked = Some(looked);
        looked
    }

    /// The next line that is neither blank nor a comment; the reader then stands at its start.
    fn peek(&mut self) -> Option<Line> {
        while self.at < self.bytes.len() {
            let Looked { line, next, .. } = self.line(self.at);
            match line {
                Some(line) if self.bytes[line.start] != b'#' => return Some(line),
                _ => self.at = next,
            }
        }
        None
    }

    fn node(&mut self, events: u32) {
        self.events += events;
        self.nodes += 1;
    }

    /// A mapping whose keys stand in this column. It has a key, or this is no mapping.
    fn map(&mut self, indent: usize, depth: usize) -> Option<Value> {
        if depth >= MAX_DEPTH {
            return None;
        }
        self.node(2);
        let mut entries: Vec<Entry> = Vec::with_capacity(if depth == 0 { 8 } else { 2 });
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return None;
            }
            entries.push(self.entry(line, depth)?);
        }
        let (first, last) = (entries.first()?, entries.last()?);
        let span = Span::new(first.key_span.start, last.value.span.end.max(last.key_span.end));
        Some(Value { span, kind: ValueKind::Map(entries) })
    }

    fn entry(&mut self, line: Line, depth: usize) -> Option<Entry> {
        let content = &self.bytes[line.start..line.end];
        let length = content.iter().take_while(|byte| KEY[usize::from(**byte)]).count();
        let first = content.first().filter(|byte| byte.is_ascii_alphabetic() || **byte == b'_');
        if first.is_none() || length > MAX_KEY || content.get(length) != Some(&b':') {
            return None;
        }
        self.node(1);
        let colon = line.start + length;
        let key_span = self.span(line.start, colon);
        let value = match content.get(length + 1) {
            None => {
                self.at = line.next;
                self.below(line.indent, colon, depth)?
            }
            Some(b' ') => {
                let blanks = content[length + 1..].iter().take_while(|byte| **byte == b' ').count();
                self.value(Line { start: colon + 1 + blanks, ..line })?
            }
            Some(_) => return None,
        };
        Some(Entry { key: self.text[line.start..colon].to_owned(), key_span, value })
    }

    /// The value of a key with nothing behind its colon.
    fn below(&mut self, indent: usize, colon: usize, depth: usize) -> Option<Value> {
        match self.peek() {
            Some(line) if line.indent >= indent && self.bytes[line.start..line.end].starts_with(b"- ") => {
                self.list(line.indent)
            }
            Some(line) if line.indent > indent => self.map(line.indent, depth + 1),
            _ => {
                self.node(1);
                Some(Value { span: self.span(colon, colon), kind: ValueKind::Null })
            }
        }
    }

    /// A list of scalars, each behind a dash in this column.
    fn list(&mut self, indent: usize) -> Option<Value> {
        self.node(2);
        let mut items = Vec::new();
        let mut start = None;
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            let content = &self.bytes[line.start..line.end];
            if line.indent > indent {
                return None;
            }
            if !content.starts_with(b"- ") {
                break;
            }
            start.get_or_insert(line.start);
            let blanks = content[1..].iter().take_while(|byte| **byte == b' ').count();
            let item = Line { start: line.start + 1 + blanks, ..line };
            self.at = line.next;
            items.push(match self.bytes[item.start] {
                b'"' | b'\'' => self.quoted_line(item)?,
                _ => self.plain(self.plain_line(item)?),
            });
        }
        let end = items.last().map(|item: &Value| item.span.end)?;
        Some(Value { span: Span::new(start? + self.base, end), kind: ValueKind::List(items) })
    }

    /// The value that starts in this line, behind a key in the column `line.indent`.
    fn value(&mut self, line: Line) -> Option<Value> {
        self.at = line.next;
        match self.bytes[line.start] {
            b'"' | b'\'' => self.quoted_line(line),
            b'[' => self.flow_list(line),
            b'|' | b'>' => self.block_text(line),
            _ => {
                let first = self.plain_line(line)?;
                self.wrapped(first, line.indent)
            }
        }
    }

    fn scalar(&mut self, start: usize, end: usize, text: String, style: ScalarStyle) -> Value {
        self.node(1);
        Value { span: self.span(start, end), kind: ValueKind::Scalar(Scalar { text, style }) }
    }

    /// A value without quotes that is all of `span`.
    fn plain(&mut self, span: Span) -> Value {
        let text = &self.text[span.range()];
        if is_null(text) {
            self.node(1);
            return Value { span: span.shifted(self.base), kind: ValueKind::Null };
        }
        self.scalar(span.start, span.end, text.to_owned(), ScalarStyle::Plain)
    }

    /// The line's text, if it can begin a value without quotes.
    fn plain_line(&self, line: Line) -> Option<Span> {
        let begins = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || byte >= 0x80
                || matches!(byte, b'(' | b'$' | b'.' | b'/' | b'_' | b'+' | b'<' | b'=' | b'~' | b';' | b'^' | b'\\')
        };
        (begins(self.bytes[line.start]) && self.is_plain(line)).then_some(Span::new(line.start, line.end))
    }

    /// Whether nothing in the line ends a value without quotes.
    fn is_plain(&self, line: Line) -> bool {
        let mut at = line.start;
        while let Some(skip) = memchr2(b':', b'#', &self.bytes[at..line.end]) {
            let found = at + skip;
            at = found + 1;
            let ends = match self.bytes[found] {
                b':' => at == line.end || self.bytes[at] == b' ',
                _ => found == line.start || self.bytes[found - 1] == b' ',
            };
            if ends {
                return false;
            }
        }
        true
    }

    /// A value without quotes and the lines that go on with it.
    fn wrapped(&mut self, first: Span, indent: usize) -> Option<Value> {
        let mut text = String::new();
        let mut end = first.end;
        let (mut at, mut blank) = (self.at, 0);
        while at < self.bytes.len() {
            let Looked { line, next, .. } = self.line(at);
            at = next;
            let Some(line) = line else {
                blank += 1;
                continue;
            };
            if line.indent <= indent {
                break;
            }
            if !self.is_plain(line) {
                return None;
            }
            if text.is_empty() {
                text.push_str(&self.text[first.range()]);
            }
            fold(&mut text, std::mem::take(&mut blank));
            text.push_str(&self.text[line.start..line.end]);
            (end, self.at) = (line.end, line.next);
        }
        if text.is_empty() {
            return Some(self.plain(first));
        }
        Some(self.scalar(first.start, end, text, ScalarStyle::Plain))
    }

    /// A quoted value that is all of the line.
    fn quoted_line(&mut self, line: Line) -> Option<Value> {
        let (text, end) = self.quoted(line.start, line.end)?;
        (end == line.end).then(|| self.scalar(line.start, end, text, ScalarStyle::Text))
    }

    /// The text between the quotes that open at `start`, and where it ends.
    fn quoted(&self, start: usize, limit: usize) -> Option<(String, usize)> {
        let quote = self.bytes[start];
        let mut text = String::with_capacity(limit - start);
        let mut at = start + 1;
        loop {
            let found = at + memchr2(quote, b'\\', &self.bytes[at..limit])?;
            let next = self.bytes.get(found + 1).filter(|_| found + 1 < limit);
            if self.bytes[found] == quote {
                text.push_str(&self.text[at..found]);
                if quote == b'"' || next != Some(&quote) {
                    return Some((text, found + 1));
                }
                text.push('\'');
                at = found + 2;
            } else if quote == b'\'' {
                text.push_str(&self.text[at..=found]);
                at = found + 1;
            } else {
                text.push_str(&self.text[at..found]);
                text.push(match next? {
                    b'"' => '"',
                    b'\\' => '\\',
                    b'/' => '/',
                    b'n' => '\n',
                    b't' => '\t',
                    _ => return None,
                });
                at = found + 2;
            }
        }
    }

    /// A list in brackets that is all of the line and holds scalars only.
    fn flow_list(&mut self, line: Line) -> Option<Value> {
        self.node(2);
        let after_blanks = |bytes: &[u8], at: usize| at + bytes[at..].iter().take_while(|byte| **byte == b' ').count();
        let bytes = &self.bytes[..line.end];
        let mut items = Vec::new();
        let mut at = after_blanks(bytes, line.start + 1);
        if bytes.get(at) == Some(&b']') {
            at += 1;
        } else {
            loop {
                let item = match bytes.get(at)? {
                    b'"' | b'\'' => {
                        let (text, end) = self.quoted(at, line.end)?;
                        self.scalar(at, end, text, ScalarStyle::Text)
                    }
                    _ => {
                        let end = self.flow_plain(at, line.end)?;
                        self.plain(Span::new(at, end))
                    }
                };
                at = after_blanks(bytes, item.span.end - self.base);
                items.push(item);
                match bytes.get(at)? {
                    b',' => at = after_blanks(bytes, at + 1),
                    b']' => break,
                    _ => return None,
                }
            }
            at += 1;
        }
        (at == line.end).then(|| Value { span: self.span(line.start, line.end), kind: ValueKind::List(items) })
    }

    /// Where the item without quotes ends that starts at `start` in a list in brackets.
    fn flow_plain(&self, start: usize, limit: usize) -> Option<usize> {
        let bytes = &self.bytes[..limit];
        let begins = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'.' | b'/');
        if !begins(*bytes.get(start)?) {
            return None;
        }
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b',' | b']' => break,
                b'[' | b'{' | b'}' | b'#' | b'"' | b'\'' => return None,
                b':' if !bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'*') => {
                    return None;
                }
                _ => at += 1,
            }
        }
        Some(start + self.text[start..at].trim_end_matches(' ').len())
    }

    /// A block text (`|` or `>`, also with `-`) whose lines all have one indentation, and that a line end closes.
    fn block_text(&mut self, line: Line) -> Option<Value> {
        let (folded, strip) = match &self.bytes[line.start..line.end] {
            b"|" => (false, false),
            b"|-" => (false, true),
            b">" => (true, false),
            b">-" => (true, true),
            _ => return None,
        };
        let first = self.line(self.at).line.filter(|first| first.indent > line.indent)?;
        let mut text = String::new();
        let mut end = first.start;
        let (mut at, mut blank) = (self.at, 0);
        while at < self.bytes.len() {
            let Looked { at: line_start, line: content, end: content_end, next } = self.line(at);
            at = next;
            let Some(content) = content else {
                if content_end - line_start > first.indent {
                    return None;
                }
                blank += 1;
                continue;
            };
            if content.indent < first.indent {
                if content.indent > line.indent {
                    return None;
                }
                break;
            }
            // A longer indentation, and blanks at a line's end, have a meaning of their own in folded text.
            if folded && (content.indent > first.indent || content.end < content_end) {
                return None;
            }
            if !text.is_empty() {
                if folded { fold(&mut text, blank) } else { (0..=blank).for_each(|_| text.push('\n')) }
            }
            blank = 0;
            text.push_str(&self.text[line_start + first.indent..content_end]);
            (end, self.at) = (content.end, next);
            if next == content_end {
                // Whether the text then ends with a line end is a matter of taste.
                return None;
            }
        }
        if !strip {
            text.push('\n');
        }
        Some(self.scalar(first.start, end, text, ScalarStyle::Text))
    }
}

/// What stands between two lines of folded text with so many blank lines between them.
fn fold(text: &mut String, blank: usize) {
    if blank == 0 {
        text.push(' ');
    } else {
        (0..blank).for_each(|_| text.push('\n'));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the published cases are files")]

    use super::*;
    use crate::header::{Located, locate};
    use crate::yaml::{Steps, parse_events};
    use proptest::prelude::*;

    /// Compares both readers on a text; whether this one answered.
    fn agrees(text: &str, base: usize) -> bool {
        let Some(found) = read(text, base) else { return false };
        let mut steps = Steps::new();
        let expected = parse_events(text, base, &mut steps, |_| false).expect("only what is YAML is answered");
        assert_eq!((&found.value, found.events), (&expected.value, steps.taken()), "{text:?}");
        assert_eq!(expected.aliases, []);
        assert_eq!(found.nodes, count(&expected.value), "{text:?}");
        true
    }

    /// Values and keys, as the bound on them counts.
    fn count(value: &Value) -> usize {
        1 + match &value.kind {
            ValueKind::List(items) => items.iter().map(count).sum(),
            ValueKind::Map(entries) => entries.iter().map(|entry| 1 + count(&entry.value)).sum(),
            ValueKind::Null | ValueKind::Scalar(_) => 0,
        }
    }

    #[test]
    fn the_usual_forms_are_read_here_and_the_rest_is_left() {
        for (text, expected) in [
            ("a: b\n", true),
            ("a: b", true),
            ("a:   b c  \r\n\r\nd-e_1: 'it''s' \r\n", true),
            ("a: \"b: # c\"\nd: \"say \\\"x\\\"\\n\\t\\\\ \\/\"\n", true),
            ("a: \"\"\nb: ''\nc:\nd: ~\ne: null", true),
            ("# c\na: b # c\n", false),
            ("# c\n  # d\na: b\n# e\n\nc:\n  # f\n", true),
            ("a: b\n  # c\n", false),
            ("a: [b, 'c', \"d, e\", Bash(git log:*) , ]", false),
            ("a: [b, 'c', \"d, e\", Bash(git log:*) ]\nb: []\nc: [ ]\n", true),
            ("a:\n- b\n-  'c'  \nd:\n  - e f\n\n  - \"g\"\n", true),
            ("a:\n  b: c\n  d:\n    e: f\n  g:\nh: i\n", true),
            ("a: |\n  b\n   c: d\n\n  # e\nf: >-\n b\n c\n\n\n d\n\ng: |-\n  x  \n", true),
            ("a: b\n  c\n\n  d\ne: f\n", true),
            ("a: 1.10\nb: true\nc: 2026-01-01\n", true),
            ("a: b\u{e4}\u{2014}\u{1f600}c\n", true),
            ("a: b\na: c\n", true),
            ("a: b\tc\n", false),
            ("a: b\rc: d\r", false),
            ("a: b: c\n", false),
            ("a: b:\n", false),
            ("a: b #c\n", false),
            ("a: *b\n", false),
            ("a: &b c\n", false),
            ("a: !!str c\n", false),
            ("a: {b: c}\n", false),
            ("a: - b\n", false),
            ("a:\n  - b: c\n", false),
            ("a:\n  - - b\n", false),
            ("a:\n - b\n c: d\n", false),
            ("a: \"b\n  c\"\n", false),
            ("a: \"\\x41\"\n", false),
            ("a: |2\n  b\n", false),
            ("a: |\n  b", false),
            ("a: >\n  b\n   c\n", false),
            ("a: |\n\n  b\n", false),
            ("a: b\nc\n", false),
            (" a: b\n", false),
            ("a: b\n...\n", false),
            ("a: b\n---\nc: d\n", false),
            ("\"a\": b\n", false),
            ("a b: c\n", false),
            ("a: \u{2028}\n", false),
            ("text\n", false),
            ("", false),
        ] {
            assert_eq!(agrees(text, 7), expected, "{text:?}");
        }
    }

    #[test]
    fn the_bounds_are_the_parsers() {
        let deep = |depth: usize| (0..depth).map(|at| format!("{}a:\n", " ".repeat(at))).collect::<String>();
        assert!(agrees(&deep(MAX_DEPTH), 0));
        assert!(!agrees(&deep(MAX_DEPTH + 1), 0));
        assert!(agrees(&format!("{}: {}\n", "k".repeat(MAX_KEY), "v ".repeat(5_000)), 0));
        assert!(!agrees(&format!("{}: v\n", "k".repeat(MAX_KEY + 1)), 0));
        assert!(agrees(&format!("a: [{}z]\n", "x, ".repeat(5_000)), 0));
        assert!(agrees(&format!("a: \"{}\"\nb: '{}'\n", "x ".repeat(5_000), "y ".repeat(5_000)), 0));
    }

    #[test]
    fn the_published_cases_read_the_same() {
        let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format");
        let (mut all, mut answered) = (0, 0);
        for case in std::fs::read_dir(cases).expect("the cases are in the project") {
            for file in std::fs::read_dir(case.expect("a case").path()).expect("a case is a directory") {
                let text = std::fs::read(file.expect("a file").path()).expect("a file of a case");
                let text = String::from_utf8_lossy(&text);
                if let Located::Block(block) = locate(&text, 0) {
                    all += 1;
                    answered += usize::from(agrees(&text[block.inner.range()], block.inner.start));
                }
            }
        }
        assert!(all >= 20 && answered * 2 > all, "{answered} of {all}");
    }

    /// A value as it stands behind a key or a dash, in the usual forms and in others.
    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-zA-Z0-9(/$._~][ -~]{0,12}",
            2 => "[ -~]{0,12}",
            2 => "[a-z,.' ]{0,12}",
            1 => "\"[ -!#-\\[\\]-~\\\\\"ntx]{0,8}\" ?",
            1 => "'[ -&(-~']{0,8}' {0,2}",
            1 => "\\[ ?[a-z:*() \"',\\[\\]{}#]{0,12} ?\\] ?",
            2 => "\\[[a-z]{1,3}( ?, ?([a-z]{1,3}|\"[a-z, ]{0,3}\"|'[a-z]'|a:\\*|a: b|null)){0,3}\\]",
            1 => "[|>][-+2]? ?",
            1 => prop::sample::select(vec![
                "", "null", "Null", "~", "true", "1.10", "- a", "? a", "*a", "&a b", "!t a", "{a: b}", "a: b", "a #b", "#",
                "a#b", "a:b", "a:", "---", "...", "\u{e4}\u{a0}", "\u{85}", "\u{feff}", "%a", "@a", "`a`", "-a", "?a", ":a",
            ]).prop_map(str::to_owned),
        ]
    }

    /// Lines of a header: keys, items, continuations, comments and blank lines at small indentations.
    fn header() -> impl Strategy<Value = String> {
        let key = prop_oneof![6 => "[a-z][a-z_-]{0,3}", 1 => "[ -~]{0,4}", 1 => Just("null".to_owned())];
        let indent = prop_oneof![5 => Just(0usize), 2 => Just(2), 1 => Just(1), 1 => Just(4)];
        let line = (indent, key, value(), 0..20u8).prop_map(|(indent, key, value, kind)| {
            let content = match kind {
                0..9 => format!("{key}: {value}"),
                9..11 => format!("{key}:"),
                11..14 => format!("- {value}"),
                14..16 => value,
                16 => format!("# {value}"),
                17 => String::new(),
                18 => format!("{key}:{value}"),
                _ => format!("- {key}: {value}"),
            };
            format!("{}{content}", " ".repeat(indent))
        });
        let end = prop_oneof![6 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\t\n")];
        (prop::collection::vec(line, 0..7), end, any::<bool>())
            .prop_map(|(lines, end, closed)| lines.join(end) + if closed { end } else { "" })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_answered_is_what_the_parser_says(text in header(), base in 0..9usize) {
            agrees(&text, base);
        }

        #[test]
        fn so_it_is_for_texts_of_nothing_but_signs(text in "[a-c:#\\-\\[\\]{}|>\"'&*!?%@`,~. \t\r\n\\\\\u{85}\u{e4}]{0,24}") {
            agrees(&format!("k: {text}"), 0);
            agrees(&format!("k:\n  - {text}"), 0);
            agrees(&text, 0);
        }
    }
}
