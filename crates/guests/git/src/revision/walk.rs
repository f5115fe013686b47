//! Walking the history from its tips, in git's order.

use super::simplify;
use crate::failure::Outcome;
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use gix_hash::ObjectId;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// What is known of a commit during a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) uninteresting: bool,
    /// Given as the end of a range.
    pub(crate) bottom: bool,
    /// On the left side of `a...b`.
    pub(crate) left: bool,
    /// The paths asked about are as in a parent.
    same: bool,
    seen: bool,
}

impl Flags {
    pub(crate) const fn none() -> Self {
        Self { uninteresting: false, bottom: false, left: false, same: false, seen: false }
    }
}

/// In which order commits come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Order {
    #[default]
    Newest,
    /// Children before parents, lines of history together.
    Topological,
    /// Children before parents, otherwise the newest first.
    Date,
    AuthorDate,
}

/// What limits a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) paths: Pathspec,
    pub(crate) first_parent: bool,
    pub(crate) order: Order,
    /// Not older than this.
    pub(crate) since: Option<i64>,
    /// Not younger than this.
    pub(crate) until: Option<i64>,
    pub(crate) min_parents: usize,
    pub(crate) max_parents: Option<usize>,
    /// Whether everything has to be known before the first commit is shown.
    pub(crate) limited: bool,
}

#[derive(PartialEq, Eq)]
struct Queued {
    time: i64,
    number: Reverse<u64>,
    id: ObjectId,
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How many commits are looked at after the last that seems to matter, as in git.
const SLOP: i32 = 5;

/// A walk over commits.
pub(crate) struct Walk<'r> {
    repo: &'r Repository,
    limits: Limits,
    queue: BinaryHeap<Queued>,
    flags: HashMap<ObjectId, Flags>,
    /// Parents after simplification.
    parents: HashMap<ObjectId, Rc<Vec<ObjectId>>>,
    pushed: u64,
    /// What is left to show when all is known.
    listed: Option<std::vec::IntoIter<ObjectId>>,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(repo: &'r Repository) -> Self {
        Self::with(repo, Limits::default())
    }

    pub(crate) fn with(repo: &'r Repository, limits: Limits) -> Self {
        Self {
            repo,
            limits,
            queue: BinaryHeap::new(),
            flags: HashMap::new(),
            parents: HashMap::new(),
            pushed: 0,
            listed: None,
        }
    }

    /// Starts at this commit, too.
    pub(crate) fn push(&mut self, id: ObjectId, flags: Flags) -> Outcome {
        if flags.uninteresting {
            self.limits.limited = true;
        }
        let known = self.flags.entry(id).or_default();
        known.uninteresting |= flags.uninteresting;
        known.bottom |= flags.bottom;
        known.left |= flags.left;
        if !std::mem::replace(&mut known.seen, true) {
            let time = self.repo.node(&id)?.time;
            self.enqueue(id, time);
        }
        Ok(())
    }

    fn enqueue(&mut self, id: ObjectId, time: i64) {
        self.pushed += 1;
        self.queue.push(Queued { time, number: Reverse(self.pushed), id });
    }

    fn flags_of(&self, id: &ObjectId) -> Flags {
        self.flags.get(id).copied().unwrap_or_default()
    }

    /// Whether a commit of the result is on the left side of `a...b`.
    pub(crate) fn is_left(&self, id: &ObjectId) -> bool {
        self.flags_of(id).left
    }

    /// The parents of a commit of the result, as far as the limits leave them.
    pub(crate) fn parents_of(&self, id: &ObjectId) -> Outcome<Rc<Vec<ObjectId>>> {
        match self.parents.get(id) {
            Some(parents) => Ok(Rc::clone(parents)),
            None => Ok(Rc::new(self.repo.node(id)?.parents.clone())),
        }
    }

    /// The next commit in the order of the queue, without any filter.
    pub(crate) fn next_raw(&mut self) -> Outcome<Option<ObjectId>> {
        let Some(next) = self.queue.pop() else { return Ok(None) };
        self.process_parents(&next.id)?;
        Ok(Some(next.id))
    }

