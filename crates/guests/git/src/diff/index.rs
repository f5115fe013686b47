//! Differences with the index on one side: staged changes, changes in the working tree, and both together.

use super::{Pair, Side, hash};
use crate::failure::Outcome;
use crate::index::{Entry, Index};
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::tree;
use crate::worktree::{State, Worktree};
use gix_hash::ObjectId;
use std::cmp::Ordering;
use std::collections::HashMap;

/// What is staged: a tree (`None` is an empty one) against the index.
pub(crate) fn staged(repo: &Repository, root: Option<ObjectId>, index: &Index, paths: &Pathspec) -> Outcome<Vec<Pair>> {
    let mut pairs = Vec::new();
    merge(repo, root, index, paths, true, |old, entries| {
        let Some(first) = entries.first() else {
            if let Some(old) = old {
                pairs.push(Pair::new(old.clone(), Side::absent(&old.path)));
            }
            return Ok(());
        };
        if first.stage != 0 {
            pairs.push(Pair { old: old.unwrap_or_else(|| Side::absent(first.path)), ..Pair::unmerged(first.path) });
            return Ok(());
        }
        let new = if first.intent_to_add() {
            Side::absent(first.path)
        } else {
            Side::stored(first.path, first.mode, first.id)
        };
        let old = old.unwrap_or_else(|| Side::absent(first.path));
        if (old.mode, old.id) != (new.mode, new.id) {
            pairs.push(Pair::new(old, new));
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// Changes that are not staged: the index against the working tree. With `combine`, a file in conflict that both sides have is one
/// pair with both versions.
pub(crate) fn unstaged(worktree: &Worktree<'_>, index: &Index, paths: &Pathspec, combine: bool) -> Outcome<Vec<Pair>> {
    let mut pairs = Vec::new();
    let mut entries = index.entries().filter(|entry| paths.matches(entry.path)).peekable();
    while let Some(entry) = entries.next() {
        if entry.stage != 0 {
            let mut stages = vec![entry];
            while let Some(next) = entries.next_if(|next| next.path == entry.path) {
                stages.push(next);
            }
            let stage = |number: u32| stages.iter().find(|entry| entry.stage == number);
            let mut conflict = Pair::unmerged(entry.path);
            let now = worktree.mode_of(stage(2).unwrap_or(&entry))?;
            conflict.new.mode = now.unwrap_or_default();
            if let (true, Some(ours), Some(theirs), Some(_)) = (combine, stage(2), stage(3), now) {
                conflict.versions = Some([(ours.mode, ours.id), (theirs.mode, theirs.id)]);
                pairs.push(conflict);
                continue;
            }
            pairs.push(conflict);
            // Our side against the file, behind the line that says it is in conflict.
            if let Some(ours) = stage(2) {
                let old = Side::stored(ours.path, ours.mode, ours.id);
                match worktree.state(ours)? {
                    State::Clean => {}
                    State::Deleted => pairs.push(Pair::new(old, Side::absent(ours.path))),
                    State::Changed { mode } => pairs.push(Pair::new(old, Side::worktree(ours.path, mode))),
                }
            }
            continue;
        }
        let old = if entry.intent_to_add() {
            Side::absent(entry.path)
        } else {
            Side::stored(entry.path, entry.mode, entry.id)
        };
        match worktree.state(&entry)? {
            State::Clean if !entry.intent_to_add() => {}
            State::Deleted => {
                if old.exists() {
                    pairs.push(Pair::new(old, Side::absent(entry.path)));
                }
            }
            State::Clean => pairs.push(Pair::new(old, Side::worktree(entry.path, entry.mode))),
            State::Changed { mode } => pairs.push(Pair::new(old, Side::worktree(entry.path, mode))),
        }
    }
    Ok(pairs)
}

/// A tree against the working tree, for the files that the index knows.
pub(crate) fn since(
    repo: &Repository,
    worktree: &Worktree<'_>,
    root: ObjectId,
    index: &Index,
    paths: &Pathspec,
) -> Outcome<Vec<Pair>> {
    let mut pairs = Vec::new();
    merge(repo, Some(root), index, paths, false, |old, entries| {
        let Some(first) = entries.first() else {
            if let Some(old) = old {
                pairs.push(Pair::new(old.clone(), Side::absent(&old.path)));
            }
            return Ok(());
        };
        let old = old.unwrap_or_else(|| Side::absent(first.path));
        let new = if first.stage != 0 {
            match worktree.mode_of(first)? {
                Some(mode) => Side::worktree(first.path, mode),
                None => Side::absent(first.path),
            }
        } else {
            match worktree.state(first)? {
                State::Clean => Side::stored(first.path, first.mode, first.id),
                State::Deleted => Side::absent(first.path),
                State::Changed { mode } => Side::worktree(first.path, mode),
            }
        };
        let same = old.mode == new.mode
            && match (old.id, new.id) {
                (Some(old), None) if new.exists() && new.mode != tree::SUBMODULE => {
                    hash(&worktree.converter.read(&new.path, new.mode)?)? == old
                }
                (old, new) => old == new,
            };
        if !same && (old.exists() || new.exists()) {
            pairs.push(Pair::new(old, new));
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// Goes through a tree and the index together, by path. `visit` gets the tree's file and the index's entries of one path. With
/// `skip`, directories that the index holds as they are in the tree are left out.
fn merge(
    repo: &Repository,
    root: Option<ObjectId>,
    index: &Index,
    paths: &Pathspec,
    skip: bool,
    mut visit: impl FnMut(Option<Side>, &[Entry<'_>]) -> Outcome,
) -> Outcome {
    let mut old = Old::default();
    if let Some(root) = root {
        old.read(repo, &root, index, paths, skip, &mut Vec::new())?;
    }
    let mut files = old.files.into_iter().peekable();
    let mut position = 0;
    loop {
        while old.unchanged.get(&position).is_some_and(|end| {
            position = *end;
            true
        }) {}
        let entry = index.at(position);
        let order = match (files.peek(), &entry) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(file), Some(entry)) => file.path.as_slice().cmp(entry.path),
        };
        let file = if order == Ordering::Greater { None } else { files.next() };
        let mut entries = Vec::new();
        if order != Ordering::Less
            && let Some(first) = entry
        {
            while let Some(next) = index.at(position).filter(|next| next.path == first.path) {
                entries.push(next);
                position += 1;
            }
            if !paths.matches(first.path) {
                continue;
            }
        }
        visit(file, &entries)?;
    }
}

#[derive(Default)]
struct Old {
    files: Vec<Side>,
    /// Ranges of index positions that are as in the tree.
    unchanged: HashMap<usize, usize>,
}

impl Old {
    fn read(
        &mut self,
        repo: &Repository,
        id: &ObjectId,
        index: &Index,
        paths: &Pathspec,
        skip: bool,
        prefix: &mut Vec<u8>,
    ) -> Outcome {
        if skip
            && let Some((cached, count)) = index.cached_tree(prefix)
            && cached == *id
            && count > 0
        {
            let start = index.lower_bound(prefix);
            self.unchanged.insert(start, start + count);
            return Ok(());
        }
        for entry in tree::entries(repo, id)? {
            let length = prefix.len();
            prefix.extend_from_slice(&entry.name);
            if entry.is_directory() {
                if paths.may_match_below(prefix) {
                    prefix.push(b'/');
                    self.read(repo, &entry.id, index, paths, skip, prefix)?;
                }
            } else if paths.matches(prefix) {
                self.files.push(Side::stored(prefix, entry.mode, entry.id));
            }
            prefix.truncate(length);
        }
        Ok(())
    }
}
