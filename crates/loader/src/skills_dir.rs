//! The entries of a directory of skills.

use crate::SkillRoot;
use crate::entry::{Candidate, Shape};
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that may be a skill, sorted by name: directories, and links, which may lead to one.
pub(crate) fn candidates(dir: &Arc<Dir>, path: &Path) -> io::Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let shape = if kind.is_symlink() {
            Shape::Link
        } else if kind.is_dir() {
            Shape::Directory
        } else if is_known(kind) {
            continue;
        } else {
            // Some file systems do not say; the entry itself does.
            match dir.symlink_metadata(entry.file_name()) {
                Ok(metadata) if metadata.is_symlink() => Shape::Link,
                Ok(metadata) if !metadata.is_dir() => continue,
                _ => Shape::Directory,
            }
        };
        let name = entry.file_name();
        candidates.push(Candidate {
            name: name.to_string_lossy().into_owned(),
            name_is_text: name.to_str().is_some(),
            base: Arc::clone(dir),
            path: path.join(&name),
            rel: PathBuf::from(name),
            shape,
            linked: shape == Shape::Link,
            diagnostics: Vec::new(),
        });
    }
    // Each is one name, so that bytes decide, which is sooner done than by the components of paths.
    candidates.sort_unstable_by(|a, b| a.rel.as_os_str().cmp(b.rel.as_os_str()));
    Ok(candidates)
}

/// The directory itself as the one skill of a root.
pub(crate) fn itself(dir: &Arc<Dir>, spec: &SkillRoot) -> Candidate {
    let own = spec.path.file_name().unwrap_or_default();
    let plugin = spec.plugin.as_ref().filter(|plugin| plugin.root == spec.path).map(|plugin| plugin.name.clone());
    Candidate {
        name_is_text: plugin.is_some() || own.to_str().is_some(),
        name: plugin.unwrap_or_else(|| own.to_string_lossy().into_owned()),
        base: Arc::clone(dir),
        rel: PathBuf::from("."),
        path: spec.path.clone(),
        shape: Shape::Directory,
        linked: false,
        diagnostics: Vec::new(),
    }
}

/// Whether the listing said what the entry is.
fn is_known(kind: cap_std::fs::FileType) -> bool {
    if kind.is_file() {
        return true;
    }
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::entry::{self, Outcome};
    use crate::links::Places;
    use crate::root::{RootKind, SkillRoot};
    use cap_std::ambient_authority;
    use skillgate_core::Source;

    #[test]
    fn what_goes_between_listing_and_reading_is_one_finding_and_the_rest_is_read() {
        let home = tempfile::tempdir().expect("temporary directory");
        let dir = Arc::new(Dir::open_ambient_dir(home.path(), ambient_authority()).expect("open"));
        for name in ["emptied", "gone", "replaced", "stays"] {
            dir.create_dir(name).expect("directory");
            dir.write(format!("{name}/SKILL.md"), "Text.").expect("file");
        }
        let candidates = candidates(&dir, home.path()).expect("listed");
        dir.remove_dir_all("gone").expect("remove");
        dir.remove_file("emptied/SKILL.md").expect("remove");
        dir.remove_dir_all("replaced").expect("remove");
        dir.write("replaced", "a file").expect("file");

        let root = SkillRoot::new(Source::User, RootKind::Skills, home.path());
        let places = Places::new(&root, home.path().to_path_buf());
        let outcomes = candidates.iter().map(|candidate| match entry::open(candidate, &places, 100) {
            Outcome::Opened(_) => "read",
            Outcome::NotASkill => "no skill",
            Outcome::Vanished => "vanished",
            Outcome::Failed(_) => "failed",
        });
        assert_eq!(outcomes.collect::<Vec<_>>(), ["no skill", "vanished", "no skill", "read"]);
    }
}
