use crate::answer::Question;
use crate::cancel::CancelToken;
use crate::compact::{CompactBudget, Compacted};
use crate::error::InvokeError;
use crate::hook::HookEvent;
use crate::invoked::AgentId;
use crate::lifecycle::{CompactHeld, EventResult};
use crate::prefetch::{Prefetch, PrefetchSource, Prefetched};
use crate::reload::Reloaded;
use crate::runtime::OpenError;
use crate::save::{RestoreReport, Save, SaveError};
use crate::session::Session;
use crate::tool::{SkillCall, SkillResult, ToolAfter, ToolCall, ToolDecision, TypedResult};
use crate::touch::TouchOutcome;
use serde_json::{Map, Value};
use skillgate_exec::AuditError;
use skillgate_registry::ListingOptions;
use std::path::PathBuf;
use std::sync::Arc;

/// A session for programs on tokio: each call runs on a thread that may block, and what it gives is awaited.
///
/// Every future is `Send` and can be dropped at any time. Dropping the future of a call of a skill takes the call back: its
/// commands and its agent end, and nothing of the skill enters the conversation. Dropping any other future lets the call end
/// and forgets what it gives. An [`Answerer`](crate::Answerer) of the session is called on such a thread too and may block; see
/// [`Question`].
#[derive(Clone, Debug)]
pub struct AsyncSession(Arc<Session>);

impl From<Arc<Session>> for AsyncSession {
    fn from(session: Arc<Session>) -> Self {
        Self(session)
    }
}

/// Takes a call back when nobody waits for it any more.
struct CancelOnDrop(Option<CancelToken>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = self.0.take() {
            token.cancel();
        }
    }
}

impl AsyncSession {
    /// The session, for what does not wait: the catalogue, the listing, searches.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.0
    }

    /// As [`Session::call_skill`].
    ///
    /// # Errors
    /// As there.
    pub async fn call_skill(&self, mut call: SkillCall) -> Result<SkillResult, InvokeError> {
        call.cancel = call.cancel.child();
        let mut guard = CancelOnDrop(Some(call.cancel.clone()));
        let result = self.on_thread(move |session| session.call_skill(&call)).await;
        guard.0 = None;
        result
    }

    /// As [`Session::call_typed`].
    ///
    /// # Errors
    /// As there.
    pub async fn call_typed(&self, line: String, mut template: SkillCall) -> Result<TypedResult, InvokeError> {
        template.cancel = template.cancel.child();
        let mut guard = CancelOnDrop(Some(template.cancel.clone()));
        let result = self.on_thread(move |session| session.call_typed(&line, &template)).await;
        guard.0 = None;
        result
    }

    /// As [`Session::before_tool`].
    ///
    /// # Errors
    /// As there.
    pub async fn before_tool(&self, call: ToolCall) -> Result<ToolDecision, AuditError> {
        self.on_thread(move |session| session.before_tool(&call)).await
    }

    /// As [`Session::after_tool`].
    pub async fn after_tool(&self, call: ToolCall, output: Value, failed: bool) -> ToolAfter {
        self.on_thread(move |session| session.after_tool(&call, &output, failed)).await
    }

    /// As [`Session::user_message`].
    pub async fn user_message(&self, text: String) -> EventResult {
        self.on_thread(move |session| session.user_message(&text)).await
    }

    /// As [`Session::stop`].
    pub async fn stop(&self, agent: AgentId, again: bool) -> EventResult {
        self.on_thread(move |session| session.stop(&agent, again)).await
    }

    /// As [`Session::event`].
    pub async fn event(&self, agent: AgentId, event: HookEvent, data: Map<String, Value>) -> EventResult {
        self.on_thread(move |session| session.event(&agent, event, data)).await
    }

    /// As [`Session::compact`].
    ///
    /// # Errors
    /// As there.
    pub async fn compact(
        &self,
        agent: AgentId,
        budget: CompactBudget,
        listing: ListingOptions,
    ) -> Result<Compacted, CompactHeld> {
        self.on_thread(move |session| session.compact(&agent, budget, &listing)).await
    }

    /// As [`Session::revoke`].
    pub async fn revoke(&self, name: String) -> Vec<(AgentId, String)> {
        self.on_thread(move |session| session.revoke(&name)).await
    }

    /// As [`Session::save`].
    ///
    /// # Errors
    /// As there.
    pub async fn save(&self) -> Result<Save, SaveError> {
        self.on_thread(|session| session.save()).await
    }

    /// As [`Session::restore`].
    pub async fn restore(&self, save: Save) -> RestoreReport {
        self.on_thread(move |session| session.restore(&save)).await
    }

    /// As [`Session::prefetch`], in the main agent: for a turn that goes on while skills are looked for.
    pub async fn prefetch(
        &self,
        source: PrefetchSource,
        input: Option<String>,
        last_user_message: Option<String>,
        auto_load: bool,
    ) -> Prefetched {
        self.on_thread(move |session| {
            let wanted = Prefetch::new(source, input.as_deref(), last_user_message.as_deref());
            session.prefetch(&wanted.auto_load(auto_load))
        })
        .await
    }

    /// As [`Session::touch`].
    pub async fn touch(&self, paths: Vec<PathBuf>) -> TouchOutcome {
        self.on_thread(move |session| session.touch(paths)).await
    }

    /// As [`Runtime::reload`](crate::Runtime::reload), for every conversation of the runtime.
    ///
    /// # Errors
    /// As there.
    pub async fn reload(&self) -> Result<Reloaded, OpenError> {
        self.on_thread(|session| session.runtime().reload()).await
    }

    async fn on_thread<T: Send + 'static>(&self, act: impl FnOnce(&Session) -> T + Send + 'static) -> T {
        let session = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || act(&session)).await {
            Ok(value) => value,
            Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
            // The runtime is shutting down and drops this future with everything else.
            Err(_) => std::future::pending().await,
        }
    }
}

/// What embedders rely on.
const _: () = {
    const fn can_be_sent<T: Send + Sync + 'static>() {}
    can_be_sent::<AsyncSession>();
    can_be_sent::<Question>();
};
