//! Files that are not tracked.

use super::ignore::Ignores;
use crate::failure::Outcome;
use crate::files::{self, Kind};
use crate::index::Index;
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use std::path::{Path, PathBuf};

/// How ignored files are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Ignored {
    #[default]
    No,
    /// Directories of which everything is ignored by one name.
    Traditional,
    /// As their pattern names them.
    Matching,
}

/// What to look for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) paths: &'a Pathspec,
    /// Every file, not only the directory it is in.
    pub(crate) every_file: bool,
    /// Also directories with nothing in them.
    pub(crate) empty_directories: bool,
    pub(crate) ignored: Ignored,
}

/// What was found, by path; directories with a `/` at their end.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) untracked: Vec<BString>,
    pub(crate) ignored: Vec<BString>,
}

struct Walk<'a> {
    root: PathBuf,
    git_dir: PathBuf,
    index: &'a Index,
    ignores: &'a Ignores<'a>,
    wanted: Wanted<'a>,
}

/// What lies in a directory in which nothing is tracked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Holds {
    untracked: bool,
    ignored: bool,
}

pub(crate) fn find(
    repo: &Repository,
    root: &Path,
    index: &Index,
    ignores: &Ignores<'_>,
    wanted: &Wanted<'_>,
) -> Outcome<Found> {
    let walk = Walk { root: root.to_owned(), git_dir: repo.git_dir.clone(), index, ignores, wanted: wanted.clone() };
    let mut found = Found::default();
    walk.tracked_directory(b"", &mut found)?;
    found.untracked.sort();
    found.ignored.sort();
    Ok(found)
}

impl Walk<'_> {
    fn list(&self, directory: &[u8]) -> Vec<(BString, files::Status)> {
        // What cannot be read is not shown, as in git, which warns.
        files::list(&self.root.join(files::path(directory.trim_end_with(|c| c == '/')))).unwrap_or_default()
    }

    fn is_repository(&self, directory: &[u8]) -> bool {
        files::exists(&self.root.join(files::path(directory)).join(".git"))
    }

    /// A directory with tracked files in it, given with its `/`.
    fn tracked_directory(&self, directory: &[u8], found: &mut Found) -> Outcome {
        for (name, status) in self.list(directory) {
            let path = [directory, name.as_slice()].concat();
            if name == ".git" || self.root.join(files::path(&path)) == self.git_dir {
                continue;
            }
            match status.kind {
                Kind::Directory if self.index.has_below(&path) => {
                    if self.wanted.paths.may_match_below(&path) {
                        self.tracked_directory(&[path.as_slice(), b"/"].concat(), found)?;
                    }
                }
                // A submodule.
                Kind::Directory if self.index.contains(&path) => {}
                Kind::Directory => self.untracked_directory(&path, found)?,
                Kind::File | Kind::Link if self.index.contains(&path) || !self.wanted.paths.matches(&path) => {}
                Kind::File | Kind::Link => {
                    if self.ignores.ignores(&path, false) {
                        self.add_ignored(path.into(), found);
                    } else {
                        found.untracked.push(path.into());
                    }
                }
                Kind::Other => {}
            }
        }
        Ok(())
    }

    fn add_ignored(&self, path: BString, found: &mut Found) {
        if self.wanted.ignored != Ignored::No {
            found.ignored.push(path);
        }
    }

    /// A directory without tracked files, given without its `/`.
    fn untracked_directory(&self, path: &[u8], found: &mut Found) -> Outcome {
        let with_slash = [path, b"/"].concat();
        let whole = self.wanted.paths.matches(&with_slash) || self.wanted.paths.matches(path);
        if !whole && !self.wanted.paths.may_match_below(path) {
            return Ok(());
        }
        if self.ignores.ignores(path, true) {
            if self.wanted.ignored == Ignored::No {
                return Ok(());
            }
            if self.wanted.every_file && self.wanted.ignored == Ignored::Traditional {
                self.all_ignored(path, found);
            } else if whole {
                found.ignored.push(with_slash.into());
            }
            return Ok(());
        }
        if self.is_repository(path) {
            if whole {
                found.untracked.push(with_slash.into());
            }
            return Ok(());
        }
        if self.wanted.every_file || !whole {
            return self.tracked_directory(&with_slash, found);
        }
        let mut below = Found::default();
        let holds = self.look(path, &mut below)?;
        if holds.untracked {
            found.untracked.push(with_slash.clone().into());
            if self.wanted.ignored != Ignored::No {
                found.ignored.append(&mut below.ignored);
            }
        } else if self.wanted.empty_directories {
            found.untracked.push(with_slash.into());
        } else if holds.ignored {
            // Everything in it is ignored, though the directory itself is not.
            match self.wanted.ignored {
                Ignored::Traditional => found.ignored.push(with_slash.into()),
                Ignored::Matching => found.ignored.append(&mut below.ignored),
                Ignored::No => {}
            }
        }
        Ok(())
    }

    /// Every file below an ignored directory.
    fn all_ignored(&self, path: &[u8], found: &mut Found) {
        for (name, status) in self.list(path) {
            let path = [path, b"/", name.as_slice()].concat();
            match status.kind {
                Kind::Directory => self.all_ignored(&path, found),
                Kind::File | Kind::Link if self.wanted.paths.matches(&path) => found.ignored.push(path.into()),
                _ => {}
            }
        }
    }

    /// What lies below a directory; stops at the first untracked file when ignored ones are not asked for.
    fn look(&self, path: &[u8], below: &mut Found) -> Outcome<Holds> {
        let mut holds = Holds::default();
        for (name, status) in self.list(path) {
            if name == ".git" {
                continue;
            }
            let path = [path, b"/", name.as_slice()].concat();
            let directory = status.kind == Kind::Directory;
            if status.kind == Kind::Other {
                continue;
            }
            if self.ignores.ignores(&path, directory) {
                holds.ignored = true;
                let name = if directory { [path.as_slice(), b"/"].concat() } else { path };
                self.add_ignored(name.into(), below);
            } else if directory {
                if self.is_repository(&path) {
                    holds.untracked = true;
                } else {
                    let mut deeper = Found::default();
                    let inner = self.look(&path, &mut deeper)?;
                    if !inner.untracked && inner.ignored && self.wanted.ignored == Ignored::Traditional {
                        below.ignored.push([path.as_slice(), b"/"].concat().into());
                    } else {
                        below.ignored.append(&mut deeper.ignored);
                    }
                    holds.untracked |= inner.untracked;
                    holds.ignored |= inner.ignored;
                }
            } else {
                holds.untracked = true;
            }
            if holds.untracked && self.wanted.ignored == Ignored::No {
                return Ok(holds);
            }
        }
        Ok(holds)
    }
}
