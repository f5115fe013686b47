//! A file as a typed document.

use crate::bytes::{Decoded, decode};
use crate::describe;
use crate::fields::{self, Header};
use crate::header::{Block, Located, Place, locate};
use crate::invisible;
use crate::key;
use crate::lines::{Line, delimiter, first_line, is_blank, is_delimiter, lines};
use crate::options::ReadOptions;
use crate::repair::{Repair, repair};
use crate::strict;
use crate::yaml::{self, Steps, YamlError};
use skillgate_core::{
    Code, Diagnostic, Entry, Frontmatter, Guarded, HeaderState, LineIndex, LoadedFrom, Position, Profile, Severity,
    Span, Value, ValueKind,
};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization as _;

/// Characters a description may have by the open standard.
pub(crate) const MAX_DESCRIPTION: usize = 1024;

/// A description and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The text, without invisible characters.
    pub text: String,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    source: String,
    state: HeaderState,
    header_span: Option<Span>,
    entries: Vec<Entry>,
    frontmatter: Frontmatter,
    body: Vec<Span>,
    command: Option<String>,
    label: String,
    description: Option<Description>,
    diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// Reads a file.
    #[must_use]
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Self {
        if bytes.len() as u64 > options.max_file_bytes {
            let message = format!("the file has {} bytes; at most {} are read", bytes.len(), options.max_file_bytes);
            let mut refused = Reading::new(decode(b""), options);
            refused.lost(Diagnostic::new(Code::FileTooLarge, message));
            return refused.finish(true);
        }
        let mut reading = Reading::new(decode(bytes), options);
        reading.locate();
        reading.finish(true)
    }

    /// Reads a file's header from its first bytes; `None` when the whole file is needed: the header is not closed within
    /// them, is not at the start, or gives no description. The document has an empty body; all else is as [`Document::read`]
    /// gives it, except for diagnostics about the body.
    ///
    /// The size of the whole file is for the caller to check.
    #[must_use]
    pub fn read_prefix(prefix: &[u8], options: &ReadOptions) -> Option<Self> {
        let mark = prefix.strip_prefix(b"\xef\xbb\xbf").map_or(0, |rest| prefix.len() - rest.len());
        let end = header_end(&prefix[mark..])? + mark;
        let mut reading = Reading::new(decode(&prefix[..end]), options);
        reading.locate();
        reading.frontmatter.description.as_ref()?;
        Some(reading.finish(false))
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
        &self.entries
    }

    /// The header's keys as typed values.
    #[must_use]
    pub fn frontmatter(&self) -> &Frontmatter {
        &self.frontmatter
    }

    /// The typed header, taken out of the document.
    #[must_use]
    pub fn into_frontmatter(self) -> Frontmatter {
        self.frontmatter
    }

    /// The text that is not header. With a header after some text it is what stands before and after it.
    #[must_use]
    pub fn body(&self) -> Cow<'_, str> {
        match self.body.as_slice() {
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
        &self.body
    }

    /// The place in [`Document::source`] of an offset into [`Document::body`].
    #[must_use]
    pub fn source_offset(&self, body_offset: usize) -> usize {
        let mut left = body_offset;
        for (index, span) in self.body.iter().enumerate() {
            if left < span.len() || index + 1 == self.body.len() {
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
        &self.label
    }

    /// The description for the listing.
    #[must_use]
    pub fn description(&self) -> Option<&Description> {
        self.description.as_ref()
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

    /// Line and column of an offset into [`Document::source`]. For many offsets make one [`LineIndex`].
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        LineIndex::new(&self.source).position(offset)
    }
}

/// The end of a header that starts at the first byte and whose closing line is complete.
fn header_end(bytes: &[u8]) -> Option<usize> {
    // A carriage return at the very end may be half of a line end.
    let complete = |line: &Line| line.next > line.end && bytes[line.end..] != *b"\r";
    let open = first_line(bytes).filter(|line| complete(line) && is_delimiter(&bytes[..line.end]))?;
    delimiter(bytes, open.next).filter(complete).map(|line| line.next)
}

/// A document while it is read.
struct Reading<'o> {
    options: &'o ReadOptions,
    source: String,
    start: usize,
    valid: bool,
    state: HeaderState,
    header_span: Option<Span>,
    entries: Vec<Entry>,
    frontmatter: Frontmatter,
    body: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
}

/// A header's content, read.
struct Content {
    value: Value,
    aliases: Vec<Span>,
    repairs: Vec<Repair>,
}

