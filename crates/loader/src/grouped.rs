//! Skills in folders that group them: `GROUP/NAME/SKILL.md`, where the host wants that.
//!
//! The last directory is the name. Two of one name in different groups are two skills of one name in one source, which a catalogue
//! keeps apart.

use crate::SkillRoot;
use crate::entry::{Candidate, Shape, skill_file_name};
use crate::load::PathDiagnostic;
use crate::skills_dir::{Names, candidate};
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Groups that one root may have; more are not looked into.
const MAX_GROUPS: usize = 10_000;

/// What a directory with groups holds.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Everything that may be a skill, by name.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
    /// The directories that were looked into.
    pub(crate) directories: Vec<PathBuf>,
}

/// Looks for skills at most `depth` directories below the root. A directory with a `SKILL.md` is a skill and not a group; a link may
/// be a skill and is no group.
pub(crate) fn candidates(dir: &Arc<Dir>, path: &Path, depth: u8) -> Grouped {
    let mut found = Grouped::default();
    let top = Group { dir: Arc::clone(dir), path: path.to_path_buf(), rel: PathBuf::new() };
    found.group(dir, &top, depth.clamp(1, SkillRoot::MAX_DEPTH));
    found.candidates.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    found.diagnostics.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A directory on the way from the root, whose handle is `dir`.
struct Group {
    dir: Arc<Dir>,
    path: PathBuf,
    rel: PathBuf,
}

impl Grouped {
    /// `own` is the handle of the group itself.
    fn group(&mut self, own: &Dir, group: &Group, depth: u8) {
        if self.directories.len() >= MAX_GROUPS {
            let message = format!("skills are looked for in at most {MAX_GROUPS} directories of one root");
            return self.report(&group.path, Diagnostic::new(Code::LimitExceeded, message));
        }
        self.directories.push(group.path.clone());
        let names = match Names::list(own) {
            Ok(names) => names,
            Err(error) => {
                let message = format!("the directory cannot be read: {error}");
                let finding = Diagnostic::new(Code::FileUnreadable, message).help("make it readable, or remove it");
                return self.report(&group.path, finding);
            }
        };
        for (name, shape) in names.iter() {
            let inner =
                if shape == Shape::Directory && depth > 1 && may_group(name) { group_in(own, name) } else { None };
            match inner {
                Some(inner) => {
                    let (dir, path, rel) = (Arc::clone(&group.dir), group.path.join(name), group.rel.join(name));
                    self.group(&inner, &Group { dir, path, rel }, depth - 1);
                }
                None => {
                    let candidate = candidate(name, shape, &group.dir, &group.path);
                    self.candidates.push(Candidate { rel: group.rel.join(name), ..candidate });
                }
            }
        }
    }

    fn report(&mut self, path: &Path, diagnostic: Diagnostic) {
        self.diagnostics.push(PathDiagnostic { path: path.to_path_buf(), diagnostic });
    }
}

/// Whether a directory of this name is looked into: not those that tools fill.
fn may_group(name: &OsStr) -> bool {
    !matches!(name.to_str(), Some(".git" | "node_modules" | "target"))
}

/// The directory, when it can be read and is no skill itself. What cannot be read is reported as the skill that it may be.
fn group_in(dir: &Dir, name: &OsStr) -> Option<Dir> {
    let inner = dir.open_dir(name).ok()?;
    matches!(skill_file_name(&inner), Ok(None)).then_some(inner)
}
