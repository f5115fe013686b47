//! The steps from a file's text to a document.

use crate::bytes::Decoded;
use crate::describe;
use crate::document::{Described, Document};
use crate::fields::{self, Header};
use crate::header::{Block, Located, Parts, Place, locate};
use crate::invisible;
use crate::lines::{is_blank, lines};
use crate::options::ReadOptions;
use crate::repair::{Repair, repair};
use crate::strict;
use crate::yaml::{self, Steps, YamlError};
use skillgate_core::{
    Code, Diagnostic, Entry, Frontmatter, Guarded, HeaderState, LineIndex, LoadedFrom, Profile, Severity, Span, Value,
    ValueKind, mixed_lookalike,
};
use std::borrow::Cow;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization as _;

/// Characters a description may have by the open standard.
pub(crate) const MAX_DESCRIPTION: usize = 1024;

/// A document while it is read.
pub(crate) struct Reading<'o> {
    options: &'o ReadOptions,
    /// Where the content starts, behind a byte order mark.
    start: usize,
    /// Whether the file is UTF-8.
    valid: bool,
    /// What is known of it so far; it is large, so it stays in its place.
    document: Document,
}

/// A header's content, read.
struct Content {
    value: Value,
    aliases: Vec<Span>,
    repairs: Vec<Repair>,
}

impl<'o> Reading<'o> {
    pub(crate) fn new(decoded: Decoded, options: &'o ReadOptions) -> Self {
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
        let document = Document {
            body: Parts::one(Span::new(start, text.len())),
            source: text,
            state: HeaderState::Absent,
            header_span: None,
            header_inner: None,
            entries: OnceLock::new(),
            frontmatter: Box::default(),
            command: options.command().map(str::to_owned),
            label: None,
            described: Described::Nowhere,
            diagnostics,
        };
        Self { options, start, valid, document }
    }

    /// The document, whose text is the whole file.
    pub(crate) fn whole(mut self) -> Document {
        self.locate();
        self.finish(true)
    }

    /// The document of a text that is nothing but its header, which stands where `block` says, if that describes the skill.
    pub(crate) fn header(mut self, block: Block) -> Option<Document> {
        // In a text that had to be made valid it stands elsewhere.
        if self.valid {
            self.block(block);
        } else {
            self.locate();
        }
        self.document.frontmatter.description.is_some().then(|| self.finish(false))
    }

