//! One candidate of a root: where it would be, and what it turns out to be.

use crate::file::{self, OpenFile, ReadFault};
use crate::links::Places;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that makes a directory a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// Something in a root that may be a skill.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The command's name as found, not checked yet.
    pub(crate) name: String,
    /// Whether `name` is exactly what the file system holds.
    pub(crate) name_is_text: bool,
    /// The directory that `rel` is opened beneath.
    pub(crate) base: Arc<Dir>,
    /// From `base`.
    pub(crate) rel: PathBuf,
    /// The whole path, for people and for links.
    pub(crate) path: PathBuf,
    pub(crate) shape: Shape,
    /// Whether a link stands on the way from the root.
    pub(crate) linked: bool,
    /// Findings about the name.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A directory with a `SKILL.md`.
    Directory,
    /// A link that may lead to such a directory.
    Link,
    /// A file that is the skill itself.
    File,
}

/// What a candidate turned out to be.
#[derive(Debug)]
pub(crate) enum Outcome {
    Opened(OpenSkill),
    /// A directory without a `SKILL.md`, or another thing that nobody meant as a skill.
    NotASkill,
    /// It was listed, and was gone when it was opened.
    Vanished,
    /// It was meant as a skill and cannot be read.
    Failed(Diagnostic),
}

/// A skill's file, opened.
#[derive(Debug)]
pub(crate) struct OpenSkill {
    pub(crate) file: OpenFile,
    pub(crate) path: PathBuf,
    /// The skill's own directory, for skills that have one; where a link leads, when it is one.
    pub(crate) directory: Option<PathBuf>,
}

/// Opens the candidate's file.
pub(crate) fn open(candidate: &Candidate, places: &Places, max_bytes: u64) -> Outcome {
    match candidate.shape {
        Shape::Directory => open_directory(candidate, places, max_bytes),
        Shape::Link => match places.open_dir(&candidate.path) {
            Ok(Some((dir, target))) => open_in(&dir, candidate, target, places, max_bytes),
            Ok(None) => Outcome::NotASkill,
            Err(diagnostic) => Outcome::Failed(*diagnostic),
        },
        Shape::File => open_file(candidate, places, max_bytes),
    }
}

/// The usual case in one open: `NAME/SKILL.md` beneath the root. Everything else is looked at more closely.
fn open_directory(candidate: &Candidate, places: &Places, max_bytes: u64) -> Outcome {
    if let Ok(file) = file::open(&candidate.base, &candidate.rel.join(SKILL_FILE)) {
        let directory = candidate.path.clone();
        return finish(OpenFile::new(file, max_bytes), directory.join(SKILL_FILE), Some(directory));
    }
    match candidate.base.open_dir(&candidate.rel) {
        Ok(dir) => open_in(&dir, candidate, candidate.path.clone(), places, max_bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Outcome::Vanished,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Outcome::NotASkill,
        Err(error) => Outcome::Failed(
            Diagnostic::new(Code::FileUnreadable, format!("the directory cannot be entered: {error}"))
                .help("make it readable, or remove it"),
        ),
    }
}

/// Looks for the skill's file in its directory, whose handle is `dir` and whose own place is `directory`.
fn open_in(dir: &Dir, candidate: &Candidate, directory: PathBuf, places: &Places, max_bytes: u64) -> Outcome {
    let name = match skill_file_name(dir) {
        Ok(Some(found)) => found,
        Ok(None) => return Outcome::NotASkill,
        Err(error) => {
            return Outcome::Failed(
                Diagnostic::new(Code::FileUnreadable, format!("the directory cannot be read: {error}"))
                    .help("make it readable, or remove it"),
            );
        }
    };
    let path = candidate.path.join(&name);
    let file = match file::open(dir, Path::new(&name)) {
        Ok(file) => Ok(file),
        Err(error) => match dir.symlink_metadata(&name) {
            Ok(metadata) if metadata.is_symlink() => {
                match places.open_file(&directory.join(&name), Some(&directory), &file::options()) {
                    Ok(file) => Ok(file),
                    Err(diagnostic) => return Outcome::Failed(*diagnostic),
                }
            }
            _ => Err(file::fault(error)),
        },
    };
    finish(file.and_then(|file| OpenFile::new(file, max_bytes)), path, Some(directory))
}

fn open_file(candidate: &Candidate, places: &Places, max_bytes: u64) -> Outcome {
    let file = match file::open(&candidate.base, &candidate.rel) {
        Ok(file) => Ok(file),
        Err(error) => match candidate.base.symlink_metadata(&candidate.rel) {
            Ok(metadata) if metadata.is_symlink() => match places.open_file(&candidate.path, None, &file::options()) {
                Ok(file) => Ok(file),
                Err(diagnostic) => return Outcome::Failed(*diagnostic),
            },
            _ => Err(file::fault(error)),
        },
    };
    finish(file.and_then(|file| OpenFile::new(file, max_bytes)), candidate.path.clone(), None)
}

fn finish(file: Result<OpenFile, ReadFault>, path: PathBuf, directory: Option<PathBuf>) -> Outcome {
    match file {
        Ok(file) => Outcome::Opened(OpenSkill { file, path, directory }),
        Err(ReadFault::NotFound) => Outcome::Vanished,
        Err(fault) => Outcome::Failed(fault.diagnostic()),
    }
}

/// The name of the skill's file: `SKILL.md`, else the first other spelling of it, which the format reports.
pub(crate) fn skill_file_name(dir: &Dir) -> io::Result<Option<String>> {
    if dir.symlink_metadata(SKILL_FILE).is_ok() {
        return Ok(Some(SKILL_FILE.to_owned()));
    }
    let mut first: Option<String> = None;
    for entry in dir.entries()? {
        if let Some(name) = entry?.file_name().to_str()
            && is_skill_file(name)
            && first.as_deref().is_none_or(|first| name < first)
        {
            first = Some(name.to_owned());
        }
    }
    Ok(first)
}

/// Whether a file's name is `SKILL.md` in any case.
pub(crate) fn is_skill_file(name: &str) -> bool {
    name.eq_ignore_ascii_case(SKILL_FILE)
}
