//! The published shapes of `tests/cases/format`, each read and compared with what is expected of it.
#![expect(clippy::disallowed_methods, reason = "the cases are files")]

use serde_json::{Map, Value};
use skillgate_core::{Code, HeaderState, Severity};
use skillgate_format::{Document, Fields, ReadOptions, fix_all};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format")
}

#[test]
fn every_case_reads_as_expected() {
    let mut names: Vec<_> = fs::read_dir(cases())
        .expect("the cases are in the project")
        .map(|entry| entry.expect("a case's directory can be listed").path())
        .collect();
    names.sort();
    assert_eq!(names.len(), 25);
    let failures: Vec<String> = names.iter().flat_map(|path| check(path)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What differs from the expectation.
fn check(directory: &Path) -> Vec<String> {
    let case = directory.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let expected: Map<String, Value> =
        serde_json::from_slice(&fs::read(directory.join("expected.json")).expect("expected.json"))
            .expect("expected.json is an object");
    let file = text(&expected["file"]);
    let dir = text(&expected["dir"]);
    let bytes = fs::read(directory.join(&file)).expect("the case's file");
    let options = ReadOptions { directory_name: Some(dir), file_name: Some(file), ..ReadOptions::default() };
    let document = Document::read(&bytes, &options);
    let mut failures = Vec::new();
    for key in expected.keys() {
        if !["case", "file", "dir", "about", "seen", "note", "expect"].contains(&key.as_str()) {
            failures.push(format!("{case}: the runner does not know the key `{key}`"));
        }
    }
    let expect = expected["expect"].as_object().expect("`expect` is an object");
    for (key, wanted) in expect {
        let found = match key.as_str() {
            // Reading never fails; a case that must not load would need a loader.
            "load" => Value::Bool(true),
            "frontmatter" => Value::String(state(document.header_state()).to_owned()),
            "name" => Value::String(document.label().to_owned()),
            "command" => document.command().map_or(Value::Null, |command| Value::String(command.to_owned())),
            "description" => document.description().map_or(Value::Null, |found| Value::String(found.text.to_owned())),
            "body_first_line" => document.body_first_line().map_or(Value::Null, Value::String),
            "fields" => {
                let fields = serde_json::to_value(Fields(document.frontmatter())).expect("fields are JSON");
                let wanted = wanted.as_object().expect("`fields` is an object");
                Value::Object(
                    wanted.keys().map(|key| (key.clone(), fields.get(key).cloned().unwrap_or(Value::Null))).collect(),
                )
            }
            "diagnostics" => {
                let wanted: BTreeSet<String> = wanted.as_array().expect("a list").iter().map(text).collect();
                let found: BTreeSet<String> =
                    document.diagnostics().iter().map(|found| found.code.to_string()).collect();
                let loud: BTreeSet<String> = document
                    .diagnostics()
                    .iter()
                    .filter(|found| found.severity > Severity::Info)
                    .map(|found| found.code.to_string())
                    .collect();
                for code in wanted.difference(&found) {
                    failures.push(format!("{case}: no `{code}`, only {found:?}"));
                }
                for code in loud.difference(&wanted) {
                    failures.push(format!("{case}: `{code}` was not expected"));
                }
                continue;
            }
            _ => {
                failures.push(format!("{case}: the runner does not know the key `expect.{key}`"));
                continue;
            }
        };
        if found != *wanted {
            failures.push(format!("{case}: `{key}` is {found}, not {wanted}"));
        }
    }
    let fixed = fix_all(&bytes, &options);
    assert!(fixed.diagnostics().iter().all(|found| found.fix.is_none()), "{case}: {:?}", fixed.diagnostics());
    assert_eq!(fix_all(fixed.source().as_bytes(), &options).source(), fixed.source(), "{case} is fixed twice");
    assert_eq!(fixed.label(), document.label(), "{case} is fixed into something else");
    assert_eq!(fixed.body(), document.body(), "{case}: a fix is not about the text");
    for found in document.diagnostics() {
        if let Some(span) = found.span {
            assert!(span.slice(document.source()).is_some(), "{case}: {found} lies outside of the file");
        }
        // Every code of the cases is one that the core knows.
        let json = serde_json::to_value(&found.code).expect("a code is JSON");
        assert_eq!(serde_json::from_value::<Code>(json).expect("a code reads back"), found.code);
    }
    failures
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn state(state: HeaderState) -> &'static str {
    match state {
        HeaderState::Parsed => "parsed",
        HeaderState::Recovered => "recovered",
        HeaderState::Absent => "absent",
        HeaderState::Empty => "empty",
        HeaderState::Unclosed => "unclosed",
        HeaderState::Unparseable => "unparseable",
    }
}
