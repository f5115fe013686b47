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
    /// Findings; with `--fix` those that are left, in the text as it is then.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
    /// The rules whose findings `--fix` removed, or with `--dry-run` would remove.
    pub(crate) fixed: Vec<String>,
    /// Why the file was left as it is, though it has fixes.
    pub(crate) not_fixed: Option<String>,
    /// What `--fix --dry-run` would change, as a unified diff.
    pub(crate) diff: Option<String>,
}
