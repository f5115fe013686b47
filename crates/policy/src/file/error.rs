use skillgate_core::{LineIndex, Position, Span};
use std::fmt;
use std::path::{Path, PathBuf};

/// Errors of one file that are reported one by one; a text with more is no policy file with mistakes.
const MAX_ERRORS: usize = 200;

/// Characters of the file's line that an error shows.
const MAX_SHOWN: usize = 160;

/// One mistake in a policy file, with its place and the way out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}:{position}: {message}", .path.display())]
pub struct PolicyError {
    /// The file.
    pub path: PathBuf,
    /// Where it begins in the file's text.
    pub span: Span,
    /// The same place as an editor shows it.
    pub position: Position,
    /// The line's text, cut when it is long.
    pub line: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or where.
    pub help: Option<String>,
}

impl PolicyError {
    /// A mistake that shows only outside the file's text, such as in another file that it names: at the line, from 1, that
    /// names it.
    #[must_use]
    pub fn at_line(
        path: &Path,
        text: &str,
        line: usize,
        message: impl Into<String>,
        help: Option<String>,
    ) -> PolicyError {
        let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
        Findings::new(text, path).error(Span::at(lines.map(str::len).sum()), message.into(), help)
    }

    /// The error with its line and a mark under the place, and the way out, as a person is shown it.
    #[must_use]
    pub fn excerpt(&self) -> Excerpt<'_> {
        Excerpt(self)
    }
}

/// A [`PolicyError`] on several lines.
#[derive(Debug)]
pub struct Excerpt<'a>(&'a PolicyError);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyError { position, line, help, .. } = self.0;
        let number = position.line.to_string();
        write!(f, "{}", self.0)?;
        if position.column <= MAX_SHOWN {
            // Tabs stay tabs, so that the mark stands under its place.
            let before = line.chars().take(position.column - 1);
            let mark: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "\n  {number} | {line}\n  {} | {mark}^", " ".repeat(number.len()))?;
        }
        match help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// The mistakes of one text while it is read.
#[derive(Debug)]
pub(super) struct Findings<'t> {
    path: &'t Path,
    text: &'t str,
    lines: LineIndex<'t>,
    errors: Vec<PolicyError>,
    more: usize,
    /// Where the text is not TOML: what a value there seems to be says nothing.
    broken: Vec<Span>,
}

impl<'t> Findings<'t> {
    pub(super) fn new(text: &'t str, path: &'t Path) -> Self {
        Self { path, text, lines: LineIndex::new(text), errors: Vec::new(), more: 0, broken: Vec::new() }
    }

    /// Adds a place where the text is not TOML.
    pub(super) fn add_syntax(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.add(span, message, help);
        if self.broken.len() < MAX_ERRORS {
            self.broken.push(span);
        }
    }

    /// Adds a mistake, unless the text is not even TOML at its place.
    pub(super) fn add(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        if self.broken.iter().any(|broken| broken.start == span.start) {
            return;
        }
        if self.errors.len() >= MAX_ERRORS {
            self.more += 1;
            return;
        }
        let error = self.error(span, message.into(), help);
        self.errors.push(error);
    }

    fn error(&self, span: Span, message: String, help: Option<String>) -> PolicyError {
        let position = self.lines.position(span.start);
        let start = self.text.get(..span.start).unwrap_or_default().rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        PolicyError {
            path: self.path.to_path_buf(),
            span,
            position,
            line: line.chars().take(MAX_SHOWN).collect(),
            message,
            help,
        }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, span: Span) -> usize {
        self.lines.position(span.start).line
    }

    /// The file's text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn path(&self) -> &'t Path {
        self.path
    }

    /// All mistakes in the order of their places; empty when there is none.
    pub(super) fn finish(mut self) -> Vec<PolicyError> {
        self.errors.sort_by_key(|error| error.span);
        if self.more > 0
            && let Some(last) = self.errors.last_mut()
        {
            last.message.push_str(&format!(" (and {} more mistakes after the first {MAX_ERRORS})", self.more));
        }
        self.errors
    }
}
