//! Files and directories, with the path in every error.

use crate::Outcome;
use std::fs;
use std::path::Path;

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes the whole file or leaves the old one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

pub(crate) fn create(directory: &Path) -> Outcome {
    fs::create_dir_all(directory).map_err(|error| format!("cannot create {}: {error}", directory.display()))
}

pub(crate) fn remove(path: &Path) -> Outcome {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}
