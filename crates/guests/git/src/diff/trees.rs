//! Differences between two trees.

use super::{Pair, Side};
use crate::failure::Outcome;
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::tree::{self, Entry};
use gix_hash::ObjectId;
use std::cmp::Ordering;

/// The files that differ between two trees; `None` is an empty one.
pub(crate) fn diff(
    repo: &Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    paths: &Pathspec,
) -> Outcome<Vec<Pair>> {
    let mut pairs = Vec::new();
    descend(repo, old, new, paths, &mut Vec::new(), &mut pairs)?;
    Ok(pairs)
}

fn descend(
    repo: &Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    paths: &Pathspec,
    prefix: &mut Vec<u8>,
    pairs: &mut Vec<Pair>,
) -> Outcome {
    if old == new {
        return Ok(());
    }
    let list = |id: Option<ObjectId>| id.map_or_else(|| Ok(Vec::new()), |id| tree::entries(repo, &id));
    let (old, new) = (list(old)?, list(new)?);
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => tree::compare(&a.name, a.is_directory(), &b.name, b.is_directory()),
        };
        let a = if order == Ordering::Greater { None } else { left.next() };
        let b = if order == Ordering::Less { None } else { right.next() };
        match (a, b) {
            (Some(a), Some(b)) if (a.id, a.mode) == (b.id, b.mode) => {}
            // Sorted alike, so both are directories or none is.
            (Some(a), Some(b)) if a.is_directory() == b.is_directory() => {
                one(repo, Some(a), Some(b), paths, prefix, pairs)?
            }
            (a, b) => {
                one(repo, a, None, paths, prefix, pairs)?;
                one(repo, None, b, paths, prefix, pairs)?;
            }
        }
    }
}

fn one(
    repo: &Repository,
    old: Option<&Entry>,
    new: Option<&Entry>,
    paths: &Pathspec,
    prefix: &mut Vec<u8>,
    pairs: &mut Vec<Pair>,
) -> Outcome {
    let Some(entry) = old.or(new) else { return Ok(()) };
    let length = prefix.len();
    prefix.extend_from_slice(&entry.name);
    if entry.is_directory() {
        if paths.may_match_below(prefix) {
            prefix.push(b'/');
            descend(repo, old.map(|entry| entry.id), new.map(|entry| entry.id), paths, prefix, pairs)?;
        }
    } else if paths.matches(prefix) {
        let side = |entry: Option<&Entry>| {
            entry.map_or_else(|| Side::absent(prefix), |entry| Side::stored(prefix, entry.mode, entry.id))
        };
        pairs.push(Pair::new(side(old), side(new)));
    }
    prefix.truncate(length);
    Ok(())
}
