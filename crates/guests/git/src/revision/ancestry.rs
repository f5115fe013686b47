//! Which commits are ancestors of which, and where two lines of history meet.

use crate::failure::Outcome;
use crate::repository::Repository;
use gix_hash::ObjectId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

const ONE: u8 = 1;
const OTHER: u8 = 2;
const STALE: u8 = 4;
const RESULT: u8 = 8;

/// Colours the ancestors of both sides until only ancestors of a common one are left.
fn paint(repo: &Repository, one: &ObjectId, others: &[ObjectId]) -> Outcome<(HashMap<ObjectId, u8>, Vec<ObjectId>)> {
    let mut flags: HashMap<ObjectId, u8> = HashMap::new();
    let mut queue = BinaryHeap::new();
    let mut number = 0_u64;
    for (id, flag) in std::iter::once((one, ONE)).chain(others.iter().map(|id| (id, OTHER))) {
        *flags.entry(*id).or_default() |= flag;
        number += 1;
        queue.push((repo.node(id)?.time, Reverse(number), *id));
    }
    let mut results = Vec::new();
    while queue.iter().any(|(_, _, id)| flags.get(id).is_some_and(|flags| flags & STALE == 0)) {
        let Some((_, _, id)) = queue.pop() else { break };
        let mut down = flags.get(&id).copied().unwrap_or_default() & (ONE | OTHER | STALE);
        if down == ONE | OTHER {
            let known = flags.entry(id).or_default();
            if *known & RESULT == 0 {
                *known |= RESULT;
                results.push(id);
            }
            down |= STALE;
        }
        for parent in &repo.node(&id)?.parents {
            let known = flags.entry(*parent).or_default();
            if *known & down == down {
                continue;
            }
            *known |= down;
            number += 1;
            queue.push((repo.node(parent)?.time, Reverse(number), *parent));
        }
    }
    results.retain(|id| flags.get(id).is_some_and(|flags| flags & STALE == 0));
    Ok((flags, results))
}

/// The best common ancestors of a commit and some others, the newest first.
pub(crate) fn merge_bases(repo: &Repository, one: &ObjectId, others: &[ObjectId]) -> Outcome<Vec<ObjectId>> {
    if others.contains(one) {
        return Ok(vec![*one]);
    }
    let (_, mut bases) = paint(repo, one, others)?;
    if bases.len() > 1 {
        bases = without_ancestors(repo, &bases)?;
    }
    let mut dated = bases.into_iter().map(|id| Ok((Reverse(repo.node(&id)?.time), id))).collect::<Outcome<Vec<_>>>()?;
    dated.sort_by_key(|(time, _)| *time);
    Ok(dated.into_iter().map(|(_, id)| id).collect())
}

/// Those of some commits that no other of them has as an ancestor.
pub(crate) fn without_ancestors(repo: &Repository, ids: &[ObjectId]) -> Outcome<Vec<ObjectId>> {
    let mut kept = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let mut redundant = ids[..at].contains(id);
        for other in ids.iter().filter(|other| *other != id) {
            redundant = redundant || is_ancestor(repo, id, other)?;
        }
        if !redundant {
            kept.push(*id);
        }
    }
    Ok(kept)
}

/// Whether a commit is an ancestor of another, or the same.
pub(crate) fn is_ancestor(repo: &Repository, ancestor: &ObjectId, of: &ObjectId) -> Outcome<bool> {
    if ancestor == of {
        return Ok(true);
    }
    let (flags, _) = paint(repo, ancestor, &[*of])?;
    Ok(flags.get(ancestor).is_some_and(|flags| flags & OTHER != 0))
}

/// How many commits each of two has that the other has not.
pub(crate) fn ahead_behind(repo: &Repository, one: &ObjectId, other: &ObjectId) -> Outcome<(usize, usize)> {
    if one == other {
        return Ok((0, 0));
    }
    let (flags, _) = paint(repo, one, &[*other])?;
    let count = |wanted: u8| flags.values().filter(|flags| **flags & (ONE | OTHER) == wanted).count();
    Ok((count(ONE), count(OTHER)))
}
