use crate::clock::Clock;
use crate::deciding::Deciding;
use crate::error::InvokeError;
use crate::fork::{AgentRunner, ForkCount};
use crate::live::LiveSessions;
use crate::load::{Base, Loading, PluginTrust};
use crate::reload::Reloaded;
use crate::session::{Session, SessionOptions};
use crate::skills::SkillView;
use crate::subscribers::Subscribers;
use crate::telemetry::Telemetry;
use crate::texts::TextCache;
use crate::tool::HostCommand;
use crate::trust::{ProjectTrust, TrustedPlugins};
use crate::usage::UsageCounts;
use skillgate_core::{Limits, Profile, Skill};
use skillgate_exec::{AuditSink, Executor, HookLoader, NoAudit};
use skillgate_loader::{
    Discovery, DiscoveryError, HeaderIndex, LoadOptions, PathDiagnostic, Project, SkillRoots, SkillSource,
};
use skillgate_policy::file::{Layers, Policy};
use skillgate_policy::{Host, PathBase, Rule};
use skillgate_registry::{Catalogue, NamePattern};
use skillgate_state::TrustRecord;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// Why a runtime cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A directory that was named is not there.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The system gives no thread for what follows the skills.
    #[error("no thread can be started: {0}")]
    Thread(#[source] std::io::Error),
}

/// What a [`Runtime`] is made of.
#[derive(Debug)]
pub struct RuntimeBuilder {
    host: Host,
    executor: Arc<dyn Executor>,
    limits: Limits,
    profile: Profile,
    policy: Policy,
    discovery: Discovery,
    trust: ProjectTrust,
    audit: Arc<dyn AuditSink>,
    tools: Option<BTreeSet<String>>,
    host_commands: Vec<HostCommand>,
    hook_loader: Option<Arc<dyn HookLoader>>,
    agents: Option<Arc<dyn AgentRunner>>,
    clock: Clock,
    telemetry: Telemetry,
    plugins: TrustedPlugins,
    plugin_trust: Option<PluginTrust>,
    sources: Vec<Arc<dyn SkillSource>>,
    headers: Option<HeaderIndex>,
    usage: Option<UsageCounts>,
    user_config: Option<PathBuf>,
}

impl RuntimeBuilder {
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

    /// Where programs keep the user's configuration (`XDG_CONFIG_HOME`), when it is not `.config` in the home: that of git says which
    /// directories are ignored.
    #[must_use]
    pub fn user_config(mut self, path: impl Into<PathBuf>) -> Self {
        self.user_config = Some(path.into());
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

    /// Where decisions, runs and refusals are recorded; nowhere unless set. What the sink cannot record does not run.
    #[must_use]
    pub fn audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.audit = sink;
        self
    }

    /// Trusts the plugin in this directory, which is named without links: its text may be used and its commands may read. The
    /// skills of any other plugin are listed and cannot be invoked.
    #[must_use]
    pub fn trust_plugin(mut self, root: impl Into<PathBuf>) -> Self {
        self.plugins.entry(root.into()).or_default();
        self
    }

    /// Trusts the plugin in this directory as this record says, which has to cover it
    /// ([`TrustStore::covering`](skillgate_state::TrustStore::covering)): as [`RuntimeBuilder::trust_plugin`] does, and further rights,
    /// its hooks among them, for skills whose content is still the one they were granted for.
    #[must_use]
    pub fn trust_plugin_as(mut self, root: impl Into<PathBuf>, record: TrustRecord) -> Self {
        self.plugins.insert(root.into(), Some(record));
        self
    }

