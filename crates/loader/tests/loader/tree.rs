//! A tree of files in one string, and what a load made of it in another.
//!
//! An entry begins with `=== PATH`; the lines after it are the file's text. `=== PATH/` is a directory, `=== PATH -> TARGET`
//! a link (a target that begins with `^/` begins at the tree), `=== PATH |` a fifo.

use skillgate_core::{Diagnostic, Source};
use skillgate_loader::{LoadOptions, Loaded, RootKind, SkillRoot, SkillRoots};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct Tree(TempDir);

impl Tree {
    pub(crate) fn new(text: &str) -> Self {
        let tree = Self(tempfile::tempdir().expect("temporary directory"));
        let mut entries: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("=== "), entries.last_mut()) {
                (Some(head), _) => entries.push((head.to_owned(), String::new())),
                (None, Some((_, contents))) => {
                    contents.push_str(line);
                    contents.push('\n');
                }
                (None, None) => assert_eq!(line.trim(), "", "text before the first entry"),
            }
        }
        for (head, contents) in entries {
            tree.add(&head, contents.as_bytes());
        }
        tree
    }

    pub(crate) fn add(&self, head: &str, contents: &[u8]) {
        let at = |path: &str| {
            let path = self.path(path);
            fs::create_dir_all(path.parent().expect("below the tree")).expect("directories above");
            path
        };
        if let Some((path, target)) = head.split_once(" -> ") {
            let target = match target.strip_prefix("^/") {
                Some(rel) => self.path(rel),
                None => PathBuf::from(target),
            };
            symlink(target, at(path)).expect("link");
        } else if let Some(path) = head.strip_suffix(" |") {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            mknodat(CWD, at(path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("fifo");
        } else if let Some(path) = head.strip_suffix('/') {
            fs::create_dir_all(at(path)).expect("directory");
        } else {
            fs::write(at(head), contents).expect("file");
        }
    }

    pub(crate) fn path(&self, rel: &str) -> PathBuf {
        // Without links, so that paths can be compared.
        self.0.path().canonicalize().expect("the tree").join(rel)
    }

    pub(crate) fn root(&self, source: Source, kind: RootKind, rel: &str, link_roots: &[&str]) -> SkillRoot {
        let link_roots = link_roots.iter().map(|rel| self.path(rel)).collect();
        SkillRoot { link_roots, ..SkillRoot::new(source, kind, self.path(rel)) }
    }

    /// A path as it stands in an expectation.
    pub(crate) fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.path("")).unwrap_or(path).display().to_string()
    }

    /// One line for each thing that was found: skills, then what is broken, duplicates, findings.
    pub(crate) fn summary(&self, loaded: &Loaded) -> String {
        let mut text = String::new();
        for skill in &loaded.skills {
            let codes = codes(&skill.diagnostics);
            writeln!(text, "{} {}{codes}", skill.id, self.short(&skill.path)).expect("text");
        }
        for failure in &loaded.failures {
            let code = &failure.diagnostic.code;
            writeln!(text, "broken {}:{} {} {code}", failure.source, failure.name, self.short(&failure.path))
                .expect("text");
        }
        for duplicate in &loaded.duplicates {
            writeln!(text, "duplicate {} of {}", self.short(&duplicate.path), self.short(&duplicate.of)).expect("text");
        }
        for finding in &loaded.diagnostics {
            writeln!(text, "finding {} {}", self.short(&finding.path), finding.diagnostic.code).expect("text");
        }
        text
    }
}

/// The codes that the loader itself gives; those of the format have tests there.
fn codes(diagnostics: &[Diagnostic]) -> String {
    let own = ["file-name-case", "name-collision", "not-utf8"];
    let codes = diagnostics.iter().map(|diagnostic| diagnostic.code.to_string());
    codes.filter(|code| own.contains(&code.as_str())).fold(String::new(), |text, code| text + " " + &code)
}

pub(crate) fn options() -> LoadOptions {
    LoadOptions { max_file_bytes: 1 << 20, max_header_bytes: 1 << 16, ..LoadOptions::default() }
}

/// Loads the roots of a tree and compares the summary.
#[track_caller]
pub(crate) fn check(tree: &Tree, roots: Vec<SkillRoot>, expected: &str) -> Loaded {
    let loaded = SkillRoots::open_ambient(roots).load(&options());
    let lines = |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect();
    let (found, expected): (Vec<String>, Vec<String>) = (lines(&tree.summary(&loaded)), lines(expected));
    assert_eq!(found, expected);
    loaded
}
