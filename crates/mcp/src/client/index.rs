//! `skill://index.json`: the index of skills that the drafts of the skills extension had, and that servers still give.

use crate::finding::{Finding, FindingCode};
use serde_json::Value;

/// One skill as a list or an index names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) uri: String,
    /// What the list says that the skill's header says; compared with the text.
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// `sha256:` and 64 digits of the text's digest.
    pub(super) digest: Option<String>,
    /// The text's size in bytes.
    pub(super) size: Option<u64>,
}

/// Reads an index as far as `bound` entries. Members that are not known are passed over, as the form grew over time.
pub(super) fn read(text: &str, bound: usize, findings: &mut Vec<Finding>) -> Option<Vec<Listed>> {
    let invalid = |message: String| Finding::new(FindingCode::IndexInvalid, message).about(super::uri::INDEX_URI);
    let index: Value = match serde_json::from_str(text) {
        Ok(index) => index,
        Err(error) => {
            findings.push(invalid(format!("it is not JSON: {error}")));
            return None;
        }
    };
    let Some(entries) = index.get("skills").and_then(Value::as_array) else {
        findings.push(invalid("it has no list `skills`".to_owned()));
        return None;
    };
    if entries.len() > bound {
        let message = format!("it has {} entries; the first {bound} are looked at", entries.len());
        findings.push(Finding::new(FindingCode::TooMany, message).about(super::uri::INDEX_URI));
    }
    let mut listed = Vec::new();
    for (position, entry) in entries.iter().take(bound).enumerate() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let header = |key: &str| {
            entry.get("frontmatter").and_then(|header| header.get(key)).and_then(Value::as_str).map(str::to_owned)
        };
        let Some(uri) = text("url").or_else(|| text("uri")) else {
            findings.push(invalid(format!("entry {} has no `url`", position + 1)));
            continue;
        };
        match text("type").as_deref() {
            None | Some("skill-md") => {}
            Some(other) => {
                let message = format!("the index gives it as `{}`, which is not taken", crate::finding::shown(other));
                findings.push(Finding::new(FindingCode::FormUnsupported, message).about(&uri));
                continue;
            }
        }
        listed.push(Listed {
            uri,
            name: text("name").or_else(|| header("name")),
            description: text("description").or_else(|| header("description")),
            digest: text("digest"),
            size: None,
        });
    }
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_entry_are_read_and_others_reported() {
        let text = r#"{"skills": [
            {"name": "a", "type": "skill-md", "description": "A.", "url": "skill://a/SKILL.md", "digest": "sha256:00"},
            {"uri": "skill://b/SKILL.md", "frontmatter": {"name": "b", "description": "B."}},
            {"name": "c", "type": "archive", "url": "skill://c.zip"},
            {"name": "d"},
            7
        ]}"#;
        let mut findings = Vec::new();
        let listed = read(text, 100, &mut findings).expect("an index");
        let shown: Vec<_> =
            listed.iter().map(|it| (it.uri.as_str(), it.name.as_deref(), it.digest.as_deref())).collect();
        assert_eq!(
            shown,
            [("skill://a/SKILL.md", Some("a"), Some("sha256:00")), ("skill://b/SKILL.md", Some("b"), None)]
        );
        let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [FindingCode::FormUnsupported, FindingCode::IndexInvalid, FindingCode::IndexInvalid]);
    }

    #[test]
    fn what_is_no_index_gives_nothing() {
        for text in ["", "[]", "{\"skills\": {}}", "\u{0}"] {
            let mut findings = Vec::new();
            assert_eq!(read(text, 100, &mut findings), None, "{text:?}");
            assert_eq!(findings.len(), 1, "{text:?}");
        }
    }
}
