//! `.gitignore`: which files are not to be tracked.

use crate::files;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use gix_glob::Pattern;
use gix_glob::pattern::Case;
use gix_glob::wildmatch::Mode;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Debug)]
struct List {
    /// As `check-ignore -v` names it.
    source: BString,
    /// Bytes of a path before what the patterns are about.
    start: usize,
    patterns: Vec<(Pattern, usize)>,
}

/// The pattern that decided about a path.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) source: BString,
    pub(crate) line: usize,
    pub(crate) pattern: BString,
    pub(crate) ignored: bool,
}

/// All ignore files, read when a directory needs them.
#[derive(Debug)]
pub(crate) struct Ignores<'r> {
    repo: &'r Repository,
    root: PathBuf,
    case: Case,
    /// `-x`, `-X` and the like; weaker files come before them.
    standard: bool,
    lists: RefCell<HashMap<BString, Option<Rc<List>>>>,
}

impl<'r> Ignores<'r> {
    /// `standard`: whether `.gitignore` and the files of the repository and the user count.
    pub(crate) fn new(repo: &'r Repository, root: &Path, standard: bool) -> Self {
        let case = if repo.config.boolean("core.ignorecase") == Some(true) { Case::Fold } else { Case::Sensitive };
        Self { repo, root: root.to_owned(), case, standard, lists: RefCell::default() }
    }

    fn list(&self, key: &[u8], start: usize, source: BString, path: &Path) -> Option<Rc<List>> {
        if let Some(list) = self.lists.borrow().get(key.as_bstr()) {
            return list.clone();
        }
        let content = files::read_optional(path).ok().flatten();
        let list = content.map(|content| {
            let patterns = gix_ignore::parse(&content, false).map(|(pattern, line, _)| (pattern, line)).collect();
            Rc::new(List { source, start, patterns })
        });
        self.lists.borrow_mut().insert(key.into(), list.clone());
        list
    }

    /// From the strongest to the weakest.
    fn lists(&self, path: &[u8]) -> Vec<Rc<List>> {
        if !self.standard {
            return Vec::new();
        }
        let mut lists = Vec::new();
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        for end in std::iter::once(0).chain(ends).collect::<Vec<_>>().into_iter().rev() {
            let directory = &path[..end];
            let source = [directory, b".gitignore"].concat();
            lists.extend(self.list(
                directory,
                end,
                source.into(),
                &self.root.join(files::path(directory)).join(".gitignore"),
            ));
        }
        let info = self.repo.common_dir.join("info/exclude");
        let shown = info.strip_prefix(&self.root).unwrap_or(&info);
        lists.extend(self.list(b"//info", 0, files::bytes(shown), &info));
        let user = match self.repo.config.text("core.excludesfile") {
            Some(path) => Some(match path.strip_prefix("~/") {
                Some(rest) => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(rest),
                None => PathBuf::from(path),
            }),
            None => std::env::var_os("HOME")
                .filter(|home| !home.is_empty())
                .map(|home| PathBuf::from(home).join(".config/git/ignore")),
        };
        if let Some(user) = user {
            lists.extend(self.list(b"//user", 0, files::bytes(&user), &user));
        }
        lists
    }

    /// The pattern that decides about a path itself, without the directories above it.
    pub(crate) fn decide(&self, path: &[u8], is_directory: bool) -> Option<Match> {
        for list in self.lists(path) {
            let below = path[list.start..].as_bstr();
            let name = below.rfind_byte(b'/').map(|at| at + 1);
            let found = list.patterns.iter().rev().find(|(pattern, _)| {
                pattern.matches_repo_relative_path(
                    below,
                    name,
                    Some(is_directory),
                    self.case,
                    Mode::NO_MATCH_SLASH_LITERAL,
                )
            });
            if let Some((pattern, line)) = found {
                return Some(Match {
                    source: list.source.clone(),
                    line: *line,
                    pattern: pattern.to_string().into(),
                    ignored: !pattern.is_negative(),
                });
            }
        }
        None
    }

    /// Whether a path whose directories are not ignored is.
    pub(crate) fn ignores(&self, path: &[u8], is_directory: bool) -> bool {
        self.decide(path, is_directory).is_some_and(|found| found.ignored)
    }

    /// The pattern that decides about a path, or about the first directory above it that is ignored.
    pub(crate) fn decide_whole(&self, path: &[u8], is_directory: bool) -> Option<Match> {
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            if let Some(found) = self.decide(&path[..at], true).filter(|found| found.ignored) {
                return Some(found);
            }
        }
        self.decide(path, is_directory)
    }
}
