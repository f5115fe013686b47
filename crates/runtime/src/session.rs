use skillgate_core::{Limits, Profile};
use skillgate_exec::Executor;
use skillgate_loader::{
    Discovery, DiscoveryError, LoadOptions, PathDiagnostic, Project, SkillRoots, discover_roots_ambient,
};
use skillgate_policy::{Host, builtin_limits};
use skillgate_registry::{Catalogue, CatalogueOptions};
use std::path::PathBuf;
use std::sync::Arc;

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A directory that was named is not there.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
}

/// What a [`Session`] is made of.
#[derive(Debug)]
pub struct SessionBuilder {
    host: Host,
    executor: Arc<dyn Executor>,
    limits: Limits,
    profile: Profile,
    discovery: Discovery,
    trust_project: bool,
    session_id: Option<String>,
}

impl SessionBuilder {
    /// The project whose skills are loaded and whose files commands are shown.
    #[must_use]
    pub fn project(mut self, path: impl Into<PathBuf>) -> Self {
        self.discovery.project = Some(path.into());
        self
    }

    /// The user's home.
    #[must_use]
    pub fn home(mut self, path: impl Into<PathBuf>) -> Self {
        self.discovery.home = Some(path.into());
        self
    }

    /// The user's configuration directory, when it is not `.claude` in the home.
    #[must_use]
    pub fn config_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.discovery.config_dir = Some(path.into());
        self
    }

    /// The administrator's directory.
    #[must_use]
    pub fn managed(mut self, path: impl Into<PathBuf>) -> Self {
        self.discovery.managed = Some(path.into());
        self
    }

    /// A further directory with skills.
    #[must_use]
    pub fn additional(mut self, path: impl Into<PathBuf>) -> Self {
        self.discovery.additional.push(path.into());
        self
    }

    /// Whether the host trusts the project. Without trust its skills are listed and cannot be invoked.
    #[must_use]
    pub fn trust_project(mut self, trust: bool) -> Self {
        self.trust_project = trust;
        self
    }

    /// The description of the format that is followed; `safe` unless set.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The bounds of every run; the built-in ones unless set.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The conversation's id, for `${CLAUDE_SESSION_ID}`.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Finds and loads the skills.
    ///
    /// # Errors
    /// [`OpenError`] when a directory that was named is not there. A skill that cannot be read is no error; it is listed with
    /// its reason.
    pub fn open(self) -> Result<Session, OpenError> {
        let discovered = discover_roots_ambient(&self.discovery)?;
        let root_order = discovered.roots.iter().map(|root| root.path.clone()).collect();
        let roots = SkillRoots::open_ambient(discovered.roots);
        let load_options = LoadOptions {
            profile: self.profile,
            max_file_bytes: self.limits.skill_file_bytes,
            max_header_bytes: self.limits.header_bytes,
            ..LoadOptions::default()
        };
        let loaded = roots.load(&load_options);
        let options = CatalogueOptions {
            profile: self.profile,
            trusted_project: self.trust_project,
            root_order,
            ..CatalogueOptions::default()
        };
        let catalogue = Catalogue::build(loaded.skills, loaded.failures, &options);
        let mut diagnostics = discovered.diagnostics;
        diagnostics.extend(loaded.diagnostics);
        Ok(Session {
            host: self.host,
            executor: self.executor,
            limits: self.limits,
            profile: self.profile,
            session_id: self.session_id,
            project: discovered.project,
            roots,
            load_options,
            catalogue,
            diagnostics,
        })
    }
}

/// The skills of one place under one host: lists them, plans and invokes them.
#[derive(Debug)]
pub struct Session {
    pub(crate) host: Host,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) limits: Limits,
    pub(crate) profile: Profile,
    pub(crate) session_id: Option<String>,
    pub(crate) project: Option<Project>,
    pub(crate) roots: SkillRoots,
    pub(crate) load_options: LoadOptions,
    pub(crate) catalogue: Catalogue,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
}

impl Session {
    /// Begins a session of a host that runs commands with `executor`.
    #[must_use]
    pub fn builder(host: Host, executor: Arc<dyn Executor>) -> SessionBuilder {
        SessionBuilder {
            host,
            executor,
            limits: builtin_limits(),
            profile: Profile::default(),
            discovery: Discovery::default(),
            trust_project: false,
            session_id: None,
        }
    }

    /// The skills and what their names mean.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The directories that were looked into, whether they exist or not.
    #[must_use]
    pub fn roots(&self) -> &SkillRoots {
        &self.roots
    }

    /// How files were read.
    #[must_use]
    pub fn load_options(&self) -> &LoadOptions {
        &self.load_options
    }

    /// The project, when there is one.
    #[must_use]
    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// Findings about places that are no skill.
    #[must_use]
    pub fn diagnostics(&self) -> &[PathDiagnostic] {
        &self.diagnostics
    }
}
