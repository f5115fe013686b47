//! The inputs: files, directories, standard input.

use super::matcher::Matcher;
use super::print::Printer;
use super::request::{Binary, Recursion, Request};
use super::{NOTHING, SELECTED, TROUBLE};
use crate::glob;
use crate::output::{Output, path, reason};
use std::fs::{self, FileType};
use std::io::Read as _;

/// How much of an input decides whether it is text.
const LOOKED_AT: usize = 32 << 10;
/// Directories inside each other that are still walked.
const MAX_DEPTH: usize = 2048;

/// Searches everything and gives the status.
pub(super) fn search(own: &str, request: &Request, matcher: &Matcher, output: &mut Output) -> i32 {
    let mut search = Search {
        own,
        request,
        matcher,
        printer: Printer::new(&request.layout, output),
        selected: false,
        trouble: false,
    };
    if request.files.is_empty() && request.recursion == Recursion::None {
        search.standard_input();
    } else if request.files.is_empty() {
        search.directory(b"", b".", 0);
    }
    for file in &request.files {
        if file == b"-" {
            search.standard_input();
        } else {
            search.named(file);
        }
        if search.selected && request.layout.quiet {
            break;
        }
    }
    match (search.selected, search.trouble) {
        (true, _) if request.layout.quiet => SELECTED,
        (_, true) => TROUBLE,
        (true, false) => SELECTED,
        (false, false) => NOTHING,
    }
}

struct Search<'s> {
    own: &'s str,
    request: &'s Request,
    matcher: &'s Matcher,
    printer: Printer<'s>,
    selected: bool,
    trouble: bool,
}

impl Search<'_> {
    fn standard_input(&mut self) {
        let mut text = Vec::new();
        let label = self.request.layout.stdin_label.clone();
        match std::io::stdin().lock().read_to_end(&mut text) {
            Ok(_) => self.text(&label, &text),
            Err(error) => self.complain(&label, &error),
        }
    }

    fn complain(&mut self, name: &[u8], error: &std::io::Error) {
        self.trouble = true;
        if !self.request.quiet_about_errors {
            self.printer.flush();
            eprintln!("{}: {}: {}", self.own, String::from_utf8_lossy(name), reason(error));
        }
    }

    /// A file or directory of the command line.
    fn named(&mut self, name: &[u8]) {
        match fs::metadata(path(name)) {
            Ok(metadata) if metadata.is_dir() => match self.request.recursion {
                Recursion::None if self.request.skip_directories => {}
                Recursion::None => self.complain(name, &std::io::Error::from(std::io::ErrorKind::IsADirectory)),
                _ if self.is_excluded_directory(name) => {}
                _ => {
                    let end = name.iter().rposition(|byte| *byte != b'/').map_or(1.min(name.len()), |at| at + 1);
                    // GNU keeps one slash that the user typed.
                    let kept = if end < name.len() { &name[..=end] } else { name };
                    self.directory(kept, name, 0);
                }
            },
            Ok(_) if self.is_filtered(name) => {}
            Ok(_) => self.file(name),
            Err(error) => self.complain(name, &error),
        }
    }

    /// Searches a directory, whose entries are shown below `shown`.
    fn directory(&mut self, shown: &[u8], real: &[u8], depth: usize) {
        if depth > MAX_DEPTH {
            return self.complain(shown, &std::io::Error::other("File name too long"));
        }
        let entries = match fs::read_dir(path(real)) {
            Ok(entries) => entries,
            Err(error) => return self.complain(if shown.is_empty() { real } else { shown }, &error),
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.complain(shown, &error);
                    continue;
                }
            };
            let mut name = shown.to_vec();
            if !name.is_empty() && !name.ends_with(b"/") {
                name.push(b'/');
            }
            name.extend_from_slice(entry.file_name().as_encoded_bytes());
            let Some(kind) = self.kind_of(&entry, &name) else { continue };
            if kind.is_dir() {
                if !self.is_excluded_directory(&name) {
                    self.directory(&name, &name, depth + 1);
                }
            } else if kind.is_file() && !self.is_filtered(&name) {
                self.file(&name);
            }
            if self.selected && self.request.layout.quiet {
                break;
            }
        }
    }

    fn kind_of(&mut self, entry: &fs::DirEntry, name: &[u8]) -> Option<FileType> {
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_symlink() && self.request.recursion == Recursion::Links => {
                fs::metadata(entry.path()).map(|metadata| metadata.file_type())
            }
            kind => kind,
        };
        kind.map_err(|error| self.complain(name, &error)).ok()
    }

    fn is_excluded_directory(&self, name: &[u8]) -> bool {
        self.request.excluded_directories.iter().any(|pattern| matches_tail(pattern, name))
    }

    /// Whether `--include` and `--exclude` leave a file out.
    fn is_filtered(&self, name: &[u8]) -> bool {
        let filters = &self.request.filters;
        match filters.iter().rev().find(|filter| matches_tail(&filter.pattern, name)) {
            Some(filter) => !filter.include,
            // What no pattern matches is left out when the first of them includes.
            None => filters.first().is_some_and(|filter| filter.include),
        }
    }

    fn file(&mut self, name: &[u8]) {
        let mut text = Vec::new();
        let read = fs::File::open(path(name)).and_then(|mut file| file.read_to_end(&mut text));
        match read {
            Ok(_) => self.text(name, &text),
            Err(error) => self.complain(name, &error),
        }
    }

    fn text(&mut self, name: &[u8], text: &[u8]) {
        let separator_is_null = self.request.layout.separator == 0;
        let looked_at = &text[..text.len().min(LOOKED_AT)];
        let binary = match self.request.binary {
            Binary::Text => false,
            Binary::Report | Binary::Skip => {
                (!separator_is_null && memchr::memchr(0, looked_at).is_some()) || std::str::from_utf8(text).is_err()
            }
        };
        if binary && self.request.binary == Binary::Skip {
            self.printer.summary(name, super::print::Found::default());
            return;
        }
        let found = self.printer.search(name, text, self.matcher, binary);
        if found.hidden {
            self.printer.flush();
            if !self.request.quiet_about_errors {
                eprintln!("{}: {}: binary file matches", self.own, String::from_utf8_lossy(name));
            }
        }
        self.printer.summary(name, found);
        self.selected |= found.selected > 0;
    }
}

/// Whether a pattern matches a name, or what follows one of its slashes.
fn matches_tail(pattern: &[u8], name: &[u8]) -> bool {
    let tails = memchr::memchr_iter(b'/', name).map(|at| &name[at + 1..]);
    std::iter::once(name).chain(tails).any(|tail| glob::matches(pattern, tail, false))
}
