//! The files that the paths name, each read.

use crate::exit::Failure;
use crate::progress::Walk;
use crate::text;
use skillgate_core::{Diagnostic, LineIndex, LoadedFrom, Profile, Severity};
use skillgate_format::{Document, ReadOptions};
use skillgate_loader::{SkillFile, find_skill_files_watched_ambient, read_file_ambient};
use skillgate_policy::builtin_limits;
use skillgate_runtime::hook::ParsedHooks;
use std::collections::HashSet;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The skill files below the paths, each once, in the order of the paths, and which paths name none.
pub(super) fn find(paths: &[PathBuf]) -> (Vec<SkillFile>, Vec<Failure>) {
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    let mut walk = Walk::default();
    for path in paths {
        match find_skill_files_watched_ambient(path, &mut || walk.directory()) {
            Ok(found) if found.is_empty() => failures.push(Failure::NoSkillFile(path.display().to_string())),
            Ok(found) => files.extend(found.into_iter().filter(|file| seen.insert(file.path.clone()))),
            Err(_) => failures.push(Failure::NoSuchPath(path.display().to_string())),
        }
    }
    (files, failures)
}

/// Does `work` on every item, on as many threads as there are cores; the answers keep the order of the items.
pub(super) fn in_order<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut answers: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.flat_map(|done| done.unwrap_or_else(|fault| std::panic::resume_unwind(fault))).collect()
    });
    answers.sort_unstable_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// A file, and what was found in it.
pub(super) struct Checked<'f> {
    pub(super) file: &'f SkillFile,
    pub(super) options: ReadOptions,
    /// Absent when the file cannot be read.
    pub(super) document: Option<Document>,
    /// Findings about what is not the file's text: its name, and what stands beside it.
    around: Vec<Diagnostic>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'f> Checked<'f> {
    pub(super) fn read(profile: Profile, file: &'f SkillFile) -> Self {
        let limits = builtin_limits();
        let options = ReadOptions {
            profile,
            max_file_bytes: limits.skill_file_bytes,
            max_header_bytes: limits.header_bytes,
            directory_name: file.directory_name.clone(),
            file_name: file.path.file_name().map(|name| name.to_string_lossy().into_owned()),
            loaded_from: if file.is_skill { LoadedFrom::Skills } else { LoadedFrom::Commands },
        };
        let mut checked = Self { file, options, document: None, around: Vec::new(), diagnostics: Vec::new() };
        if let Some(fault) = &file.fault {
            checked.diagnostics.push(fault.clone());
            return checked;
        }
        match read_file_ambient(&file.path, limits.skill_file_bytes) {
            Ok(bytes) => {
                checked.around = file.name_finding().into_iter().chain(file.companion_findings()).collect();
                checked.look_at(Document::read_owned(bytes, &checked.options));
            }
            Err(fault) => checked.diagnostics.push(fault.diagnostic()),
        }
        checked
    }

    /// Takes a document for the file's own, and its findings.
    pub(super) fn look_at(&mut self, document: Document) {
        self.diagnostics.clone_from(&self.around);
        self.diagnostics.extend_from_slice(document.diagnostics());
        self.diagnostics.extend(skillgate_format::scan(&document));
        self.diagnostics.extend(super::tools::findings(&document));
        self.diagnostics.extend(ParsedHooks::of(&document.frontmatter().hooks).findings());
        self.document = Some(document);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many findings have this severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }

    /// The lines of the text, for places of findings.
    pub(super) fn lines(&self) -> Option<LineIndex<'_>> {
        self.document.as_ref().map(|document| LineIndex::new(document.source()))
    }

    /// The path as a person is shown it.
    pub(super) fn shown_path(&self) -> String {
        text::escaped(&self.file.path.display().to_string())
    }
}
