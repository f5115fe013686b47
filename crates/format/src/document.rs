//! A file as a typed document.

use crate::bytes::{decode, decode_owned};
use crate::header::{Parts, prefix_block};
use crate::lines::{is_blank, lines};
use crate::options::ReadOptions;
use crate::reading::{self, Reading};
use skillgate_core::{Code, Diagnostic, Entry, Frontmatter, HeaderState, LineIndex, Position, Span};
use std::borrow::Cow;
use std::sync::OnceLock;

/// A description and where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description<'a> {
    /// The text, without invisible characters.
    pub text: &'a str,
    /// Whether it was taken from the body because the header gives none.
    pub extracted: bool,
}

/// A `SKILL.md` or command file, read.
///
/// Reading never fails: what is wrong stands in [`Document::diagnostics`].
///
/// **Offsets.** Every span of a document is a range of [`Document::source`], which keeps a byte order mark; for a file that
/// is UTF-8 these are the offsets of the file's own bytes. For a file that is not (diagnostic `not-utf8`) they are offsets
/// of the lossy text, and no diagnostic has a fix.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) source: String,
    pub(crate) state: HeaderState,
    pub(crate) header_span: Option<Span>,
    /// What stands between the header's delimiters.
    pub(crate) header_inner: Option<Span>,
    /// Read again from the text when somebody asks: nearly everybody wants the typed values, which took these over.
    pub(crate) entries: OnceLock<Vec<Entry>>,
    pub(crate) frontmatter: Box<Frontmatter>,
    pub(crate) body: Parts,
    pub(crate) command: Option<String>,
    /// `None` when it is the header's name as it stands.
    pub(crate) label: Option<String>,
    pub(crate) described: Described,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Where the description is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Described {
    /// There is none.
    Nowhere,
    /// The header's is shown as it stands.
    AsWritten,
    /// The header's, without what shows nothing.
    Cleaned(String),
    /// Taken from the body.
    Extracted(String),
}

impl Document {
    /// Reads a file.
    #[must_use]
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Self {
        Self::refused(bytes, options).unwrap_or_else(|| Reading::new(decode(bytes), options).whole())
    }

    /// Reads a file whose bytes become the document's text, without a copy where they are UTF-8.
    #[must_use]
    pub fn read_owned(bytes: Vec<u8>, options: &ReadOptions) -> Self {
        Self::refused(&bytes, options).unwrap_or_else(|| Reading::new(decode_owned(bytes), options).whole())
    }

    /// What a file is that is too large to be read.
    fn refused(bytes: &[u8], options: &ReadOptions) -> Option<Self> {
        (bytes.len() as u64 > options.max_file_bytes).then(|| {
            let message = format!("the file has {} bytes; at most {} are read", bytes.len(), options.max_file_bytes);
            let mut refused = Reading::new(decode(b""), options);
            refused.lost(Diagnostic::new(Code::FileTooLarge, message));
            refused.finish(true)
        })
    }

    /// Reads a file's header from its first bytes; `None` when the whole file is needed: the header is not closed within
    /// them, is not at the start, or gives no description. The document has an empty body; all else is as [`Document::read`]
    /// gives it, except for diagnostics about the body.
    ///
    /// The size of the whole file is for the caller to check.
    #[must_use]
    pub fn read_prefix(prefix: &[u8], options: &ReadOptions) -> Option<Self> {
        let mark = prefix.strip_prefix(b"\xef\xbb\xbf").map_or(0, |rest| prefix.len() - rest.len());
        let block = prefix_block(prefix, mark)?;
        Reading::new(decode(&prefix[..block.whole.end]), options).header(block)
    }

    /// The file's text, byte order mark included.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What became of the header.
    #[must_use]
    pub fn header_state(&self) -> HeaderState {
        self.state
    }

    /// The header with its delimiters, when there is one.
    #[must_use]
    pub fn header_span(&self) -> Option<Span> {
        self.header_span
    }

    /// Whether the header was lost, so that the skill keeps no authority: no tools, no hooks, no injections, not offered to
    /// a model. The body can still be read.
    #[must_use]
    pub fn failed_closed(&self) -> bool {
        self.state.is_lost()
    }

