//! The same file by two ways loads once.

use crate::file::Identity;
use crate::index::Head;
use crate::load::Duplicate;
use skillgate_core::{Skill, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A skill with what tells its file from others.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) skill: Skill,
    /// Index of its root.
    pub(crate) root: usize,
    /// Whether a link led to it.
    pub(crate) linked: bool,
    pub(crate) identity: Option<Identity>,
    /// What the index is told of its header.
    pub(crate) head: Head,
}

/// The entries in their order, each file once, and the ways that were not taken.
pub(crate) fn once_each(entries: Vec<Entry>) -> (Vec<Skill>, Vec<Duplicate>) {
    let mut duplicate_of: BTreeMap<usize, usize> = BTreeMap::new();
    for mut same in same_files(&entries) {
        // The way that is kept comes first: the source that vouches by itself, the way without a link, the nearer root.
        same.sort_by(|a, b| {
            let key = |index: &usize| {
                let entry = &entries[*index];
                (rank(entry.skill.id.source), entry.linked, entry.root, &entry.skill.path)
            };
            key(a).cmp(&key(b))
        });
        let mut kept: Vec<usize> = Vec::new();
        for index in same {
            match kept.iter().find(|first| is_same_skill(&entries[**first], &entries[index])) {
                Some(first) => {
                    duplicate_of.insert(index, *first);
                }
                None => kept.push(index),
            }
        }
    }
    let path = |index: usize| entries[index].skill.path.clone();
    let mut duplicates: Vec<_> =
        duplicate_of.iter().map(|(index, first)| Duplicate { path: path(*index), of: path(*first) }).collect();
    duplicates.sort_unstable();
    let skills = entries.into_iter().enumerate();
    let skills = skills.filter(|(index, _)| !duplicate_of.contains_key(index)).map(|(_, entry)| entry.skill);
    (skills.collect(), duplicates)
}

/// Indices of entries that are one file, for each file found more than once.
fn same_files(entries: &[Entry]) -> Vec<Vec<usize>> {
    let mut order: Vec<(u64, u64, usize)> = entries
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| entry.identity.map(|identity| (identity.device, identity.inode, index)))
        .collect();
    order.sort_unstable();
    order
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter(|same| same.len() > 1)
        .map(|same| same.iter().map(|(_, _, index)| *index).collect())
        .collect()
}

/// Whether two finds of one file are one skill. A hard link in another directory is a skill of its own: programs that save
/// space make such links between copies, and each copy keeps its name.
fn is_same_skill(a: &Entry, b: &Entry) -> bool {
    let hard_linked = [a, b].iter().any(|entry| entry.identity.is_some_and(|identity| identity.hard_linked));
    !hard_linked || real_path(a) == real_path(b)
}

fn real_path(entry: &Entry) -> Option<PathBuf> {
    crate::root::canonicalize_ambient(&entry.skill.path).ok()
}

/// A project's word counts only when the project is trusted, so another source's word for the same file goes first.
fn rank(source: Source) -> u8 {
    match source {
        Source::Managed => 0,
        Source::User => 1,
        Source::Additional => 2,
        Source::Bundled => 3,
        Source::Pack => 4,
        Source::Plugin => 5,
        Source::Project => 6,
        Source::Mcp => 7,
    }
}
