//! `ls`, as GNU coreutils 9.1 answers without a terminal, in the locale C.UTF-8 and the time zone UTC.

mod columns;
mod entry;
mod long;
mod order;
mod request;

use crate::quote::quoted;
use entry::Entry;
use guest_command::output::{Output, path, reason};
use guest_files::Kind;
use request::{Dereference, Format, Request};
use std::collections::HashSet;
use std::io;

/// Status when a part of the listing could not be read.
const STATUS_MINOR: i32 = 1;
/// Status when an operand could not be listed, and of wrong usage.
const STATUS_SERIOUS: i32 = 2;

/// `ls`; `dir`, which is `ls -C -b`; and `vdir`, which is `ls -l -b`.
pub(crate) fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match request::parse(name, arguments) {
        Ok((request, operands)) => Listing::new(&request).run(operands),
        Err((message, status)) => {
            eprintln!("{message}");
            status
        }
    }
}

struct Listing<'r> {
    request: &'r Request,
    output: Output,
    status: i32,
    /// Whether something was printed, so that a blank line comes before the next directory.
    printed: bool,
    /// The directories around, by device and inode, where links are followed into directories.
    around: HashSet<(u64, u64)>,
}

impl<'r> Listing<'r> {
    fn new(request: &'r Request) -> Self {
        Self { request, output: Output::new(), status: 0, printed: false, around: HashSet::new() }
    }

    fn run(mut self, operands: Vec<Vec<u8>>) -> i32 {
        let operands = if operands.is_empty() { vec![b".".to_vec()] } else { operands };
        let several = operands.len() > 1;
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for operand in operands {
            match Entry::of_operand(&operand, self.request) {
                Ok(entry) if entry.is_directory() && !self.request.directories_themselves => directories.push(entry),
                Ok(entry) => files.push(entry),
                Err(error) => self.complain("cannot access", &operand, &error, STATUS_SERIOUS),
            }
        }
        order::sort(&mut files, self.request);
        order::sort(&mut directories, self.request);
        if !files.is_empty() {
            self.printed = true;
            self.print(&files, &directories);
        }
        let headed = several || self.request.recursive;
        for directory in directories {
            self.directory(&directory.name, headed, STATUS_SERIOUS);
        }
        self.output.flush();
        self.status
    }

    fn complain(&mut self, what: &str, name: &[u8], error: &io::Error, status: i32) {
        self.output.flush();
        eprintln!("ls: {what} {}: {}", quoted(name), reason(error));
        self.status = self.status.max(status);
    }

    /// Lists one directory, and with `-R` those below it.
    fn directory(&mut self, name: &[u8], headed: bool, status: i32) {
        let follows = self.request.dereference == Dereference::All;
        let own = if follows { guest_files::status(&path(name), true).ok() } else { None };
        let own = own.map(|status| (status.device, status.inode));
        if self.request.recursive && own.is_some_and(|own| !self.around.insert(own)) {
            self.output.flush();
            eprintln!("ls: {}: not listing already-listed directory", String::from_utf8_lossy(name));
            self.status = STATUS_SERIOUS;
            return;
        }
        let found = match guest_files::list(&path(name)) {
            Ok(found) => found,
            Err(error) => {
                self.complain("cannot open directory", name, &error, status);
                return;
            }
        };
        if headed {
            if self.printed {
                self.output.put(b"\n");
            }
            self.output.put(&crate::escape::shown(name, self.request.style));
            self.output.put(b":\n");
        }
        self.printed = true;
        let mut entries = Vec::new();
        if self.request.all {
            for dots in [b".".as_slice(), b".."] {
                match Entry::of_child(name, dots.to_vec(), None, self.request) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => self.complain("cannot access", &entry::called(name, dots), &error, STATUS_MINOR),
                }
            }
        }
        for (child, own) in found {
            if self.request.shows(&child) {
                match Entry::of_child(name, child.clone(), Some(own), self.request) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => {
                        self.complain("cannot access", &entry::called(name, &child), &error, STATUS_MINOR);
                        entries.push(Entry::unknown(child, &own));
                    }
                }
            }
        }
        order::sort(&mut entries, self.request);
        if self.request.format == Format::Long || self.request.blocks {
            let blocks: u64 = entries.iter().filter_map(|entry| entry.status).map(|status| status.blocks).sum();
            self.output.put(format!("total {}\n", self.request.block_unit.shown(blocks * 512)).as_bytes());
        }
        self.print(&entries, &[]);
        if self.request.recursive {
            let below = entries.iter().filter(|entry| !matches!(entry.name.as_slice(), b"." | b".."));
            for entry in below.filter(|entry| entry.is_directory()) {
                self.directory(&entry::joined(name, &entry.name), true, STATUS_MINOR);
            }
        }
        if let Some(own) = own {
            self.around.remove(&own);
        }
    }

    /// Prints entries; columns are as wide as those of `others` need them too.
    fn print(&mut self, entries: &[Entry], others: &[Entry]) {
        let end: &[u8] = if self.request.zero { b"\0" } else { b"\n" };
        match self.request.format {
            Format::Long => {
                for line in long::lines(entries, others, self.request) {
                    self.output.put(&line);
                    self.output.put(end);
                }
            }
            Format::OnePerLine => {
                let before = entry::Prefixes::of(entries.iter().chain(others), self.request);
                for entry in entries {
                    self.output.put(&before.shown(entry));
                    self.output.put(end);
                }
            }
            Format::Columns | Format::Rows | Format::Commas => {
                let before = entry::Prefixes::of(entries.iter().chain(others), self.request);
                let names: Vec<Vec<u8>> = entries.iter().map(|entry| before.shown(entry)).collect();
                self.output.put(&columns::laid_out(&names, self.request));
            }
        }
    }
}

/// What stands after a name to tell its kind.
fn indicator(entry_kind: Option<Kind>, mode: u32, request: &Request) -> &'static [u8] {
    use request::Indicator;
    match (request.indicator, entry_kind) {
        (Indicator::None, _) | (_, None) => b"",
        (_, Some(Kind::Directory)) => b"/",
        (Indicator::Slash, _) => b"",
        (_, Some(Kind::Link)) => b"@",
        (_, Some(Kind::Fifo)) => b"|",
        (_, Some(Kind::Socket)) => b"=",
        (Indicator::Classify, Some(Kind::File)) if mode & 0o111 != 0 => b"*",
        _ => b"",
    }
}