    /// The next commit of the result.
    pub(crate) fn next(&mut self) -> Outcome<Option<ObjectId>> {
        if self.limits.order != Order::Newest {
            self.limits.limited = true;
        }
        if self.limits.limited && self.listed.is_none() {
            let list = self.limit()?;
            let list = super::simplify::order(self.repo, list, self.limits.order, |id| self.parents_of(id))?;
            self.listed = Some(list.into_iter());
        }
        loop {
            let id = if let Some(listed) = self.listed.as_mut() {
                match listed.next() {
                    Some(id) => id,
                    None => return Ok(None),
                }
            } else {
                let Some(next) = self.queue.pop() else { return Ok(None) };
                if self.limits.since.is_some_and(|since| next.time < since) {
                    continue;
                }
                self.process_parents(&next.id)?;
                next.id
            };
            if self.is_shown(&id)? {
                return Ok(Some(id));
            }
        }
    }

    fn is_shown(&self, id: &ObjectId) -> Outcome<bool> {
        let flags = self.flags_of(id);
        let node = self.repo.node(id)?;
        let parents = self.parents_of(id)?.len();
        Ok(!flags.uninteresting
            && !(flags.same && !self.limits.paths.is_empty())
            && self.limits.since.is_none_or(|since| node.time >= since)
            && self.limits.until.is_none_or(|until| node.time <= until)
            && parents >= self.limits.min_parents
            && self.limits.max_parents.is_none_or(|most| parents <= most))
    }

    /// Takes in the parents of a commit that left the queue.
    fn process_parents(&mut self, id: &ObjectId) -> Outcome {
        let flags = self.flags_of(id);
        let node = self.repo.node(id)?;
        if flags.uninteresting {
            for parent in &node.parents {
                self.mark_uninteresting(*parent)?;
                let known = self.flags.entry(*parent).or_default();
                if !std::mem::replace(&mut known.seen, true) {
                    let time = self.repo.node(parent)?.time;
                    self.enqueue(*parent, time);
                }
            }
            return Ok(());
        }
        let mut parents = Rc::new(node.parents.clone());
        if !self.limits.paths.is_empty() {
            let relevant = |id: &ObjectId| {
                let flags = self.flags_of(id);
                !flags.uninteresting || flags.bottom
            };
            let simplified =
                simplify::against_parents(self.repo, &self.limits.paths, &node, self.limits.first_parent, relevant)?;
            self.flags.entry(*id).or_default().same = simplified.same;
            parents = Rc::new(simplified.parents);
            self.parents.insert(*id, Rc::clone(&parents));
        }
        for (at, parent) in parents.iter().enumerate() {
            if at > 0 && self.limits.first_parent {
                break;
            }
            let known = self.flags.entry(*parent).or_default();
            known.left |= flags.left;
            if !std::mem::replace(&mut known.seen, true) {
                let time = self.repo.node(parent)?.time;
                self.enqueue(*parent, time);
            }
        }
        Ok(())
    }

    /// Marks a commit, and those of its ancestors that were seen.
    fn mark_uninteresting(&mut self, id: ObjectId) -> Outcome {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            let known = self.flags.entry(id).or_default();
            if std::mem::replace(&mut known.uninteresting, true) || !known.seen {
                continue;
            }
            stack.extend(self.repo.node(&id)?.parents.iter().copied());
        }
        Ok(())
    }

    /// All commits that are not reachable from uninteresting ones.
    fn limit(&mut self) -> Outcome<Vec<ObjectId>> {
        let mut list = Vec::new();
        let mut slop = SLOP;
        let mut date = i64::MAX;
        while let Some(Queued { time, id, .. }) = self.queue.pop() {
            if self.limits.since.is_some_and(|since| time < since) {
                self.flags.entry(id).or_default().uninteresting = true;
            }
            self.process_parents(&id)?;
            if self.flags_of(&id).uninteresting {
                let nodes = self.repo.node(&id)?;
                for parent in &nodes.parents {
                    self.mark_uninteresting(*parent)?;
                }
                slop = match self.queue.peek() {
                    None => 0,
                    Some(next) if date <= next.time => SLOP,
                    Some(_) if self.queue.iter().any(|queued| !self.flags_of(&queued.id).uninteresting) => SLOP,
                    Some(_) => slop - 1,
                };
                if slop > 0 {
                    continue;
                }
                break;
            }
            date = time;
            list.push(id);
        }
        list.retain(|id| !self.flags_of(id).uninteresting);
        Ok(list)
    }
}
