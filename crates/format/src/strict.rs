//! The open standard: validation and the standard form.

use crate::document::Document;
use crate::key;
use crate::lists::split_list;
use crate::quote::scalar;
use crate::reading::MAX_DESCRIPTION;
use skillgate_core::{Code, Diagnostic, Guarded, HeaderState, Span, Value, ValueKind};
use std::fmt::Write as _;

/// Characters a name may have.
const MAX_NAME: usize = 64;
/// Characters `compatibility` may have.
const MAX_COMPATIBILITY: usize = 500;

/// Everything that does not follow the open standard.
pub(crate) fn check(document: &Document, directory: Option<&str>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut report = |span: Option<Span>, message: String| {
        let mut found = Diagnostic::new(Code::NotStandard, message);
        found.span = span;
        diagnostics.push(found);
    };
    match document.header_state() {
        HeaderState::Parsed => {}
        HeaderState::Recovered => report(None, "the header is not plain YAML at the start of the file".into()),
        HeaderState::Absent | HeaderState::Empty => {
            report(None, "the header with `name` and `description` is missing".into())
        }
        HeaderState::Unclosed | HeaderState::Unparseable => report(None, "the header cannot be read".into()),
    }
    for entry in document.entries() {
        if !key::KEYS.iter().any(|key| key.standard && key.name == entry.key) {
            report(Some(entry.key_span), format!("the standard has no key `{}`", entry.key));
        }
    }
    match &document.frontmatter().name {
        None => report(None, "`name` is missing".into()),
        Some(name) => {
            if let Some(problem) = standard_name_problem(&name.value) {
                report(Some(name.span), format!("the name `{}` {problem}", name.value));
            }
            if let Some(directory) = directory.filter(|directory| *directory != name.value) {
                report(Some(name.span), format!("the name `{}` is not the directory's name `{directory}`", name.value));
            }
        }
    }
    match &document.frontmatter().description {
        None => report(None, "`description` is missing".into()),
        Some(description) => {
            let length = description.value.chars().count();
            if length > MAX_DESCRIPTION {
                report(
                    Some(description.span),
                    format!("the description has {length} characters; 1 to {MAX_DESCRIPTION} are allowed"),
                );
            }
        }
    }
    if let Some(compatibility) = &document.frontmatter().compatibility {
        let length = compatibility.value.chars().count();
        if length > MAX_COMPATIBILITY {
            report(
                Some(compatibility.span),
                format!("`compatibility` has {length} characters; at most {MAX_COMPATIBILITY} are allowed"),
            );
        }
    }
    for entry in document.entries() {
        match (entry.key.as_str(), &entry.value.kind) {
            ("allowed-tools", ValueKind::List(_)) => {
                report(Some(entry.value.span), "`allowed-tools` is one string with blanks between the tools".into());
            }
            ("metadata", ValueKind::Map(items)) => {
                for item in items.iter().filter(|item| item.value.text().is_none()) {
                    let written = document.source().get(item.key_span.range()).unwrap_or(&item.key);
                    report(Some(item.value.span), format!("`metadata` maps texts to texts; `{written}` has no text"));
                }
            }
            _ => {}
        }
    }
    diagnostics
}

/// What is wrong with a name by the standard.
fn standard_name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.chars().count() > MAX_NAME {
        Some("has not 1 to 64 characters")
    } else if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        Some("holds something else than a-z, 0-9 and hyphens")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("begins or ends with a hyphen")
    } else if name.contains("--") {
        Some("holds two hyphens in a row")
    } else {
        None
    }
}

/// The nearest name that the standard allows.
fn standard_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() == MAX_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "skill".to_owned() } else { name.to_owned() }
}

/// The document in the open standard's form: the six keys, everything else of the header as text under `metadata`, and the
/// body. A tool list that could not be read is written empty, which permits nothing.
#[must_use]
pub fn export_standard(document: &Document) -> String {
    let front = document.frontmatter();
    let mut out = String::from("---\n");
    let mut line = |key: &str, value: &str| {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "{key}: {}", scalar(value));
    };
    let name = document.command().unwrap_or_else(|| document.label());
    line("name", &standard_name(name));
    let description = document.description().map_or("", |description| description.text);
    line("description", &cut(description, MAX_DESCRIPTION));
    if let Some(license) = &front.license {
        line("license", &license.value);
    }
    if let Some(compatibility) = &front.compatibility {
        line("compatibility", &cut(&compatibility.value, MAX_COMPATIBILITY));
    }
    match &front.allowed_tools {
        Guarded::Absent => {}
        Guarded::Unreadable(_) => line("allowed-tools", ""),
        Guarded::Present(tools) => {
            let tools: Vec<&str> = tools.value.iter().map(|tool| tool.value.as_str()).collect();
            line("allowed-tools", &one_string(&tools));
        }
    }
    let mut metadata: Vec<(String, String)> = Vec::new();
    if let Some(Value { kind: ValueKind::Map(entries), .. }) = &front.metadata {
        metadata.extend(entries.iter().map(|entry| (entry.key.clone(), as_text(document, &entry.value))));
    }
    for entry in document.entries() {
        let standard = key::find(&entry.key).is_some_and(|key| key.standard);
        if !standard && !matches!(entry.value.kind, ValueKind::Null) {
            metadata.push((entry.key.clone(), as_text(document, &entry.value)));
        }
    }
    let mut seen = std::collections::HashSet::new();
    metadata.reverse();
    metadata.retain(|(key, _)| seen.insert(key.clone()));
    metadata.reverse();
    if !metadata.is_empty() {
        out.push_str("metadata:\n");
        for (key, value) in metadata {
            let _ = writeln!(out, "  {}: {}", scalar(&key), scalar(&value));
        }
    }
    out.push_str("---\n");
    out.push_str(&document.body());
    out
}

