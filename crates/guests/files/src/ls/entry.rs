//! What is listed: a name with its status.

use super::indicator;
use super::request::{Dereference, Format, Request};
use crate::escape::{shown, width};
use guest_command::output::{bytes, path};
use guest_files::{Kind, Status};
use std::io;

/// One file of a listing.
#[derive(Debug)]
pub(super) struct Entry {
    /// The name that is shown; of an operand as it was given.
    pub(super) name: Vec<u8>,
    /// `None` for a file whose status cannot be told, such as a link to nothing that is to be followed.
    pub(super) status: Option<Status>,
    /// Where a link leads, as written in it.
    pub(super) target: Option<Vec<u8>>,
    /// What a link leads to.
    pub(super) target_status: Option<Status>,
    /// The first letter of a mode that cannot be told.
    pub(super) unknown: char,
}

/// A name below a directory, as messages call it.
pub(super) fn called(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory == b"." { name.to_vec() } else { joined(directory, name) }
}

/// A name below a directory.
pub(super) fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat()
}

impl Entry {
    pub(super) fn is_directory(&self) -> bool {
        self.status.is_some_and(|status| status.kind() == Kind::Directory)
    }

    /// A directory, or a link to one.
    pub(super) fn leads_to_directory(&self) -> bool {
        self.is_directory() || self.target_status.is_some_and(|status| status.kind() == Kind::Directory)
    }

    /// A file of the command line.
    pub(super) fn of_operand(name: &[u8], request: &Request) -> io::Result<Self> {
        let at = path(name);
        let found = match request.dereference {
            Dereference::None => guest_files::status(&at, false)?,
            Dereference::All | Dereference::Operands => guest_files::status(&at, true)?,
            Dereference::OperandsToDirectories => match guest_files::status(&at, true) {
                Ok(status) if status.kind() == Kind::Directory => status,
                _ => guest_files::status(&at, false)?,
            },
        };
        Ok(Self::with_target(name.to_vec(), name, found, request))
    }

    /// A file of a directory.
    pub(super) fn of_child(
        directory: &[u8],
        name: Vec<u8>,
        own: Option<Status>,
        request: &Request,
    ) -> io::Result<Self> {
        let whole = joined(directory, &name);
        let status = match own {
            Some(own) if own.kind() == Kind::Link && request.dereference == Dereference::All => {
                match guest_files::status(&path(&whole), true) {
                    Ok(status) => status,
                    // Where only names are shown, nobody looks at what a link leads to.
                    Err(_) if !request.needs_status() => own,
                    Err(error) => return Err(error),
                }
            }
            Some(own) => own,
            None => guest_files::status(&path(&whole), true)?,
        };
        Ok(Self::with_target(name, &whole, status, request))
    }

    pub(super) fn unknown(name: Vec<u8>, own: &Status) -> Self {
        let unknown = own.mode_text().chars().next().unwrap_or('?');
        Self { name, status: None, target: None, target_status: None, unknown }
    }

    fn with_target(name: Vec<u8>, whole: &[u8], status: Status, request: &Request) -> Self {
        let is_link = status.kind() == Kind::Link;
        let target = if is_link && request.format == Format::Long {
            std::fs::read_link(path(whole)).ok().map(|target| bytes(&target).to_vec())
        } else {
            None
        };
        let needed = request.format == Format::Long || request.directories_first;
        let target_status = if is_link && needed { guest_files::status(&path(whole), true).ok() } else { None };
        Self { name, status: Some(status), target, target_status, unknown: '?' }
    }
}

/// The columns before a name: inode and blocks, as wide as the widest.
#[derive(Debug)]
pub(super) struct Prefixes<'r> {
    request: &'r Request,
    inode: usize,
    blocks: usize,
}

impl<'r> Prefixes<'r> {
    pub(super) fn of<'e>(entries: impl Iterator<Item = &'e Entry>, request: &'r Request) -> Self {
        let mut prefixes = Self { request, inode: 0, blocks: 0 };
        // Between commas nothing is aligned.
        if request.format != Format::Commas && (request.inode || request.blocks) {
            for entry in entries {
                prefixes.inode = prefixes.inode.max(inode(entry).len());
                prefixes.blocks = prefixes.blocks.max(blocks(entry, request).len());
            }
        }
        prefixes
    }

    /// What stands before the mode or the name.
    pub(super) fn before(&self, entry: &Entry) -> Vec<u8> {
        let mut out = Vec::new();
        if self.request.inode {
            out.extend_from_slice(format!("{:>1$} ", inode(entry), self.inode).as_bytes());
        }
        if self.request.blocks {
            out.extend_from_slice(format!("{:>1$} ", blocks(entry, self.request), self.blocks).as_bytes());
        }
        out
    }

    /// A name with what stands before and after it.
    pub(super) fn shown(&self, entry: &Entry) -> Vec<u8> {
        let mut out = self.before(entry);
        out.extend_from_slice(&shown(&entry.name, self.request.style));
        let mode = entry.status.map_or(0, |status| status.mode);
        out.extend_from_slice(indicator(entry.status.map(|status| status.kind()), mode, self.request));
        out
    }
}

fn inode(entry: &Entry) -> String {
    entry.status.map_or_else(|| "?".to_owned(), |status| status.inode.to_string())
}

fn blocks(entry: &Entry, request: &Request) -> String {
    entry.status.map_or_else(|| "?".to_owned(), |status| request.block_unit.shown(status.blocks * 512))
}

/// Columns of a name as it is shown.
pub(super) fn shown_width(shown: &[u8]) -> usize {
    width(shown)
}
