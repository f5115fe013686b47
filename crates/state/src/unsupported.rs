//! Platforms without an owner-only check that this crate knows: no directory can be opened, so no operation exists.

use crate::StateError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn open_log(path: &Path) -> Result<File, StateError> {
    Err(StateError::Unsupported { path: path.to_path_buf() })
}

/// Nobody can say who wrote a file that is there.
pub(crate) fn open_guarded(path: &Path) -> Result<Option<(File, PathBuf)>, StateError> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        Ok(true) => Err(StateError::Unsupported { path: path.to_path_buf() }),
        Err(error) => Err(StateError::io("find", path, error)),
    }
}

/// Has no value: opening always says [`StateError::Unsupported`].
#[derive(Debug)]
pub(crate) enum DirHandle {}

impl DirHandle {
    pub(crate) fn open_ambient(path: &Path) -> Result<Self, StateError> {
        Err(StateError::Unsupported { path: path.to_path_buf() })
    }

    pub(crate) fn open_dir(&self, _name: &str, _path: &Path) -> Result<Self, StateError> {
        match *self {}
    }

    pub(crate) fn open_read(&self, _name: &str, _path: &Path) -> Result<Option<File>, StateError> {
        match *self {}
    }

    pub(crate) fn open_lock(&self, _name: &str, _path: &Path) -> Result<File, StateError> {
        match *self {}
    }

    pub(crate) fn create_new(&self, _name: &str) -> io::Result<File> {
        match *self {}
    }

    pub(crate) fn rename(&self, _from: &str, _to: &str) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn remove(&self, _name: &str) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        match *self {}
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match *self {}
    }
}
