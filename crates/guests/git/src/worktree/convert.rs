//! Files of the working tree in git's form: line ends as the attributes say. No filter is run, whatever is configured.

use super::attributes::{Attributes, Stack, Value};
use crate::diff::funcname::Finder;
use crate::failure::{Failure, Outcome, unsupported};
use crate::files;
use crate::index::Index;
use crate::repository::Repository;
use crate::tree;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

/// Bytes in which a NUL makes a file binary.
const LOOKED_AT: usize = 8_000;

/// Reads files as git would store them.
#[derive(Debug)]
pub(crate) struct Converter<'r> {
    repo: &'r Repository,
    attributes: Stack<'r>,
    index: OnceCell<HashMap<BString, ObjectId>>,
    /// Filters that were reported as not run.
    reported: RefCell<HashSet<String>>,
}

/// What is done with line ends on the way into git.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    Kept,
    /// Always one byte.
    Text,
    /// One byte, when the file looks like text and is stored that way.
    Guessed,
}

impl<'r> Converter<'r> {
    pub(crate) fn new(repo: &'r Repository) -> Self {
        Self { repo, attributes: Stack::new(repo), index: OnceCell::new(), reported: RefCell::default() }
    }

    /// The file at a path below the root, as it would be stored.
    pub(crate) fn read(&self, path: &[u8], mode: u32) -> Outcome<Vec<u8>> {
        let full = self.repo.root()?.join(files::path(path));
        let broken = |error: std::io::Error| Failure::Fatal(format!("unable to read '{}': {error}", path.as_bstr()));
        if mode == tree::LINK && files::status(&full).is_ok_and(|status| status.kind == files::Kind::Link) {
            return files::read_link(&full).map(Vec::from).map_err(broken);
        }
        let content = std::fs::read(&full).map_err(broken)?;
        if mode == tree::LINK { Ok(content) } else { self.stored(path, content) }
    }

    fn stored(&self, path: &[u8], content: Vec<u8>) -> Outcome<Vec<u8>> {
        let attributes = self.attributes.of(path);
        if let Some(driver) = attributes.get("filter").text().and_then(|name| name.to_str().ok()) {
            self.report_filter(driver);
        }
        if let Some(encoding) = attributes.get("working-tree-encoding").text()
            && !encoding.eq_ignore_ascii_case(b"UTF-8")
        {
            return unsupported(format_args!("the working tree encoding '{encoding}'"));
        }
        let mut content = match self.ends(&attributes) {
            Ends::Kept => content,
            Ends::Text => without_returns(content),
            Ends::Guessed if looks_binary(&content) || self.is_stored_with_returns(path)? => content,
            Ends::Guessed => without_returns(content),
        };
        if attributes.get("ident") == Value::Set {
            content = without_ident(content);
        }
        Ok(content)
    }

    /// Says once for each filter that is configured that it is not run.
    fn report_filter(&self, driver: &str) {
        let configured = ["clean", "process"]
            .iter()
            .any(|what| self.repo.config.string(&format!("filter.{driver}.{what}")).is_some());
        if configured && self.reported.borrow_mut().insert(driver.to_owned()) {
            eprintln!("skillgate: git: the filter '{driver}' is not run");
        }
    }

    fn ends(&self, attributes: &Attributes) -> Ends {
        let text = match attributes.get("text") {
            Value::Unspecified => attributes.get("crlf"),
            text => text,
        };
        let guesses = || {
            let converts = self
                .repo
                .config
                .string("core.autocrlf")
                .is_some_and(|value| value == "input" || crate::config::boolean(value) == Some(true));
            if converts { Ends::Guessed } else { Ends::Kept }
        };
        match text {
            Value::Set => Ends::Text,
            Value::Unset => Ends::Kept,
            Value::Text(text) if text == "auto" => Ends::Guessed,
            Value::Text(text) if text == "input" => Ends::Text,
            Value::Text(_) | Value::Unspecified
                if attributes.get("eol").text().is_some_and(|eol| eol == "lf" || eol == "crlf") =>
            {
                Ends::Text
            }
            Value::Text(_) | Value::Unspecified => guesses(),
        }
    }

    /// A file that was stored with carriage returns keeps them.
    fn is_stored_with_returns(&self, path: &[u8]) -> Outcome<bool> {
        if self.index.get().is_none() {
            let index = Index::open(self.repo)?;
            let entries = index
                .entries()
                .filter(|entry| matches!(entry.stage, 0 | 2))
                .map(|entry| (entry.path.into(), entry.id))
                .collect();
            let _ = self.index.set(entries);
        }
        let Some(id) = self.index.get().and_then(|index| index.get(path.as_bstr())) else { return Ok(false) };
        let stored = self.repo.odb.get_kind(id, gix_object::Kind::Blob)?;
        Ok(!looks_binary(&stored) && stored.contains_str("\r\n"))
    }

