use crate::answer::Answerer;
use crate::consent::Consent;
use crate::conversation::Conversation;
use crate::fork::ForkCount;
use crate::reload::SkillsChange;
use crate::runtime::Runtime;
use crate::skills::SkillView;
use crate::subscribers::Subscribers;
use crate::tool::ForkEnd;
use crate::touch::Touching;
use skillgate_core::Skill;
use skillgate_loader::{LoadOptions, PathDiagnostic, Project, SkillRoots};
use skillgate_policy::file::Policy;
use skillgate_registry::Catalogue;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// What is the conversation's own when it begins.
#[derive(Debug, Default)]
pub struct SessionOptions {
    id: Option<String>,
    answerer: Option<Arc<dyn Answerer>>,
    on_fork_end: Option<OnForkEnd>,
    host_runs_forks: bool,
}

/// Is told how agents ended that ran in the background.
pub(crate) struct OnForkEnd(Box<dyn Fn(ForkEnd) + Send + Sync>);

impl std::ops::Deref for OnForkEnd {
    type Target = dyn Fn(ForkEnd) + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for OnForkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnForkEnd")
    }
}

impl SessionOptions {
    /// The conversation's id, for `${CLAUDE_SESSION_ID}` and the audit log.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Who answers what a rule asks. Without one the session is unattended: an ask is a refusal that names the rule that would
    /// allow it.
    #[must_use]
    pub fn answerer(mut self, answerer: Arc<dyn Answerer>) -> Self {
        self.answerer = Some(answerer);
        self
    }

    /// Who is told how an agent ended whose skill did not wait for it. Without it every such call waits.
    #[must_use]
    pub fn on_fork_end(mut self, told: impl Fn(ForkEnd) + Send + Sync + 'static) -> Self {
        self.on_fork_end = Some(OnForkEnd(Box::new(told)));
        self
    }

    /// The host runs the agents of skills itself and delivers their results ([`Session::deliver_fork`]), where the runtime has no
    /// runner.
    #[must_use]
    pub fn host_runs_forks(mut self, runs: bool) -> Self {
        self.host_runs_forks = runs;
        self
    }
}

/// One conversation: invokes skills and keeps what it agreed to.
#[derive(Debug)]
pub struct Session {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) id: Option<String>,
    pub(crate) consent: Arc<Consent>,
    pub(crate) on_fork_end: Option<OnForkEnd>,
    pub(crate) host_runs_forks: bool,
    /// The agents of skills that run in this conversation.
    pub(crate) forks_running: ForkCount,
    /// Itself, for what goes on when a call has returned.
    pub(crate) me: Weak<Session>,
    /// Its place among those of the runtime.
    number: u64,
    skills: RwLock<Arc<SkillView>>,
    pub(crate) state: Mutex<Conversation>,
    pub(crate) touching: Mutex<Touching>,
    pub(crate) subscribers: Subscribers<SkillsChange>,
}

impl Session {
    pub(crate) fn new(runtime: Arc<Runtime>, options: SessionOptions) -> Arc<Self> {
        let consent = Arc::new(Consent::new(options.answerer, runtime.managed.clone()));
        let number = runtime.live.number();
        let session = Arc::new_cyclic(|me| Self {
            skills: RwLock::new(runtime.skills()),
            runtime,
            id: options.id,
            consent,
            on_fork_end: options.on_fork_end,
            host_runs_forks: options.host_runs_forks,
            forks_running: ForkCount::default(),
            me: me.clone(),
            number,
            state: Mutex::default(),
            touching: Mutex::default(),
            subscribers: Subscribers::default(),
        });
        session.runtime.live.enter(number, &session);
        session
    }

    /// What this conversation shares with others.
    #[must_use]
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.runtime.policy()
    }

    /// The skills and what their names mean, as they are now in this conversation.
    #[must_use]
    pub fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.skills().catalogue)
    }

    pub(crate) fn skills(&self) -> Arc<SkillView> {
        Arc::clone(&self.skills.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_skills(&self, view: Arc<SkillView>) {
        *self.skills.write().unwrap_or_else(PoisonError::into_inner) = view;
    }

    /// The directories that were looked into at the last load, whether they exist or not.
    #[must_use]
    pub fn roots(&self) -> Arc<SkillRoots> {
        self.runtime.roots()
    }

    /// The other ways by which the file of a skill is found; it is loaded once.
    #[must_use]
    pub fn also_at(&self, skill: &Skill) -> Vec<PathBuf> {
        let view = self.skills();
        let others = view.base.duplicates.iter().filter(|duplicate| duplicate.of == skill.path);
        others.map(|duplicate| duplicate.path.clone()).collect()
    }

    /// How files were read.
    #[must_use]
    pub fn load_options(&self) -> &LoadOptions {
        self.runtime.load_options()
    }

    /// The project, when there is one.
    #[must_use]
    pub fn project(&self) -> Option<&Project> {
        self.runtime.project()
    }

    /// Findings of the last load about places that are no skill.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<PathDiagnostic> {
        self.runtime.diagnostics()
    }
}

/// What runs for the conversation is stopped with it.
impl Drop for Session {
    fn drop(&mut self) {
        self.conversation().forks.clear(&[]);
        self.runtime.live.leave(self.number);
    }
}
