//! The working tree: which tracked files are as in the index, and what else lies there.

pub(crate) mod attributes;
pub(crate) mod convert;
pub(crate) mod ignore;
pub(crate) mod untracked;

use crate::diff;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Kind, Status};
use crate::index::{Entry, Index};
use crate::repository::Repository;
use crate::tree;
use bstr::{BString, ByteSlice as _};
use convert::Converter;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

/// How a tracked file is in the working tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Clean,
    Deleted,
    /// Another content or mode, with the mode it has now.
    Changed {
        mode: u32,
    },
}

type Listing = HashMap<BString, Status>;

/// The working tree of a repository.
#[derive(Debug)]
pub(crate) struct Worktree<'r> {
    root: PathBuf,
    pub(crate) converter: Converter<'r>,
    /// When the index was written.
    index_time: (i64, u32),
    trust_mode: bool,
    symlinks: bool,
    trust_ctime: bool,
    minimal: bool,
    /// The status of everything in the directories looked at; `None` for one that is not there.
    listings: RefCell<HashMap<BString, Option<Listing>>>,
}

impl<'r> Worktree<'r> {
    pub(crate) fn new(repo: &'r Repository, index: &Index) -> Outcome<Self> {
        let config = &repo.config;
        Ok(Self {
            root: repo.root()?.to_owned(),
            converter: Converter::new(repo),
            index_time: index.modified,
            trust_mode: config.boolean("core.filemode") != Some(false),
            symlinks: config.boolean("core.symlinks") != Some(false),
            trust_ctime: config.boolean("core.trustctime") != Some(false),
            minimal: config.text("core.checkstat").is_some_and(|value| value.eq_ignore_ascii_case("minimal")),
            listings: RefCell::default(),
        })
    }

    /// The status of a path, from the listing of its directory: one look for each directory. Nothing is found behind a link.
    fn status(&self, path: &[u8]) -> Outcome<Option<Status>> {
        let (directory, name) = path.rfind_byte(b'/').map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        if !self.listings.borrow().contains_key(directory.as_bstr()) {
            let listing = self.list(directory)?;
            self.listings.borrow_mut().insert(directory.into(), listing);
        }
        let listings = self.listings.borrow();
        Ok(listings
            .get(directory.as_bstr())
            .and_then(Option::as_ref)
            .and_then(|listing| listing.get(name.as_bstr()))
            .copied())
    }

    fn list(&self, directory: &[u8]) -> Outcome<Option<Listing>> {
        if !directory.is_empty() && self.status(directory)?.is_none_or(|status| status.kind != Kind::Directory) {
            return Ok(None);
        }
        match files::list(&self.root.join(files::path(directory))) {
            Ok(entries) => Ok(Some(entries.into_iter().collect())),
            Err(error) if files::is_absent(&error) => Ok(None),
            Err(error) => Err(Failure::Fatal(format!("cannot read directory '{}': {error}", directory.as_bstr()))),
        }
    }

    /// The mode of the file that is there for an entry now, as git would record it; `None` when there is none.
    pub(crate) fn mode_of(&self, entry: &Entry<'_>) -> Outcome<Option<u32>> {
        Ok(self.status(entry.path)?.and_then(|status| self.mode(entry, &status)))
    }

    fn mode(&self, entry: &Entry<'_>, status: &Status) -> Option<u32> {
        match status.kind {
            Kind::File if !self.symlinks && entry.mode == tree::LINK => Some(tree::LINK),
            Kind::File if !self.trust_mode => {
                Some(if matches!(entry.mode, tree::FILE | tree::EXECUTABLE) { entry.mode } else { tree::FILE })
            }
            Kind::File if status.executable => Some(tree::EXECUTABLE),
            Kind::File => Some(tree::FILE),
            Kind::Link => Some(tree::LINK),
            // A directory in the place of a file: the file is gone; in that of a submodule it is the submodule.
            Kind::Directory if entry.mode == tree::SUBMODULE => Some(tree::SUBMODULE),
            Kind::Directory if self.converter.is_repository(entry.path) => Some(tree::SUBMODULE),
            Kind::Directory | Kind::Other => None,
        }
    }

    /// Compares the file with its entry: by what git knows of its status, by content when that does not prove it clean.
    pub(crate) fn state(&self, entry: &Entry<'_>) -> Outcome<State> {
        if entry.skip_worktree() || entry.assume_valid() {
            return Ok(State::Clean);
        }
        let Some(status) = self.status(entry.path)? else { return Ok(State::Deleted) };
        let Some(mode) = self.mode(entry, &status) else { return Ok(State::Deleted) };
        if mode == tree::SUBMODULE {
            if entry.mode != tree::SUBMODULE {
                return Ok(State::Changed { mode });
            }
            let head = self.converter.submodule_head(entry.path)?;
            return Ok(if head.is_none_or(|head| head == entry.id) { State::Clean } else { State::Changed { mode } });
        }
        if mode != entry.mode {
            return Ok(State::Changed { mode });
        }
        if self.matches(entry, &status) {
            return Ok(State::Clean);
        }
        let sizes_differ = entry.stat.size != 0 && u64::from(entry.stat.size) != status.size & 0xffff_ffff;
        if sizes_differ {
            return Ok(State::Changed { mode });
        }
        let same = diff::hash(&self.converter.read(entry.path, mode)?)? == entry.id;
        Ok(if same { State::Clean } else { State::Changed { mode } })
    }

    /// Whether the status alone proves that the file is as git left it.
    fn matches(&self, entry: &Entry<'_>, status: &Status) -> bool {
        let stat = entry.stat;
        let seconds = |at: i64| u32::try_from(at & 0xffff_ffff).unwrap_or_default();
        let low = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        let same_time = |recorded: gix_index::entry::stat::Time, now: (i64, u32)| {
            // An index written without fractions of seconds says nothing of them.
            recorded.secs == seconds(now.0) && (self.minimal || recorded.nsecs == 0 || recorded.nsecs == now.1)
        };
        let recorded = (i64::from(stat.mtime.secs), stat.mtime.nsecs);
        // Written in the same moment as the index or later: it may have been changed after it was looked at.
        let racy = recorded >= self.index_time;
        !racy
            && stat.size == low(status.size)
            && same_time(stat.mtime, status.modified)
            && (!self.trust_ctime || same_time(stat.ctime, status.changed))
            && (self.minimal || (stat.ino == low(status.inode) && stat.uid == status.owner && stat.gid == status.group))
    }
}
