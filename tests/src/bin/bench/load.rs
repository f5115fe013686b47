//! Ten thousand skills through the loader, the reader of headers and the reader of `check`, beside reading their files.

#![expect(clippy::disallowed_methods, reason = "the floor is `std::fs::read` itself")]

use crate::corpus::{SKILLS, name, skill};
use crate::measure::{Measured, in_turns};
use skillgate_core::{LineIndex, Source};
use skillgate_format::{Document, ReadOptions, scan};
use skillgate_loader::{LoadOptions, RootKind, SkillRoot, load_root_ambient, read_file_ambient};
use skillgate_tests::Tree;
use std::hint::black_box;
use std::path::PathBuf;

/// The files, and what the readers are told about each.
pub(crate) struct Corpus {
    tree: Tree,
    files: Vec<(PathBuf, ReadOptions)>,
}

impl Corpus {
    pub(crate) fn write(skills: u32) -> Self {
        let tree = Tree::new("");
        let write = |number| {
            let path = format!("skills/{}/SKILL.md", name(number));
            tree.write(&path, skill(number).as_bytes());
            let options = ReadOptions {
                directory_name: Some(name(number)),
                file_name: Some("SKILL.md".into()),
                ..ReadOptions::default()
            };
            (tree.path(&path), options)
        };
        let files = (0..skills).map(write).collect();
        Self { tree, files }
    }

    /// The directory of all skills.
    pub(crate) fn directory(&self) -> PathBuf {
        self.tree.path("skills")
    }

    /// The files of all skills.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// A directory in which there is no skill.
    pub(crate) fn empty_directory(&self) -> PathBuf {
        self.tree.add("=== empty/");
        self.tree.path("empty")
    }

    /// The floor: every file is opened, read and closed, by one thread.
    fn read(&self) -> Result<(), String> {
        for (path, _) in &self.files {
            black_box(std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        Ok(())
    }
}

pub(crate) fn load(samples: usize) -> Result<Measured, String> {
    load_of(SKILLS, samples)
}

pub(crate) fn load_hundred(samples: usize) -> Result<Measured, String> {
    load_of(100, samples)
}

pub(crate) fn load_thousand(samples: usize) -> Result<Measured, String> {
    load_of(1_000, samples)
}

pub(crate) fn load_hundred_thousand(samples: usize) -> Result<Measured, String> {
    load_of(100_000, samples)
}

fn load_of(skills: u32, samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(skills);
    let root = SkillRoot::new(Source::User, RootKind::Skills, corpus.directory());
    let loader = || {
        let loaded = load_root_ambient(&root, &LoadOptions::default());
        let broken = loaded.failures.len() + loaded.diagnostics.len();
        match (loaded.skills.len() == skills as usize, broken) {
            (true, 0) => Ok(()),
            (_, broken) => Err(format!("{} of {skills} skills load, {broken} findings", loaded.skills.len())),
        }
    };
    in_turns(samples, loader, || corpus.read())
}

/// The bytes are in memory; a header that gives no description needs the whole file and is read from it.
pub(crate) fn headers(samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(SKILLS);
    let mut texts = Vec::new();
    for (path, options) in &corpus.files {
        texts.push((std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?, options));
    }
    let headers = || {
        let mut described = 0;
        for (bytes, options) in &texts {
            let document = Document::read_prefix(bytes, options).unwrap_or_else(|| Document::read(bytes, options));
            described += u32::from(document.description().is_some());
            black_box(document);
        }
        // A few of the texts without a header are too short for a paragraph.
        if described * 100 > SKILLS * 99 { Ok(()) } else { Err(format!("{described} of {SKILLS} have a description")) }
    };
    in_turns(samples, headers, || corpus.read())
}

/// What `check` does with every file, in one thread, without finding the files and without printing: read, parse, scan,
/// and place the findings. No text is kept.
pub(crate) fn check(samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(SKILLS);
    let check = || {
        let mut placed = 0;
        for (path, options) in &corpus.files {
            let bytes = read_file_ambient(path, options.max_file_bytes)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let document = Document::read_owned(bytes, options);
            let lines = LineIndex::new(document.source());
            let scanned = scan(&document);
            for found in document.diagnostics().iter().chain(&scanned) {
                placed += u32::from(found.span.is_some());
                black_box(found.span.map(|span| lines.position(span.start)));
            }
        }
        // The skills that need a repair and those without a header, at least.
        if placed > SKILLS / 100 { Ok(()) } else { Err(format!("only {placed} findings have a place")) }
    };
    in_turns(samples, check, || corpus.read())
}
