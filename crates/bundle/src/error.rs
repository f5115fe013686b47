use crate::{KeyError, NameFault};
use skillgate_core::Digest;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The steps of an extraction, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Opening the directory in which the extraction makes its own.
    OpenParent,
    /// Making the directory of the extraction.
    MakeRoot,
    /// Taking the lock that says the extraction is alive.
    LockRoot,
    /// Making a directory of a file's path.
    MakeDirectory,
    /// Making a file.
    CreateFile,
    /// Writing a file.
    WriteFile,
    /// Setting and checking the mode and the owner.
    CheckFile,
    /// Giving a finished skill its name.
    Publish,
}

impl Step {
    /// Every step.
    pub const ALL: [Step; 8] = [
        Step::OpenParent,
        Step::MakeRoot,
        Step::LockRoot,
        Step::MakeDirectory,
        Step::CreateFile,
        Step::WriteFile,
        Step::CheckFile,
        Step::Publish,
    ];

    /// The step's name in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Step::OpenParent => "open-parent",
            Step::MakeRoot => "make-root",
            Step::LockRoot => "lock-root",
            Step::MakeDirectory => "make-directory",
            Step::CreateFile => "create-file",
            Step::WriteFile => "write-file",
            Step::CheckFile => "check-file",
            Step::Publish => "publish",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why files were not taken to disk. Nothing that was made is used, and what could be removed is removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// A name is refused before anything is written.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// The system refused a step.
    #[error("{step} failed at `{}`: {source}", .path.display())]
    Io {
        /// The step.
        step: Step,
        /// Where.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Something that we did not make stands where we make something.
    #[error("{step} refused at `{}`: {found}", .path.display())]
    Foreign {
        /// The step.
        step: Step,
        /// Where.
        path: PathBuf,
        /// What stands there.
        found: &'static str,
    },
    /// The directory that is to hold the extraction can be changed by others.
    #[error("`{}` can be changed by other users, so nothing is taken to disk there", .path.display())]
    UnsafeParent {
        /// The directory.
        path: PathBuf,
    },
    /// Two registrations use one name with different files.
    #[error("`{0}` is there already with other files")]
    Conflict(String),
}

impl ExtractError {
    /// The way out.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            ExtractError::Name(_) => "rename the file where the skill is built".to_owned(),
            ExtractError::Io { source, .. } if is_full(source) => {
                "make room, or name another directory: TMPDIR, or --store".to_owned()
            }
            ExtractError::Io { .. } | ExtractError::UnsafeParent { .. } => {
                "name a directory that only you can write to: TMPDIR, or --store".to_owned()
            }
            ExtractError::Foreign { path, .. } => {
                format!("somebody else writes in `{}`; use another directory", path.display())
            }
            ExtractError::Conflict(_) => return None,
        })
    }
}

/// Whether the disk, a quota or a limit of the process takes no more.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Why a pack is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A name is refused.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// A key or a signature is not one.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It is no pack.
    #[error("this is no pack: {0}")]
    NotAPack(&'static str),
    /// It is cut off.
    #[error("the pack is cut off: {needed} more bytes are needed {place}")]
    Truncated {
        /// What was being read.
        place: String,
        /// How much is missing at least.
        needed: u64,
    },
    /// Something is behind its end.
    #[error("{0} bytes stand behind the end of the pack")]
    Trailing(u64),
    /// A newer Skillgate wrote it.
    #[error("the pack has format {found}, and this version reads up to {known}")]
    Format {
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The manifest is not what we write.
    #[error("the manifest is wrong: {0}")]
    Manifest(String),
    /// A file is not what the manifest says.
    #[error("`{path}` is not what the manifest says: its digest is {found}")]
    Digest {
        /// The file.
        path: String,
        /// What it is.
        found: Digest,
    },
    /// A skill in it cannot be one.
    #[error("`{path}` cannot be a skill: {reason}")]
    Skill {
        /// Its SKILL.md.
        path: String,
        /// Why.
        reason: String,
    },
    /// It has no skill.
    #[error("there is no SKILL.md in it")]
    NoSkill,
    /// It is larger than a limit.
    #[error("{what} is over the limit of {limit}")]
    TooLarge {
        /// What.
        what: String,
        /// The limit.
        limit: u64,
    },
}
