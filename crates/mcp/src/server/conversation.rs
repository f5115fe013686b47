//! One client's conversation: its session, and the calls that run for it.

use super::call::{Call, Outcome, Parked, Reply, Resumed, Wanted};
use super::elicit::{Pending, Questions};
use super::refused::Refused;
use super::serve::Served;
use rmcp::model::{ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{Peer, RequestContext, RoleServer};
use skillgate_runtime::{Invocation, InvokeError, Session, SessionOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

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
    /// Room for its requests. Each that is open holds some of this process's memory.
    room: Arc<Semaphore>,
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
        let room = Arc::new(Semaphore::new(served.options.requests_of_one.max(1)));
        Self {
            served,
            room,
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

    /// Room for one more request, until it is dropped.
    pub(super) fn open(&self) -> Result<OwnedSemaphorePermit, Refused> {
        let room = Arc::clone(&self.room).try_acquire_owned();
        room.map_err(|_| Refused::busy(self.served.options.requests_of_one.max(1)))
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
        let _open = self.open()?;
        let _turn = tokio::select! {
            turn = self.served.turns.take() => turn.ok_or_else(cancelled)?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let way = self.way(context);
        let attendant = Attendant {
            way,
            served: Arc::clone(&self.served),
            peer: context.peer.clone(),
            taken_back: context.ct.clone(),
            progress: Progress::new(context, self.served.options.progress),
        };
        if way != Way::Return
            && reply == Reply::default()
            && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread
        {
            return here(self.session(context), Arc::clone(&self.questions), &wanted, attendant);
        }
        let mut call = if reply == Reply::default() {
            self.begin(context, way, wanted)
        } else {
            match self.parked.resume(&wanted, reply)? {
                Resumed::Goes(call) => call,
                Resumed::AsksAgain(asks) => return Ok(Outcome::Asks(asks)),
            }
        };
        let questions = Arc::clone(&call.questions);
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                call.stop().await;
                Err(cancelled())
            }
            ended = &mut call.running => outcome(ended.ok()),
            pending = attendant.attend(&questions) => self.parked.park(call, pending).map(Outcome::Asks),
        }
    }
}

/// What became of a call; one without a result ended in a panic.
fn outcome(ended: Option<Result<Invocation, InvokeError>>) -> Result<Outcome, Refused> {
    match ended {
        Some(Ok(invocation)) => Ok(Outcome::Done(Box::new(invocation))),
        Some(Err(error)) => Err(Refused::of(&error)),
        None => Err(Refused::new("bug", "the call ended in a bug of Skillgate; its log says more")),
    }
}

/// Runs a call on this thread, which the runtime goes on without: what the call gives is then there without waking another thread
/// for it.
fn here(
    session: Arc<Session>,
    questions: Arc<Questions>,
    wanted: &Wanted,
    attendant: Attendant,
) -> Result<Outcome, Refused> {
    let (cancel, request) = wanted.request();
    let taken_back = attendant.taken_back.clone();
    let attending = tokio::spawn(async move {
        tokio::select! {
            biased;
            () = attendant.taken_back.clone().cancelled_owned() => {}
            // No client of this protocol comes back with an answer.
            pending = attendant.attend(&questions) => drop(pending),
        }
        // It may still want to ask; nobody answers any more.
        drop(cancel);
        loop {
            drop(questions.next().await);
        }
    });
    let attending = AbortOnDropHandle::new(attending);
    let invoke = AssertUnwindSafe(|| session.invoke(&request));
    let ended = tokio::task::block_in_place(|| catch_unwind(invoke));
    drop(attending);
    if taken_back.is_cancelled() {
        return Err(Refused::new("cancelled", "the request was taken back"));
    }
    outcome(ended.ok())
}

/// Tells the client of a call how it goes, and asks its user what a rule asks.
struct Attendant {
    way: Way,
    served: Arc<Served>,
    peer: Peer<RoleServer>,
    taken_back: CancellationToken,
    progress: Progress,
}

impl Attendant {
    /// Ends with a question that the client has to come back for.
    async fn attend(mut self, questions: &Questions) -> Pending {
        loop {
            tokio::select! {
                biased;
                pending = questions.next() => match self.way {
                    Way::Return => return pending,
                    Way::Elicit => {
                        // One call waits for this answer and does nothing else: its turn is another's meanwhile.
                        let lent = self.served.turns.lend();
                        let answered = async {
                            let answer = pending.ask(&self.peer, self.served.options.ask_within).await;
                            lent.take_back().await;
                            pending.answer(answer);
                        };
                        tokio::select! {
                            () = answered => {}
                            // The question is dropped, which is a no; the call sees the cancellation.
                            () = self.taken_back.cancelled() => {}
                        }
                    }
                    Way::Nobody => drop(pending),
                },
                () = self.progress.tick() => self.progress.tell(&self.peer).await,
            }
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

    async fn tell(&mut self, peer: &Peer<RoleServer>) {
        let Some(token) = self.token.clone() else { return };
        self.told += 1;
        let told = ProgressNotificationParam::new(token, f64::from(self.told)).with_message("its commands are running");
        if let Err(error) = peer.notify_progress(told).await {
            tracing::debug!(%error, "the client cannot be told of progress");
        }
    }
}
