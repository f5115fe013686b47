use schemars::JsonSchema;
use serde::Serialize;

/// What `trust add` stored.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustAddOutput {
    /// The folder that is trusted now.
    pub(crate) folder: String,
    /// The directory of its git repository, whose other working trees are trusted with it.
    pub(crate) repository: Option<String>,
    /// Its skills, and what each asks for.
    pub(crate) skills: Vec<AsksOutput>,
}

/// What a skill asks for and what it has.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AsksOutput {
    /// What it is invoked by.
    pub(crate) name: String,
    /// Its file, from the folder.
    pub(crate) path: String,
    /// The entries of its `allowed-tools`; null when it has none and so takes nothing away.
    pub(crate) tools: Option<Vec<String>>,
    /// Its hooks, each with its event.
    pub(crate) hooks: Vec<String>,
    /// The commands in its text.
    pub(crate) injections: Vec<String>,
    /// Its rights beyond reading, for its present content.
    pub(crate) rights: Vec<String>,
    /// Rights that were granted for another content; `trust review` shows the difference.
    pub(crate) lapsed: Vec<String>,
    /// Why no right can be bound to its content, where that is so.
    pub(crate) unbound: Option<String>,
}

/// The folders of `trust list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustListOutput {
    /// One entry per folder, by path.
    pub(crate) folders: Vec<TrustedFolderOutput>,
}

/// One trusted folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustedFolderOutput {
    /// The folder.
    pub(crate) folder: String,
    /// The directory of its git repository.
    pub(crate) repository: Option<String>,
    /// `valid`; `changed`: trusted, and its skills are not those that were accepted; `moved`: another folder or repository is
    /// there, which is not trusted; `gone`.
    pub(crate) state: String,
    /// The skills that were accepted.
    pub(crate) skills: Vec<TrustedSkillOutput>,
}

/// One skill as it was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustedSkillOutput {
    /// Its file, from the folder.
    pub(crate) path: String,
    /// SHA-256 of all its files with their paths.
    pub(crate) content: String,
    /// `valid`, `changed` or `gone`; rights hold in `valid` only. Not known (null) where the folder is not the trusted one.
    pub(crate) state: Option<String>,
    /// The rights that were granted for this content.
    pub(crate) rights: Vec<String>,
}

/// What `trust remove` took back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustRemoveOutput {
    /// The folders that are not trusted any more.
    pub(crate) removed: Vec<String>,
}

/// What changed since a folder was trusted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrustReviewOutput {
    /// The folder that was trusted.
    pub(crate) folder: String,
    /// The skills that are not what was accepted.
    pub(crate) changes: Vec<ChangeOutput>,
    /// Whether the changes were accepted.
    pub(crate) accepted: bool,
}

/// One skill that is not what was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangeOutput {
    /// Its file, from the folder.
    pub(crate) path: String,
    /// `added`, `changed`, `removed`, or `unreadable`: its content cannot be read whole, so no right is bound to it.
    pub(crate) kind: String,
    /// Rights that were granted for the old content and hold again once the new one is accepted.
    pub(crate) rights: Vec<String>,
    /// The difference in what it asks for: lines that begin with `-` or `+`.
    pub(crate) authority: Vec<String>,
    /// The files that differ.
    pub(crate) files: Vec<FileChangeOutput>,
    /// Why its content cannot be read whole.
    pub(crate) reason: Option<String>,
}

/// One file that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileChangeOutput {
    /// From the directory of the skill's own file.
    pub(crate) path: String,
    /// The difference as a unified diff; null when a side is not text or is not kept.
    pub(crate) diff: Option<String>,
}