    fn locate(&mut self) {
        match locate(&self.document.source, self.start) {
            Located::Missing => self.missing(),
            Located::Unclosed(open) => {
                self.document.state = HeaderState::Unclosed;
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
            self.document.diagnostics.push(
                Diagnostic::new(Code::FrontmatterMissing, "the file has no header; its first paragraph describes it")
                    .at(Span::at(self.start))
                    .severity(Severity::Info)
                    .help("`description` in a header says it better"),
            );
            return;
        }
        self.document.diagnostics.push(
            Diagnostic::new(Code::FrontmatterMissing, "the file has no header")
                .at(Span::at(self.start))
                .help("begin the file with `---`, the keys `name` and `description`, and `---`"),
        );
    }

    /// The header is there and nothing of it can be used: what it would have taken away is taken away.
    pub(crate) fn lost(&mut self, finding: Diagnostic) {
        if !self.document.state.is_lost() {
            self.document.state = HeaderState::Unparseable;
        }
        let span = self.document.header_span.or(finding.span).unwrap_or_default();
        self.document.diagnostics.push(finding);
        *self.document.frontmatter = Frontmatter {
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
            content(&self.document.source, block.inner)
        };
        let names_skill =
            |content: &Content| content.value.get("name").is_some() || content.value.get("description").is_some();
        let used = match &read {
            _ if at_start => true,
            Ok(content) => names_skill(content),
            // Two rules in prose are prose; a header that cannot be read is not.
            Err(_) => lines(&self.document.source, block.inner)
                .map(|line| line.text(&self.document.source))
                .find(|line| !is_blank(line))
                .is_some_and(|line| {
                    ["name:", "description:", "allowed-tools:"].iter().any(|key| line.starts_with(key))
                }),
        };
        if !used {
            return self.missing();
        }
        self.document.header_span = Some(block.whole);
        self.document.header_inner = Some(block.inner);
        self.document.body = block.body;
        self.misplaced(&block);
        match read {
            Err(finding) => self.lost(*finding),
            Ok(content) => self.take(content, &block),
        }
    }

    /// Says where a header stands that is not at the start.
    fn misplaced(&mut self, block: &Block) {
        let (header, all) = (self.text(block.whole), Span::new(self.start, self.document.source.len()));
        let line_end = if header.ends_with(['\n', '\r']) { "" } else { "\n" };
        match block.place {
            Place::Start => {}
            Place::After => {
                let before = Span::new(self.start, block.whole.start);
                let fixed = format!("{header}{line_end}{}", self.text(before));
                let line = LineIndex::new(&self.document.source).position(block.whole.start).line;
                self.document.diagnostics.push(
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
                let body: String = block.body.spans().iter().map(|span| self.text(*span)).collect();
                let fixed = format!("{header}{line_end}{body}");
                self.document.diagnostics.push(
                    Diagnostic::new(Code::FrontmatterFenced, "the header stands in a code fence")
                        .at(Span::new(self.start, block.whole.start))
                        .help("take the fence away")
                        .fix(all, fixed),
                );
            }
        }
    }

    fn text(&self, span: Span) -> &str {
        span.slice(&self.document.source).unwrap_or_default()
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
        self.document.state = if block.place != Place::Start || !repairs.is_empty() {
            HeaderState::Recovered
        } else if entries.is_empty() {
            HeaderState::Empty
        } else {
            HeaderState::Parsed
        };
        for repair in &repairs {
            self.document.diagnostics.push(repaired(repair));
        }
        let guessed: Vec<&str> =
            repairs.iter().filter(|repair| !repair.sure).map(|repair| repair.key.as_str()).collect();
        let Document { source, frontmatter, diagnostics, .. } = &mut self.document;
        let header = Header { source, whole: block.whole, aliases: &aliases, guessed: &guessed };
        fields::read(&header, entries, self.options, frontmatter, diagnostics);
        invisible::report(source, block.whole, true, diagnostics);
    }

    /// Label, description and what else follows from the header and the body.
    pub(crate) fn finish(mut self, with_body: bool) -> Document {
        self.label();
        self.document.described = self.described();
        let document = &mut self.document;
        if with_body {
            for span in document.body.spans() {
                invisible::report(&document.source, *span, false, &mut document.diagnostics);
            }
        }
        if self.options.profile == Profile::Strict {
            let found = strict::check(document, self.options.directory_name.as_deref());
            document.diagnostics.extend(found);
        }
        if !self.valid {
            // The offsets are not those of the file's bytes.
            document.diagnostics.iter_mut().for_each(|found| found.fix = None);
        }
        document.diagnostics.sort_by_key(|found| found.span.map(|span| span.start));
        self.document
    }

    /// Sets the label, unless it is the header's name as it stands, and says what is wrong with that.
    fn label(&mut self) {
        let Document { command, label, frontmatter, diagnostics, .. } = &mut self.document;
        let command = command.as_deref();
        let fallback = match self.options.loaded_from {
            LoadedFrom::Commands => "Custom command",
            LoadedFrom::Skills => "Skill",
        };
        let of_command = || {
            let shown = shown(command.unwrap_or_default());
            if shown.is_empty() { fallback.to_owned() } else { shown.into_owned() }
        };
        let name_of_header = frontmatter.name.as_ref().map(|name| name.value.as_str());
        if let Some(found) = command.filter(|command| Some(*command) != name_of_header).and_then(mixed_lookalike) {
            diagnostics.push(lookalike(&format!("what the skill is called by has {found}")));
        }
        let Some(name) = &frontmatter.name else {
            *label = Some(of_command());
            return;
        };
        if let Some(found) = mixed_lookalike(&name.value) {
            diagnostics.push(lookalike(&format!("the name has {found}")).at(name.span));
        }
        let help = || match command {
            Some(command) => format!("write the directory's name: `name: {}`", shown(command)),
            None => "use letters, digits and hyphens".to_owned(),
        };
        if let Some(problem) = name_problem(&name.value) {
            let message =
                format!("the name holds {problem}; it is only shown, and the command is the directory's name");
            diagnostics.push(Diagnostic::new(Code::NameInvalid, message).at(name.span).help(help()));
        } else if name.value.chars().any(char::is_whitespace) {
            // A title, which many packs give; nothing is lost by it.
            let message =
                "the name holds white space, as a title does; it is shown, and the command is the directory's name";
            diagnostics
                .push(Diagnostic::new(Code::NameInvalid, message).at(name.span).severity(Severity::Info).help(help()));
        } else if let Some(command) = command.filter(|command| !is_same_name(command, &name.value)) {
            let message = format!("the name is `{}` and the skill is invoked as `{}`", name.value, shown(command));
            diagnostics.push(Diagnostic::new(Code::NameMismatch, message).at(name.span));
        }
        *label = match shown(&name.value) {
            Cow::Borrowed(label) if label.len() == name.value.len() => None,
            label if label.is_empty() => Some(of_command()),
            label => Some(label.into_owned()),
        };
    }

    fn described(&mut self) -> Described {
        if let Some(field) = &self.document.frontmatter.description {
            // There are not more characters than bytes.
            let length = if field.value.len() > MAX_DESCRIPTION { field.value.chars().count() } else { 0 };
            if length > MAX_DESCRIPTION && self.options.profile == Profile::Safe {
                let message = format!("the description has {length} characters; the standard allows {MAX_DESCRIPTION}");
                self.document.diagnostics.push(
                    Diagnostic::new(Code::DescriptionTooLong, message)
                        .at(field.span)
                        .help("shorten it; a listing shows only its beginning"),
                );
            }
            return match invisible::cleaned(&field.value) {
                Cow::Borrowed(_) => Described::AsWritten,
                Cow::Owned(text) => Described::Cleaned(text),
            };
        }
        if self.document.state.is_lost() {
            return Described::Nowhere;
        }
        let extracted = |text: &str| Described::Extracted(invisible::cleaned(text).into_owned());
        let body: String =
            self.document.body.spans().iter().filter_map(|span| span.slice(&self.document.source)).collect();
        if self.document.state == HeaderState::Absent
            && let Some(line) = describe::lone_line(&body)
        {
            return extracted(line);
        }
        let text = describe::first_paragraph(&body);
        if self.document.state == HeaderState::Absent && self.options.loaded_from == LoadedFrom::Commands {
            return text.map_or(Described::Nowhere, |text| extracted(&text));
        }
        let taken = if text.is_some() {
            "the first paragraph of the text is shown"
        } else {
            "there is no text to take one from"
        };
        self.document.diagnostics.push(
            Diagnostic::new(Code::DescriptionMissing, format!("the header gives no description; {taken}"))
                .at(self.document.header_span.unwrap_or(Span::at(self.start)))
                .help("say in `description` what the skill does and when to use it"),
        );
        text.map_or(Described::Nowhere, |text| extracted(&text))
    }
}

/// The header's top-level keys and values, as they were read for the document.
pub(crate) fn entries(source: &str, inner: Span) -> Vec<Entry> {
    match content(source, inner).map(|content| content.value.kind) {
        Ok(ValueKind::Map(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Reads the header's content as it is, and repairs it if that fails.
fn content(source: &str, inner: Span) -> Result<Content, Box<Diagnostic>> {
    let mut steps = Steps::new();
    match yaml::parse(inner.slice(source).unwrap_or_default(), inner.start, &mut steps) {
        Ok(parsed) => Ok(Content { value: parsed.value, aliases: parsed.aliases, repairs: Vec::new() }),
        Err(error @ YamlError::TooComplex { .. }) => {
            Err(Box::new(Diagnostic::new(Code::YamlTooComplex, error.to_string()).at(Span::at(error.offset()))))
        }
        Err(error) => match repair(source, inner, &mut steps) {
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

/// One word in two alphabets. By itself it is no more than strange; beside the name that it looks like it is an error.
fn lookalike(message: &str) -> Diagnostic {
    Diagnostic::new(Code::NameLookalike, message).severity(Severity::Warning).help("write each word in one alphabet")
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
fn shown(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text.trim_ascii());
    }
    let visible: String = skillgate_core::without_invisible(text).chars().filter(|c| !c.is_control()).collect();
    Cow::Owned(visible.trim().to_owned())
}
