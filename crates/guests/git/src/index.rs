//! The index: what is staged, and what git last saw of each file. It is never written.

use crate::failure::{Failure, Outcome, unsupported};
use crate::files;
use crate::repository::Repository;
use bstr::ByteSlice as _;
use filetime::FileTime;
use gix_hash::ObjectId;
use gix_index::State;
use gix_index::entry::{Flags, Stat};

/// The index of a worktree; empty when there is none.
#[derive(Debug)]
pub(crate) struct Index {
    state: Option<State>,
    /// When it was written.
    pub(crate) modified: (i64, u32),
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) id: ObjectId,
    pub(crate) mode: u32,
    /// 0, or 1 to 3 in a conflict.
    pub(crate) stage: u32,
    pub(crate) stat: &'a Stat,
    flags: Flags,
}

impl Entry<'_> {
    pub(crate) fn intent_to_add(&self) -> bool {
        self.flags.contains(Flags::INTENT_TO_ADD)
    }

    pub(crate) fn skip_worktree(&self) -> bool {
        self.flags.contains(Flags::SKIP_WORKTREE)
    }

    pub(crate) fn assume_valid(&self) -> bool {
        self.flags.contains(Flags::ASSUME_VALID)
    }
}

impl Index {
    pub(crate) fn open(repo: &Repository) -> Outcome<Self> {
        let path = repo.git_dir.join("index");
        let Ok(status) = files::status(&path) else { return Ok(Self { state: None, modified: (0, 0) }) };
        let data = std::fs::read(&path)
            .map_err(|error| Failure::Fatal(format!("{}: index file open failed: {error}", path.display())))?;
        let options = gix_index::decode::Options { thread_limit: Some(1), ..Default::default() };
        let time = FileTime::from_unix_time(status.modified.0, status.modified.1);
        let (state, _) = State::from_bytes(&data, time, gix_hash::Kind::Sha1, options)
            .map_err(|error| Failure::Message(format!("error: {error}\nfatal: index file corrupt"), 128))?;
        if state.link().is_some() {
            return unsupported("a split index");
        }
        if state.is_sparse() {
            return unsupported("a sparse index");
        }
        Ok(Self { state: Some(state), modified: status.modified })
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        self.state.iter().flat_map(|state| {
            state.entries().iter().map(|entry| Entry {
                path: entry.path(state).as_bytes(),
                id: entry.id,
                mode: crate::tree::canonical_mode(entry.mode.bits()),
                stage: entry.stage_raw(),
                stat: &entry.stat,
                flags: entry.flags,
            })
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.state.as_ref().map_or(0, |state| state.entries().len())
    }

    /// The entry at this position.
    pub(crate) fn at(&self, position: usize) -> Option<Entry<'_>> {
        let state = self.state.as_ref()?;
        let entry = state.entries().get(position)?;
        Some(Entry {
            path: entry.path(state).as_bytes(),
            id: entry.id,
            mode: crate::tree::canonical_mode(entry.mode.bits()),
            stage: entry.stage_raw(),
            stat: &entry.stat,
            flags: entry.flags,
        })
    }

    /// The first position whose path is not less than this one.
    pub(crate) fn lower_bound(&self, path: &[u8]) -> usize {
        self.state
            .as_ref()
            .map_or(0, |state| state.entries().partition_point(|entry| entry.path(state).as_bytes() < path))
    }

    pub(crate) fn contains(&self, path: &[u8]) -> bool {
        self.at(self.lower_bound(path)).is_some_and(|entry| entry.path == path)
    }

    /// Whether something below this directory (without `/` at its end) is tracked.
    pub(crate) fn has_below(&self, directory: &[u8]) -> bool {
        let start = [directory, b"/"].concat();
        self.at(self.lower_bound(&start)).is_some_and(|entry| entry.path.starts_with(&start))
    }

    /// The id of the tree that the index holds for the directory as a whole, when nothing below it changed since.
    pub(crate) fn cached_tree(&self, directory: &[u8]) -> Option<(ObjectId, usize)> {
        let mut tree = self.state.as_ref()?.tree()?;
        for part in directory.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            tree = tree.children.iter().find(|child| child.name.as_slice() == part)?;
        }
        Some((tree.id, usize::try_from(tree.num_entries?).ok()?))
    }
}
