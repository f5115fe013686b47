//! Trees: their entries, and finding a path in them.

use crate::failure::{Failure, Outcome};
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use gix_object::Kind;

pub(crate) const DIRECTORY: u32 = 0o040_000;
pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const EXECUTABLE: u32 = 0o100_755;
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const SUBMODULE: u32 = 0o160_000;

/// One line of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) mode: u32,
    pub(crate) name: BString,
    pub(crate) id: ObjectId,
}

impl Entry {
    pub(crate) fn is_directory(&self) -> bool {
        self.mode == DIRECTORY
    }
}

/// The mode that git takes an odd one for.
pub(crate) fn canonical_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => EXECUTABLE,
        0o100_000 => FILE,
        0o120_000 => LINK,
        0o040_000 => DIRECTORY,
        _ => SUBMODULE,
    }
}

pub(crate) fn parse(id: &ObjectId, data: &[u8]) -> Outcome<Vec<Entry>> {
    let broken = || Failure::Fatal(format!("corrupt tree file {id}"));
    let mut entries = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let space = rest.find_byte(b' ').ok_or_else(broken)?;
        let mode = std::str::from_utf8(&rest[..space])
            .ok()
            .and_then(|mode| u32::from_str_radix(mode, 8).ok())
            .ok_or_else(broken)?;
        rest = &rest[space + 1..];
        let end = rest.find_byte(0).ok_or_else(broken)?;
        let hash = rest.get(end + 1..end + 21).ok_or_else(broken)?;
        entries.push(Entry {
            mode: canonical_mode(mode),
            name: rest[..end].into(),
            id: ObjectId::from_bytes_or_panic(hash),
        });
        rest = &rest[end + 21..];
    }
    Ok(entries)
}

pub(crate) fn entries(repo: &Repository, id: &ObjectId) -> Outcome<Vec<Entry>> {
    parse(id, &repo.odb.get_kind(id, Kind::Tree)?)
}

/// The tree of a commit, tag or tree.
pub(crate) fn id_of(repo: &Repository, id: &ObjectId) -> Outcome<ObjectId> {
    match repo.peel(id)? {
        (id, Kind::Commit) => Ok(repo.node(&id)?.tree),
        (id, Kind::Tree) => Ok(id),
        (id, kind) => Err(Failure::Fatal(format!("object {id} is a {kind}, not a tree"))),
    }
}

/// What lies at a path below a tree; the tree itself for an empty path.
pub(crate) fn entry(repo: &Repository, root: &ObjectId, path: &[u8]) -> Outcome<Option<Entry>> {
    let mut found = Entry { mode: DIRECTORY, name: BString::default(), id: *root };
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        if !found.is_directory() {
            return Ok(None);
        }
        match entries(repo, &found.id)?.into_iter().find(|entry| entry.name == part) {
            Some(entry) => found = entry,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Compares names as trees sort them: a directory as if its name ended in `/`.
pub(crate) fn compare(
    one: &[u8],
    one_is_directory: bool,
    other: &[u8],
    other_is_directory: bool,
) -> std::cmp::Ordering {
    let common = one.len().min(other.len());
    one[..common].cmp(&other[..common]).then_with(|| {
        let next = |name: &[u8], directory: bool| name.get(common).copied().unwrap_or(if directory { b'/' } else { 0 });
        next(one, one_is_directory).cmp(&next(other, other_is_directory))
    })
}
