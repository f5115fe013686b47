use crate::answer::Answerer;
use crate::consent::Consent;
use crate::trust::ProjectTrust;
use skillgate_core::{Limits, Profile, Version};
use skillgate_exec::{AuditSink, Executor, NoAudit};
use skillgate_loader::{
    Discovery, DiscoveryError, LoadOptions, Loaded, PathDiagnostic, Project, SkillRoots, SkillSource,
    discover_sources_ambient,
};
use skillgate_policy::Host;
use skillgate_policy::file::{Layers, Policy};
use skillgate_registry::{Catalogue, CatalogueOptions, NamePattern, SkillSearch};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

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
    policy: Policy,
    discovery: Discovery,
    trust: ProjectTrust,
    session_id: Option<String>,
    audit: Arc<dyn AuditSink>,
    answerer: Option<Arc<dyn Answerer>>,
    tools: Option<BTreeSet<String>>,
    trusted_plugins: BTreeSet<PathBuf>,
    sources: Vec<Arc<dyn SkillSource>>,
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
    pub fn trust_project(self, trust: bool) -> Self {
        self.trust(if trust { ProjectTrust::Session } else { ProjectTrust::Unknown })
    }

    /// How far the host trusts the project; not at all unless set.
    #[must_use]
    pub fn trust(mut self, trust: ProjectTrust) -> Self {
        self.trust = trust;
        self
    }

    /// The settings of a policy: whether there are skills, which are switched off, profile, limits, and how injections run.
    /// What it grants is the host's part; it is given as the host of the session.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.limits = policy.limits();
        self.profile = policy.profile.value;
        self.policy = policy;
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

    /// Where decisions, runs and refusals are recorded; nowhere unless set. What the sink cannot record does not run.
    #[must_use]
    pub fn audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.audit = sink;
        self
    }

    /// Who answers what a rule asks. Without one the session is unattended: an ask is a refusal that names the rule that would
    /// allow it.
    #[must_use]
    pub fn answerer(mut self, answerer: Arc<dyn Answerer>) -> Self {
        self.answerer = Some(answerer);
        self
    }

    /// Trusts the plugin in this directory, which is named without links: its text may be used and its commands may read. The
    /// skills of any other plugin are listed and cannot be invoked.
    #[must_use]
    pub fn trust_plugin(mut self, root: impl Into<PathBuf>) -> Self {
        self.trusted_plugins.insert(root.into());
        self
    }

    /// A further source of skills: those that the program brings ([`BundledSkills`](skillgate_loader::BundledSkills)), or those of
    /// a server, fetched before.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn SkillSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// The tools that the host offers a model, by name. A skill that [requires](skillgate_core::Requires) another one is
    /// unavailable; unless this is set, every tool is taken to be there.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Finds and loads the skills.
    ///
    /// # Errors
    /// [`OpenError`] when a directory that was named is not there. A skill that cannot be read is no error; it is listed with
    /// its reason.
    pub fn open(self) -> Result<Session, OpenError> {
        let discovered = discover_sources_ambient(&self.discovery, &self.sources)?;
        let root_order = discovered.roots.iter().map(|root| root.path.clone()).collect();
        let open = SkillRoots::open_ambient(discovered.roots);
        let roots = self.sources.iter().fold(open, |roots, source| roots.with_texts_of(source.as_ref()));
        let load_options = LoadOptions {
            profile: self.profile,
            max_file_bytes: self.limits.skill_file_bytes,
            max_header_bytes: self.limits.header_bytes,
            ..LoadOptions::default()
        };
        let enabled = self.policy.skills_enabled.value;
        let loaded = if enabled { roots.load(&load_options) } else { Loaded::default() };
        let required = loaded.skills.iter().filter_map(|skill| skill.frontmatter.requires.as_ref());
        let programs = required.clone().flat_map(|requires| &requires.programs).map(|field| field.value.clone());
        let tools = required.flat_map(|requires| &requires.tools).map(|field| field.value.clone());
        let options = CatalogueOptions {
            // The package's version has three numbers, or nothing is built.
            version: Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or_default(),
            missing_programs: programs.filter(|name| self.executor.provides(name) == Some(false)).collect(),
            missing_tools: match &self.tools {
                Some(known) => tools.filter(|name| !known.contains(name)).collect(),
                None => BTreeSet::new(),
            },
            profile: self.profile,
            disabled: self.policy.disable.iter().map(|pattern| NamePattern::new(&pattern.value)).collect(),
            trusted_project: self.trust.is_given(),
            trusted_plugins: self.trusted_plugins.clone(),
            root_order,
        };
        let catalogue = Catalogue::build(loaded.skills, loaded.failures, &options);
        let mut diagnostics = discovered.diagnostics;
        diagnostics.extend(loaded.diagnostics);
        let managed = self.host.ceilings().iter().flat_map(|ceiling| ceiling.rules().to_vec()).collect();
        Ok(Session {
            audit: self.audit,
            consent: Arc::new(Consent::new(self.answerer, managed)),
            host: self.host,
            executor: self.executor,
            limits: self.limits,
            profile: self.profile,
            trust: self.trust,
            trusted_plugins: self.trusted_plugins,
            policy: self.policy,
            session_id: self.session_id,
            project: discovered.project,
            roots,
            load_options,
            catalogue,
            search: OnceLock::new(),
            diagnostics,
        })
    }
}

/// The skills of one place under one host: lists them, plans and invokes them.
#[derive(Debug)]
pub struct Session {
    pub(crate) audit: Arc<dyn AuditSink>,
    pub(crate) consent: Arc<Consent>,
    pub(crate) host: Host,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) limits: Limits,
    pub(crate) profile: Profile,
    pub(crate) trust: ProjectTrust,
    pub(crate) trusted_plugins: BTreeSet<PathBuf>,
    pub(crate) policy: Policy,
    pub(crate) session_id: Option<String>,
    pub(crate) project: Option<Project>,
    pub(crate) roots: SkillRoots,
    pub(crate) load_options: LoadOptions,
    pub(crate) catalogue: Catalogue,
    pub(crate) search: OnceLock<SkillSearch>,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
}

impl Session {
    /// Begins a session of a host that runs commands with `executor`.
    #[must_use]
    pub fn builder(host: Host, executor: Arc<dyn Executor>) -> SessionBuilder {
        let policy = Policy::of(Layers::default());
        SessionBuilder {
            host,
            executor,
            limits: policy.limits(),
            profile: policy.profile.value,
            policy,
            discovery: Discovery::default(),
            trust: ProjectTrust::Unknown,
            session_id: None,
            audit: Arc::new(NoAudit),
            answerer: None,
            tools: None,
            trusted_plugins: BTreeSet::new(),
            sources: Vec::new(),
        }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
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
