//! The files beside a skill's own.

use crate::SkillRoots;
use crate::root::RootState;
use cap_std::fs::Dir;
use skillgate_core::{LoadedFrom, RelPath, Skill};

/// Files listed at most, and the deepest directory that is looked into.
const MAX_FILES: usize = 1_000;
const MAX_DEPTH: usize = 8;

impl SkillRoots {
    /// The regular files in the skill's own directory besides its `SKILL.md`, with their sizes in bytes, sorted by path; at
    /// most 1,000, from at most 8 levels. Links are not followed, and a command file has none.
    #[must_use]
    pub fn companions(&self, skill: &Skill) -> Vec<(RelPath, u64)> {
        let (Some(own), LoadedFrom::Skills) = (&skill.directory, skill.loaded_from) else { return Vec::new() };
        let opened = self.roots.iter().find_map(|root| {
            let below = own.strip_prefix(&root.spec.path).ok()?;
            match &root.state {
                RootState::Open { dir, .. } if root.spec.source == skill.id.source => dir.open_dir(below).ok(),
                _ => None,
            }
        });
        let mut files = Vec::new();
        if let Some(dir) = opened {
            collect(&dir, "", MAX_DEPTH, &mut files);
        }
        files.retain(|(path, _)| Some(path.as_str()) != skill.path.file_name().and_then(|name| name.to_str()));
        files.sort();
        files
    }
}

fn collect(dir: &Dir, prefix: &str, depth: usize, files: &mut Vec<(RelPath, u64)>) {
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.flatten() {
        if files.len() >= MAX_FILES {
            return;
        }
        let (Some(name), Ok(kind)) = (entry.file_name().to_str().map(str::to_owned), entry.file_type()) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            if let (Ok(inner), Some(depth)) = (entry.open_dir(), depth.checked_sub(1)) {
                collect(&inner, &format!("{path}/"), depth, files);
            }
        } else if kind.is_file()
            && let (Ok(path), Ok(metadata)) = (RelPath::new(path), entry.metadata())
        {
            files.push((path, metadata.len()));
        }
    }
}
