use crate::StateError;
use std::io;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

/// Why trust cannot be looked up or changed. Whatever it is, nothing is trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The store cannot be used, or somebody else could have written it.
    #[error(transparent)]
    State(#[from] StateError),
    /// A newer Skillgate wrote the file.
    #[error("`{}` was written by skillgate {written_by}, which keeps trust in form {version}; this one reads form {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of Skillgate that wrote it.
        written_by: String,
        /// The file's form.
        version: u64,
        /// The newest form that is understood.
        known: u64,
    },
    /// The file is not what Skillgate wrote.
    #[error("`{}` cannot be read, so nothing is trusted: {reason}", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A kept text is not the one that was accepted.
    #[error("`{}` is not the text that was accepted", .path.display())]
    Text {
        /// The file.
        path: PathBuf,
    },
}

impl TrustError {
    /// What a person can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            TrustError::State(error) => error.help(),
            TrustError::Newer { written_by, .. } => {
                Some(format!("use skillgate {written_by} or later, or another --store"))
            }
            TrustError::Corrupt { path, .. } => {
                Some(format!("move `{}` away and give the trust again with `skillgate trust add`", path.display()))
            }
            TrustError::Text { .. } => Some(
                "the trust itself holds; give it again with `skillgate trust add` to keep the text anew".to_owned(),
            ),
        }
    }
}

/// Why a folder has no identity that trust could be given to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderFault {
    /// It is not there, or not a directory.
    #[error("`{}` cannot be opened as a folder: {source}", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Its path cannot be written down.
    #[error("`{}` is not text, so trust in it cannot be kept", .path.display())]
    NotText {
        /// The folder.
        path: PathBuf,
    },
    /// The platform gives directories no identity that this crate knows.
    #[error("`{}` cannot be trusted for good: this platform gives folders no identity that is known here", .path.display())]
    Unsupported {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderFault {
    #[cfg(unix)]
    pub(super) fn unreadable(path: &Path, source: impl Into<io::Error>) -> Self {
        FolderFault::Unreadable { path: path.to_path_buf(), source: source.into() }
    }
}
