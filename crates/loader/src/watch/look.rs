//! One look at all roots: which files are skills or commands now, and which directories have to be watched for them.

use super::interest::Interest;
use crate::commands;
use crate::entry::{self, Candidate, Outcome, SKILL_FILE, Shape};
use crate::grouped;
use crate::links::Places;
use crate::reader::in_plugin;
use crate::root::{OpenRoot, RootKind, RootState, SkillRoot, canonicalize_ambient};
use crate::skills_dir;
use crate::sources::{HeldMark, SkillSource};
use crate::stamp::Stamp;
use skillgate_core::{Digest, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Existing directories above a root in which it is watched for: `.claude/skills` goes when either part is renamed.
const LEVELS_ABOVE: usize = 2;

/// What the roots hold at one moment.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) files: Files,
    /// The directories, without links, with what in them makes a difference.
    pub(super) directories: BTreeMap<PathBuf, Interest>,
}

/// The files of skills and commands by their paths.
pub(super) type Files = BTreeMap<PathBuf, Seen>;

/// One file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub(super) name: String,
    pub(super) source: Source,
    /// `None` for one that is meant as a skill and cannot be read, and for one that is no file.
    pub(super) stamp: Option<Stamp>,
    /// Of one that is no file.
    pub(super) digest: Option<Digest>,
}

impl Look {
    /// Looks at the roots, and has what is `deciding` about them watched.
    pub(super) fn ambient(roots: Vec<SkillRoot>, deciding: &[PathBuf]) -> Self {
        let mut look = Self::default();
        for path in deciding {
            look.ways_to(path);
            if let Some(interest) = look.real_directory(path) {
                interest.add_everything();
            }
        }
        for root in roots {
            look.root(OpenRoot::open_ambient(root));
        }
        look
    }

    /// Whether a file was written so short a time before `taken` that it can be written again and look the same.
    pub(super) fn may_be_followed(&self, taken: i64) -> bool {
        self.files.values().filter_map(|seen| seen.stamp).any(|stamp| stamp.may_be_followed(taken))
    }

    /// Adds the skills that sources hold themselves.
    pub(super) fn held(&mut self, sources: &[Arc<dyn SkillSource>]) {
        for source in sources {
            for HeldMark { name, origin, digest } in source.marks() {
                let seen = Seen { name, source: source.source(), stamp: None, digest: Some(digest) };
                self.files.insert(PathBuf::from(origin), seen);
            }
        }
    }

    fn root(&mut self, root: OpenRoot) {
        self.ways_to(&root.spec.path);
        let RootState::Open { dir, places } = &root.state else { return };
        let spec = &root.spec;
        let candidates = match spec.kind {
            RootKind::One => vec![skills_dir::itself(dir, spec)],
            RootKind::Skills if spec.depth > 1 => {
                let found = grouped::candidates(dir, &spec.path, spec.depth);
                for directory in found.directories {
                    if let Some(interest) = self.real(&directory) {
                        interest.add_everything();
                    }
                }
                found.candidates
            }
            RootKind::Skills => {
                self.at(places.root()).add_everything();
                // A directory that cannot be listed holds nothing until it can.
                skills_dir::candidates(dir, &spec.path).unwrap_or_default()
            }
            RootKind::Commands => {
                let found = commands::candidates(dir, &spec.path, places);
                for directory in found.directories {
                    if let Some(interest) = self.real(&directory) {
                        interest.add_everything();
                    }
                }
                found.candidates
            }
        };
        for candidate in &candidates {
            self.candidate(candidate, spec, places);
        }
    }

    fn candidate(&mut self, candidate: &Candidate, spec: &SkillRoot, places: &Places) {
        let (file, below) = match candidate.shape {
            Shape::Directory | Shape::Link => (candidate.path.join(SKILL_FILE), candidate.rel.join(SKILL_FILE)),
            Shape::File => (candidate.path.clone(), candidate.rel.clone()),
        };
        match candidate.shape {
            Shape::Directory if !candidate.linked => {
                // Neither the root's own place nor the way from there holds a link.
                let own = candidate.path.strip_prefix(&spec.path).map(|below| places.root().join(below));
                self.at(&own.unwrap_or_else(|_| candidate.path.clone())).add_skill_files();
            }
            Shape::Directory | Shape::Link => {
                if let Some(interest) = self.real(&candidate.path) {
                    interest.add_skill_files();
                }
            }
            Shape::File => {}
        }
        let usual = if candidate.shape == Shape::Link { None } else { Stamp::of_regular(&candidate.base, &below) };
        let (path, stamp) = match usual {
            Some(stamp) => (file, Some(stamp)),
            None => match entry::open(candidate, places, u64::MAX) {
                Outcome::Opened(open) => {
                    self.target_of(&open.path);
                    (open.path, Some(open.file.stamp))
                }
                Outcome::Failed(_) => {
                    self.target_of(&file);
                    (file, None)
                }
                Outcome::NotASkill | Outcome::Vanished => return,
            },
        };
        let name = in_plugin(spec, &candidate.name);
        self.files.insert(path, Seen { name, source: spec.source, stamp, digest: None });
    }

    /// The place of a file that a link leads to, where it is written.
    fn target_of(&mut self, file: &Path) {
        if let Ok(real) = canonicalize_ambient(file)
            && let (Some(parent), Some(name)) = (real.parent(), real.file_name())
        {
            self.at(parent).add_name(name);
        }
    }

    /// The directories above a root, in which it can appear, go, or be replaced.
    fn ways_to(&mut self, root: &Path) {
        let mut found = 0;
        for (child, parent) in root.ancestors().zip(root.ancestors().skip(1)) {
            let Some(name) = child.file_name() else { return };
            if let Some(interest) = self.real(parent) {
                interest.add_name(name);
                found += 1;
            }
            if found == LEVELS_ABOVE {
                return;
            }
        }
    }

    /// The interest in the directory that `path` leads to, if it leads to something.
    fn real(&mut self, path: &Path) -> Option<&mut Interest> {
        let real = canonicalize_ambient(path).ok()?;
        Some(self.at(&real))
    }

    fn real_directory(&mut self, path: &Path) -> Option<&mut Interest> {
        let real = canonicalize_ambient(path).ok().filter(|real| real.is_dir())?;
        Some(self.at(&real))
    }

    fn at(&mut self, directory: &Path) -> &mut Interest {
        self.directories.entry(directory.to_path_buf()).or_default()
    }
}
