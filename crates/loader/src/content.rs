//! All of a skill: what a right that was granted for its content is bound to.

use crate::companions::open_below;
use crate::root::RootState;
use crate::{LoadOptions, SkillRoots, file};
use cap_std::fs::{Dir, DirEntry};
use skillgate_core::{Digest, LoadedFrom, Skill};
use std::path::PathBuf;

/// Bounds of one skill. A larger one can be used, but no right can be bound to it.
const MAX_FILES: usize = 1_000;
const MAX_DEPTH: usize = 8;
const MAX_BYTES: u64 = 16 << 20;

/// Every file of a skill at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillContent {
    /// Digest of all files with their paths.
    pub digest: Digest,
    /// The files with their paths from the skill's directory: the skill's own first, the others in the order of their paths.
    pub files: Vec<ContentFile>,
}

/// One file of a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContentFile {
    /// From the directory of the skill's own file.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Digest of its bytes.
    pub digest: Digest,
}

/// Why it cannot be said what all of a skill is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContentFault {
    /// The skill's own file is not what was loaded.
    #[error(transparent)]
    Body(#[from] crate::BodyError),
    /// Something else than files and directories is in it; what a link leads to can change without the skill.
    #[error("`{}` is neither a file nor a directory, so it is not known what it stands for", .path.display())]
    NotAFile {
        /// What.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("`{}`: {reason}", .path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is larger than what is looked through.
    #[error(
        "`{}` holds more than {MAX_FILES} files, {MAX_DEPTH} levels of directories or {} MiB", .path.display(), MAX_BYTES >> 20
    )]
    TooLarge {
        /// The skill's directory.
        path: PathBuf,
    },
}

impl SkillRoots {
    /// Reads all of a skill: its own file, which has to be what was loaded, and every file below its directory, none left out,
    /// since a command of the skill can run any of them. A command file stands for itself alone.
    ///
    /// # Errors
    /// A [`ContentFault`]: what cannot be read whole has no content that a right could be bound to.
    pub fn content(&self, skill: &Skill, options: &LoadOptions) -> Result<SkillContent, ContentFault> {
        let name = skill.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = content_file(name.clone(), self.read(skill, options)?);
        let mut files = Vec::new();
        if let Some(held) = self.held(skill) {
            files.extend(
                held.beside().into_iter().map(|(path, bytes)| content_file(path.to_string(), bytes.into_owned())),
            );
        } else if let (Some(directory), LoadedFrom::Skills) = (&skill.directory, skill.loaded_from) {
            let dir = self.directory(skill).ok_or_else(|| ContentFault::Unreadable {
                path: directory.clone(),
                reason: "it is not a directory of its own below a directory of skills".to_owned(),
            })?;
            let mut reader = Reader { files: &mut files, left: MAX_FILES, bytes: MAX_BYTES, top: directory.clone() };
            reader.read(&dir, "", MAX_DEPTH)?;
            files.retain(|file| file.path != name);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.insert(0, own);
        let digest =
            Digest::of_parts(files.iter().flat_map(|file| [file.path.as_bytes(), file.digest.as_bytes().as_slice()]));
        Ok(SkillContent { digest, files })
    }

    fn directory(&self, skill: &Skill) -> Option<Dir> {
        let own = skill.directory.as_ref()?;
        self.roots.iter().find_map(|root| match &root.state {
            RootState::Open { dir, .. } if root.spec.source == skill.id.source => {
                open_below(dir, own.strip_prefix(&root.spec.path).ok()?).ok()
            }
            _ => None,
        })
    }
}

fn content_file(path: String, bytes: Vec<u8>) -> ContentFile {
    ContentFile { path, digest: Digest::of(&bytes), bytes }
}

struct Reader<'f> {
    files: &'f mut Vec<ContentFile>,
    /// Entries and bytes that may still be read.
    left: usize,
    bytes: u64,
    top: PathBuf,
}

impl Reader<'_> {
    fn read(&mut self, dir: &Dir, prefix: &str, depth: usize) -> Result<(), ContentFault> {
        let top = self.top.clone();
        let too_large = || ContentFault::TooLarge { path: top.clone() };
        let depth = depth.checked_sub(1).ok_or_else(too_large)?;
        let unreadable = |path: &str, error: &dyn std::fmt::Display| ContentFault::Unreadable {
            path: top.join(path),
            reason: error.to_string(),
        };
        let mut entries: Vec<DirEntry> = Vec::new();
        for entry in dir.entries().map_err(|error| unreadable(prefix, &error))? {
            self.left = self.left.checked_sub(1).ok_or_else(too_large)?;
            entries.push(entry.map_err(|error| unreadable(prefix, &error))?);
        }
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let shown = format!("{prefix}{}", name.to_string_lossy());
            let path = name.to_str().map(|name| format!("{prefix}{name}"));
            let path = path.ok_or_else(|| unreadable(&shown, &"its name is not text"))?;
            let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
            if kind.is_dir() {
                let inner = entry.open_dir().map_err(|error| unreadable(&path, &error))?;
                self.read(&inner, &format!("{path}/"), depth)?;
            } else if kind.is_file() {
                let opened = file::open(dir, name.as_ref()).map_err(|error| unreadable(&path, &error))?;
                let read = file::read(opened, self.bytes);
                let bytes = match read {
                    Ok(bytes) => bytes,
                    Err(file::ReadFault::TooLarge { .. }) => {
                        return Err(ContentFault::TooLarge { path: self.top.clone() });
                    }
                    Err(fault) => return Err(unreadable(&path, &fault)),
                };
                self.bytes -= bytes.len() as u64;
                self.files.push(content_file(path, bytes));
            } else {
                return Err(ContentFault::NotAFile { path: self.top.join(path) });
            }
        }
        Ok(())
    }
}
