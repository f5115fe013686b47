//! Which commit is checked out. Only what git itself keeps beside the working tree is read; nothing of the repository runs, and
//! nothing it says decides over trust: the commit is noted for people, and content is pinned by its digest.

use super::ImportError;
use super::directory::{Opened, open_ambient, read_file};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a file of references.
const MAX_BYTES: u64 = 16 << 20;

/// The commit of the working tree whose top this directory is; `None` when it is none, or nothing was committed.
pub(super) fn commit_ambient(top: &Path) -> Result<Option<String>, ImportError> {
    let dot = top.join(".git");
    let own = match open_ambient(&dot) {
        Ok(Opened::Directory(_)) => dot,
        Ok(Opened::File(file)) => match pointer(&text(read_file(file, &dot, 4096)?), "gitdir:") {
            Some(named) => top.join(named),
            None => return Ok(None),
        },
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(head) = read(&own.join("HEAD"))? else { return Ok(None) };
    let Some(name) = pointer(&head, "ref:") else { return Ok(commit(head.trim())) };
    // A reference is below `refs`, whatever the file says.
    if !name.starts_with("refs/") || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Ok(None);
    }
    let shared = read(&own.join("commondir"))?.map(|named| own.join(named.trim()));
    for directory in std::iter::once(&own).chain(&shared) {
        if let Some(loose) = read(&directory.join(&name))? {
            return Ok(commit(loose.trim()));
        }
    }
    let packed: PathBuf = shared.unwrap_or(own).join("packed-refs");
    let packed = read(&packed)?.unwrap_or_default();
    let line = packed.lines().find_map(|line| line.strip_suffix(&name)?.strip_suffix(' '));
    Ok(line.and_then(commit))
}

fn commit(text: &str) -> Option<String> {
    let is_one = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| text.to_owned())
}

fn pointer(text: &str, key: &str) -> Option<String> {
    text.trim().strip_prefix(key).map(|named| named.trim().to_owned())
}

fn read(path: &Path) -> Result<Option<String>, ImportError> {
    match open_ambient(path) {
        Ok(Opened::File(file)) => Ok(Some(text(read_file(file, path, MAX_BYTES)?))),
        Ok(Opened::Directory(_)) => Ok(None),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_missing(error: &ImportError) -> bool {
    matches!(error, ImportError::Io { source, .. } if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
}
