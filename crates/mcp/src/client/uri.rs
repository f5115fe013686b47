//! The URIs of skills: `skill://PATH/NAME/SKILL.md`.

use crate::finding::{Finding, FindingCode};
use percent_encoding::percent_decode_str;
use skillgate_core::classify_invisible;

/// The longest URI that is taken, bytes.
const MAX_URI: usize = 2048;

/// What a resource's URI says that it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum UriKind {
    /// A skill's own text. The path ends with the skill's name.
    Skill(Vec<String>),
    /// A file that belongs to a skill.
    Supporting,
    /// The index of all skills.
    Index,
    /// No skill, and not meant as one.
    Other,
}

/// The index of the drafts of the skills extension.
pub(super) const INDEX_URI: &str = "skill://index.json";

/// Reads a URI of a listing, in which other things than skills stand too.
pub(super) fn classify(uri: &str) -> Result<UriKind, Box<Finding>> {
    let Some(path) = uri.strip_prefix("skill://") else {
        // A path where a URI has to stand, as older servers have it.
        if let Some(path) = uri.strip_prefix("skill/") {
            let finding = Finding::new(FindingCode::NotUri, "it is no URI").about(uri);
            return Err(Box::new(finding.help(format!("the server has to list it as `skill://{path}`"))));
        }
        return Ok(UriKind::Other);
    };
    if uri == INDEX_URI {
        return Ok(UriKind::Index);
    }
    check(uri)?;
    match path.strip_suffix("/SKILL.md") {
        Some(path) => Ok(UriKind::Skill(segments(uri, path)?)),
        // One segment and no file: a skill of a server that gives each a resource of its own.
        None if !path.trim_end_matches('/').contains('/') => {
            Ok(UriKind::Skill(segments(uri, path.trim_end_matches('/'))?))
        }
        None => Ok(UriKind::Supporting),
    }
}

/// The path of a skill that an index or a listing of skills names, whatever the scheme.
pub(super) fn path_of_skill(uri: &str) -> Result<Vec<String>, Box<Finding>> {
    check(uri)?;
    let Some((_, path)) = uri.split_once("://") else {
        return Err(Box::new(Finding::new(FindingCode::NotUri, "it is no URI").about(uri)));
    };
    segments(uri, path.strip_suffix("/SKILL.md").unwrap_or(path).trim_end_matches('/'))
}

fn check(uri: &str) -> Result<(), Box<Finding>> {
    let finding = |message: &str| Err(Box::new(Finding::new(FindingCode::UriInvalid, message).about(uri)));
    if uri.len() > MAX_URI {
        return finding("its URI is longer than one may be");
    }
    if uri.contains(|c: char| c.is_control() || c.is_whitespace() || classify_invisible(c).is_some()) {
        return finding("its URI holds a blank, a control or an invisible character");
    }
    if uri.contains(['?', '#']) {
        return finding("the URI of a skill has neither a query nor a fragment");
    }
    Ok(())
}

/// The segments of a path, decoded. One that decodes to a separator or a step is no name.
fn segments(uri: &str, path: &str) -> Result<Vec<String>, Box<Finding>> {
    let decoded = path.split('/').map(|segment| {
        let segment = percent_decode_str(segment).decode_utf8().ok()?;
        let is_name = !segment.is_empty() && segment != "." && segment != ".." && !segment.contains(['/', '\\', '\0']);
        is_name.then(|| segment.into_owned())
    });
    let decoded: Option<Vec<String>> = decoded.collect();
    decoded.ok_or_else(|| {
        let message = "a part of its path is empty, a step, or holds a separator";
        Box::new(Finding::new(FindingCode::NameInvalid, message).about(uri))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(uri: &str) -> Result<UriKind, FindingCode> {
        classify(uri).map_err(|finding| finding.code)
    }

    #[test]
    fn uris_are_skills_files_of_skills_or_nothing_of_ours() {
        let skill = |path: &[&str]| Ok(UriKind::Skill(path.iter().map(|part| (*part).to_owned()).collect()));
        for (uri, expected) in [
            ("skill://git-workflow/SKILL.md", skill(&["git-workflow"])),
            ("skill://acme/billing/refunds/SKILL.md", skill(&["acme", "billing", "refunds"])),
            ("skill://weekly%20menu/SKILL.md", skill(&["weekly menu"])),
            ("skill://git-workflow", skill(&["git-workflow"])),
            ("skill://git-workflow/references/a.md", Ok(UriKind::Supporting)),
            ("skill://index.json", Ok(UriKind::Index)),
            ("file:///etc/passwd", Ok(UriKind::Other)),
            ("skill/git-workflow", Err(FindingCode::NotUri)),
            ("skill://a b/SKILL.md", Err(FindingCode::UriInvalid)),
            ("skill://a\u{202e}b/SKILL.md", Err(FindingCode::UriInvalid)),
            ("skill://a\n/SKILL.md", Err(FindingCode::UriInvalid)),
            ("skill://a/SKILL.md?x", Err(FindingCode::UriInvalid)),
            ("skill://..%2f..%2fetc/SKILL.md", Err(FindingCode::NameInvalid)),
            ("skill://a/../SKILL.md", Err(FindingCode::NameInvalid)),
            ("skill:///SKILL.md", Err(FindingCode::NameInvalid)),
            ("skill://%ff/SKILL.md", Err(FindingCode::NameInvalid)),
        ] {
            assert_eq!(kind(uri), expected, "{uri:?}");
        }
        assert_eq!(kind(&format!("skill://{}/SKILL.md", "x".repeat(MAX_URI))), Err(FindingCode::UriInvalid));
    }
}
