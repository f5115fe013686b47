use crate::body::TextStamp;
use crate::dedupe;
use crate::index::{HeaderIndex, Known};
use crate::reader::{Candidates, Read, Root, read_all};
use crate::root::{OpenRoot, RootKind, RootState};
use crate::{SkillRoot, SkillRoots, commands, grouped, listing, skills_dir, stamp};
use skillgate_core::{Code, Diagnostic, LoadFailure, Profile, Skill};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

/// How files are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadOptions {
    /// Which description of the format is followed.
    pub profile: Profile,
    /// Largest skill file, bytes (`skill_file_bytes` of the policy).
    pub max_file_bytes: u64,
    /// Largest header, bytes (`header_bytes` of the policy).
    pub max_header_bytes: u64,
    /// Threads that read; few files are read by one whatever this says.
    pub threads: NonZero<usize>,
}

impl Default for LoadOptions {
    /// The built-in numbers of the policy, and two threads.
    fn default() -> Self {
        const TWO: NonZero<usize> = NonZero::new(2).expect("two is not zero");
        Self { profile: Profile::default(), max_file_bytes: 1 << 20, max_header_bytes: 1 << 16, threads: TWO }
    }
}

/// What a load found, in an order that depends on names alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loaded {
    /// The skills, by root in the order of the roots and by name within one.
    pub skills: Vec<Skill>,
    /// What tells of the skills that are files, in their order, whether they are the same at another load. They stand before the
    /// others.
    pub stamps: Vec<TextStamp>,
    /// What was meant as a skill and cannot be read.
    pub failures: Vec<LoadFailure>,
    /// The other ways by which a skill's file was found; each file loads once.
    pub duplicates: Vec<Duplicate>,
    /// Findings about roots and directories.
    pub diagnostics: Vec<PathDiagnostic>,
}

/// A second way to a file that was loaded already.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Duplicate {
    /// The way that was not taken.
    pub path: PathBuf,
    /// The way that was.
    pub of: PathBuf,
}

/// A finding about a place that is no skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathDiagnostic {
    /// The place.
    pub path: PathBuf,
    /// The finding.
    pub diagnostic: Diagnostic,
}

/// Opens one root and loads what is in it.
#[must_use]
pub fn load_root_ambient(root: &SkillRoot, options: &LoadOptions) -> Loaded {
    SkillRoots::open_ambient([root.clone()]).load(options)
}

impl SkillRoots {
    /// Reads every root. A file reached twice is loaded once: a direct way is taken before one through a link, and a source
    /// whose trust does not depend on the project before the project.
    #[must_use]
    pub fn load(&self, options: &LoadOptions) -> Loaded {
        self.load_with(options, None, stamp::now())
    }

    /// As [`SkillRoots::load`], but the headers of files that have not changed are taken from the index, which learns of the
    /// others. It is the same answer; [`HeaderIndex::save`] keeps what was learned.
    #[must_use]
    pub fn load_indexed(&self, options: &LoadOptions, index: &mut HeaderIndex) -> Loaded {
        self.load_with(options, Some(index), stamp::now())
    }

    /// Loads at the moment `begun`.
    pub(crate) fn load_with(&self, options: &LoadOptions, mut index: Option<&mut HeaderIndex>, begun: i64) -> Loaded {
        let mut loaded = Loaded::default();
        let mut all = Read::default();
        for (number, root) in self.roots.iter().enumerate() {
            let known = index.as_ref().map(|index| index.known());
            load_root(number, root, options, known, &mut all);
        }
        let Read { skills, found, heads, failures, diagnostics } = all;
        if let Some(index) = &mut index {
            index.learn(begun, heads.into_iter());
        }
        (loaded.skills, loaded.stamps, loaded.duplicates) = dedupe::once_each(skills, &found);
        (loaded.failures, loaded.diagnostics) = (failures, diagnostics);
        self.load_texts(options, &mut loaded);
        loaded
    }
}

fn load_root(number: usize, root: &OpenRoot, options: &LoadOptions, known: Option<&Arc<Known>>, all: &mut Read) {
    let spec = &root.spec;
    let diagnostics = &mut all.diagnostics;
    let mut report = |path: PathBuf, diagnostic| diagnostics.push(PathDiagnostic { path, diagnostic });
    let (dir, places) = match &root.state {
        RootState::Missing => return,
        RootState::Failed(diagnostic) => return report(spec.path.clone(), diagnostic.clone()),
        RootState::Open { dir, places } => (dir, places),
    };
    let candidates = match spec.kind {
        RootKind::Skills if spec.depth > 1 => {
            let found = grouped::candidates(dir, &spec.path, spec.depth);
            all.diagnostics.extend(found.diagnostics);
            Candidates::Found(found.candidates)
        }
        RootKind::Skills => match listing::names(dir, known, &mut all.heads) {
            Ok(names) => Candidates::Listed(names),
            Err(error) => {
                let message = format!("the directory cannot be read: {error}");
                return report(spec.path.clone(), Diagnostic::new(Code::FileUnreadable, message));
            }
        },
        RootKind::One => Candidates::Found(vec![skills_dir::itself(dir, spec)]),
        RootKind::Commands => {
            let found = commands::candidates(dir, &spec.path, places);
            all.diagnostics.extend(found.diagnostics);
            Candidates::Found(found.candidates)
        }
    };
    read_all(&candidates, Root { number, spec, dir, places }, options, known, all);
}