impl<'o> Reading<'o> {
    fn new(decoded: Decoded, options: &'o ReadOptions) -> Self {
        let Decoded { text, start, valid, utf16 } = decoded;
        let mut diagnostics = Vec::new();
        if start > 0 {
            let mark = Span::new(0, start);
            diagnostics.push(
                Diagnostic::new(Code::BomStripped, "a byte order mark stands before the text").at(mark).fix(mark, ""),
            );
        }
        if !valid {
            let message = if utf16 {
                "the file is UTF-16, not UTF-8; nothing of it can be read"
            } else {
                "the file is not UTF-8; bytes that could not be read were replaced by U+FFFD"
            };
            diagnostics.push(Diagnostic::new(Code::NotUtf8, message).help("save it as UTF-8"));
        }
        if let Some(file) = &options.file_name
            && file != "SKILL.md"
            && file.eq_ignore_ascii_case("SKILL.md")
        {
            diagnostics.push(
                Diagnostic::new(Code::FileNameCase, format!("the file is named `{file}`"))
                    .help("rename it to `SKILL.md`"),
            );
        }
        Self {
            options,
            body: vec![Span::new(start, text.len())],
            source: text,
            start,
            valid,
            state: HeaderState::Absent,
            header_span: None,
            entries: Vec::new(),
            frontmatter: Frontmatter::default(),
            diagnostics,
        }
    }

    fn locate(&mut self) {
        match locate(&self.source, self.start) {
            Located::Missing => self.missing(),
            Located::Unclosed(open) => {
                self.state = HeaderState::Unclosed;
                self.lost(
                    Diagnostic::new(Code::FrontmatterUnclosed, "the header that begins here is never closed")
                        .at(open)
                        .help("close it with a line `---` before the text"),
                );
            }
            Located::Block(block) => self.block(block),
        }
    }

    fn missing(&mut self) {
        if self.options.loaded_from == LoadedFrom::Commands {
            // The form of a command is a text; that its first paragraph describes it is all there is to say.
            self.diagnostics.push(
                Diagnostic::new(Code::FrontmatterMissing, "the file has no header; its first paragraph describes it")
                    .at(Span::at(self.start))
                    .severity(Severity::Info)
                    .help("`description` in a header says it better"),
            );
            return;
        }
        self.diagnostics.push(
            Diagnostic::new(Code::FrontmatterMissing, "the file has no header")
                .at(Span::at(self.start))
                .help("begin the file with `---`, the keys `name` and `description`, and `---`"),
        );
    }

    /// The header is there and nothing of it can be used: what it would have taken away is taken away.
    fn lost(&mut self, finding: Diagnostic) {
        if !self.state.is_lost() {
            self.state = HeaderState::Unparseable;
        }
        let span = self.header_span.or(finding.span).unwrap_or_default();
        self.diagnostics.push(finding);
        self.frontmatter = Frontmatter {
            allowed_tools: Guarded::Unreadable(span),
            disable_model_invocation: Guarded::Unreadable(span),
            shell: Guarded::Unreadable(span),
            ..Frontmatter::default()
        };
    }

    fn block(&mut self, block: Block) {
        let at_start = block.place == Place::Start;
        let too_large = block.whole.len() as u64 > self.options.max_header_bytes;
        if too_large && !at_start {
            return self.missing();
        }
        let read = if too_large {
            let message = format!(
                "the header has {} bytes; at most {} are read",
                block.whole.len(),
                self.options.max_header_bytes
            );
            Err(Box::new(Diagnostic::new(Code::HeaderTooLarge, message).at(block.whole)))
        } else {
            self.content(block.inner)
        };
        let names_skill =
            |content: &Content| content.value.get("name").is_some() || content.value.get("description").is_some();
        let used = match &read {
            _ if at_start => true,
            Ok(content) => names_skill(content),
            // Two rules in prose are prose; a header that cannot be read is not.
            Err(_) => lines(&self.source, block.inner)
                .map(|line| line.text(&self.source))
                .find(|line| !is_blank(line))
                .is_some_and(|line| {
                    ["name:", "description:", "allowed-tools:"].iter().any(|key| line.starts_with(key))
                }),
        };
        if !used {
            return self.missing();
        }
        self.header_span = Some(block.whole);
        self.body.clone_from(&block.body);
        self.misplaced(&block);
        match read {
            Err(finding) => self.lost(*finding),
            Ok(content) => self.take(content, &block),
        }
    }

