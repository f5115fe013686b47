//! The client: what it is told, what it has asked for, and what it is asked.

use super::lines::MAX_LINE_BYTES;
use super::protocol::{AlwaysOutput, AskedOutput, Decision, Event, Id, Line, fault};
use crate::output::{ErrorOutput, SessionReply};
use skillgate_exec::Asked;
use skillgate_runtime::{Always, Answer, Answerer, CancelToken, Question};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Requests that may wait for their answer at once.
pub(super) const MAX_REQUESTS: usize = 64;

thread_local! {
    /// The request that this thread works for.
    static REQUEST: RefCell<Option<Id>> = const { RefCell::new(None) };
}

/// Whoever speaks the protocol at the other end.
pub(super) struct Client {
    output: Mutex<Output>,
    requests: Mutex<BTreeMap<Id, Pending>>,
    asks: Mutex<Asks>,
}

struct Output {
    to: Box<dyn Write + Send>,
    /// Nobody reads any more.
    closed: bool,
}

/// A request that is not answered yet.
struct Pending {
    cancel: CancelToken,
    /// The skills that it calls, by their names.
    skills: Vec<String>,
}

#[derive(Default)]
struct Asks {
    number: u64,
    open: BTreeMap<Id, OpenAsk>,
    /// Nobody answers any more.
    closed: bool,
}

struct OpenAsk {
    of: Option<Id>,
    answer: Sender<Answer>,
}

impl Client {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        let output = Output { to: Box::new(to), closed: false };
        Self { output: Mutex::new(output), requests: Mutex::default(), asks: Mutex::default() }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_gone(&self) -> bool {
        lock(&self.output).closed
    }

    pub(super) fn tell(&self, line: &Line) {
        let text = match serde_json::to_string(line) {
            Ok(text) if text.len() < MAX_LINE_BYTES => text,
            long_or_none => self.too_long(line, long_or_none.is_err()),
        };
        let mut output = lock(&self.output);
        let written = writeln!(output.to, "{text}").and_then(|()| output.to.flush());
        output.closed |= written.is_err();
        let gone = output.closed;
        drop(output);
        if gone {
            self.cancel_all();
        }
    }

    /// What is said in place of a line that cannot be.
    fn too_long(&self, line: &Line, broken: bool) -> String {
        let id = match line {
            Line::Done { id, .. } => Some(id.clone()),
            Line::Event { id, .. } | Line::Failed { id, .. } => id.clone(),
            Line::Hello { .. } => None,
        };
        let message = if broken {
            "the answer cannot be written as JSON".to_owned()
        } else {
            format!("the answer has more than {MAX_LINE_BYTES} bytes")
        };
        let error = fault("answer-too-long", message, "ask for less, or name a `path` for a save");
        // Without the text that was too long it is short.
        serde_json::to_string(&Line::Failed { id, ok: false, error }).unwrap_or_default()
    }

    pub(super) fn done(&self, id: Id, result: SessionReply) {
        lock(&self.requests).remove(&id);
        self.tell(&Line::Done { id, ok: true, result: Box::new(result) });
    }

    pub(super) fn failed(&self, id: Option<Id>, error: ErrorOutput) {
        if let Some(id) = &id {
            lock(&self.requests).remove(id);
        }
        self.tell(&Line::Failed { id, ok: false, error });
    }

    pub(super) fn event(&self, id: Option<Id>, event: Event) {
        self.tell(&Line::Event { id, event });
    }

    /// Takes a request on; the token is set when it is stopped.
    ///
    /// # Errors
    /// Why it cannot be.
    pub(super) fn take(&self, id: &Id, skills: &[&str]) -> Result<CancelToken, ErrorOutput> {
        let mut requests = lock(&self.requests);
        if requests.contains_key(id) {
            let message = format!("the request {id} is not answered yet");
            return Err(fault("id-in-use", message, "give each request an id of its own"));
        }
        if requests.len() >= MAX_REQUESTS {
            let message = format!("{MAX_REQUESTS} requests wait for their answer");
            return Err(fault("busy", message, "wait for one of them"));
        }
        let cancel = CancelToken::new();
        let skills = skills.iter().map(|name| name.trim().trim_start_matches('/').to_owned()).collect();
        requests.insert(id.clone(), Pending { cancel: cancel.clone(), skills });
        Ok(cancel)
    }

