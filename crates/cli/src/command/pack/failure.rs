use crate::exit::Status;
use skillgate_bundle::{FetchError, ImportError, KeyError, PackError, PackInfoError, SignatureFault, StoreError};
use std::io;
use std::path::PathBuf;

/// What a verb about packs failed with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackFailure {
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("`{}`: {error}", .path.display())]
    Pack { path: PathBuf, error: PackError },
    #[error("`{}`: {error}", .path.display())]
    Signature { path: PathBuf, error: SignatureFault },
    #[error("{place}: {error}")]
    Key { place: String, error: KeyError },
    #[error(transparent)]
    Info(#[from] PackInfoError),
    #[error("there is no secret key")]
    NoKey,
    #[error("`{}` cannot be written: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("`{}` is inside the directory that the pack is made of, and would be part of the next one", .path.display())]
    OutputInside { path: PathBuf },
    #[error("`{0}` is not taken over an open connection")]
    NotEncrypted(String),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the cases of the pack cannot be read: {0}")]
    Cases(String),
}

impl PackFailure {
    pub(crate) fn status(&self) -> Status {
        match self {
            PackFailure::Import(ImportError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Status::NotFound
            }
            PackFailure::Store(StoreError::NotInstalled { .. }) => Status::NotFound,
            PackFailure::Store(StoreError::Unsigned { .. }) => Status::Denied,
            PackFailure::Info(_)
            | PackFailure::NoKey
            | PackFailure::OutputInside { .. }
            | PackFailure::NotEncrypted(_)
            | PackFailure::Fetch(FetchError::Address { .. } | FetchError::Reference { .. }) => Status::Usage,
            _ => Status::Findings,
        }
    }

    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            PackFailure::Import(error) => error.help().into_iter().map(str::to_owned).collect(),
            PackFailure::Store(error) => error.help().into_iter().collect(),
            PackFailure::Fetch(error) => error.help().into_iter().map(str::to_owned).collect(),
            PackFailure::NoKey => vec![
                "name its file with --key, or set SKILLGATE_PACK_KEY; `skillgate pack keygen -o FILE` makes one"
                    .to_owned(),
            ],
            PackFailure::NotEncrypted(_) => vec!["write it with https://".to_owned()],
            PackFailure::OutputInside { .. } => vec!["name a file outside of it, as -o ../NAME.skillpack".to_owned()],
            PackFailure::Pack { error: PackError::NotAPack(_), .. } => {
                vec!["`skillgate pack build` makes one; `skillgate pack inspect` looks into archives, too".to_owned()]
            }
            PackFailure::Cases(_) => vec!["`skillgate pack test --help` shows how they are written".to_owned()],
            PackFailure::Write { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                vec!["name a file that is not there yet: a key that is lost cannot be made again".to_owned()]
            }
            _ => Vec::new(),
        }
    }
}