    /// Says where a header stands that is not at the start.
    fn misplaced(&mut self, block: &Block) {
        let (header, all) = (self.text(block.whole), Span::new(self.start, self.source.len()));
        let line_end = if header.ends_with(['\n', '\r']) { "" } else { "\n" };
        match block.place {
            Place::Start => {}
            Place::After => {
                let before = Span::new(self.start, block.whole.start);
                let fixed = format!("{header}{line_end}{}", self.text(before));
                let line = LineIndex::new(&self.source).position(block.whole.start).line;
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::FrontmatterNotAtStart,
                        format!("the header stands at line {line}, not at the start of the file"),
                    )
                    .at(Span::new(block.whole.start, block.whole.start + 3))
                    .help("move it to the start")
                    .fix(Span::new(self.start, block.whole.end), fixed),
                );
            }
            Place::Fenced => {
                let body: String = block.body.iter().map(|span| self.text(*span)).collect();
                let fixed = format!("{header}{line_end}{body}");
                self.diagnostics.push(
                    Diagnostic::new(Code::FrontmatterFenced, "the header stands in a code fence")
                        .at(Span::new(self.start, block.whole.start))
                        .help("take the fence away")
                        .fix(all, fixed),
                );
            }
        }
    }

    fn text(&self, span: Span) -> &str {
        span.slice(&self.source).unwrap_or_default()
    }

    /// Reads the header's content as it is, and repairs it if that fails.
    fn content(&self, inner: Span) -> Result<Content, Box<Diagnostic>> {
        let mut steps = Steps::new();
        match yaml::parse(self.text(inner), inner.start, &mut steps) {
            Ok(parsed) => Ok(Content { value: parsed.value, aliases: parsed.aliases, repairs: Vec::new() }),
            Err(error @ YamlError::TooComplex { .. }) => {
                Err(Box::new(Diagnostic::new(Code::YamlTooComplex, error.to_string()).at(Span::at(error.offset()))))
            }
            Err(error) => match repair(&self.source, inner, &mut steps) {
                Some(repaired) => {
                    Ok(Content { value: repaired.value, aliases: repaired.aliases, repairs: repaired.repairs })
                }
                None => Err(Box::new(
                    Diagnostic::new(Code::YamlInvalid, format!("the header cannot be read as YAML: {error}"))
                        .at(Span::at(error.offset()))
                        .help("correct this line; until then the skill has no tools and is not offered to a model"),
                )),
            },
        }
    }

    fn take(&mut self, content: Content, block: &Block) {
        let Content { value, aliases, repairs } = content;
        let entries = match value.kind {
            ValueKind::Map(entries) => entries,
            ValueKind::Null => Vec::new(),
            _ => {
                return self.lost(
                    Diagnostic::new(
                        Code::FrontmatterNotMapping,
                        format!("the header is {}, not keys with values", value.describe()),
                    )
                    .at(block.inner)
                    .help("write one `key: value` a line"),
                );
            }
        };
        self.state = if block.place != Place::Start || !repairs.is_empty() {
            HeaderState::Recovered
        } else if entries.is_empty() {
            HeaderState::Empty
        } else {
            HeaderState::Parsed
        };
        for repair in &repairs {
            self.diagnostics.push(repaired(repair));
        }
        let guessed: Vec<&str> =
            repairs.iter().filter(|repair| !repair.sure).map(|repair| repair.key.as_str()).collect();
        let keys: Vec<_> = entries.iter().map(|entry| key::find(&entry.key)).collect();
        let header = Header {
            source: &self.source,
            whole: block.whole,
            entries: &entries,
            keys: &keys,
            aliases: &aliases,
            guessed: &guessed,
        };
        fields::lint(&header, &mut self.diagnostics);
        self.frontmatter = fields::read(&header, self.options, &mut self.diagnostics);
        invisible::report(&self.source, block.whole, true, &mut self.diagnostics);
        self.entries = entries;
    }

    /// Label, description and what else follows from the header and the body.
    fn finish(mut self, with_body: bool) -> Document {
        let command = self.options.command().map(str::to_owned);
        let label = self.label(command.as_deref());
        let description = self.description();
        if with_body {
            for span in self.body.clone() {
                invisible::report(&self.source, span, false, &mut self.diagnostics);
            }
        }
        if self.options.profile == Profile::Strict {
            let checked = strict::Checked {
                source: &self.source,
                state: self.state,
                entries: &self.entries,
                frontmatter: &self.frontmatter,
                directory: self.options.directory_name.as_deref(),
            };
            strict::check(&checked, &mut self.diagnostics);
        }
        if !self.valid {
            // The offsets are not those of the file's bytes.
            self.diagnostics.iter_mut().for_each(|found| found.fix = None);
        }
        self.diagnostics.sort_by_key(|found| found.span.map(|span| span.start));
        Document {
            source: self.source,
            state: self.state,
            header_span: self.header_span,
            entries: self.entries,
            frontmatter: self.frontmatter,
            body: self.body,
            command,
            label,
            description,
            diagnostics: self.diagnostics,
        }
    }

    fn label(&mut self, command: Option<&str>) -> String {
        let fallback = match self.options.loaded_from {
            LoadedFrom::Commands => "Custom command",
            LoadedFrom::Skills => "Skill",
        };
        let Some(name) = &self.frontmatter.name else {
            let shown = shown(command.unwrap_or_default());
            return if shown.is_empty() { fallback.to_owned() } else { shown };
        };
        let help = || match command {
            Some(command) => format!("write the directory's name: `name: {}`", shown(command)),
            None => "use letters, digits and hyphens".to_owned(),
        };
        if let Some(problem) = name_problem(&name.value) {
            let message =
                format!("the name holds {problem}; it is only shown, and the command is the directory's name");
            self.diagnostics.push(Diagnostic::new(Code::NameInvalid, message).at(name.span).help(help()));
        } else if name.value.chars().any(char::is_whitespace) {
            // A title, which many packs give; nothing is lost by it.
            let message =
                "the name holds white space, as a title does; it is shown, and the command is the directory's name";
            self.diagnostics
                .push(Diagnostic::new(Code::NameInvalid, message).at(name.span).severity(Severity::Info).help(help()));
        } else if let Some(command) = command.filter(|command| !is_same_name(command, &name.value)) {
            let message = format!("the name is `{}` and the skill is invoked as `{}`", name.value, shown(command));
            self.diagnostics.push(Diagnostic::new(Code::NameMismatch, message).at(name.span));
        }
        let label = shown(&name.value);
        if label.is_empty() { command.map_or_else(|| fallback.to_owned(), shown) } else { label }
    }

    fn description(&mut self) -> Option<Description> {
        if let Some(field) = &self.frontmatter.description {
            // There are not more characters than bytes.
            let length = if field.value.len() > MAX_DESCRIPTION { field.value.chars().count() } else { 0 };
            if length > MAX_DESCRIPTION && self.options.profile == Profile::Safe {
                let message = format!("the description has {length} characters; the standard allows {MAX_DESCRIPTION}");
                self.diagnostics.push(
                    Diagnostic::new(Code::DescriptionTooLong, message)
                        .at(field.span)
                        .help("shorten it; a listing shows only its beginning"),
                );
            }
            return Some(Description { text: invisible::cleaned(&field.value), extracted: false });
        }
        if self.state.is_lost() {
            return None;
        }
        let body: String = self.body.iter().filter_map(|span| span.slice(&self.source)).collect();
        if self.state == HeaderState::Absent
            && let Some(line) = describe::lone_line(&body)
        {
            return Some(Description { text: invisible::cleaned(line), extracted: true });
        }
        let text = describe::first_paragraph(&body);
        if self.state == HeaderState::Absent && self.options.loaded_from == LoadedFrom::Commands {
            return text.map(|text| Description { text: invisible::cleaned(&text), extracted: true });
        }
        let taken = if text.is_some() {
            "the first paragraph of the text is shown"
        } else {
            "there is no text to take one from"
        };
        self.diagnostics.push(
            Diagnostic::new(Code::DescriptionMissing, format!("the header gives no description; {taken}"))
                .at(self.header_span.unwrap_or(Span::at(self.start)))
                .help("say in `description` what the skill does and when to use it"),
        );
        text.map(|text| Description { text: invisible::cleaned(&text), extracted: true })
    }
}

