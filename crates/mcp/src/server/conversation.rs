//! One client's conversation: its session, and the calls that run for it.

use super::elicit::Questions;
use super::refused::Refused;
use super::serve::Served;
use rmcp::model::{ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{ElicitationMode, RequestContext, RoleServer};
use skillgate_runtime::{CancelToken, Invocation, InvokeRequest, Session, SessionOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Handles the requests of one connection. It begins a session with the first call that needs one, when it is known whether the
/// client's user can be asked.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(super) served: Arc<Served>,
    id: String,
    /// The session, with the number of the change that brought its runtime.
    session: Mutex<Option<(u64, Arc<Session>)>>,
    questions: Questions,
    /// Ends what waits on behalf of the connection when it is gone.
    pub(super) ended: CancellationToken,
    _end: DropGuard,
}

impl Conversation {
    pub(super) fn new(served: Arc<Served>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let ended = CancellationToken::new();
        Self {
            served,
            id: format!("mcp-{}-{number}", std::process::id()),
            session: Mutex::default(),
            questions: Questions::new(),
            _end: ended.clone().drop_guard(),
            ended,
        }
    }

    /// The session of this conversation: one for as long as the skills are the same.
    pub(super) fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let (number, runtime) = self.served.runtime();
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match &*session {
            Some((of, session)) if *of == number => Arc::clone(session),
            _ => {
                let options = SessionOptions::default().id(self.id.clone());
                let options = if self.served.options.ask && can_ask(context) {
                    options.answerer(self.questions.answerer())
                } else {
                    options
                };
                let begun = runtime.session(options);
                *session = Some((number, Arc::clone(&begun)));
                begun
            }
        }
    }

    /// Invokes a skill without holding up other requests, tells the client how it goes, asks its user what a rule asks, and
    /// stops when the client takes the request back or is gone.
    pub(super) async fn invoke(
        &self,
        context: &RequestContext<RoleServer>,
        request: InvokeRequest,
    ) -> Result<Invocation, Refused> {
        let cancelled = || Refused::new("cancelled", "the request was taken back");
        let _turn = tokio::select! {
            turn = self.served.turns.acquire() => turn.map_err(|_| cancelled())?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let cancel = CancelOnDrop(CancelToken::new());
        let request = request.cancel(cancel.0.clone());
        let session = self.session(context);
        let mut running = tokio::task::spawn_blocking(move || session.invoke(&request));
        let mut progress = Progress::new(context, self.served.options.progress);
        let ended = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    cancel.0.cancel();
                    self.drain(&mut running).await;
                    return Err(cancelled());
                }
                ended = &mut running => break ended,
                pending = self.questions.next() => {
                    let asked = pending.ask(&context.peer, self.served.options.ask_within);
                    tokio::select! {
                        () = asked => {}
                        // The question is dropped, which is a no; the loop sees the cancellation.
                        () = context.ct.cancelled() => {}
                    }
                }
                () = progress.tick() => progress.tell(context).await,
            }
        };
        match ended {
            Ok(Ok(invocation)) => Ok(invocation),
            Ok(Err(error)) => Err(Refused::of(&error)),
            Err(_) => Err(Refused::new("bug", "the call ended in a bug of Skillgate; its log says more")),
        }
    }

    /// Waits for a call that was cancelled. It may still want to ask; nobody answers any more.
    async fn drain<T>(&self, running: &mut JoinHandle<T>) {
        loop {
            tokio::select! {
                _ = &mut *running => return,
                pending = self.questions.next() => drop(pending),
            }
        }
    }
}

/// Whether a request to the client's user can be made while it is served. In the newest protocol the client has to be answered
/// first, so there is nobody to ask.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let newest = ProtocolVersion::V_2026_07_28;
    let older = context.protocol_version().is_some_and(|version| version.as_str() < newest.as_str());
    older && context.peer.supported_elicitation_modes().contains(&ElicitationMode::Form)
}

/// Stops what runs also when the request's own task is gone.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Tells a client that asked for it that its call still runs.
struct Progress {
    token: Option<rmcp::model::ProgressToken>,
    ticks: tokio::time::Interval,
    told: u32,
}

impl Progress {
    fn new(context: &RequestContext<RoleServer>, every: std::time::Duration) -> Self {
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Self { token: context.meta.get_progress_token(), ticks, told: 0 }
    }

    async fn tick(&mut self) {
        match self.token {
            Some(_) => drop(self.ticks.tick().await),
            None => std::future::pending().await,
        }
    }

    async fn tell(&mut self, context: &RequestContext<RoleServer>) {
        let Some(token) = self.token.clone() else { return };
        self.told += 1;
        let told = ProgressNotificationParam::new(token, f64::from(self.told)).with_message("its commands are running");
        if let Err(error) = context.peer.notify_progress(told).await {
            tracing::debug!(%error, "the client cannot be told of progress");
        }
    }
}
