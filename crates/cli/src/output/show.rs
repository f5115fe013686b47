use super::{CaveatOutput, InjectionOutput, SkillOutput};
use schemars::JsonSchema;
use serde::Serialize;

/// One skill in full.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShowOutput {
    /// The same as in `list`.
    #[serde(flatten)]
    pub(crate) skill: SkillOutput,
    /// SHA-256 of its file.
    pub(crate) digest: String,
    /// The header's keys.
    pub(crate) fields: serde_json::Map<String, serde_json::Value>,
    /// The text after the header.
    pub(crate) body: String,
    /// What it takes away from the host's grants.
    pub(crate) caveats: Vec<CaveatOutput>,
    /// Its injections with the decisions they would get without arguments.
    pub(crate) injections: Vec<InjectionOutput>,
    /// Events it has hooks for.
    pub(crate) hooks: Vec<String>,
    /// The files beside its `SKILL.md`.
    pub(crate) files: Vec<FileOutput>,
}

/// A file of a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileOutput {
    /// Path below the skill's directory.
    pub(crate) path: String,
    /// Size in bytes.
    pub(crate) bytes: u64,
}