    /// Asks about each plugin that is found whether its directory is trusted, and how far ([`RuntimeBuilder::trust_plugin_as`]); again
    /// at each [`Runtime::reload`], so that one that comes later is asked about, and trust that was taken back is gone.
    #[must_use]
    pub fn trust_plugins_by(mut self, trust: impl Fn(&Path) -> Option<TrustRecord> + Send + Sync + 'static) -> Self {
        self.plugin_trust = Some(PluginTrust::new(trust));
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

    /// A command of the host's own. No skill hides it: its names lead to it before any skill's.
    #[must_use]
    pub fn host_command(mut self, command: HostCommand) -> Self {
        self.host_commands.push(command);
        self
    }

    /// What loads the components of hooks. Without one, a hook that is a component cannot run, and a skill in which it could
    /// block is not activated.
    #[must_use]
    pub fn hook_loader(mut self, loader: Arc<dyn HookLoader>) -> Self {
        self.hook_loader = Some(loader);
        self
    }

    /// What runs the agents of skills with `context: fork`. Without one such a skill is refused: its text is not put into the
    /// conversation instead.
    #[must_use]
    pub fn agents(mut self, runner: Arc<dyn AgentRunner>) -> Self {
        self.agents = Some(runner);
        self
    }

    /// What time it is, for what conversations keep; the system's clock unless set.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How much observers are told through `tracing`; names, sizes and times unless set.
    #[must_use]
    pub fn telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = telemetry;
        self
    }

    /// Takes the headers of files that have not changed from this index, and keeps the others in it. Without one every header is
    /// read.
    #[must_use]
    pub fn header_index(mut self, headers: HeaderIndex) -> Self {
        self.headers = Some(headers);
        self
    }

    /// Counts how often skills are used: in a listing that does not fit, the least used lose their description first. Without it
    /// only the uses of the conversation itself count.
    #[must_use]
    pub fn usage(mut self, counts: UsageCounts) -> Self {
        self.usage = Some(counts);
        self
    }

    /// Finds and loads the skills.
    ///
    /// # Errors
    /// [`OpenError`] when a directory that was named is not there. A skill that cannot be read is no error; it is listed with
    /// its reason.
    pub fn open(self) -> Result<Arc<Runtime>, OpenError> {
        let home = self.discovery.home.clone();
        let loading = Loading {
            discovery: Discovery { depth: self.policy.skill_depth.value, ..self.discovery },
            sources: self.sources,
            options: LoadOptions {
                profile: self.profile,
                max_file_bytes: self.limits.skill_file_bytes,
                max_header_bytes: self.limits.header_bytes,
                ..LoadOptions::default()
            },
            enabled: self.policy.skills_enabled.value,
            plugins: self.plugins,
            plugin_trust: self.plugin_trust,
            headers: Mutex::new(self.headers),
        };
        let (base, loaded, project) = loading.first()?;
        let deciding = Deciding {
            profile: self.profile,
            disabled: self.policy.disable.iter().map(|pattern| NamePattern::new(&pattern.value)).collect(),
            only: self
                .policy
                .only
                .iter()
                .map(|only| only.value.iter().map(|name| NamePattern::new(name)).collect())
                .collect(),
            trusted_project: self.trust.is_given(),
            reserved: self.host_commands.iter().flat_map(HostCommand::names).map(str::to_owned).collect(),
            executor: Arc::clone(&self.executor),
            tools: self.tools,
        };
        let options = deciding.options(&loaded.skills, &base);
        let catalogue = Catalogue::build(loaded.skills, loaded.failures, &options);
        let managed = self.host.ceilings().iter().flat_map(|ceiling| ceiling.rules().to_vec()).collect();
        Ok(Arc::new(Runtime {
            audit: self.audit,
            managed,
            host: self.host,
            executor: self.executor,
            limits: self.limits,
            profile: self.profile,
            trust: self.trust,
            deciding,
            policy: self.policy,
            project,
            load_options: loading.options,
            loading,
            texts: TextCache::default(),
            home,
            user_config: self.user_config,
            path_base: OnceLock::new(),
            host_commands: self.host_commands,
            hook_loader: self.hook_loader,
            agents: self.agents,
            forks_running: ForkCount::default(),
            clock: self.clock,
            telemetry: self.telemetry,
            skills: RwLock::new(Arc::new(SkillView::new(catalogue, Arc::new(base)))),
            live: LiveSessions::default(),
            reloading: Mutex::default(),
            subscribers: Subscribers::default(),
            #[cfg(feature = "watch")]
            watches: crate::watch::Watches::default(),
            usage: self.usage,
        }))
    }
}

