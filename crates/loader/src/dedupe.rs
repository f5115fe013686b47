//! The same file by two ways loads once.

use crate::body::TextStamp;
use crate::file::Identity;
use crate::load::Duplicate;
use crate::stamp::Stamp;
use skillgate_core::{Skill, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How the file of a skill was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The file as it was when the header was read.
    pub(crate) stamp: Stamp,
    /// Index of its root.
    pub(crate) root: usize,
    /// Whether a link led to it.
    pub(crate) linked: bool,
}

/// The skills in their order with the stamps of their files, each file once, and the ways that were not taken. `found` says of
/// each skill how it was found.
pub(crate) fn once_each(skills: Vec<Skill>, found: &[Found]) -> (Vec<Skill>, Vec<TextStamp>, Vec<Duplicate>) {
    let mut duplicate_of: BTreeMap<usize, usize> = BTreeMap::new();
    for mut same in same_files(found) {
        // The way that is kept comes first: the source that vouches by itself, the way without a link, the nearer root.
        same.sort_by(|a, b| {
            let key = |index: &usize| {
                let (skill, found) = (&skills[*index], &found[*index]);
                (rank(skill.id.source), found.linked, found.root, &skill.path)
            };
            key(a).cmp(&key(b))
        });
        let mut kept: Vec<usize> = Vec::new();
        for index in same {
            let at = |index: usize| (&skills[index], &found[index]);
            match kept.iter().find(|first| is_same_skill(at(**first), at(index))) {
                Some(first) => {
                    duplicate_of.insert(index, *first);
                }
                None => kept.push(index),
            }
        }
    }
    let stamps = || found.iter().map(|found| TextStamp(found.stamp));
    if duplicate_of.is_empty() {
        return (skills, stamps().collect(), Vec::new());
    }
    let path = |index: usize| skills[index].path.clone();
    let mut duplicates: Vec<_> =
        duplicate_of.iter().map(|(index, first)| Duplicate { path: path(*index), of: path(*first) }).collect();
    duplicates.sort_unstable();
    let all = skills.into_iter().zip(stamps()).enumerate();
    let (skills, stamps) = all.filter(|(index, _)| !duplicate_of.contains_key(index)).map(|(_, each)| each).unzip();
    (skills, stamps, duplicates)
}

/// Indices of what is one file, for each file found more than once.
fn same_files(found: &[Found]) -> Vec<Vec<usize>> {
    // Nearly always there are none, which numbers alone tell soonest.
    let mut inodes: Vec<u64> = found.iter().map(|found| found.stamp.inode).collect();
    inodes.sort_unstable();
    if !inodes.is_sorted_by(|a, b| a < b) {
        let mut order: Vec<(Identity, usize)> =
            found.iter().enumerate().filter_map(|(index, found)| Some((found.stamp.identity()?, index))).collect();
        order.sort_unstable();
        return order
            .chunk_by(|(a, _), (b, _)| (a.device, a.inode) == (b.device, b.inode))
            .filter(|same| same.len() > 1)
            .map(|same| same.iter().map(|(_, index)| *index).collect())
            .collect();
    }
    Vec::new()
}

/// Whether two finds of one file are one skill. A hard link in another directory is a skill of its own: programs that save
/// space make such links between copies, and each copy keeps its name.
fn is_same_skill((a, found_a): (&Skill, &Found), (b, found_b): (&Skill, &Found)) -> bool {
    let hard_linked = found_a.stamp.hard_linked || found_b.stamp.hard_linked;
    !hard_linked || real_path(a) == real_path(b)
}

fn real_path(skill: &Skill) -> Option<PathBuf> {
    crate::root::canonicalize_ambient(&skill.path).ok()
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

#[cfg(all(test, unix))]
mod tests {
    use super::{Found, Stamp, same_files};

    fn found(device: u64, inode: u64) -> Found {
        let stamp = Stamp { device, inode, size: 1, modified: 0, changed: 0, hard_linked: false };
        Found { stamp, root: 0, linked: false }
    }

    #[test]
    fn complaint_34_files_are_told_apart_by_all_bits_of_their_numbers() {
        // A 64-bit float has one number for both.
        const LARGE: u64 = 1 << 53;
        let files = [found(1, LARGE), found(1, LARGE + 1), found(2, LARGE), found(1, u64::MAX), found(1, u64::MAX - 1)];
        assert_eq!(same_files(&files), Vec::<Vec<usize>>::new());
        let twice = [found(1, LARGE), found(1, LARGE + 1), found(1, LARGE)];
        assert_eq!(same_files(&twice), [[0, 2]]);
    }
}
