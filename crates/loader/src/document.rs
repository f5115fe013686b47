//! From a file's bytes to a [`Skill`]: the one place that knows the reader of the format.

use crate::LoadOptions;
use crate::entry::OpenSkill;
use crate::file::{HEAD, ReadFault};
use crate::index::{self, Context, Header, HeaderBytes, Known, Store, Writer};
use crate::stamp::Stamp;
use skillgate_core::{Digest, FrontmatterStore, LoadedFrom, Skill, SkillId};
use skillgate_format::{Document, ReadOptions};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes skills of files; what it needs for one serves for the next.
pub(crate) struct Reader<'o> {
    options: &'o LoadOptions,
    /// Of the file in hand.
    read_options: ReadOptions,
    beginning: Vec<u8>,
    /// Of the file in hand.
    context: Context,
    writer: Writer,
    index: Option<Index<'o>>,
}

/// An index that is asked.
struct Index<'o> {
    known: &'o Known,
    store: Arc<dyn FrontmatterStore>,
    /// Where the next header is looked for first.
    near: usize,
}

impl<'o> Reader<'o> {
    pub(crate) fn new(loaded_from: LoadedFrom, options: &'o LoadOptions, known: Option<&'o Arc<Known>>) -> Self {
        let read_options = read_options(loaded_from, Path::new(""), options);
        let index = known.map(|known| Index { known, store: Arc::new(Store(Arc::clone(known))), near: 0 });
        Self {
            options,
            read_options,
            beginning: vec![0; HEAD],
            context: Context::default(),
            writer: Writer::default(),
            index,
        }
    }

    pub(crate) fn options(&self) -> &'o LoadOptions {
        self.options
    }

    /// Turns to the file that is called so, in the directory that is called so.
    pub(crate) fn turn_to(&mut self, directory: Option<&OsStr>, file: Option<&OsStr>) {
        set(&mut self.read_options.directory_name, directory);
        set(&mut self.read_options.file_name, file);
    }

    /// Makes a skill of the beginning of the file in hand, or of all of it where that is not enough; with what the index keeps in
    /// the first case.
    pub(crate) fn skill(&mut self, id: SkillId, open: OpenSkill) -> Result<(Skill, Option<index::Read>), ReadFault> {
        let OpenSkill { file, path, directory } = open;
        let beginning = file.read_beginning(&mut self.beginning)?;
        let (document, digest, bytes, is_head) = match described_by_head(beginning, &self.read_options) {
            Some((document, head)) => (document, Digest::of(head), file.size, true),
            None => {
                let whole = file.read_on(beginning, self.options.max_file_bytes)?;
                let (digest, size) = (Digest::of(&whole), whole.len() as u64);
                (Document::read_owned(whole, &self.read_options), digest, size, false)
            }
        };
        self.context.set(&self.read_options);
        // Most of what was read is never asked for, and as bytes it is small. What cannot be kept stays as it is.
        let kept = index::to_bytes(&document, digest, &self.context, &mut self.writer).map(HeaderBytes).map(Arc::new);
        let small = kept.as_ref().and_then(|kept| {
            let store: Arc<dyn FrontmatterStore> = Arc::<HeaderBytes>::clone(kept);
            Header::of_bytes(&kept.0, &self.context, &store, 0, 0)
        });
        let header = small.unwrap_or_else(|| Header::of_document(document, digest));
        let read = kept.filter(|_| is_head && self.index.is_some()).map(|header| index::Read {
            stamp: file.stamp,
            context: self.context.number(),
            header,
        });
        Ok((self.made(Made { id, path, directory, bytes }, header), read))
    }

    /// What the index keeps of the header of the file in hand, and its place there.
    pub(crate) fn known(&mut self, stamp: &Stamp) -> Option<(Header, usize)> {
        let Index { known, store, near } = self.index.as_mut()?;
        self.context.set(&self.read_options);
        let (place, kept) = known.header(stamp, self.context.number(), near)?;
        Some((Header::of_bytes(kept.header, &self.context, store, place, kept.start)?, place))
    }

    /// The skill with this header.
    pub(crate) fn made(&self, made: Made, header: Header) -> Skill {
        let Made { id, path, directory, bytes } = made;
        let Header { state, label, description, frontmatter, diagnostics, digest } = header;
        Skill {
            loaded_from: self.read_options.loaded_from,
            head_digest: digest,
            bytes,
            header: state,
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
