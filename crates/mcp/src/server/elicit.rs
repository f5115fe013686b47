//! Asks the client's user what a rule asks.

use crate::finding::shown;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};
use skillgate_exec::Asked;
use skillgate_runtime::{Always, Answer, Answerer, Question};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A question on its way from the thread that waits for the answer to a request of the client that can carry it.
#[derive(Debug)]
pub(super) struct Pending {
    question: Question,
    answer: mpsc::SyncSender<Answer>,
}

/// The questions of one conversation, or of one call. A client may only be asked while a request of its own is open, so those who
/// wait for an invocation carry them.
#[derive(Debug)]
pub(super) struct Questions {
    sender: UnboundedSender<Pending>,
    receiver: tokio::sync::Mutex<UnboundedReceiver<Pending>>,
}

impl Questions {
    pub(super) fn new() -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { sender, receiver: tokio::sync::Mutex::new(receiver) }
    }

    pub(super) fn answerer(&self) -> Arc<dyn Answerer> {
        Arc::new(Elicitor { sender: self.sender.clone() })
    }

    /// The next question, whichever invocation it comes from.
    pub(super) async fn next(&self) -> Pending {
        match self.receiver.lock().await.recv().await {
            Some(pending) => pending,
            // There is always a sender: ours.
            None => std::future::pending().await,
        }
    }
}

/// Hands questions to whoever speaks with the client.
#[derive(Debug)]
struct Elicitor {
    sender: UnboundedSender<Pending>,
}

impl Answerer for Elicitor {
    fn answer(&self, question: &Question) -> Answer {
        let (answer, answered) = mpsc::sync_channel(1);
        let pending = Pending { question: question.clone(), answer };
        if self.sender.send(pending).is_err() {
            return Answer::No;
        }
        // Whoever takes the question and does not answer it drops it, which is a no.
        answered.recv().unwrap_or(Answer::No)
    }
}

impl Pending {
    /// What a client is told that has to come back with the answer, as `name`, and with `state`.
    pub(super) fn input_required(&self, name: &str, state: String) -> Option<InputRequiredResult> {
        let request = InputRequest::Elicitation(ElicitRequest::new(request(&self.question, false)?));
        Some(InputRequiredResult::new(Some(InputRequests::from([(name.to_owned(), request)])), Some(state)))
    }

    /// Takes what the client came back with. Everything but a clear yes is a no.
    pub(super) fn answered(self, answer: &Value) {
        let answer = serde_json::from_value(answer.clone());
        self.answer(answer.map_or(Answer::No, |answer| decided(&answer, false)));
    }

    /// Asks the user of the client. Everything but a clear yes is a no.
    pub(super) async fn ask(&self, peer: &Peer<RoleServer>, limit: Duration) -> Answer {
        let Some(request) = request(&self.question, true) else { return Answer::No };
        match peer.create_elicitation_with_timeout(request, Some(limit)).await {
            Ok(answer) => decided(&answer, self.question.always != Always::Never),
            Err(error) => {
                tracing::warn!(%error, "the client did not answer a question");
                Answer::No
            }
        }
    }

    pub(super) fn answer(self, answer: Answer) {
        // Nobody waits any more when the invocation ended meanwhile.
        let _nobody_waits = self.answer.send(answer);
    }
}

/// What somebody chose. Everything but a clear yes is a no.
fn decided(answer: &ElicitResult, for_good: bool) -> Answer {
    let decision = answer.content.as_ref().and_then(|content| content.get("decision"));
    match decision.and_then(Value::as_str).filter(|_| answer.action == ElicitationAction::Accept) {
        Some("once") => Answer::Once,
        Some("always") if for_good => Answer::Always,
        _ => Answer::No,
    }
}

/// The question as a form. `for_good`: whether the conversation goes on, so that an `always` would mean something.
fn request(question: &Question, for_good: bool) -> Option<ElicitRequestParams> {
    let for_good = for_good && question.always != Always::Never;
    let mut choices = vec!["no", "once"];
    if for_good {
        choices.push("always");
    }
    let schema = json!({
        "type": "object",
        "properties": {"decision": {
            "type": "string",
            "title": "Decision",
            "description": if for_good {
                "`once` allows exactly this, in this invocation; `always` as far as the message says"
            } else {
                "`once` allows exactly this, in this invocation"
            },
            "enum": choices,
        }},
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(question, for_good),
        requested_schema,
    })
}

/// The question, with the rule that asks.
fn message(question: &Question, for_good: bool) -> String {
    let skill = question.skill.as_ref().map_or_else(|| "A skill".to_owned(), |skill| format!("The skill `{skill}`"));
    let mut message = match &question.asked {
        Asked::Skill => format!("{skill} is about to be used."),
        Asked::Command(words) => {
            let more = if question.open { " …" } else { "" };
            format!("{skill} wants to run `{}{more}`.", words.join(" "))
        }
        Asked::Tool { tool, input } => {
            format!("{skill} is in use, and the tool `{tool}` is about to be used with {}.", shown(input))
        }
    };
    message.push_str("\nAsked because of ");
    message.push_str(&question.because);
    match &question.always {
        Always::Rule(rule) if !for_good => {
            message.push_str("\nNobody is asked any more where the host allows `");
            message.push_str(rule);
            message.push_str("`.");
        }
        Always::Never => {}
        Always::Session if !for_good => {}
        Always::Session => message.push_str("\n`always` holds for this conversation."),
        Always::Rule(rule) => {
            message.push_str("\n`always` holds for this conversation, as if the host allowed `");
            message.push_str(rule);
            message.push_str("`.");
        }
    }
    message
}
