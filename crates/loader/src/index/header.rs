//! What is kept of a header: everything that a skill has of it, and what that depends on beside the text.

use super::codec::{Kept as _, Reader, Writer, write_all};
use skillgate_core::{
    Diagnostic, Digest, Frontmatter, FrontmatterStore, GivenKeys, Guarded, HeaderState, KeptText, LazyFrontmatter,
    LoadedFrom, Profile, Span,
};
use skillgate_format::{Document, READER, ReadOptions};
use std::sync::Arc;

/// What a skill has of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) state: HeaderState,
    pub(crate) label: KeptText,
    pub(crate) description: Option<KeptText>,
    pub(crate) frontmatter: LazyFrontmatter,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) digest: Digest,
}

impl Header {
    /// What the document's header says; `digest` is what the skill has as its own.
    pub(crate) fn of_document(document: Document, digest: Digest) -> Self {
        let label = document.label().into();
        let description = document.description().map(|description| description.text.into());
        let state = document.header_state();
        let (frontmatter, diagnostics) = document.into_header();
        Self { state, label, description, frontmatter: frontmatter.into(), diagnostics, digest }
    }

    /// What [`to_bytes`] was given in this context, its values and texts to be taken by `store` out of the same bytes,
    /// which it has at `start`. Anything else is `None`, of which not even those values can be made.
    pub(crate) fn of_bytes(
        bytes: &[u8],
        context: &Context,
        store: &Arc<dyn FrontmatterStore>,
        place: usize,
        start: usize,
    ) -> Option<Self> {
        let mut from = Reader::new(bytes)?;
        let length = from.number()?;
        if from.bytes(length)? != context.bytes {
            return None;
        }
        let mut ahead = from.clone();
        let given = ahead.wide()?;
        let name = first_text(given & 1 != 0, &mut ahead)?;
        let own_description = first_text(given & 2 != 0, &mut ahead)?;
        Frontmatter::skip(&mut from)?;
        let given = GivenKeys::from_bits(u32::try_from(given).ok()?);
        let kept = |Text { end, length }: Text| {
            let end = start + bytes.len() - end;
            KeptText::kept(Arc::clone(store), end - length, end)
        };
        let label = kept(text_or_same(name, &mut from)??);
        let description = text_or_same(own_description, &mut from)?.map(kept);
        let digest = Digest::read(&mut from)?;
        let state = HeaderState::read(&mut from)?;
        let diagnostics = Vec::read(&mut from)?;
        let frontmatter = LazyFrontmatter::kept(Arc::clone(store), place, given);
        from.is_done().then_some(Self { state, label, description, frontmatter, diagnostics, digest })
    }
}

/// The bytes that are kept of a document's header that was read in this context; `None` when it is not to be kept.
pub(crate) fn to_bytes(document: &Document, digest: Digest, context: &Context, to: &mut Writer) -> Option<Vec<u8>> {
    let frontmatter = document.frontmatter();
    to.begin(document.source().len());
    to.number(context.bytes.len());
    to.raw(&context.bytes);
    frontmatter.write(to);
    // Both are nearly always what the header says.
    let (name, description) = (&frontmatter.name, &frontmatter.description);
    same_or_text(name.as_ref().map(|field| field.value.as_str()), Some(document.label()), to);
    same_or_text(
        description.as_ref().map(|field| field.value.as_str()),
        document.description().map(|description| description.text),
        to,
    );
    digest.write(to);
    document.header_state().write(to);
    write_all(document.diagnostics(), to);
    to.finish()
}

/// The bytes of one header, whose values are made of them when they are asked for: they take a fraction of the memory.
#[derive(Debug)]
pub(crate) struct HeaderBytes(pub(crate) Vec<u8>);

impl FrontmatterStore for HeaderBytes {
    fn frontmatter(&self, _place: usize) -> Frontmatter {
        frontmatter_of(&self.0).unwrap_or_else(lost)
    }

    fn text(&self, start: usize, end: usize) -> &str {
        text_of(&self.0, start, end)
    }
}

