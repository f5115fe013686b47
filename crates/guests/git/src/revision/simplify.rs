//! History of some paths only, and orders of a known list of commits.

use super::walk::Order;
use crate::commit::Node;
use crate::failure::Outcome;
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::tree;
use gix_hash::ObjectId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

pub(super) struct Simplified {
    pub(super) parents: Vec<ObjectId>,
    /// Nothing happened here to the paths.
    pub(super) same: bool,
}

/// Whether the paths are the same in two trees; `None` is an empty one.
pub(crate) fn same_in(
    repo: &Repository,
    paths: &Pathspec,
    one: Option<ObjectId>,
    other: Option<ObjectId>,
) -> Outcome<bool> {
    same_below(repo, paths, &mut Vec::new(), one, other)
}

fn same_below(
    repo: &Repository,
    paths: &Pathspec,
    prefix: &mut Vec<u8>,
    one: Option<ObjectId>,
    other: Option<ObjectId>,
) -> Outcome<bool> {
    if one == other {
        return Ok(true);
    }
    let list = |id: Option<ObjectId>| id.map_or_else(|| Ok(Vec::new()), |id| tree::entries(repo, &id));
    let (one, other) = (list(one)?, list(other)?);
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = match (left.peek(), right.peek()) {
            (None, None) => return Ok(true),
            (Some(_), None) => Less,
            (None, Some(_)) => Greater,
            (Some(a), Some(b)) => tree::compare(&a.name, a.is_directory(), &b.name, b.is_directory()),
        };
        let a = if order == Greater { None } else { left.next() };
        let b = if order == Less { None } else { right.next() };
        debug_assert!(order == Equal || a.is_none() || b.is_none());
        if let (Some(a), Some(b)) = (a, b)
            && (a.id, a.mode) == (b.id, b.mode)
        {
            continue;
        }
        let Some(entry) = a.or(b) else { continue };
        let length = prefix.len();
        prefix.extend_from_slice(&entry.name);
        let same = if entry.is_directory() {
            if paths.may_match_below(prefix) {
                prefix.push(b'/');
                same_below(repo, paths, prefix, a.map(|entry| entry.id), b.map(|entry| entry.id))?
            } else {
                true
            }
        } else {
            !paths.matches(prefix)
        };
        prefix.truncate(length);
        if !same {
            return Ok(false);
        }
    }
}

/// Compares a commit with its parents and drops those that do not matter for the paths.
pub(super) fn against_parents(
    repo: &Repository,
    paths: &Pathspec,
    node: &Node,
    first_parent: bool,
    relevant: impl Fn(&ObjectId) -> bool,
) -> Outcome<Simplified> {
    if node.parents.is_empty() {
        return Ok(Simplified { parents: Vec::new(), same: same_in(repo, paths, None, Some(node.tree))? });
    }
    let (mut relevant_parents, mut relevant_change, mut other_change) = (0, false, false);
    for (at, parent) in node.parents.iter().enumerate() {
        if at > 0 && first_parent {
            break;
        }
        let is_relevant = relevant(parent);
        relevant_parents += usize::from(is_relevant);
        let same = same_in(repo, paths, Some(repo.node(parent)?.tree), Some(node.tree))?;
        if same && is_relevant {
            return Ok(Simplified { parents: vec![*parent], same: true });
        }
        if !same {
            relevant_change |= is_relevant;
            other_change |= !is_relevant;
        }
    }
    let same = if relevant_parents > 0 { !relevant_change } else { !other_change };
    Ok(Simplified { parents: node.parents.clone(), same })
}

/// Brings a list that has the newest first into another order.
pub(super) fn order(
    repo: &Repository,
    list: Vec<ObjectId>,
    order: Order,
    parents_of: impl Fn(&ObjectId) -> Outcome<Rc<Vec<ObjectId>>>,
) -> Outcome<Vec<ObjectId>> {
    if order == Order::Newest {
        return Ok(list);
    }
    let mut children: HashMap<ObjectId, usize> = list.iter().map(|id| (*id, 0)).collect();
    for id in &list {
        for parent in parents_of(id)?.iter() {
            if let Some(count) = children.get_mut(parent) {
                *count += 1;
            }
        }
    }
    let key = |id: &ObjectId| -> Outcome<i64> {
        Ok(match order {
            Order::Date => repo.node(id)?.time,
            Order::AuthorDate => repo.commit(id)?.author.seconds,
            Order::Topological | Order::Newest => 0,
        })
    };
    let mut number = 0_u64;
    let mut stack = Vec::new();
    let mut heap = BinaryHeap::new();
    let tips = list.iter().filter(|id| children.get(*id) == Some(&0));
    if order == Order::Topological {
        stack = tips.rev().copied().collect();
    } else {
        for id in tips {
            number += 1;
            heap.push((key(id)?, Reverse(number), *id));
        }
    }
    let mut ordered = Vec::with_capacity(list.len());
    while let Some(id) = stack.pop().or_else(|| heap.pop().map(|(_, _, id)| id)) {
        for parent in parents_of(&id)?.iter() {
            let Some(count) = children.get_mut(parent) else { continue };
            *count -= 1;
            if *count == 0 {
                if order == Order::Topological {
                    stack.push(*parent);
                } else {
                    number += 1;
                    heap.push((key(parent)?, Reverse(number), *parent));
                }
            }
        }
        ordered.push(id);
    }
    Ok(ordered)
}
