use super::DiagnosticOutput;
use schemars::JsonSchema;
use serde::Serialize;

/// What `check` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckOutput {
    /// One entry per file.
    pub(crate) files: Vec<CheckedFile>,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckedFile {
    /// The file.
    pub(crate) path: String,
    /// `parsed`, `recovered`, `absent`, `empty`, `unclosed`, `unparseable`; absent when the file cannot be read.
    pub(crate) frontmatter: Option<String>,
    /// The label.
    pub(crate) name: Option<String>,
    /// What the skill is invoked by.
    pub(crate) command: Option<String>,
    /// The description, the header's or one taken from the text.
    pub(crate) description: Option<String>,
    /// The header's keys.
    pub(crate) fields: serde_json::Map<String, serde_json::Value>,
    /// The first line of the body that is not blank.
    pub(crate) body_first_line: Option<String>,
    /// Findings.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}
