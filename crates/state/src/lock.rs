use crate::StateError;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// An exclusive lock; dropping it, or the end of the process, releases it.
#[derive(Debug)]
#[must_use = "the lock is released when the value is dropped"]
pub struct Lock {
    // Closing the file releases the lock, because each lock opens the file anew.
    _file: File,
}

impl Lock {
    pub(crate) fn wait(file: File, path: &Path) -> Result<Self, StateError> {
        loop {
            match file.lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StateError::io("lock", path, error)),
            }
        }
    }

    pub(crate) fn attempt(file: File, path: &Path) -> Result<Option<Self>, StateError> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StateError::io("lock", path, error)),
        }
    }
}
