//! `requires`: what has to be there for a skill to be used.

use crate::lists::split_list;
use skillgate_core::{Code, Diagnostic, Field, Requires, Value, ValueKind, Version};

const KEYS: [&str; 4] = ["skills", "tools", "programs", "version"];

/// Reads the value. What cannot be read is reported and requires nothing.
pub(crate) fn read(value: &Value, diagnostics: &mut Vec<Diagnostic>) -> Option<Requires> {
    let mut requires = Requires::default();
    let ValueKind::Map(entries) = &value.kind else {
        requires.skills = names("skills", value, diagnostics);
        return (!requires.skills.is_empty()).then_some(requires);
    };
    for entry in entries {
        match entry.key.as_str() {
            "skills" => requires.skills = names("skills", &entry.value, diagnostics),
            "tools" => requires.tools = names("tools", &entry.value, diagnostics),
            "programs" => requires.programs = names("programs", &entry.value, diagnostics),
            "version" => match entry.value.text().and_then(Version::parse) {
                Some(version) => requires.version = Some(Field::new(version, entry.value.span)),
                None => diagnostics.push(
                    finding("`version` in `requires` is not a version")
                        .at(entry.value.span)
                        .help("write it as `1.2.3`"),
                ),
            },
            other => diagnostics.push(
                finding(format!("`requires` has no key `{other}`"))
                    .at(entry.key_span)
                    .help(format!("it has {}", KEYS.map(|key| format!("`{key}`")).join(", "))),
            ),
        }
    }
    Some(requires)
}

fn finding(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::FieldInvalid("requires".into()), message)
}

/// Names as a list or in one text.
fn names(key: &str, value: &Value, diagnostics: &mut Vec<Diagnostic>) -> Vec<Field<String>> {
    match &value.kind {
        ValueKind::Null => Vec::new(),
        ValueKind::Scalar(scalar) => {
            split_list(&scalar.text).into_iter().map(|(name, _)| Field::new(name, value.span)).collect()
        }
        ValueKind::List(items) => {
            let mut names = Vec::new();
            for item in items {
                match item.text().map(str::trim) {
                    Some(name) if !name.is_empty() => names.push(Field::new(name.to_owned(), item.span)),
                    _ => diagnostics
                        .push(finding(format!("an entry of `{key}` in `requires` is not a name")).at(item.span)),
                }
            }
            names
        }
        ValueKind::Map(_) => {
            diagnostics.push(finding(format!("`{key}` in `requires` is a mapping, not names")).at(value.span));
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, ReadOptions};
    use skillgate_core::{Field, Requires, Version};

    fn read(lines: &str) -> (Option<Requires>, Vec<String>) {
        let text = format!("---\nname: a\ndescription: x\n{lines}\n---\nhi\n");
        let document = Document::read(text.as_bytes(), &ReadOptions::default());
        let codes = document.diagnostics().iter().map(|found| found.message.clone()).collect();
        (document.frontmatter().requires.clone(), codes)
    }

    fn texts(fields: &[Field<String>]) -> Vec<&str> {
        fields.iter().map(|field| field.value.as_str()).collect()
    }

    #[test]
    fn each_kind_is_a_list_or_a_text_and_a_bare_list_names_skills() {
        let (requires, found) =
            read("requires:\n  skills: [a, b]\n  tools: Read, Grep\n  programs:\n    - jq\n  version: '>=0.2'");
        let requires = requires.expect("it is there");
        assert_eq!(found, Vec::<String>::new());
        assert_eq!((texts(&requires.skills), texts(&requires.tools)), (vec!["a", "b"], vec!["Read", "Grep"]));
        assert_eq!(texts(&requires.programs), ["jq"]);
        assert_eq!(requires.version.map(|field| field.value), Some(Version([0, 2, 0])));
        for (written, expected) in [("[a, b]", vec!["a", "b"]), ("a", vec!["a"])] {
            let (requires, found) = read(&format!("requires: {written}"));
            assert_eq!((texts(&requires.expect("skills").skills), found), (expected, vec![]));
        }
        assert_eq!(read("requires:"), (None, vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_reported_and_requires_nothing() {
        for (lines, message) in [
            ("requires: {version: new}", "`version` in `requires` is not a version"),
            ("requires: {binaries: [jq]}", "`requires` has no key `binaries`"),
            ("requires: {skills: [[a]]}", "an entry of `skills` in `requires` is not a name"),
            ("requires: {tools: {a: b}}", "`tools` in `requires` is a mapping, not names"),
        ] {
            let (requires, found) = read(lines);
            assert_eq!((requires, found), (Some(Requires::default()), vec![message.to_owned()]), "{lines}");
        }
    }
}
