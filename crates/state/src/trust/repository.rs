//! The directory of a folder's git repository, found as git finds it and believed only as far as both ends agree.

use super::DirectoryId;
use super::folder::opened::OpenDir;
use std::path::{Path, PathBuf};

/// The most that a file with one path in it holds.
const MAX_LINK_BYTES: u64 = 8 * 1024;

/// The repository of an open folder; `None` for a folder without one and for every arrangement in which a file of the folder
/// would be the only witness.
pub(super) fn of(folder: &OpenDir, id: &DirectoryId) -> Option<DirectoryId> {
    match folder.inside(".git") {
        Ok(own) => own.id().ok(),
        Err(_) => worktrees(folder, id),
    }
}

/// The repository of a worktree: the folder's `.git` names `REPOSITORY/worktrees/NAME`, that directory names the folder's `.git`
/// back, and both belong to the same user.
fn worktrees(folder: &OpenDir, id: &DirectoryId) -> Option<DirectoryId> {
    let (text, owner) = folder.text(".git", MAX_LINK_BYTES)?;
    let named = folder.path.join(one_line(text.strip_prefix("gitdir:")?)?);
    let entry = OpenDir::ambient(&named).ok()?;
    let list = entry.path.parent().filter(|list| list.file_name().is_some_and(|name| name == "worktrees"))?;
    let repository = OpenDir::ambient(list.parent()?).ok()?;
    let (common, _) = entry.text("commondir", MAX_LINK_BYTES)?;
    if OpenDir::ambient(&entry.path.join(one_line(&common)?)).ok()?.id().ok()? != repository.id().ok()? {
        return None;
    }
    let (back, _) = entry.text("gitdir", MAX_LINK_BYTES)?;
    let back: PathBuf = entry.path.join(one_line(&back)?);
    if back.file_name()? != ".git" || OpenDir::ambient(back.parent()?).ok()?.id().ok()? != *id {
        return None;
    }
    // Where a worktree was removed without git's knowledge, its path is free for whoever can write there.
    let of_one_user = repository.owner().ok()? == owner && folder.owner().ok()? == owner;
    of_one_user.then(|| repository.id().ok()).flatten()
}

/// The path in a file of one line.
fn one_line(text: &str) -> Option<&Path> {
    let line = text.strip_prefix(' ').unwrap_or(text);
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    (!line.is_empty() && !line.contains(['\n', '\0'])).then(|| Path::new(line))
}
