//! Bytes to a document: every span is sound, no byte and no key is lost, and a prefix reads as the whole.

use skillgate_core::{Code, Diagnostic, HeaderState, Profile, Span, Value, ValueKind};
use skillgate_format::{Document, ReadOptions, export_standard, scan};

/// Reads `data` as a file in every profile.
pub fn bytes_to_document(data: &[u8]) {
    for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
        let options = ReadOptions { profile, directory_name: Some("dir".to_owned()), ..ReadOptions::default() };
        let document = Document::read(data, &options);
        spans_are_sound(&document);
        no_byte_is_lost(&document);
        no_key_is_lost(&document);
        a_prefix_reads_as_the_whole(data, &document, &options);
        let _only_must_not_panic = export_standard(&document);
        for found in scan(&document) {
            diagnostic_is_sound(&found, document.source());
        }
    }
}

fn inside(span: Span, source: &str) -> bool {
    span.slice(source).is_some()
}

fn diagnostic_is_sound(found: &Diagnostic, source: &str) {
    assert!(found.span.is_none_or(|span| inside(span, source)), "{found:?}");
    assert!(found.fix.as_ref().is_none_or(|fix| inside(fix.span, source)), "{found:?}");
}

/// Every span is a range of the source that cuts no character.
fn spans_are_sound(document: &Document) {
    let source = document.source();
    for found in document.diagnostics() {
        diagnostic_is_sound(found, source);
    }
    let header = document.header_span();
    let mut pending: Vec<&Value> = Vec::new();
    for entry in document.entries() {
        let within =
            header.is_some_and(|header| header.start <= entry.key_span.start && entry.key_span.end <= header.end);
        assert!(within && inside(entry.key_span, source), "{entry:?}");
        pending.push(&entry.value);
    }
    while let Some(value) = pending.pop() {
        assert!(inside(value.span, source), "{value:?}");
        match &value.kind {
            ValueKind::List(items) => pending.extend(items),
            ValueKind::Map(entries) => {
                assert!(entries.iter().all(|entry| inside(entry.key_span, source)), "{entries:?}");
                pending.extend(entries.iter().map(|entry| &entry.value));
            }
            ValueKind::Null | ValueKind::Scalar(_) => {}
        }
    }
    let body = document.body();
    for offset in (0..=body.len()).filter(|offset| body.is_char_boundary(*offset)) {
        assert!(source.is_char_boundary(document.source_offset(offset)), "{offset} of the body");
    }
}

/// The source is a byte order mark, the header and the body, and of a fence around the header what a diagnostic names.
fn no_byte_is_lost(document: &Document) {
    let source = document.source();
    let refused = document.diagnostics().iter().any(|found| found.code == Code::FileTooLarge);
    let fenced = document.diagnostics().iter().any(|found| found.code == Code::FrontmatterFenced);
    if refused || fenced {
        return;
    }
    let mark = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let kept = document.body_spans().iter().map(|span| span.len()).sum::<usize>();
    let header = document.header_span().map_or(0, |span| span.len());
    // An unclosed header is body, because nobody knows where it would have ended.
    assert_eq!(mark + header + kept, source.len(), "{:?}", document.header_state());
}

/// A line of the header that begins with `key:` is an entry, or lies in the value of one, or in a diagnostic; or nothing of
/// the header is used, and a diagnostic says so.
fn no_key_is_lost(document: &Document) {
    let source = document.source();
    if document.failed_closed() {
        assert!(!document.diagnostics().is_empty());
        return;
    }
    let Some(header) = document.header_span() else { return };
    assert_ne!(document.header_state(), HeaderState::Absent);
    let covering = |span: Span, place: usize| span.start <= place && place < span.end;
    let mut at = header.start;
    for line in header.slice(source).unwrap_or_default().split_inclusive(['\n', '\r']) {
        if let Some(key) = key_of(line) {
            let entry = document.entries().iter().any(|entry| entry.key_span.start == at && entry.key == key);
            let in_value = document.entries().iter().any(|entry| covering(entry.value.span, at));
            let found = document.diagnostics().iter().any(|found| found.span.is_some_and(|span| covering(span, at)));
            assert!(entry || in_value || found, "`{key}` at {at}: {:?}", document.entries());
        }
        at += line.len();
    }
}

/// The key of a line that no YAML reads otherwise than as a key, outside of a value that runs over it.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (plain && (rest.is_empty() || rest.starts_with([' ', '\n', '\r']))).then_some(key)
}

fn a_prefix_reads_as_the_whole(data: &[u8], whole: &Document, options: &ReadOptions) {
    for length in [32, 256, data.len()] {
        let Some(prefix) = data.get(..length.min(data.len())) else { continue };
        let Some(head) = Document::read_prefix(prefix, options) else { continue };
        assert_eq!(head.frontmatter(), whole.frontmatter());
        assert_eq!(head.header_state(), whole.header_state());
        assert_eq!(head.label(), whole.label());
        assert_eq!(head.description(), whole.description());
    }
}
