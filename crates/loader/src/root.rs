use crate::links::Places;
use crate::sources::{HeldSkill, SkillSource};
use crate::texts::HeldText;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic, LoadFailure, LoadedFrom, Plugin, Source};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the entries of a root are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RootKind {
    /// `NAME/SKILL.md`, one level deep.
    Skills,
    /// `**/NAME.md` and `**/NAME/SKILL.md`, the legacy commands.
    Commands,
    /// The directory itself is one skill.
    One,
}

impl RootKind {
    pub(crate) fn loaded_from(self) -> LoadedFrom {
        match self {
            RootKind::Skills | RootKind::One => LoadedFrom::Skills,
            RootKind::Commands => LoadedFrom::Commands,
        }
    }
}

/// One directory that holds skills.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillRoot {
    /// What its skills count as.
    pub source: Source,
    /// What its entries are.
    pub kind: RootKind,
    /// The directory.
    pub path: PathBuf,
    /// Where links may lead besides the root itself: links to skill directories, and, unless the source is
    /// [`Source::Project`], links to files. When it is not empty, a root that is itself a link has to lead there as well.
    ///
    /// A project's file links stay inside the root, because its own text must not bring in a file of the project that the
    /// policy keeps from it.
    pub link_roots: Vec<PathBuf>,
    /// The plugin that it belongs to; its name then stands before the names of the skills.
    pub plugin: Option<Plugin>,
    /// How many directories lead from a [`RootKind::Skills`] root to a skill: 1 for `NAME/SKILL.md` alone, 2 for
    /// `GROUP/NAME/SKILL.md` as well. At most [`SkillRoot::MAX_DEPTH`] are looked into.
    pub depth: u8,
}

impl SkillRoot {
    /// The largest [`SkillRoot::depth`].
    pub const MAX_DEPTH: u8 = 8;

    /// A root whose links stay inside it.
    #[must_use]
    pub fn new(source: Source, kind: RootKind, path: impl Into<PathBuf>) -> Self {
        Self { source, kind, path: path.into(), link_roots: Vec::new(), plugin: None, depth: 1 }
    }
}

/// Roots with their open handles.
#[derive(Debug)]
pub struct SkillRoots {
    pub(crate) roots: Vec<OpenRoot>,
    /// Skills that sources hold themselves.
    pub(crate) texts: Vec<HeldText>,
    /// What sources should hold and cannot give.
    pub(crate) failures: Vec<LoadFailure>,
}

impl SkillRoots {
    /// Opens each root once. A missing root is an empty one; one that cannot be opened is reported by
    /// [`SkillRoots::load`].
    #[must_use]
    pub fn open_ambient(roots: impl IntoIterator<Item = SkillRoot>) -> Self {
        Self { roots: roots.into_iter().map(OpenRoot::open_ambient).collect(), texts: Vec::new(), failures: Vec::new() }
    }

    /// Adds the skills that a source holds itself, as they are now.
    #[must_use]
    pub fn with_texts_of(mut self, source: &dyn SkillSource) -> Self {
        let held = |text: HeldSkill| HeldText { source: source.source(), extras: source.extras(&text.name), text };
        self.texts.extend(source.texts().into_iter().map(held));
        self.failures.extend(source.failures());
        self
    }

    /// The roots in the order given, which is nearest first for the roots of a project.
    pub fn iter(&self) -> impl Iterator<Item = &SkillRoot> {
        self.roots.iter().map(|root| &root.spec)
    }
}

#[derive(Debug)]
pub(crate) struct OpenRoot {
    pub(crate) spec: SkillRoot,
    pub(crate) state: RootState,
}

#[derive(Debug)]
pub(crate) enum RootState {
    Missing,
    Failed(Diagnostic),
    Open { dir: Arc<Dir>, places: Places },
}

impl OpenRoot {
    pub(crate) fn open_ambient(spec: SkillRoot) -> Self {
        let state = open_state(&spec).unwrap_or_else(|diagnostic| RootState::Failed(*diagnostic));
        Self { spec, state }
    }
}

fn open_state(spec: &SkillRoot) -> Result<RootState, Box<Diagnostic>> {
    let failed = |error: &io::Error| {
        Diagnostic::new(Code::FileUnreadable, format!("the directory cannot be opened: {error}"))
            .help("make it readable, or remove it from the places that are searched")
    };
    let real = match canonicalize_ambient(&spec.path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return missing_or_dangling(&spec.path),
        Err(error) => return Err(Box::new(failed(&error))),
    };
    let places = Places::new(spec, real);
    if let Some(outside) = places.root_outside() {
        return Err(outside);
    }
    match Dir::open_ambient_dir(places.root(), ambient_authority()) {
        Ok(dir) => Ok(RootState::Open { dir: Arc::new(dir), places }),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(Box::new(
            Diagnostic::new(Code::FileNotRegular, "a directory of skills is needed here, and this is not a directory")
                .help("move it away, or make it a directory with one directory per skill"),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RootState::Missing),
        Err(error) => Err(Box::new(failed(&error))),
    }
}

/// A root that is not there is empty; a link in its place that leads nowhere is a mistake.
fn missing_or_dangling(path: &Path) -> Result<RootState, Box<Diagnostic>> {
    if is_link(path) {
        let diagnostic = Diagnostic::new(Code::FileUnreadable, "the link leads to nothing");
        Err(Box::new(diagnostic.help("repair the link, or remove it")))
    } else {
        Ok(RootState::Missing)
    }
}

/// Whether the path itself is a link, wherever it leads.
pub(crate) fn is_link(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    Dir::open_ambient_dir(parent, ambient_authority())
        .and_then(|parent| parent.symlink_metadata(name))
        .is_ok_and(|metadata| metadata.is_symlink())
}

/// The path without links. It is used to decide over a place; what is opened afterwards is opened beneath a handle.
pub(crate) fn canonicalize_ambient(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