    /// The header's top-level keys and values as written, in order, repeated keys included.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.entries.get_or_init(|| match self.header_inner {
            Some(inner) if !self.state.is_lost() => reading::entries(&self.source, inner),
            _ => Vec::new(),
        })
    }

    /// The header's keys as typed values.
    #[must_use]
    pub fn frontmatter(&self) -> &Frontmatter {
        &self.frontmatter
    }

    /// Takes away what the header asks for beside being read: tools, hooks, a model, an agent of its own. For what may be text and
    /// nothing else; the text itself stays as it is. Gives the keys that it takes away.
    pub fn without_effects(&mut self) -> Vec<&'static str> {
        let header = &mut *self.frontmatter;
        let mut keys = Vec::new();
        let mut take = |key, is_there: bool| keys.extend(is_there.then_some(key));
        take("allowed-tools", !std::mem::take(&mut header.allowed_tools).is_absent());
        take("disallowed-tools", !std::mem::take(&mut header.disallowed_tools).is_absent());
        take("hooks", !std::mem::take(&mut header.hooks).is_absent());
        take("model", header.model.take().is_some());
        take("context", header.context.take().is_some());
        take("agent", header.agent.take().is_some());
        take("background", header.background.take().is_some());
        take("effort", header.effort.take().is_some());
        take("shell", !std::mem::take(&mut header.shell).is_absent());
        keys
    }

    /// The typed header, taken out of the document.
    #[must_use]
    pub fn into_frontmatter(self) -> Box<Frontmatter> {
        self.frontmatter
    }

    /// The text that is not header. With a header after some text it is what stands before and after it.
    #[must_use]
    pub fn body(&self) -> Cow<'_, str> {
        match self.body.spans() {
            [] => Cow::Borrowed(""),
            [span] => Cow::Borrowed(self.piece(*span)),
            spans => Cow::Owned(spans.iter().map(|span| self.piece(*span)).collect()),
        }
    }

    fn piece(&self, span: Span) -> &str {
        span.slice(&self.source).unwrap_or_default()
    }

    /// Where the body's parts stand in [`Document::source`].
    #[must_use]
    pub fn body_spans(&self) -> &[Span] {
        self.body.spans()
    }

    /// The place in [`Document::source`] of an offset into [`Document::body`].
    #[must_use]
    pub fn source_offset(&self, body_offset: usize) -> usize {
        let mut left = body_offset;
        let spans = self.body.spans();
        for (index, span) in spans.iter().enumerate() {
            if left < span.len() || index + 1 == spans.len() {
                return span.start + left.min(span.len());
            }
            left -= span.len();
        }
        self.source.len()
    }

    /// The place in [`Document::source`] of a span of [`Document::body`].
    #[must_use]
    pub fn source_span(&self, body_span: Span) -> Span {
        let start = self.source_offset(body_span.start);
        if body_span.is_empty() {
            return Span::at(start);
        }
        Span::new(start, self.source_offset(body_span.end - 1) + 1)
    }

    /// The first line of the body that shows something: neither blank nor an HTML comment.
    #[must_use]
    pub fn body_first_line(&self) -> Option<String> {
        let body = self.body();
        let mut comment = false;
        for line in lines(&body, Span::new(0, body.len())) {
            let text = line.text(&body);
            if comment {
                comment = !text.contains("-->");
            } else if let Some(rest) = text.trim_start().strip_prefix("<!--") {
                comment = !rest.contains("-->");
            } else if !is_blank(text) {
                return Some(text.to_owned());
            }
        }
        None
    }

    /// The name the skill is invoked by as the loader saw it, unchecked.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// The name that is shown: the header's, else the command's, without invisible and control characters.
    #[must_use]
    pub fn label(&self) -> &str {
        match (&self.label, &self.frontmatter.name) {
            (Some(label), _) => label,
            (None, name) => name.as_ref().map_or("", |name| name.value.as_str()),
        }
    }

    /// The description for the listing.
    #[must_use]
    pub fn description(&self) -> Option<Description<'_>> {
        match &self.described {
            Described::Nowhere => None,
            Described::AsWritten => {
                self.frontmatter.description.as_ref().map(|field| Description { text: &field.value, extracted: false })
            }
            Described::Cleaned(text) => Some(Description { text, extracted: false }),
            Described::Extracted(text) => Some(Description { text, extracted: true }),
        }
    }

    /// Everything that was found, in the order of the file.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings, taken out of the document.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// The typed header and the findings, taken out of the document.
    #[must_use]
    pub fn into_header(self) -> (Box<Frontmatter>, Vec<Diagnostic>) {
        (self.frontmatter, self.diagnostics)
    }

    /// Line and column of an offset into [`Document::source`]. For many offsets make one [`LineIndex`].
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        LineIndex::new(&self.source).position(offset)
    }
}
