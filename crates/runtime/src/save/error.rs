use super::SAVE_VERSION;
use skillgate_core::Digest;
use skillgate_state::StateError;

/// Why a conversation was not saved or restored. Nothing of a save is used when one part of it is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// More bytes than a save has.
    #[error("the save has more than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: u64,
    },
    /// The text ends before the save does.
    #[error("the save ends in the middle, at line {line}, column {column}")]
    Truncated {
        /// Where.
        line: usize,
        /// Where.
        column: usize,
    },
    /// It is no JSON, or not of the form that a save has.
    #[error("the save cannot be read{}: {reason}", place(*.line, *.column))]
    Malformed {
        /// The line, 0 when it is not known.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// It is JSON and no save.
    #[error("this is not a saved conversation of Skillgate")]
    NotASave,
    /// A version of Skillgate wrote it that is newer than this one.
    #[error("the save has version {found}, and this program reads up to version {SAVE_VERSION}")]
    FromTheFuture {
        /// The version.
        found: u64,
    },
    /// It says that a reader has to know something that this one does not.
    #[error("the save needs a reader that knows `{feature}`, which this version does not")]
    NotUnderstood {
        /// What a reader has to know.
        feature: String,
    },
    /// It is not what was written.
    #[error("the save was changed after it was written: its digest is {found}, and {}", says(.stated.as_ref()))]
    Changed {
        /// The digest that it states, when it states one.
        stated: Option<Digest>,
        /// The digest that it has.
        found: Digest,
    },
    /// More of something than a conversation has.
    #[error("the save holds {found} {what}, and at most {limit} are read")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The bound.
        limit: usize,
    },
    /// There is no save of the name.
    #[error("there is no save at `{}`", .path.display())]
    Missing {
        /// Where it was looked for.
        path: std::path::PathBuf,
    },
    /// The file cannot be written or read, or others can reach it.
    #[error(transparent)]
    State(#[from] StateError),
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(" at line {line}, column {column}") }
}

fn says(stated: Option<&Digest>) -> String {
    stated.map_or_else(|| "it states none".to_owned(), |stated| format!("it states {stated}"))
}

impl SaveError {
    pub(super) fn of_json(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        if error.is_eof() {
            return SaveError::Truncated { line, column };
        }
        let reason = error.to_string();
        let reason = reason.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&reason).to_owned();
        SaveError::Malformed { line, column, reason }
    }

    /// A short, stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            SaveError::TooLarge { .. } => "save-too-large",
            SaveError::Truncated { .. } => "save-truncated",
            SaveError::Malformed { .. } => "save-malformed",
            SaveError::NotASave => "not-a-save",
            SaveError::FromTheFuture { .. } => "save-from-the-future",
            SaveError::NotUnderstood { .. } => "save-not-understood",
            SaveError::Changed { .. } => "save-changed",
            SaveError::TooMany { .. } => "save-too-many",
            SaveError::Missing { .. } => "save-missing",
            SaveError::State(_) => "save-file",
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            SaveError::TooLarge { .. } => {
                Some("unload skills that are not used any more, or begin a new conversation".to_owned())
            }
            SaveError::Truncated { .. } | SaveError::Malformed { .. } | SaveError::Changed { .. } => {
                Some("restore the file from a copy, or begin a new conversation".to_owned())
            }
            SaveError::NotASave => Some("name the file that `save` wrote".to_owned()),
            SaveError::FromTheFuture { .. } | SaveError::NotUnderstood { .. } => {
                Some("install the version of Skillgate that wrote it, or begin a new conversation".to_owned())
            }
            SaveError::TooMany { .. } => Some("begin a new conversation".to_owned()),
            SaveError::Missing { .. } => Some("name the file that `save` wrote, or begin without one".to_owned()),
            SaveError::State(error) => error.help(),
        }
    }
}
