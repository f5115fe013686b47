//! The files beside a skill's own.

use crate::SkillRoots;
use crate::find::{is_left_out, is_skill_name};
use crate::root::RootState;
use cap_std::fs::{Dir, DirEntry, FileType};
use skillgate_core::{LoadedFrom, RelPath, Skill};
use std::io;
use std::path::Path;

/// Entries looked at in one skill's directory, and the deepest directory that is looked into.
const MAX_ENTRIES: usize = 1_000;
const MAX_DEPTH: usize = 8;
/// Entries of one directory that are put in order.
const MAX_LISTED: usize = 10_000;

impl SkillRoots {
    /// The regular files in the skill's own directory besides its `SKILL.md`, with their sizes in bytes, sorted by path; at
    /// most 1,000, from at most 8 levels, without `.git`, `node_modules` and `target`. Links are not followed, and a command
    /// file has none.
    #[must_use]
    pub fn companions(&self, skill: &Skill) -> Vec<(RelPath, u64)> {
        if let Some(held) = self.held(skill) {
            return held.beside().into_iter().map(|(path, bytes)| (path, bytes.len() as u64)).collect();
        }
        let (Some(own), LoadedFrom::Skills) = (&skill.directory, skill.loaded_from) else { return Vec::new() };
        let opened = self.roots.iter().find_map(|root| {
            let below = own.strip_prefix(&root.spec.path).ok()?;
            match &root.state {
                RootState::Open { dir, .. } if root.spec.source == skill.id.source => open_below(dir, below).ok(),
                _ => None,
            }
        });
        let mut files = Vec::new();
        if let Some(dir) = opened {
            walk(&dir, Inner::Included, &mut |companion| {
                if companion.kind.is_file()
                    && let (Ok(path), Ok(metadata)) =
                        (RelPath::new(companion.path.as_str()), companion.entry.metadata())
                {
                    files.push((path, metadata.len()));
                }
            });
        }
        files.retain(|(path, _)| Some(path.as_str()) != skill.path.file_name().and_then(|name| name.to_str()));
        files.sort();
        files
    }
}

/// A directory below a handle, or the handle's own.
pub(crate) fn open_below(dir: &Dir, below: &Path) -> io::Result<Dir> {
    if below.as_os_str().is_empty() { dir.try_clone() } else { dir.open_dir(below) }
}

/// Something in a skill's directory that is no directory.
pub(crate) struct Companion<'w> {
    /// From the skill's directory; what is not UTF-8 is replaced.
    pub(crate) path: String,
    pub(crate) entry: &'w DirEntry,
    pub(crate) kind: FileType,
}

/// Whether directories that are skills of their own are looked into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inner {
    Included,
    LeftOut,
}

/// Visits what stands below a skill's directory, directories themselves excepted, in the order of the names, so that the
/// bounds cut in the same place every time. Links are not followed.
pub(crate) fn walk(dir: &Dir, inner: Inner, visit: &mut impl FnMut(&Companion<'_>)) {
    Walk { inner, left: MAX_ENTRIES, visit }.entries(dir, "", MAX_DEPTH);
}

struct Walk<'v, V> {
    inner: Inner,
    /// Entries that may still be looked at.
    left: usize,
    visit: &'v mut V,
}

impl<V: FnMut(&Companion<'_>)> Walk<'_, V> {
    fn entries(&mut self, dir: &Dir, prefix: &str, depth: usize) {
        let Ok(entries) = dir.entries() else { return };
        let mut entries: Vec<DirEntry> = entries.flatten().take(MAX_LISTED).collect();
        entries.sort_by_key(DirEntry::file_name);
        let is_skill = || entries.iter().any(|entry| is_skill_name(&entry.file_name()));
        if self.inner == Inner::LeftOut && !prefix.is_empty() && is_skill() {
            return;
        }
        for entry in &entries {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let path = format!("{prefix}{}", name.to_string_lossy());
            if !kind.is_dir() {
                (self.visit)(&Companion { path, entry, kind });
            } else if !is_left_out(&name)
                && let (Ok(below), Some(depth)) = (entry.open_dir(), depth.checked_sub(1))
            {
                self.entries(&below, &format!("{path}/"), depth);
            }
        }
    }
}
