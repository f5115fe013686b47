//! What is different between two packs: in text, and in what they ask for.

use crate::{Pack, RequestedAuthority, requests};
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a file whose lines are compared.
const MAX_TEXT: usize = 1 << 20;

/// The difference between two packs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackDiff {
    /// The version before and after, when it is another.
    pub version: Option<(String, String)>,
    /// What is asked for less or more: lines that begin with `-` or `+`, each with its skill.
    pub authority: Vec<String>,
    /// The files that differ, by path.
    pub files: Vec<FileDiff>,
}

/// One file that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDiff {
    /// Its path below the pack.
    pub path: String,
    /// What became of it.
    pub kind: FileChange,
    /// The difference as a unified diff; `None` where a side is no text or too large.
    pub text: Option<String>,
}

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChange {
    /// It was not there.
    Added,
    /// It is gone.
    Removed,
    /// It has other bytes.
    Changed,
}

impl FileChange {
    /// Its name in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FileChange::Added => "added",
            FileChange::Removed => "removed",
            FileChange::Changed => "changed",
        }
    }
}

impl PackDiff {
    /// What `new` has other than `old`. What they ask for is read from the skills themselves.
    #[must_use]
    pub fn between(old: &Pack, new: &Pack) -> Self {
        let (before, after) = (&old.manifest().pack.version, &new.manifest().pack.version);
        let version = (before != after).then(|| (before.clone(), after.clone()));
        let (asked, asks) = (asked(old), asked(new));
        let lost = asked.difference(&asks).map(|line| format!("-{line}"));
        let gained = asks.difference(&asked).map(|line| format!("+{line}"));
        let authority = lost.chain(gained).collect();
        let old_files: BTreeMap<&str, &[u8]> = old.files().collect();
        let new_files: BTreeMap<&str, &[u8]> = new.files().collect();
        let paths: BTreeSet<&str> = old_files.keys().chain(new_files.keys()).copied().collect();
        let file = |path: &str| {
            let (before, after) = (old_files.get(path).copied(), new_files.get(path).copied());
            let kind = match (before, after) {
                (None, _) => FileChange::Added,
                (_, None) => FileChange::Removed,
                (before, after) if before == after => return None,
                _ => FileChange::Changed,
            };
            let text = unified(before.unwrap_or_default(), after.unwrap_or_default(), path);
            Some(FileDiff { path: path.to_owned(), kind, text })
        };
        Self { version, authority, files: paths.into_iter().filter_map(file).collect() }
    }

    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something is asked for that was not asked for before: a tool, a command, a hook, a skill, or all tools where
    /// there was a list.
    #[must_use]
    pub fn asks_for_more(&self) -> bool {
        self.authority.iter().any(|line| line.starts_with('+'))
    }
}

/// What the skills of a pack ask for, one thing a line.
fn asked(pack: &Pack) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for skill in &pack.manifest().skills {
        let name = &skill.name;
        let RequestedAuthority { tools, injections, hooks } =
            requests::requested_authority(pack.file(&skill.path).unwrap_or_default());
        lines.insert(format!("{name}: a skill"));
        match tools {
            None => {
                lines.insert(format!("{name}: every tool that the host grants"));
            }
            Some(tools) => {
                lines.extend(tools.iter().map(|tool| format!("{name}: tool {tool}")));
            }
        }
        lines.extend(injections.iter().map(|command| format!("{name}: runs {command}")));
        lines.extend(hooks.iter().map(|hook| format!("{name}: hook {hook}")));
    }
    lines
}

fn unified(before: &[u8], after: &[u8], path: &str) -> Option<String> {
    if before.len().max(after.len()) > MAX_TEXT {
        return None;
    }
    let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
    if before.contains('\0') || after.contains('\0') {
        return None;
    }
    Some(TextDiff::from_lines(before, after).unified_diff().header(path, path).to_string())
}
