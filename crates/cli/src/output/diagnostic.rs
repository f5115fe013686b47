use schemars::JsonSchema;
use serde::Serialize;
use skillgate_core::{Diagnostic, Position};

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiagnosticOutput {
    /// The rule, for example `yaml-recovered:description`.
    pub(crate) code: String,
    /// `info`, `warning` or `error`.
    pub(crate) severity: String,
    /// Line, from 1; absent when the finding is about the whole file.
    pub(crate) line: Option<usize>,
    /// Column in characters, from 1.
    pub(crate) column: Option<usize>,
    /// What was found.
    pub(crate) message: String,
    /// What the author can do.
    pub(crate) help: Option<String>,
    /// An edit that removes the cause.
    pub(crate) fix: Option<FixOutput>,
}

/// An edit: replace the bytes from `start` to `end`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FixOutput {
    /// First byte.
    pub(crate) start: usize,
    /// After the last byte.
    pub(crate) end: usize,
    /// What takes their place.
    pub(crate) replacement: String,
}

impl DiagnosticOutput {
    /// A finding with its place, which `position` knows.
    pub(crate) fn new(diagnostic: &Diagnostic, position: impl Fn(usize) -> Option<Position>) -> Self {
        let position = diagnostic.span.and_then(|span| position(span.start));
        Self {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity.to_string(),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            fix: diagnostic.fix.as_ref().map(|fix| FixOutput {
                start: fix.span.start,
                end: fix.span.end,
                replacement: fix.replacement.clone(),
            }),
        }
    }
}
