//! Which directories above a project belong to it.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic, Severity};
use std::path::{Path, PathBuf};

/// The project's directory and those above it up to the root of its repository, nearest first. Without a repository, or
/// with one whose root is above `home`, the project's own directory alone.
pub(crate) fn levels_ambient(project: &Path, home: Option<&Path>) -> (Vec<PathBuf>, Option<(PathBuf, Diagnostic)>) {
    let mut levels = Vec::new();
    let mut foreign = None;
    for level in project.ancestors() {
        levels.push(level.to_path_buf());
        match marker_ambient(level, project) {
            Marker::Ours => return (levels, foreign),
            Marker::Foreign(diagnostic) => foreign = foreign.or(Some((level.join(".git"), diagnostic))),
            Marker::None => {}
        }
        if Some(level) == home {
            break;
        }
    }
    levels.truncate(1);
    (levels, foreign)
}

enum Marker {
    None,
    Ours,
    /// Somebody else put it there, who could so widen what belongs to the project.
    Foreign(Diagnostic),
}

fn marker_ambient(level: &Path, project: &Path) -> Marker {
    let Ok(dir) = Dir::open_ambient_dir(level, ambient_authority()) else { return Marker::None };
    let Ok(marker) = dir.symlink_metadata(".git") else { return Marker::None };
    // A directory, or a file in worktrees and submodules.
    if !marker.is_dir() && !marker.is_file() {
        return Marker::None;
    }
    match foreign_owner(&marker, project) {
        None => Marker::Ours,
        Some(owner) => Marker::Foreign(
            Diagnostic::new(
                Code::FileUnreadable,
                format!("it belongs to user {owner}, so the directories up to it are not taken as the project's"),
            )
            .severity(Severity::Warning)
            .help("name that directory as the project if it is the one you mean"),
        ),
    }
}

/// The owner, unless it is this user, root, or whoever the project belongs to.
#[cfg(unix)]
fn foreign_owner(marker: &cap_std::fs::Metadata, project: &Path) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    let owner = marker.uid();
    if owner == 0 || owner == rustix::process::geteuid().as_raw() {
        return None;
    }
    let project = Dir::open_ambient_dir(project, ambient_authority()).and_then(|dir| dir.dir_metadata());
    if project.is_ok_and(|project| project.uid() == owner) { None } else { Some(owner) }
}

#[cfg(not(unix))]
fn foreign_owner(_marker: &cap_std::fs::Metadata, _project: &Path) -> Option<u32> {
    None
}