fn repaired(repair: &Repair) -> Diagnostic {
    let found = Diagnostic::new(
        Code::YamlRecovered(repair.key.clone()),
        format!("`{}` is not YAML ({}) and was read as: {}", repair.key, repair.reason, repair.corrected.trim()),
    )
    .at(repair.span)
    .help("write it as it was read, or correct it");
    if repair.sure { found.fix(repair.span, repair.corrected.clone()) } else { found }
}

/// Whether two names are one: some file systems write `é` as two characters, and people type it as one.
fn is_same_name(one: &str, other: &str) -> bool {
    one == other || !(one.is_ascii() && other.is_ascii()) && one.nfkc().eq(other.nfkc())
}

/// What keeps a label from being a command's name.
fn name_problem(name: &str) -> Option<&'static str> {
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ')) {
        None
    } else if name.contains(['/', '\\']) {
        Some("a separator")
    } else if name == "." || name.contains("..") {
        Some("`..`")
    } else if name.chars().any(char::is_control) {
        Some("a control character")
    } else if name.chars().any(|c| skillgate_core::classify_invisible(c).is_some()) {
        Some("an invisible character")
    } else {
        None
    }
}

/// The text as a person is shown it.
fn shown(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.trim().to_owned();
    }
    skillgate_core::without_invisible(text).chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
