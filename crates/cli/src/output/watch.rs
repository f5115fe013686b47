use schemars::JsonSchema;
use serde::Serialize;
use skillgate_loader::SkillChange;

/// One line of `watch`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum WatchOutput {
    /// The first line: from now on changes are seen.
    Watching {
        /// Files of skills and commands that are there.
        files: usize,
    },
    /// A file that was not there.
    Added(WatchedFileOutput),
    /// A file whose text may be another.
    Changed(WatchedFileOutput),
    /// A file that is no longer there.
    Removed(WatchedFileOutput),
    /// Something about the watching itself.
    Finding {
        /// The place it is about.
        path: String,
        /// What it is.
        message: String,
        /// The way out.
        help: Option<String>,
    },
}

/// A file of a skill or a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WatchedFileOutput {
    /// The name as it is found; it may be one that cannot be used.
    pub(crate) name: String,
    /// Where the skill comes from.
    pub(crate) source: String,
    /// The file, or where it was.
    pub(crate) path: String,
}

impl WatchedFileOutput {
    pub(crate) fn of(change: &SkillChange) -> Self {
        Self { name: change.name.clone(), source: change.source.to_string(), path: change.path.display().to_string() }
    }
}
