//! The sources: each says where its skills are, and one resolver knows the places.

mod bundled;
mod held;
mod plugin;

pub use bundled::{BundledSkill, BundledSkills};
pub use held::{BodyCall, CallBody, CallBodyError, FilesError, HeldExtras, HeldMark, HeldSkill, LazyBody, SkillFiles};

use crate::discover::{Discovered, Discovery, DiscoveryError, Project, existing_dir, real_or_absolute};
use crate::load::PathDiagnostic;
use crate::repository;
use crate::root::{RootKind, SkillRoot};
use plugin::InstalledPlugins;
use skillgate_core::{LoadFailure, Source};
use std::fmt;
use std::path::PathBuf;

/// Something that skills come from: directories that hold them, or texts that it holds itself. A server of skills is one whose
/// texts were fetched before.
pub trait SkillSource: fmt::Debug + Send + Sync {
    /// What its skills count as.
    fn source(&self) -> Source;

    /// Adds the directories that may hold its skills, the nearest first, whether they exist or not.
    ///
    /// # Errors
    /// A [`DiscoveryError`] when something that a person named is not there.
    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        let (_, _) = (places, found);
        Ok(())
    }

    /// The skills that it holds itself, now.
    fn texts(&self) -> Vec<HeldSkill> {
        Vec::new()
    }

    /// What tells its own skills apart now, by a look that costs little, for whoever [watches](crate::SkillWatch) them. None of
    /// them is told of unless the source says more; what makes a look worth while is among the deciding files of
    /// [`SkillSource::roots_ambient`].
    fn marks(&self) -> Vec<HeldMark> {
        Vec::new()
    }

    /// What belongs to one of [`SkillSource::texts`] besides its text.
    fn extras(&self, name: &str) -> HeldExtras {
        let _ = name;
        HeldExtras::default()
    }

    /// What should be among its skills and cannot be used, each with its reason.
    fn failures(&self) -> Vec<LoadFailure> {
        Vec::new()
    }
}

/// The places that every source asks for, found once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Locations {
    /// The administrator's directory.
    pub managed: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's configuration directory: `CLAUDE_CONFIG_DIR`, else `.claude` in the home.
    pub config: Option<PathBuf>,
    /// The project's directory and those above it that belong to it, nearest first.
    pub levels: Vec<PathBuf>,
    /// The directories that were named for this run.
    pub additional: Vec<PathBuf>,
    /// Further directories that links of other sources than the project may lead into.
    pub link_roots: Vec<PathBuf>,
}

impl Locations {
    /// Finds the places, without links.
    pub(crate) fn resolve_ambient(
        discovery: &Discovery,
    ) -> Result<(Self, Option<Project>, Option<PathDiagnostic>), DiscoveryError> {
        let home = discovery.home.as_deref().map(real_or_absolute);
        let config = discovery.config_dir.as_deref().map(real_or_absolute);
        let config = config.or_else(|| home.as_ref().map(|home| home.join(".claude")));
        let (mut levels, mut project, mut foreign) = (Vec::new(), None, None);
        if let Some(named) = &discovery.project {
            let path = existing_dir(named)?;
            let (found, finding) = repository::levels_ambient(&path, home.as_deref());
            foreign = finding.map(|(path, diagnostic)| PathDiagnostic { path, diagnostic });
            let root = found.last().cloned().unwrap_or_else(|| path.clone());
            levels = found;
            project = Some(Project { path, root });
        }
        let additional = discovery.additional.iter().map(|named| existing_dir(named)).collect::<Result<_, _>>()?;
        let managed = discovery.managed.as_deref().map(real_or_absolute);
        let link_roots = discovery.link_roots.clone();
        Ok((Self { managed, home, config, levels, additional, link_roots }, project, foreign))
    }

    /// The directories of the user's own skills and commands.
    fn user_roots(&self) -> Vec<SkillRoot> {
        let links = self.with_links(self.home.iter().chain(&self.config));
        let mut roots = Vec::new();
        if let Some(config) = &self.config {
            roots.push(root(Source::User, RootKind::Skills, config.join("skills"), &links));
        }
        if let Some(home) = &self.home {
            roots.push(root(Source::User, RootKind::Skills, home.join(".agents/skills"), &links));
        }
        if let Some(config) = &self.config {
            roots.push(root(Source::User, RootKind::Commands, config.join("commands"), &links));
        }
        roots
    }

    /// Where links of a source may lead: into its own places and the general ones.
    fn with_links<'p>(&self, own: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
        own.into_iter().cloned().chain(self.link_roots.iter().cloned()).collect()
    }
}

/// The sources that are directories, by precedence of the profile `safe`.
pub(crate) fn on_disk() -> [&'static dyn SkillSource; 5] {
    [&Managed, &ProjectTree, &Additional, &User, &InstalledPlugins]
}

fn root(source: Source, kind: RootKind, path: PathBuf, links: &[PathBuf]) -> SkillRoot {
    SkillRoot { link_roots: links.to_vec(), ..SkillRoot::new(source, kind, path) }
}

/// `.claude/skills` of the administrator's directory.
#[derive(Debug)]
struct Managed;

impl SkillSource for Managed {
    fn source(&self) -> Source {
        Source::Managed
    }

    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        if let Some(managed) = &places.managed {
            let links = places.with_links([managed]);
            found.roots.push(root(Source::Managed, RootKind::Skills, managed.join(".claude/skills"), &links));
        }
        Ok(())
    }
}

/// `.claude/skills`, `.agents/skills` and `.claude/commands` of the project and the directories above that belong to it.
#[derive(Debug)]
struct ProjectTree;

impl SkillSource for ProjectTree {
    fn source(&self) -> Source {
        Source::Project
    }

    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        let Some(outermost) = places.levels.last() else { return Ok(()) };
        // In a project that is the home itself, the user's own directories stay the user's.
        let users = places.user_roots();
        let links = [outermost.clone()];
        for level in &places.levels {
            let all = [
                root(Source::Project, RootKind::Skills, level.join(".claude/skills"), &links),
                root(Source::Project, RootKind::Skills, level.join(".agents/skills"), &links),
                root(Source::Project, RootKind::Commands, level.join(".claude/commands"), &links),
            ];
            found.roots.extend(all.into_iter().filter(|root| !users.iter().any(|users| users.path == root.path)));
        }
        Ok(())
    }
}

/// `.claude/skills` and `.agents/skills` of each directory that was named for this run.
#[derive(Debug)]
struct Additional;

impl SkillSource for Additional {
    fn source(&self) -> Source {
        Source::Additional
    }

    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        for path in &places.additional {
            let links = places.with_links([path]);
            for place in [".claude/skills", ".agents/skills"] {
                found.roots.push(root(Source::Additional, RootKind::Skills, path.join(place), &links));
            }
        }
        Ok(())
    }
}

/// `skills` and `commands` of the user's configuration, and `.agents/skills` of the home.
#[derive(Debug)]
struct User;

impl SkillSource for User {
    fn source(&self) -> Source {
        Source::User
    }

    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        found.roots.extend(places.user_roots());
        Ok(())
    }
}
