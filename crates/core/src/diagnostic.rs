use crate::{Code, Span};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much a diagnostic matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing was lost.
    Info,
    /// Something was repaired, guessed or left out; the skill works.
    Warning,
    /// Something that the author meant does not hold.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// An edit that a machine may apply: replace the bytes under `span` by `replacement`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fix {
    /// What is replaced, in the file's own bytes.
    pub span: Span,
    /// What takes its place.
    pub replacement: String,
}

/// One finding about a file: what was lost, cut, guessed, repaired or looks wrong, and the way out.
///
/// Offsets are into the file's own bytes as read (before a byte order mark is taken off). A diagnostic never stops a load.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Which rule spoke.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// Where; `None` when the finding is about the whole file.
    pub span: Option<Span>,
    /// What was found, one sentence without a final full stop.
    pub message: String,
    /// What the author can do.
    pub help: Option<String>,
    /// An edit that removes the cause.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic with the code's own severity, about the whole file.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { severity: code.severity(), code, span: None, message: message.into(), help: None, fix: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, span: impl Into<Span>) -> Self {
        self.span = Some(span.into());
        self
    }

    /// Says what the author can do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds an edit that removes the cause.
    #[must_use]
    pub fn fix(mut self, span: impl Into<Span>, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span: span.into(), replacement: replacement.into() });
        self
    }

    /// Overrides the code's own severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}
