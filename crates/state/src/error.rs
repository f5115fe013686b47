use std::io;
use std::path::{Path, PathBuf};

/// Why an operation on an [`OwnerDir`](crate::OwnerDir) was refused or failed. [`StateError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A symbolic link stands where a directory or file of ours must be.
    #[error("`{}` is a symbolic link, and is not followed", .path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// Something else stands where the directory must be.
    #[error("`{}` is not a directory", .path.display())]
    NotDirectory {
        /// What was found.
        path: PathBuf,
    },
    /// Something else stands where a regular file must be.
    #[error("`{}` is not a regular file", .path.display())]
    NotRegular {
        /// What was found.
        path: PathBuf,
    },
    /// The directory or file belongs to somebody else.
    #[error("`{}` belongs to user {owner}, not to user {expected}", .path.display())]
    NotOwned {
        /// The directory or file.
        path: PathBuf,
        /// Its owner's user id.
        owner: u32,
        /// The effective user id of this process.
        expected: u32,
    },
    /// Group or others can reach the directory or file.
    #[error("`{}` is open to other users (mode {mode:04o})", .path.display())]
    Accessible {
        /// The directory or file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Whether it is a directory.
        directory: bool,
    },
    /// Somebody else can have written the file.
    #[error("`{}` is not read, because another user can write to it ({reason})", .path.display())]
    Writable {
        /// The file, without links.
        path: PathBuf,
        /// Who.
        reason: String,
    },
    /// Somebody else could replace the directory, because a directory or link above it is theirs or open to them.
    #[error("`{}` lets another user replace what lies below it ({reason})", .path.display())]
    UnsafeParent {
        /// The directory or link above.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The path has no last component that could be a directory of ours, such as `/` or `a/..`.
    #[error("`{}` does not name a directory that can be kept for the owner alone", .path.display())]
    PathNotUsable {
        /// The path as given.
        path: PathBuf,
    },
    /// The name cannot be a file's name here.
    #[error("`{}` cannot name a file: {fault}", .name.escape_debug())]
    InvalidName {
        /// The name as given.
        name: String,
        /// Which rule it breaks.
        fault: NameFault,
    },
    /// The file is larger than the caller takes.
    #[error("`{}` has more than {limit} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        limit: u64,
    },
    /// The log cannot be continued, because it is not one or was changed.
    #[error("the log `{}` cannot be continued: {fault}", .path.display())]
    DamagedLog {
        /// The log.
        path: PathBuf,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A line for a log is not a JSON object on one line, or too long.
    #[error("a line for the log `{}` is not one line of at most {} bytes", .path.display(), crate::MAX_LINE_BYTES)]
    InvalidLine {
        /// The log.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} `{}`", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The platform has no owner-only directories that this crate knows how to check.
    #[error("`{}` cannot be used: directories for the owner alone are not supported on this platform", .path.display())]
    Unsupported {
        /// The directory as given.
        path: PathBuf,
    },
}

/// Which rule a file name breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// No character at all.
    #[error("it is empty")]
    Empty,
    /// `.` or `..`.
    #[error("it is a directory reference")]
    DirectoryReference,
    /// A separator, a colon, a control character or NUL.
    #[error("it holds {0:?}")]
    Forbidden(char),
    /// Too long to leave room for the crate's own prefixes.
    #[error("it has more than {} bytes", crate::name::MAX_BYTES)]
    TooLong,
    /// Begins like the crate's own temporary and lock files.
    #[error("names that begin with `{}` are reserved", crate::name::RESERVED)]
    Reserved,
}

impl StateError {
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        StateError::Io { action, path: path.as_ref().to_path_buf(), source: source.into() }
    }

    /// The file or directory the error is about; `None` for a bad name.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            StateError::Symlink { path }
            | StateError::NotDirectory { path }
            | StateError::NotRegular { path }
            | StateError::NotOwned { path, .. }
            | StateError::Accessible { path, .. }
            | StateError::Writable { path, .. }
            | StateError::UnsafeParent { path, .. }
            | StateError::PathNotUsable { path }
            | StateError::TooLarge { path, .. }
            | StateError::DamagedLog { path, .. }
            | StateError::InvalidLine { path }
            | StateError::Io { path, .. }
            | StateError::Unsupported { path } => Some(path),
            StateError::InvalidName { .. } => None,
        }
    }

    /// What a person can do about it, when there is something.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            StateError::Symlink { .. } => Some("name the directory it leads to instead, or remove the link".into()),
            StateError::NotDirectory { .. } | StateError::NotRegular { .. } => {
                Some("move it away, or choose another directory".into())
            }
            StateError::NotOwned { .. } => Some("choose a directory of your own".into()),
            StateError::Accessible { path, directory, .. } => {
                Some(format!("run `chmod {} '{}'`", if *directory { "700" } else { "600" }, path.display()))
            }
            StateError::Writable { path, .. } => Some(format!(
                "look at what it says; then, if it is yours, run `chmod go-w '{0}'`, else `sudo chown \"$(id -u)\" '{0}'`",
                path.display()
            )),
            StateError::UnsafeParent { path, .. } => {
                Some(format!("choose another directory, or run `chmod go-w '{}'` if it is yours", path.display()))
            }
            StateError::PathNotUsable { .. } => Some("name a directory below your home".into()),
            StateError::DamagedLog { path, .. } => Some(format!(
                "`skillgate log verify '{}'` says where; move it away, or name another file",
                path.display()
            )),
            StateError::InvalidName { .. }
            | StateError::InvalidLine { .. }
            | StateError::TooLarge { .. }
            | StateError::Io { .. }
            | StateError::Unsupported { .. } => None,
        }
    }
}