/// What every conversation of a program shares: the skills of one place, the host that decides over them, and the executor that
/// runs their commands. Immutable but for the view of the skills, which [`Runtime::reload`] brings up to date; [`Session`]s are made of
/// it.
#[derive(Debug)]
pub struct Runtime {
    pub(crate) audit: Arc<dyn AuditSink>,
    /// The rules of the managed policy: an ask of them is answered anew each time.
    pub(crate) managed: Vec<Rule>,
    pub(crate) host: Host,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) limits: Limits,
    pub(crate) profile: Profile,
    pub(crate) trust: ProjectTrust,
    pub(crate) deciding: Deciding,
    pub(crate) policy: Policy,
    pub(crate) project: Option<Project>,
    pub(crate) loading: Loading,
    pub(crate) load_options: LoadOptions,
    pub(crate) texts: TextCache,
    pub(crate) home: Option<PathBuf>,
    pub(crate) user_config: Option<PathBuf>,
    /// Where the project and the home are, for patterns of paths; see [`Runtime::path_base`].
    path_base: OnceLock<PathBase>,
    pub(crate) host_commands: Vec<HostCommand>,
    pub(crate) hook_loader: Option<Arc<dyn HookLoader>>,
    pub(crate) agents: Option<Arc<dyn AgentRunner>>,
    /// The agents of skills that run in all conversations.
    pub(crate) forks_running: ForkCount,
    pub(crate) clock: Clock,
    pub(crate) telemetry: Telemetry,
    skills: RwLock<Arc<SkillView>>,
    pub(crate) live: LiveSessions,
    /// Held while the skills are loaded again.
    pub(crate) reloading: Mutex<()>,
    pub(crate) subscribers: Subscribers<Reloaded>,
    #[cfg(feature = "watch")]
    pub(crate) watches: crate::watch::Watches,
    pub(crate) usage: Option<UsageCounts>,
}

impl Runtime {
    /// Begins a runtime of a host that runs commands with `executor`.
    #[must_use]
    pub fn builder(host: Host, executor: Arc<dyn Executor>) -> RuntimeBuilder {
        let policy = Policy::of(Layers::default());
        RuntimeBuilder {
            host,
            executor,
            limits: policy.limits(),
            profile: policy.profile.value,
            policy,
            discovery: Discovery::default(),
            trust: ProjectTrust::Unknown,
            audit: Arc::new(NoAudit),
            tools: None,
            host_commands: Vec::new(),
            hook_loader: None,
            agents: None,
            clock: Clock::default(),
            telemetry: Telemetry::default(),
            plugins: TrustedPlugins::new(),
            plugin_trust: None,
            sources: Vec::new(),
            headers: None,
            usage: None,
            user_config: None,
        }
    }

    /// Begins a conversation. It costs no more than what the conversation itself keeps.
    #[must_use]
    pub fn session(self: &Arc<Self>, options: SessionOptions) -> Arc<Session> {
        Session::new(Arc::clone(self), options)
    }

    /// The skills as they were found, before any conversation activated one.
    pub(crate) fn skills(&self) -> Arc<SkillView> {
        Arc::clone(&self.skills.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_skills(&self, view: Arc<SkillView>) {
        *self.skills.write().unwrap_or_else(PoisonError::into_inner) = view;
    }

    pub(crate) fn base(&self) -> Arc<Base> {
        Arc::clone(&self.skills().base)
    }

    /// Takes the files beside a skill that is no file to disk, before anything names their directory.
    pub(crate) fn materialise(&self, skill: &Skill) -> Result<(), InvokeError> {
        let name = || skill.id.command.to_string();
        self.base().place.roots.materialise(skill).map_err(|error| InvokeError::Files { name: name(), error })
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The directories that were looked into at the last load, whether they exist or not.
    #[must_use]
    pub fn roots(&self) -> Arc<SkillRoots> {
        Arc::clone(&self.base().place.roots)
    }

    /// How files were read.
    #[must_use]
    pub fn load_options(&self) -> &LoadOptions {
        &self.load_options
    }

    /// Where the project and the home are, for patterns of paths.
    pub(crate) fn path_base(&self) -> &PathBase {
        self.path_base.get_or_init(|| {
            let base = match &self.project {
                Some(project) => PathBase::default().root(project.root.to_string_lossy()),
                None => PathBase::default(),
            };
            match &self.home {
                Some(home) => base.home(home.to_string_lossy()),
                None => base,
            }
        })
    }

    /// The project, when there is one.
    #[must_use]
    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// Findings of the last load about places that are no skill.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<PathDiagnostic> {
        self.base().diagnostics.clone()
    }
}