/// A text that [`Header::of_bytes`] found in these bytes, which do not change.
pub(super) fn text_of(bytes: &[u8], start: usize, end: usize) -> &str {
    bytes.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The values of what [`Header::of_bytes`] took.
pub(super) fn frontmatter_of(bytes: &[u8]) -> Option<Frontmatter> {
    let mut from = Reader::new(bytes)?;
    let context = from.number()?;
    from.bytes(context)?;
    Frontmatter::read(&mut from)
}

/// What takes the place of values that cannot be made, which is not to happen: a header that gives no rights, offers nothing to a
/// model and activates by nothing.
pub(super) fn lost() -> Frontmatter {
    let span = Span::default();
    Frontmatter {
        allowed_tools: Guarded::Unreadable(span),
        disallowed_tools: Guarded::Unreadable(span),
        disable_model_invocation: Guarded::Unreadable(span),
        user_invocable: Guarded::Unreadable(span),
        hooks: Guarded::Unreadable(span),
        shell: Guarded::Unreadable(span),
        paths: Guarded::Unreadable(span),
        ..Frontmatter::default()
    }
}

/// Where a text stands in the bytes of a header.
#[derive(Clone, Copy)]
struct Text {
    /// Bytes behind it.
    end: usize,
    length: usize,
}

impl Text {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let length = from.text()?.len();
        Some(Self { end: from.texts_left(), length })
    }
}

/// The text of one of the first fields of [`Frontmatter`], which are texts.
#[expect(clippy::option_option, reason = "there may be no text, and it may not be there to be read")]
fn first_text(is_given: bool, from: &mut Reader<'_>) -> Option<Option<Text>> {
    if !is_given || !bool::read(from)? {
        return Some(None);
    }
    Span::skip(from)?;
    Text::read(from).map(Some)
}

const NONE: u8 = 0;
const SAME: u8 = 1;
const TEXT: u8 = 2;

fn same_or_text(other: Option<&str>, text: Option<&str>, to: &mut Writer) {
    match text {
        None => to.byte(NONE),
        Some(_) if text == other => to.byte(SAME),
        Some(text) => {
            to.byte(TEXT);
            to.text(text);
        }
    }
}

#[expect(clippy::option_option, reason = "there may be no text, and it may not be there to be read")]
fn text_or_same(other: Option<Text>, from: &mut Reader<'_>) -> Option<Option<Text>> {
    match from.byte()? {
        NONE => Some(None),
        SAME => Some(Some(other?)),
        TEXT => Text::read(from).map(Some),
        _ => None,
    }
}

/// Everything beside a file's own text that decides what its header is read as: the reader, how it is to read, and the names
/// that it compares with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Context {
    bytes: Vec<u8>,
}

impl Context {
    /// Becomes the context of a file that is read so.
    pub(crate) fn set(&mut self, options: &ReadOptions) {
        // All of them, so that a new one is not forgotten here.
        let ReadOptions { profile, max_file_bytes, max_header_bytes, directory_name, file_name, loaded_from } = options;
        let profile = match profile {
            Profile::Safe => 0,
            Profile::Claude => 1,
            Profile::Strict => 2,
        };
        let loaded_from = match loaded_from {
            LoadedFrom::Skills => 0,
            LoadedFrom::Commands => 1,
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(&READER.to_le_bytes());
        self.bytes.extend_from_slice(&max_file_bytes.to_le_bytes());
        self.bytes.extend_from_slice(&max_header_bytes.to_le_bytes());
        self.bytes.extend_from_slice(&[profile, loaded_from]);
        for name in [directory_name, file_name] {
            // No name has a NUL, and none is as no name is.
            match name {
                Some(name) => {
                    self.bytes.push(1);
                    self.bytes.extend_from_slice(name.as_bytes());
                }
                None => self.bytes.push(0),
            }
            self.bytes.push(0);
        }
    }

    /// A number that differs for nearly all contexts.
    pub(crate) fn number(&self) -> u32 {
        crc32fast::hash(&self.bytes)
    }
}
