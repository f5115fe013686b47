//! The published shapes of `tests/cases/expand`, as far as they can be checked without a shell: which injections there are,
//! and the text with the outputs that the case gives. The vectors that would run are checked where there is a shell.
#![expect(clippy::disallowed_methods, reason = "the cases are files")]

use serde_json::{Map, Value};
use skillgate_core::Profile;
use skillgate_format::{Document, FilledTemplate, ReadOptions, Template, TemplateOptions, Values};
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/expand")
}

#[test]
fn every_case_expands_as_expected() {
    let mut names: Vec<_> = fs::read_dir(cases())
        .expect("the cases are in the project")
        .map(|entry| entry.expect("a case's directory can be listed").path())
        .collect();
    names.sort();
    assert_eq!(names.len(), 17);
    let failures: Vec<String> = names.iter().flat_map(|path| run(path)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A case under one profile.
struct Expansion {
    body: String,
    commands: Vec<String>,
    text: Result<String, String>,
}

fn run(directory: &Path) -> Vec<String> {
    let case = directory.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let expected: Map<String, Value> =
        serde_json::from_slice(&fs::read(directory.join("expected.json")).expect("expected.json"))
            .expect("expected.json is an object");
    let mut failures = Vec::new();
    for (key, value) in &expected {
        let profile = match key.as_str() {
            "expect" => Profile::Safe,
            "expect_claude" => Profile::Claude,
            "case" | "file" | "about" | "seen" | "note" | "args" | "context" | "fake_outputs" => continue,
            _ => {
                failures.push(format!("{case}: the runner does not know the key `{key}`"));
                continue;
            }
        };
        let expansion = expand(directory, &expected, profile);
        let found = compare(&expansion, value.as_object().expect("an object"));
        failures.extend(found.into_iter().map(|failure| format!("{case} under {profile}: {failure}")));
    }
    failures
}

fn expand(directory: &Path, expected: &Map<String, Value>, profile: Profile) -> Expansion {
    let bytes = fs::read(directory.join("SKILL.md")).expect("SKILL.md");
    let document = Document::read(&bytes, &ReadOptions { profile, ..ReadOptions::default() });
    let body = document.body().into_owned();
    let template = Template::parse(&body, &TemplateOptions::new(profile, document.frontmatter()));
    let context = expected["context"].as_object().expect("`context` is an object");
    for key in context.keys() {
        assert!(["skill_dir", "project_dir", "session_id", "plugin_root", "cwd"].contains(&key.as_str()), "{key}");
    }
    let filled = template.fill(&Values {
        arguments: expected["args"].as_str(),
        skill_dir: context["skill_dir"].as_str(),
        project_dir: context["project_dir"].as_str(),
        session_id: context["session_id"].as_str(),
        plugin_root: context["plugin_root"].as_str(),
        ..Values::default()
    });
    let commands = filled.injections().iter().map(|injection| injection.source.clone()).collect();
    Expansion { body, commands, text: text(&filled, expected["fake_outputs"].as_object().expect("an object")) }
}

/// The text with the case's outputs; `Err` names an injection without one.
fn text(filled: &FilledTemplate, outputs: &Map<String, Value>) -> Result<String, String> {
    let mut found = Vec::new();
    for injection in filled.injections() {
        let word = injection.source.split_whitespace().next().unwrap_or_default();
        let output = outputs.get(&injection.source).or_else(|| outputs.get(word)).and_then(Value::as_str);
        found.push(output.ok_or_else(|| injection.source.clone())?.to_owned());
    }
    Ok(filled.assemble(&found))
}

fn compare(expansion: &Expansion, expect: &Map<String, Value>) -> Vec<String> {
    let mut failures = Vec::new();
    let text = &expansion.text;
    let holds = |part: &Value| text.as_ref().is_ok_and(|text| text.contains(part.as_str().expect("a text")));
    let list = |value: &Value| value.as_array().expect("a list").clone();
    for (key, wanted) in expect {
        let right = match key.as_str() {
            "commands" => Value::from(expansion.commands.clone()) == *wanted,
            "text" => text.as_deref().ok() == wanted.as_str(),
            "contains" => list(wanted).iter().all(holds),
            "not_contains" => text.is_ok() && !list(wanted).iter().any(holds),
            "unchanged" => text.as_deref() == Ok(expansion.body.as_str()),
            "any_of" => list(wanted)
                .iter()
                .filter_map(Value::as_object)
                .filter(|alternative| !alternative.contains_key("error"))
                .any(|alternative| compare(expansion, alternative).is_empty()),
            "note" | "note_claude" => true,
            // Checked where there is a shell.
            "commands_argv" | "must_not_run" | "permission_heads" => true,
            _ => {
                failures.push(format!("the runner does not know the key `{key}`"));
                continue;
            }
        };
        if !right {
            failures.push(format!("`{key}` is {text:?} with commands {:?}, not {wanted}", expansion.commands));
        }
    }
    failures
}
