use crate::load::PathDiagnostic;
use crate::repository;
use crate::root::{SkillRoot, canonicalize_ambient};
use crate::sources::{Locations, SkillSource, on_disk};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic, Severity};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where to look. Whoever calls knows the environment and the command line; this is what they say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Discovery {
    /// The project's directory; `None` looks for no project skills.
    pub project: Option<PathBuf>,
    /// The user's home; `None` looks for no user skills.
    pub home: Option<PathBuf>,
    /// The user's configuration directory, when it is not `.claude` in the home (`CLAUDE_CONFIG_DIR`).
    pub config_dir: Option<PathBuf>,
    /// The administrator's directory, as `/etc/skillgate`; `None` where managed skills are switched off.
    pub managed: Option<PathBuf>,
    /// Further directories for this run (`--add-dir`).
    pub additional: Vec<PathBuf>,
    /// Further directories that links in the user's, additional and managed roots may lead into. A project's never may.
    pub link_roots: Vec<PathBuf>,
    /// How many directories lead from a directory of skills to a skill ([`SkillRoot::depth`]); 0 means 1.
    pub depth: u8,
}

/// The places that exist for a [`Discovery`], whether there is something in them or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Discovered {
    /// The roots by precedence of the profile `safe`; those of the project nearest first.
    pub roots: Vec<SkillRoot>,
    /// The project, when there is one.
    pub project: Option<Project>,
    /// Files and directories that decide which roots there are, whether they exist or not: those of plugins. Who watches the roots
    /// watches these as well.
    pub deciding: Vec<PathBuf>,
    /// What was found on the way.
    pub diagnostics: Vec<PathDiagnostic>,
}

/// A project's place, without links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// The directory that was named.
    pub path: PathBuf,
    /// The outermost directory that belongs to it: the repository's root, or `path` itself.
    pub root: PathBuf,
}

/// A place that was named and is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// There is no such directory.
    #[error("there is no directory `{}`", .path.display())]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// It is no directory.
    #[error("`{}` is not a directory", .path.display())]
    NotDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// It cannot be opened.
    #[error("`{}` cannot be opened", .path.display())]
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl DiscoveryError {
    /// What was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path } | Self::NotDirectory { path } | Self::Unreadable { path, .. } => path,
        }
    }
}

/// Lists the directories that may hold skills:
///
/// - managed: `.claude/skills`;
/// - project: `.claude/skills`, `.agents/skills` and `.claude/commands` in the project and in each directory above it up to
///   the repository's root, never above the home; without a repository in the project alone;
/// - additional: `.claude/skills` and `.agents/skills` in each;
/// - user: `skills` and `commands` in the configuration directory, and `.agents/skills` in the home;
/// - plugin: `skills` and `commands` of each plugin below `plugins` in the configuration directory, and of each additional
///   directory that is a plugin.
///
/// # Errors
/// A [`DiscoveryError`] when the project or an additional directory is not there: a person named it.
pub fn discover_roots_ambient(discovery: &Discovery) -> Result<Discovered, DiscoveryError> {
    discover_sources_ambient(discovery, &[])
}

/// [`discover_roots_ambient`], with the directories of further sources behind.
///
/// # Errors
/// As [`discover_roots_ambient`], and what a further source says.
pub fn discover_sources_ambient(
    discovery: &Discovery,
    further: &[Arc<dyn SkillSource>],
) -> Result<Discovered, DiscoveryError> {
    let (places, project, foreign) = Locations::resolve_ambient(discovery)?;
    let diagnostics = foreign.into_iter().collect();
    let mut found = Discovered { roots: Vec::new(), project, deciding: Vec::new(), diagnostics };
    for source in on_disk().into_iter().chain(further.iter().map(AsRef::as_ref)) {
        source.roots_ambient(&places, &mut found)?;
    }
    found.roots.iter_mut().for_each(|root| root.depth = discovery.depth.max(1));
    Ok(found)
}

/// [`discover_sources_ambient`] once more, for a program that goes on: a directory that was named and is not there any more has no
/// skills, which is a finding.
///
/// # Errors
/// What a further source says.
pub fn rediscover_sources_ambient(
    discovery: &Discovery,
    further: &[Arc<dyn SkillSource>],
) -> Result<Discovered, DiscoveryError> {
    let mut left = discovery.clone();
    let mut gone = Vec::new();
    loop {
        let error = match discover_sources_ambient(&left, further) {
            Ok(mut found) => {
                // It may come back.
                found.deciding.extend(gone.iter().map(|found: &PathDiagnostic| found.path.clone()));
                found.diagnostics.splice(..0, gone);
                return Ok(found);
            }
            Err(error) => error,
        };
        let named = left.additional.len() + usize::from(left.project.is_some());
        let path = error.path().to_path_buf();
        left.additional.retain(|named| *named != path);
        left.project = left.project.take().filter(|named| *named != path);
        if left.additional.len() + usize::from(left.project.is_some()) == named {
            return Err(error);
        }
        let message = format!("{error}, so it has no skills");
        let diagnostic = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Warning);
        gone.push(PathDiagnostic { path, diagnostic: diagnostic.help("make it again, or begin without it") });
    }
}

/// The project that a directory belongs to, without looking for skills.
///
/// # Errors
/// A [`DiscoveryError`] when the directory is not there.
pub fn project_ambient(path: &Path, home: Option<&Path>) -> Result<Project, DiscoveryError> {
    let path = existing_dir(path)?;
    let home = home.map(real_or_absolute);
    let (levels, _) = repository::levels_ambient(&path, home.as_deref());
    let root = levels.last().cloned().unwrap_or_else(|| path.clone());
    Ok(Project { path, root })
}

/// A directory that has to be there, without links.
pub(crate) fn existing_dir(named: &Path) -> Result<PathBuf, DiscoveryError> {
    let opened =
        canonicalize_ambient(named).and_then(|real| Dir::open_ambient_dir(&real, ambient_authority()).map(|_| real));
    opened.map_err(|source| {
        let path = named.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => DiscoveryError::Missing { path },
            io::ErrorKind::NotADirectory => DiscoveryError::NotDirectory { path },
            _ => DiscoveryError::Unreadable { path, source },
        }
    })
}

/// A place that need not be there, without links as far as it is.
pub(crate) fn real_or_absolute(path: &Path) -> PathBuf {
    canonicalize_ambient(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}