    /// Whether a file is binary for a diff.
    pub(crate) fn is_binary(&self, path: &[u8], content: &[u8]) -> Outcome<bool> {
        Ok(match self.attributes.of(path).get("diff") {
            Value::Set => false,
            Value::Unset => true,
            Value::Text(driver) => match self.repo.config.boolean(&format!("diff.{driver}.binary")) {
                Some(binary) => binary,
                None => has_nul(content),
            },
            Value::Unspecified => has_nul(content),
        })
    }

    /// How the line behind `@@` is found in a file.
    pub(crate) fn finder(&self, path: &[u8]) -> Outcome<Finder> {
        let Value::Text(driver) = self.attributes.of(path).get("diff") else { return Ok(Finder::Default) };
        let Ok(driver) = driver.to_str() else { return Ok(Finder::Default) };
        if self.repo.config.string(&format!("diff.{driver}.funcname")).is_some() {
            return unsupported(format_args!("diff.{driver}.funcname"));
        }
        let pattern = self.repo.config.text(&format!("diff.{driver}.xfuncname"));
        Finder::of_driver(driver, pattern.as_deref())
    }

    /// Whether a directory holds a repository of its own.
    pub(crate) fn is_repository(&self, path: &[u8]) -> bool {
        self.repo.work_tree.as_ref().is_some_and(|root| files::exists(&root.join(files::path(path)).join(".git")))
    }

    /// The commit that a submodule is at; `None` when it is not there or not readable.
    pub(crate) fn submodule_head(&self, path: &[u8]) -> Outcome<Option<ObjectId>> {
        let directory = self.repo.root()?.join(files::path(path));
        let dot_git = directory.join(".git");
        let git_dir = match files::status(&dot_git).map(|status| status.kind) {
            Ok(files::Kind::Directory) => dot_git,
            Ok(files::Kind::File) => {
                let content = files::read_optional(&dot_git).ok().flatten().unwrap_or_default();
                let Some(target) = content.strip_prefix(b"gitdir: ") else { return Ok(None) };
                crate::repository::normal(&directory.join(files::path(target.trim_end())))
            }
            _ => return Ok(None),
        };
        let refs = crate::refs::Refs::new(&git_dir, &git_dir);
        Ok(refs.resolve(b"HEAD").map(|head| head.id))
    }
}

fn has_nul(content: &[u8]) -> bool {
    content[..content.len().min(LOOKED_AT)].contains(&0)
}

/// Whether conversion of line ends leaves a file alone.
fn looks_binary(content: &[u8]) -> bool {
    let mut returns_alone = false;
    let (mut printable, mut others) = (0_usize, 0_usize);
    for (at, byte) in content.iter().enumerate() {
        match byte {
            0 => return true,
            b'\r' => returns_alone |= content.get(at + 1) != Some(&b'\n'),
            b'\n' => {}
            8 | 9 | 12 | 27 => printable += 1,
            // A DOS end of file.
            26 if at + 1 == content.len() => {}
            127 | 0..=31 => others += 1,
            _ => printable += 1,
        }
    }
    returns_alone || printable >> 7 < others
}

fn without_returns(content: Vec<u8>) -> Vec<u8> {
    if content.contains_str("\r\n") { content.replace("\r\n", "\n") } else { content }
}

/// `$Id: … $` becomes `$Id$`.
fn without_ident(content: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content.as_slice();
    while let Some(at) = rest.find("$Id:") {
        let after = &rest[at + 4..];
        let Some(end) = after.find_byteset("$\n").filter(|end| after[*end] == b'$') else {
            out.extend_from_slice(&rest[..at + 4]);
            rest = after;
            continue;
        };
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"$Id$");
        rest = &after[end + 1..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends() {
        assert_eq!(without_returns(b"a\r\nb\rc\r\n".to_vec()), b"a\nb\rc\n");
        assert!(looks_binary(b"a\0b"));
        assert!(looks_binary(b"a\rb"));
        assert!(!looks_binary(b"a\r\nb"));
    }

    #[test]
    fn idents() {
        assert_eq!(without_ident(b"x $Id: 1234 $ y $Id: z\n".to_vec()), b"x $Id$ y $Id: z\n");
    }
}
