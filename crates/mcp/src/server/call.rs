//! Calls of skills, and those of them that wait for the client to come back with what its user said.

use super::elicit::{Pending, Questions};
use super::refused::Refused;
use rmcp::model::{InputRequiredResult, InputResponses};
use skillgate_policy::Invoker;
use skillgate_runtime::{CancelToken, Invocation, InvokeError, InvokeRequest, Session};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

/// What is called. An answer counts for exactly this.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) arguments: Option<String>,
    pub(super) invoker: Invoker,
}

impl Wanted {
    /// The request for a session, and what takes it back.
    pub(super) fn request(&self) -> (CancelOnDrop, InvokeRequest) {
        let cancel = CancelOnDrop(CancelToken::new());
        let request = InvokeRequest::new(&self.name, self.invoker).cancel(cancel.0.clone());
        (cancel, self.arguments.iter().fold(request, |request, text| request.arguments(text)))
    }
}

/// What a request brings of an earlier answer that asked something: the client was told to come back with it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Reply {
    pub(super) state: Option<String>,
    pub(super) responses: Option<InputResponses>,
}

/// What a request is answered with.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Box<Invocation>),
    /// The client's user is asked first.
    Asks(InputRequiredResult),
}

/// How a call goes on whose client came back.
#[derive(Debug)]
pub(super) enum Resumed {
    Goes(Call),
    AsksAgain(InputRequiredResult),
}

/// A call at work. Dropping it stops what runs.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) wanted: Wanted,
    pub(super) running: JoinHandle<Result<Invocation, InvokeError>>,
    pub(super) cancel: CancelOnDrop,
    /// Where the questions of it come from; other calls of the conversation may ask there too.
    pub(super) questions: Arc<Questions>,
}

/// Stops what runs also when the request's own task is gone.
#[derive(Debug)]
pub(super) struct CancelOnDrop(pub(super) CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Call {
    /// Begins an invocation beside the tasks that speak with clients.
    pub(super) fn begin(session: Arc<Session>, questions: Arc<Questions>, wanted: Wanted) -> Self {
        let (cancel, request) = wanted.request();
        let running = tokio::task::spawn_blocking(move || session.invoke(&request));
        Self { wanted, running, cancel, questions }
    }

    /// Stops it and waits for its end. It may still want to ask; nobody answers any more.
    pub(super) async fn stop(mut self) {
        self.cancel.0.cancel();
        loop {
            tokio::select! {
                _ = &mut self.running => return,
                pending = self.questions.next() => drop(pending),
            }
        }
    }
}

/// The calls that wait for the client to come back, the oldest first. A call does so once for each question: nothing of it runs
/// twice.
#[derive(Debug)]
pub(super) struct Parked {
    calls: Mutex<Vec<(String, Waiting)>>,
    most: usize,
    within: Duration,
}

#[derive(Debug)]
struct Waiting {
    call: Call,
    pending: Pending,
    /// Ends the wait.
    _timer: AbortOnDropHandle<()>,
}

/// The name of the one thing that is asked for at a time.
const DECISION: &str = "decision";

impl Parked {
    /// `most` calls wait at once, each as long as somebody may think about a question.
    pub(super) fn new(most: usize, within: Duration) -> Arc<Self> {
        Arc::new(Self { calls: Mutex::default(), most: most.max(1), within })
    }

    /// Keeps a call until its question is answered, and gives what the client is told. The oldest makes room for it; its answer
    /// is a no.
    pub(super) fn park(self: &Arc<Self>, call: Call, pending: Pending) -> Result<InputRequiredResult, Refused> {
        let handle = handle();
        let asks = pending.input_required(DECISION, handle.clone());
        let asks = asks.ok_or_else(|| Refused::new("bug", "the question cannot be written as a form"))?;
        let (parked, key, within) = (Arc::downgrade(self), handle.clone(), self.within);
        let timer = tokio::spawn(async move {
            tokio::time::sleep(within).await;
            if let Some(parked) = parked.upgrade() {
                parked.forget(&key);
            }
        });
        let waiting = Waiting { call, pending, _timer: AbortOnDropHandle::new(timer) };
        let evicted = {
            let mut calls = self.lock();
            let evicted = (calls.len() >= self.most).then(|| calls.remove(0));
            calls.push((handle, waiting));
            evicted
        };
        drop(evicted);
        Ok(asks)
    }

    /// Goes on with a call. A reply without the answer is asked for it again.
    pub(super) fn resume(self: &Arc<Self>, wanted: &Wanted, reply: Reply) -> Result<Resumed, Refused> {
        let closed = || {
            Refused::new("question-closed", "the question is not open: it was answered, or nobody did in time")
                .help("call again without `requestState` and `inputResponses`")
        };
        let state = reply.state.ok_or_else(closed)?;
        let waiting = {
            let mut calls = self.lock();
            let at = calls.iter().position(|(handle, _)| *handle == state).ok_or_else(closed)?;
            if calls[at].1.call.wanted != *wanted {
                return Err(Refused::new("question-closed", "the answer is for another call")
                    .help("send it with the tool or prompt and the arguments of the call that asked"));
            }
            calls.remove(at).1
        };
        let Waiting { call, pending, .. } = waiting;
        match reply.responses.as_ref().and_then(|responses| responses.get(DECISION)) {
            Some(answer) => {
                pending.answered(answer);
                Ok(Resumed::Goes(call))
            }
            None => self.park(call, pending).map(Resumed::AsksAgain),
        }
    }

    fn forget(&self, handle: &str) {
        let mut calls = self.lock();
        let at = calls.iter().position(|(known, _)| known == handle);
        let forgotten = at.map(|at| calls.remove(at));
        drop(calls);
        drop(forgotten);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Waiting)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name that no client finds by trying. Who may come back at all, the transport decides.
fn handle() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