    /// Stops a request; says whether there is one. What it asked is answered with no.
    pub(super) fn cancel(&self, id: &Id) -> bool {
        let token = lock(&self.requests).get(id).map(|pending| pending.cancel.clone());
        // The token first: who is answered with no then sees why.
        token.iter().for_each(CancelToken::cancel);
        lock(&self.asks).open.retain(|_, ask| ask.of.as_ref() != Some(id));
        token.is_some()
    }

    pub(super) fn cancel_all(&self) {
        let tokens: Vec<CancelToken> = lock(&self.requests).values().map(|pending| pending.cancel.clone()).collect();
        tokens.iter().for_each(CancelToken::cancel);
        self.nobody_answers();
    }

    /// Answers every ask with no, those to come too.
    pub(super) fn nobody_answers(&self) {
        let mut asks = lock(&self.asks);
        asks.closed = true;
        asks.open.clear();
    }

    /// Gives the answer to an ask; says whether somebody waits for it.
    pub(super) fn answer(&self, ask: &Id, decision: Decision) -> bool {
        let Some(open) = lock(&self.asks).open.remove(ask) else { return false };
        let answer = match decision {
            Decision::Once => Answer::Once,
            Decision::Always => Answer::Always,
            Decision::No => Answer::No,
        };
        open.answer.send(answer).is_ok()
    }

    /// Works for a request: what is asked meanwhile is asked for it.
    pub(super) fn working_for<T>(id: &Id, work: impl FnOnce() -> T) -> T {
        REQUEST.with_borrow_mut(|request| *request = Some(id.clone()));
        let value = work();
        REQUEST.with_borrow_mut(|request| *request = None);
        value
    }

    /// The request that a question is for. A program of several stages asks from threads of its own; then it is the one that calls
    /// the skill, if there is only one.
    fn request_of(&self, question: &Question) -> Option<Id> {
        if let Some(id) = REQUEST.with_borrow(Clone::clone) {
            return Some(id);
        }
        let skill = question.skill.as_ref()?;
        let is_of = |name: &String| name == skill.command.as_str() || *name == skill.to_string();
        let requests = lock(&self.requests);
        let mut calling = requests.iter().filter(|(_, pending)| pending.skills.iter().any(is_of));
        match (calling.next(), calling.next()) {
            (Some((id, _)), None) => Some(id.clone()),
            _ => None,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl Answerer for Client {
    fn answer(&self, question: &Question) -> Answer {
        let of = self.request_of(question);
        let (answer, given) = channel();
        let ask = {
            let mut asks = lock(&self.asks);
            if asks.closed {
                return Answer::No;
            }
            asks.number += 1;
            let ask = Id::of_ask(asks.number);
            asks.open.insert(ask.clone(), OpenAsk { of: of.clone(), answer });
            ask
        };
        // A request that is stopped has nobody to answer for it, whichever of the two came first.
        if of.as_ref().is_some_and(|id| lock(&self.requests).get(id).is_none_or(|it| it.cancel.is_cancelled())) {
            lock(&self.asks).open.remove(&ask);
        } else {
            self.event(of, event_of(&ask, question));
        }
        given.recv().unwrap_or(Answer::No)
    }
}

fn event_of(ask: &Id, question: &Question) -> Event {
    let (always, suggestions) = match &question.always {
        Always::Never => (AlwaysOutput::Never, Vec::new()),
        Always::Session => (AlwaysOutput::Session, Vec::new()),
        Always::Rule(line) => (AlwaysOutput::Rule, vec![line.clone()]),
    };
    Event::Ask {
        ask: ask.clone(),
        skill: question.skill.as_ref().map(ToString::to_string),
        asked: match &question.asked {
            Asked::Skill => AskedOutput::Skill,
            Asked::Command(argv) => AskedOutput::Command { argv: argv.clone() },
            Asked::Tool { tool, input } => AskedOutput::Tool { tool: tool.clone(), input: input.clone() },
        },
        open: question.open,
        rule: question.because.clone(),
        always,
        suggestions,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one call that leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
