//! Differences: which files differ between two states of the project, and how that is printed.

mod combine;
pub(crate) mod combined;
pub(crate) mod funcname;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod patch;
pub(crate) mod rename;
pub(crate) mod stat;
pub(crate) mod trees;

use crate::failure::{Failure, Outcome};
use crate::repository::Repository;
use crate::tree;
use crate::worktree::convert::Converter;
use bstr::BString;
use gix_hash::ObjectId;
use gix_object::Kind;
use std::rc::Rc;

/// A similarity of 100 %.
pub(crate) const MAX_SCORE: u64 = 60_000;

/// One side of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Side {
    /// 0 when there is no file.
    pub(crate) mode: u32,
    /// `None` when there is no file, or it is the one in the working tree.
    pub(crate) id: Option<ObjectId>,
    pub(crate) path: BString,
}

impl Side {
    pub(crate) fn absent(path: &[u8]) -> Self {
        Self { mode: 0, id: None, path: path.into() }
    }

    pub(crate) fn stored(path: &[u8], mode: u32, id: ObjectId) -> Self {
        Self { mode, id: Some(id), path: path.into() }
    }

    pub(crate) fn worktree(path: &[u8], mode: u32) -> Self {
        Self { mode, id: None, path: path.into() }
    }

    pub(crate) fn exists(&self) -> bool {
        self.mode != 0
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }
}

/// A file that differs.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) old: Side,
    pub(crate) new: Side,
    /// How similar both are when it was renamed, of [`MAX_SCORE`].
    pub(crate) renamed: Option<u64>,
    /// It is in conflict; both sides are its path.
    pub(crate) unmerged: bool,
    /// Both versions of a file in conflict, when both have it: mode and id.
    pub(crate) versions: Option<[(u32, ObjectId); 2]>,
}

impl Pair {
    pub(crate) fn new(old: Side, new: Side) -> Self {
        Self { old, new, renamed: None, unmerged: false, versions: None }
    }

    pub(crate) fn unmerged(path: &[u8]) -> Self {
        Self { unmerged: true, ..Self::new(Side::absent(path), Side::absent(path)) }
    }

    /// git's letter for what happened.
    pub(crate) fn letter(&self) -> char {
        if self.unmerged {
            'U'
        } else if self.renamed.is_some() {
            'R'
        } else if !self.old.exists() {
            'A'
        } else if !self.new.exists() {
            'D'
        } else if self.old.mode & 0o170_000 != self.new.mode & 0o170_000 {
            'T'
        } else {
            'M'
        }
    }
}

/// Reads both sides of differences.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    pub(crate) repo: &'r Repository,
    pub(crate) converter: Converter<'r>,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(repo: &'r Repository) -> Self {
        Self { repo, converter: Converter::new(repo) }
    }

    /// What the side holds, in git's form.
    pub(crate) fn content(&self, side: &Side) -> Outcome<Rc<[u8]>> {
        if !side.exists() {
            return Ok(Rc::from([]));
        }
        if side.mode == tree::SUBMODULE {
            let id = match side.id {
                Some(id) => id,
                None => {
                    self.converter.submodule_head(&side.path)?.unwrap_or_else(|| ObjectId::null(gix_hash::Kind::Sha1))
                }
            };
            return Ok(format!("Subproject commit {id}\n").into_bytes().into());
        }
        match side.id {
            Some(id) => self.repo.odb.get_kind(&id, Kind::Blob),
            None => Ok(self.converter.read(&side.path, side.mode)?.into()),
        }
    }

    /// The id of the side, computed when it is in the working tree.
    pub(crate) fn id(&self, side: &Side) -> Outcome<ObjectId> {
        match side.id {
            Some(id) => Ok(id),
            None if !side.exists() => Ok(ObjectId::null(gix_hash::Kind::Sha1)),
            None if side.mode == tree::SUBMODULE => {
                Ok(self.converter.submodule_head(&side.path)?.unwrap_or_else(|| ObjectId::null(gix_hash::Kind::Sha1)))
            }
            None => hash(&self.content(side)?),
        }
    }
}

/// The id of a blob.
pub(crate) fn hash(content: &[u8]) -> Outcome<ObjectId> {
    gix_object::compute_hash(gix_hash::Kind::Sha1, Kind::Blob, content)
        .map_err(|error| Failure::Fatal(format!("cannot hash: {error}")))
}
