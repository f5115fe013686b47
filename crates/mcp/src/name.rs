//! The names by which what a server offers is invoked: `mcp__SERVER__NAME`.

use crate::finding::{Finding, FindingCode};
use skillgate_core::classify_invisible;
use std::collections::{BTreeMap, BTreeSet};

/// The longest part of a name, characters.
const MAX_PART: usize = 64;

/// A server's or a skill's name with one way to write it: letters, digits, `-` and single `_`. `None` when nothing is left, or
/// it is too long to be one.
///
/// No part holds two `_` in a row, so that `mcp__a__b` can only be read in one way.
#[must_use]
pub fn normalised(name: &str) -> Option<String> {
    let mut normalised = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() || c == '-' {
            normalised.push(c);
        } else if !normalised.is_empty() && !normalised.ends_with('_') {
            normalised.push('_');
        }
    }
    let normalised = normalised.trim_end_matches('_');
    let fits = !normalised.is_empty() && normalised.chars().count() <= MAX_PART;
    fits.then(|| normalised.to_owned())
}

/// What needs a name: the parts of its path, the own name last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unnamed<'a> {
    /// What it is called in findings.
    pub(crate) about: &'a str,
    pub(crate) path: Vec<String>,
}

/// Gives each a name of its own, in their order: the last part of its path; where several would have that, each has its whole
/// path; where even these are the same, a number. Nothing takes a name silently.
pub(crate) fn assign(server: &str, things: &[Unnamed<'_>], findings: &mut Vec<Finding>) -> Vec<Option<String>> {
    let short: Vec<Option<String>> = things.iter().map(|thing| thing.path.last().and_then(|name| own(name))).collect();
    let mut sharing: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, name) in short.iter().enumerate() {
        match name {
            Some(name) => sharing.entry(name).or_default().push(index),
            None => findings.push(
                Finding::new(FindingCode::NameInvalid, "no name can be made of it")
                    .about(things[index].about)
                    .help("a name has letters or digits, at most 64, and no control or invisible character"),
            ),
        }
    }
    let mut names: Vec<Option<String>> = vec![None; things.len()];
    let mut taken: BTreeSet<String> =
        sharing.iter().filter(|(_, same)| same.len() == 1).map(|(name, _)| (*name).to_owned()).collect();
    for (name, same) in &sharing {
        if let [only] = same.as_slice() {
            names[*only] = Some(full(server, name));
            continue;
        }
        for index in same {
            let thing = &things[*index];
            let whole = normalised(&thing.path.join("_")).unwrap_or_else(|| (*name).to_owned());
            let own = unused(&whole, &mut taken);
            let given = full(server, &own);
            findings.push(
                Finding::new(
                    FindingCode::NameClash,
                    format!("{} of this server would be `{}`; this one is `{given}`", same.len(), full(server, name)),
                )
                .about(thing.about),
            );
            names[*index] = Some(given);
        }
    }
    names
}

/// The normalised name of one thing. What hides characters is refused, not repaired.
fn own(name: &str) -> Option<String> {
    let deceives = |c: char| c.is_control() || classify_invisible(c).is_some();
    if name.contains(deceives) { None } else { normalised(name) }
}

fn unused(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}

fn full(server: &str, name: &str) -> String {
    format!("mcp__{server}__{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&str]) -> (Vec<Option<String>>, Vec<FindingCode>) {
        let split = |path: &&str| path.split('/').map(str::to_owned).collect();
        let things: Vec<Unnamed<'_>> = paths.iter().map(|path| Unnamed { about: path, path: split(path) }).collect();
        let mut findings = Vec::new();
        let names = assign("srv", &things, &mut findings);
        (names, findings.into_iter().map(|finding| finding.code).collect())
    }

    #[test]
    fn parts_are_written_in_one_way() {
        for (name, expected) in [
            ("git-workflow", Some("git-workflow")),
            ("Weekly  Menu!", Some("Weekly_Menu")),
            ("a__b", Some("a_b")),
            ("__a__", Some("a")),
            ("../../etc/passwd", Some("etc_passwd")),
            ("日本", Some("日本")),
            ("...", None),
            ("", None),
        ] {
            assert_eq!(normalised(name).as_deref(), expected, "{name:?}");
        }
        assert_eq!(normalised(&"x".repeat(65)), None);
    }

    #[test]
    fn a_clash_gives_each_its_path_and_then_a_number() {
        let (given, codes) = names(&["acme/billing/refunds", "acme/support/refunds", "other"]);
        assert_eq!(
            given,
            [
                Some("mcp__srv__acme_billing_refunds".to_owned()),
                Some("mcp__srv__acme_support_refunds".to_owned()),
                Some("mcp__srv__other".to_owned())
            ]
        );
        assert_eq!(codes, [FindingCode::NameClash, FindingCode::NameClash]);

        let (given, _) = names(&["a b", "a_b", "a__b"]);
        let given: BTreeSet<_> = given.into_iter().flatten().collect();
        assert_eq!(given.len(), 3, "{given:?}");
    }

    #[test]
    fn a_path_never_takes_the_name_of_another() {
        let (given, _) = names(&["x/y", "z/y", "x_y"]);
        let distinct: BTreeSet<_> = given.iter().flatten().collect();
        assert_eq!(distinct.len(), 3, "{given:?}");
        assert_eq!(given[2].as_deref(), Some("mcp__srv__x_y"));
    }

    #[test]
    fn names_that_deceive_are_refused() {
        for name in ["a\u{202e}b", "a\u{200b}b", "a\nb", "\u{1b}[2J"] {
            assert_eq!(names(&[name]), (vec![None], vec![FindingCode::NameInvalid]), "{name:?}");
        }
    }
}
