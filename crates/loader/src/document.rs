//! From a file's bytes to a [`Skill`]: the one place that knows the reader of the format.

use crate::LoadOptions;
use crate::entry::OpenSkill;
use crate::file::{HEAD, ReadFault};
use skillgate_core::{Digest, LoadedFrom, Skill, SkillId};
use skillgate_format::{Document, ReadOptions};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Makes skills of files; what it needs for one serves for the next.
pub(crate) struct Reader<'o> {
    options: &'o LoadOptions,
    /// Of the file in hand.
    read_options: ReadOptions,
    beginning: Vec<u8>,
}

impl<'o> Reader<'o> {
    pub(crate) fn new(loaded_from: LoadedFrom, options: &'o LoadOptions) -> Self {
        let read_options = read_options(loaded_from, Path::new(""), options);
        Self { options, read_options, beginning: vec![0; HEAD] }
    }

    pub(crate) fn options(&self) -> &'o LoadOptions {
        self.options
    }

    /// Makes a skill of its file's beginning, or of all of it where that is not enough; with the header's bytes in the first case.
    pub(crate) fn skill(&mut self, id: SkillId, open: OpenSkill) -> Result<(Skill, Option<&[u8]>), ReadFault> {
        let OpenSkill { file, path, directory } = open;
        self.at(&path);
        let beginning = file.read_beginning(&mut self.beginning)?;
        let (document, head_digest, bytes, head) = match described_by_head(beginning, &self.read_options) {
            Some((document, head)) => (document, Digest::of(head), file.size, head.len()),
            None => {
                let whole = file.read_on(beginning, self.options.max_file_bytes)?;
                let (digest, size) = (Digest::of(&whole), whole.len() as u64);
                (Document::read_owned(whole, &self.read_options), digest, size, 0)
            }
        };
        let made = Made { id, path, directory, head_digest, bytes };
        Ok((self.made(made, document), Some(&self.beginning[..head]).filter(|head| !head.is_empty())))
    }

    /// Makes a skill of a header that was read before, if it still describes one.
    pub(crate) fn skill_of_head(&mut self, made: Made, head: &[u8]) -> Option<Skill> {
        self.at(&made.path);
        let (document, all) = described_by_head(head, &self.read_options)?;
        (all.len() == head.len()).then(|| self.made(made, document))
    }

    fn at(&mut self, path: &Path) {
        set(&mut self.read_options.directory_name, path.parent().and_then(Path::file_name));
        set(&mut self.read_options.file_name, path.file_name());
    }

    fn made(&self, made: Made, document: Document) -> Skill {
        let Made { id, path, directory, head_digest, bytes } = made;
        let label = document.label().to_owned();
        let description = document.description().map(|description| description.text.to_owned());
        let header = document.header_state();
        let (frontmatter, diagnostics) = document.into_header();
        Skill {
            loaded_from: self.read_options.loaded_from,
            head_digest,
            bytes,
            header,
            label,
            description,
            frontmatter,
            path,
            plugin: None,
            directory,
            diagnostics,
            id,
        }
    }
}

/// What is known of a skill beside its text.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) id: SkillId,
    pub(crate) path: PathBuf,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) head_digest: Digest,
    pub(crate) bytes: u64,
}

/// Puts the text of a name into `to`, whose memory it reuses.
fn set(to: &mut Option<String>, name: Option<&OsStr>) {
    match name {
        Some(name) => {
            let text = to.get_or_insert_default();
            text.clear();
            text.push_str(&name.to_string_lossy());
        }
        None => *to = None,
    }
}

/// The digest that a skill with this file has as [`Skill::head_digest`].
pub(crate) fn head_digest(bytes: &[u8], options: &ReadOptions) -> Digest {
    let head = described_by_head(&bytes[..bytes.len().min(HEAD)], options).map(|(_, head)| head);
    Digest::of(head.unwrap_or(bytes))
}

/// The document of a header that describes the skill and ends within the file's beginning, and the header's bytes.
fn described_by_head<'b>(beginning: &'b [u8], options: &ReadOptions) -> Option<(Document, &'b [u8])> {
    let document = Document::read_prefix(beginning, options)?;
    let end = document.source().len();
    // In bytes that are no text the header ends elsewhere than in the text that was made of them.
    let head = beginning.get(..end).filter(|head| *head == document.source().as_bytes())?;
    Some((document, head))
}

/// What the reader of the format is told about a file at `path`.
pub(crate) fn read_options(loaded_from: LoadedFrom, path: &Path, options: &LoadOptions) -> ReadOptions {
    let text = |name: Option<&OsStr>| name.map(|name| name.to_string_lossy().into_owned());
    ReadOptions {
        profile: options.profile,
        max_file_bytes: options.max_file_bytes,
        max_header_bytes: options.max_header_bytes,
        directory_name: text(path.parent().and_then(Path::file_name)),
        file_name: text(path.file_name()),
        loaded_from,
    }
}
