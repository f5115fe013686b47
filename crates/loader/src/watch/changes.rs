use super::look::Files;
use skillgate_core::Source;
use std::cmp::Ordering;
use std::path::PathBuf;

/// What became of a skill's file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Its text may be another: it was written, replaced, or made readable or unreadable.
    Changed,
    /// It is no longer there.
    Removed,
}

impl ChangeKind {
    /// The kind in one word, as it is written in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        }
    }
}

/// A change of one file of a skill or a command, or of a skill that is no file. A rename is one that is removed and one that is
/// added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillChange {
    /// What happened.
    pub kind: ChangeKind,
    /// The name as it is found, a plugin's name before it; it may be one that cannot be used.
    pub name: String,
    /// Where the skill comes from.
    pub source: Source,
    /// The file, or where it was; of a skill that is no file, what says where it comes from.
    pub path: PathBuf,
}

/// What happened between two looks, by path.
pub(super) fn between(before: &Files, after: &Files) -> Vec<SkillChange> {
    let mut changes = Vec::new();
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let (kind, (path, seen)) = match order {
            Ordering::Less => match old.next() {
                Some(gone) => (ChangeKind::Removed, gone),
                None => return changes,
            },
            Ordering::Greater => match new.next() {
                Some(come) => (ChangeKind::Added, come),
                None => return changes,
            },
            Ordering::Equal => match (old.next(), new.next()) {
                (Some((_, was)), Some((_, is))) if was == is => continue,
                (_, Some(is)) => (ChangeKind::Changed, is),
                (_, None) => return changes,
            },
        };
        changes.push(SkillChange { kind, name: seen.name.clone(), source: seen.source, path: path.clone() });
    }
}
