//! Findings as SARIF 2.1.0, the form that code hosts and editors take.

use super::read::Checked;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};
use skillgate_core::{Code, Diagnostic, Fix, LineIndex, Position, Severity, Span};
use std::path::{Component, Path};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What is written otherwise in one part of a path in a URI.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The log of one run.
pub(super) fn log(results: Vec<Value>) -> Value {
    let rules: Vec<Value> = Code::RULES
        .iter()
        .map(|(id, about)| json!({ "id": id, "shortDescription": { "text": message(about.trim()) } }))
        .collect();
    let driver = json!({ "name": "skillgate", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
}

/// A file's findings.
pub(super) fn results(checked: &Checked<'_>) -> Vec<Value> {
    let text = Text::of(checked);
    let uri = json!({ "uri": uri(&checked.file.path) });
    checked.diagnostics.iter().map(|found| result(found, &uri, text.as_ref())).collect()
}

fn result(found: &Diagnostic, file: &Value, text: Option<&Text<'_>>) -> Value {
    let level = match found.severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let words = match &found.help {
        Some(help) => format!("{} ({help})", found.message),
        None => found.message.clone(),
    };
    let mut place = json!({ "artifactLocation": file });
    if let Some((span, text)) = found.span.zip(text) {
        place["region"] = text.region(span);
    }
    let mut result = json!({
        "ruleId": found.code.rule(),
        "level": level,
        "message": { "text": message(&words) },
        "locations": [{ "physicalLocation": place }],
    });
    if let Some(index) = Code::RULES.iter().position(|(id, _)| *id == found.code.rule()) {
        result["ruleIndex"] = json!(index);
    }
    if let Some((fix, text)) = found.fix.as_ref().zip(text) {
        let change = json!({ "artifactLocation": file, "replacements": [text.replacement(fix)] });
        result["fixes"] = json!([{ "artifactChanges": [change] }]);
    }
    result
}

/// A text as SARIF counts in it: lines and columns know nothing of a byte order mark.
struct Text<'a> {
    lines: LineIndex<'a>,
    mark: usize,
}

impl<'a> Text<'a> {
    fn of(checked: &'a Checked<'_>) -> Option<Self> {
        let mark = |source: &str| if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let document = checked.document.as_ref()?;
        Some(Self { lines: checked.lines()?, mark: mark(document.source()) })
    }

    fn position(&self, offset: usize) -> Position {
        let Position { line, column } = self.lines.position(offset.max(self.mark));
        Position { line, column: if line == 1 && self.mark > 0 { column - 1 } else { column } }
    }

    fn region(&self, span: Span) -> Value {
        let (start, end) = (self.position(span.start), self.position(span.end));
        json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
    }

    fn replacement(&self, fix: &Fix) -> Value {
        if fix.span.end <= self.mark {
            // Only bytes can say that the mark goes.
            return json!({ "deletedRegion": { "byteOffset": fix.span.start, "byteLength": fix.span.len() } });
        }
        json!({ "deletedRegion": self.region(fix.span), "insertedContent": { "text": fix.replacement } })
    }
}

/// A message's text: braces, which stand for arguments there, are doubled.
fn message(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// A path as a URI reference.
fn uri(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| match part {
            Component::RootDir => String::new(),
            part => percent_encode(part.as_os_str().as_encoded_bytes(), RESERVED).to_string(),
        })
        .collect();
    format!("{}{}", if path.is_absolute() { "file://" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        for (path, expected) in [
            ("pack/a/SKILL.md", "pack/a/SKILL.md"),
            ("./a b/SKILL.md", "a%20b/SKILL.md"),
            ("../c:d/#?.md", "../c%3Ad/%23%3F.md"),
            ("/tmp/ä/SKILL.md", "file:///tmp/%C3%A4/SKILL.md"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