/// A list as one string that is read as the same list. Entries that would be read as others, because they hold blanks or
/// half a bracket that a neighbour closes, name no tool and are left out: no entry permits more than it did.
fn one_string(entries: &[&str]) -> String {
    let joined = |entries: &[&str]| {
        let text = entries.join(" ");
        let same = split_list(&text).iter().map(|(entry, _)| entry.as_str()).eq(entries.iter().copied());
        same.then_some(text)
    };
    let alone = |entry: &&str| {
        let count = |wanted: char| entry.matches(wanted).count();
        let balanced = [('(', ')'), ('[', ']'), ('{', '}')].iter().all(|(open, close)| count(*open) == count(*close));
        balanced && joined(&[*entry; 3]).is_some()
    };
    joined(entries).or_else(|| joined(&entries.iter().copied().filter(alone).collect::<Vec<_>>())).unwrap_or_default()
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max { text.to_owned() } else { text.chars().take(max - 1).chain(['…']).collect() }
}

/// A value as one text: a scalar's own, of everything else what the author wrote.
fn as_text(document: &Document, value: &Value) -> String {
    match value.text() {
        Some(text) => text.to_owned(),
        None => value.span.slice(document.source()).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ReadOptions;
    use skillgate_core::Profile;

    fn problems(text: &str) -> Vec<String> {
        let options =
            ReadOptions { profile: Profile::Strict, directory_name: Some("a-skill".into()), ..ReadOptions::default() };
        let document = Document::read(text.as_bytes(), &options);
        let found = document.diagnostics().iter().filter(|found| found.code == Code::NotStandard);
        found.map(|found| found.message.clone()).collect()
    }

    #[test]
    fn the_standard_is_checked_to_the_letter() {
        for (header, part) in [
            ("name: a-skill\ndescription: x", None),
            (
                "name: a-skill\ndescription: x\nlicense: MIT\ncompatibility: y\nmetadata:\n  a: b\nallowed-tools: Read",
                None,
            ),
            ("name: b-skill\ndescription: x", Some("not the directory's name")),
            ("name: A-Skill\ndescription: x", Some("something else than a-z")),
            ("name: a--skill\ndescription: x", Some("two hyphens")),
            ("name: -a\ndescription: x", Some("begins or ends")),
            ("description: x", Some("`name` is missing")),
            ("name: a-skill", Some("`description` is missing")),
            ("name: a-skill\ndescription: x\nhooks: {}", Some("no key `hooks`")),
            ("name: a-skill\ndescription: x\nallowed_tools: Read", Some("no key `allowed_tools`")),
            ("name: a-skill\ndescription: x\nallowed-tools: [Read]", Some("one string")),
            ("name: a-skill\ndescription: x\nmetadata:\n  a: [b]", Some("`a` has no text")),
            ("name: a-skill\ndescription: x: y", Some("not plain YAML")),
        ] {
            let found = problems(&format!("---\n{header}\n---\nhi\n"));
            match part {
                None => assert_eq!(found, Vec::<String>::new(), "{header}"),
                Some(part) => assert!(found.iter().any(|message| message.contains(part)), "{header}: {found:?}"),
            }
        }
        let long = |length| format!("---\nname: a-skill\ndescription: {}\n---\n", "ä".repeat(length));
        assert_eq!(problems(&long(1024)), Vec::<String>::new());
        assert_eq!(problems(&long(1025)).len(), 1);
    }

    #[test]
    fn the_standard_form_permits_no_tool_that_the_list_does_not() {
        for (list, expected) in [
            (r#"["Bash(git log *)", Read]"#, "Bash(git log *) Read"),
            (r#"["Bash(rm", "-rf:*)", Read]"#, "Read"),
            (r#"["Read Write", "a,b", Grep]"#, "Grep"),
            (r#"["'x", "y'", "Bash(echo 'a b')"]"#, "y' Bash(echo 'a b')"),
            (r#"["", Read]"#, "Read"),
        ] {
            let text = format!("---\nname: a\ndescription: x\nallowed-tools: {list}\n---\n");
            let form = export_standard(&Document::read(text.as_bytes(), &ReadOptions::default()));
            let again = Document::read(form.as_bytes(), &ReadOptions::default());
            let tools = again.frontmatter().allowed_tools.present().expect("a list");
            let tools: Vec<_> = tools.iter().map(|tool| tool.value.as_str()).collect();
            assert_eq!(tools.join(" "), expected, "{list} became {form:?}");
        }
    }

    #[test]
    fn the_standard_form_keeps_what_the_standard_does_not_know_as_metadata() {
        let text = "---\nname: A Skill\ndescription: x\nversion: 1.10\nhooks: {Stop: []}\nmetadata: {a: b}\nallowed-tools: {}\n---\nhi\n";
        let document = Document::read(text.as_bytes(), &ReadOptions::default());
        assert_eq!(
            export_standard(&document),
            "---\nname: a-skill\ndescription: x\nallowed-tools: \"\"\nmetadata:\n  a: b\n  version: \"1.10\"\n  \
             hooks: \"{Stop: []}\"\n---\nhi\n"
        );
    }
}
