//! One client's conversation: its session, and the calls that run for it.

use super::call::{Call, Outcome, Parked, Reply, Resumed, Wanted};
use super::elicit::Questions;
use super::refused::Refused;
use super::serve::Served;
use rmcp::model::{ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use skillgate_runtime::{Session, SessionOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Handles the requests of one connection. It begins a session with the first call that needs one, when it is known whether the
/// client's user can be asked.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(super) served: Arc<Served>,
    id: String,
    /// The session, with the number of its runtime.
    session: Mutex<Option<(u64, Arc<Session>)>>,
    questions: Arc<Questions>,
    /// Calls whose client has to come back. Over a connection that stays they end with it.
    parked: Arc<Parked>,
    /// Ends what waits on behalf of the connection when it is gone.
    pub(super) ended: CancellationToken,
    _end: DropGuard,
}

/// How the client's user can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// By a request to the client while its own is served.
    Elicit,
    /// By an answer that asks: the protocol of 2026-07-28 has no requests to clients.
    Return,
    /// Not at all.
    Nobody,
}

impl Conversation {
    pub(super) fn new(served: Arc<Served>, parked: Arc<Parked>) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let ended = CancellationToken::new();
        Self {
            served,
            id: format!("mcp-{}-{number}", std::process::id()),
            session: Mutex::default(),
            questions: Arc::new(Questions::new()),
            parked,
            _end: ended.clone().drop_guard(),
            ended,
        }
    }

    /// The session of this conversation: one for as long as the runtime is the same.
    pub(super) fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let (number, runtime) = self.served.runtime();
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match &*session {
            Some((of, session)) if *of == number => Arc::clone(session),
            _ => {
                let options = SessionOptions::default().id(self.id.clone());
                let options = match self.way(context) {
                    Way::Elicit => options.answerer(self.questions.answerer()),
                    Way::Return | Way::Nobody => options,
                };
                let begun = runtime.session(options);
                *session = Some((number, Arc::clone(&begun)));
                begun
            }
        }
    }

    fn way(&self, context: &RequestContext<RoleServer>) -> Way {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // A client that names neither form nor address means forms.
        let has_forms = elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none());
        let version = context.protocol_version().filter(|_| has_forms && self.served.options.ask);
        match version {
            None => Way::Nobody,
            Some(version) if version.as_str() < ProtocolVersion::V_2026_07_28.as_str() => Way::Elicit,
            Some(_) => Way::Return,
        }
    }

    /// Begins a call. One that asks by its answer has a session of its own: in that protocol each request stands alone, and a
    /// question of one call must not hold up another.
    fn begin(&self, context: &RequestContext<RoleServer>, way: Way, wanted: Wanted) -> Call {
        if way != Way::Return {
            return Call::begin(self.session(context), Arc::clone(&self.questions), wanted);
        }
        let questions = Arc::new(Questions::new());
        let options = SessionOptions::default().id(self.id.clone()).answerer(questions.answerer());
        Call::begin(self.served.runtime().1.session(options), questions, wanted)
    }

    /// Invokes a skill without holding up other requests, tells the client how it goes, asks its user what a rule asks, and
    /// stops when the client takes the request back or is gone.
    pub(super) async fn invoke(
        &self,
        context: &RequestContext<RoleServer>,
        wanted: Wanted,
        reply: Reply,
    ) -> Result<Outcome, Refused> {
        let cancelled = || Refused::new("cancelled", "the request was taken back");
        let _turn = tokio::select! {
            turn = self.served.turns.acquire() => turn.map_err(|_| cancelled())?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let way = self.way(context);
        let mut call = if reply == Reply::default() {
            self.begin(context, way, wanted)
        } else {
            match self.parked.resume(&wanted, reply)? {
                Resumed::Goes(call) => call,
                Resumed::AsksAgain(asks) => return Ok(Outcome::Asks(asks)),
            }
        };
        let mut progress = Progress::new(context, self.served.options.progress);
        let ended = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    call.stop().await;
                    return Err(cancelled());
                }
                ended = &mut call.running => break ended,
                pending = call.questions.next() => match way {
                    Way::Return => return self.parked.park(call, pending).map(Outcome::Asks),
                    Way::Elicit => {
                        let asked = pending.ask(&context.peer, self.served.options.ask_within);
                        tokio::select! {
                            () = asked => {}
                            // The question is dropped, which is a no; the loop sees the cancellation.
                            () = context.ct.cancelled() => {}
                        }
                    }
                    Way::Nobody => drop(pending),
                },
                () = progress.tick() => progress.tell(context).await,
            }
        };
        match ended {
            Ok(Ok(invocation)) => Ok(Outcome::Done(Box::new(invocation))),
            Ok(Err(error)) => Err(Refused::of(&error)),
            Err(_) => Err(Refused::new("bug", "the call ended in a bug of Skillgate; its log says more")),
        }
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
