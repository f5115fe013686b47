//! The audit record: what an event becomes as a line of a log.

use serde::{Deserialize, Serialize};
use skillgate_core::Digest;
use skillgate_exec::{Asked, AuditContext, AuditError, AuditEvent, AuditFailure, AuditSink, SkillCall};
use skillgate_policy::Invoker;
use skillgate_state::{ChainedLog, Durability, Expectation, StateError, Verdict, verify};
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::Path;

/// Longest text that a record takes from a skill or a policy, characters.
const MAX_TEXT: usize = 1024;
/// Longest that the members of a record may be; the chain needs some of a line for itself.
const MAX_MEMBERS: usize = skillgate_state::MAX_LINE_BYTES - 1024;

/// One line of an audit log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRecord {
    /// The line's number, from 1.
    pub seq: u64,
    /// When it was written: UTC, RFC 3339, to the millisecond.
    pub time: String,
    /// The `hash` of the line before it; 64 zeros in the first.
    pub previous: String,
    /// What happened, and on whose behalf.
    #[serde(flatten)]
    pub members: RecordMembers,
    /// SHA-256 of the line's bytes before `,"hash"`.
    pub hash: String,
}

/// What a record says besides its place in the chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordMembers {
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// `user` or `model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoker: Option<String>,
    /// The skill, as `source:name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// SHA-256 of the skill's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: RecordEvent,
}

/// What happened. Members that hold contents are there only in logs that were asked to keep them; a `vector_digest` is the
/// SHA-256 over the words, each preceded by its length as eight bytes, the lowest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordEvent {
    /// It was decided whether a skill that a user typed may be invoked.
    SkillTyped(RecordedCall),
    /// It was decided whether a skill that a model called may be invoked.
    SkillCalled(RecordedCall),
    /// It was decided whether a model may be given a skill's text as it stands, without an invocation.
    SkillRead(RecordedCall),
    /// Somebody was asked.
    Answer {
        /// `skill` or `command`.
        asked: String,
        /// The command, as far as it was known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vector_digest: Option<String>,
        /// Contents: its words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argv: Option<Vec<String>>,
        /// The rule that asked, or what made a skill need an agreement.
        rule: String,
        /// `no`, `once` or `always`.
        answer: String,
    },
    /// A program is about to run.
    RunStart {
        /// SHA-256 of the program's text.
        program_digest: String,
        /// Contents: the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
    },
    /// A program ended.
    RunEnd {
        /// SHA-256 of the program's text.
        program_digest: String,
        /// Its status, when it ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u8>,
        /// How it ended otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<RecordFailure>,
        /// What it wrote to its standard output and standard error, bytes.
        output_bytes: u64,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// A command was decided.
    Command {
        /// The vector, as far as it was known.
        vector_digest: String,
        /// Contents: its words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argv: Option<Vec<String>>,
        /// `allow`, `ask` or `deny`.
        decision: String,
        /// The rule that decided, with its place.
        rule: String,
    },
    /// The use of a tool of the host was decided.
    Tool {
        /// The tool.
        tool: String,
        /// Its input.
        input_digest: String,
        /// Contents: the input, JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// `allow`, `ask` or `deny`.
        decision: String,
        /// The rule that decided, with its place; else why.
        rule: String,
    },
    /// A command ended.
    CommandEnd {
        /// The vector that ran.
        vector_digest: String,
        /// Contents: its words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argv: Option<Vec<String>>,
        /// The backend that ran it.
        backend: String,
        /// Its status, when it ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u8>,
        /// How it ended otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<RecordFailure>,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// An invocation was refused for another reason than a rule about a skill or a command.
    Refusal {
        /// Why.
        failure: RecordFailure,
    },
    /// A hook gave its verdict.
    Hook {
        /// The event it was for.
        hook: String,
        /// The kind of handler.
        handler: String,
        /// Its verdict, or how it failed.
        verdict: String,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// The host's trust in something changed.
    Trust {
        /// What is trusted.
        what: String,
        /// Whether it is trusted from now on.
        trusted: bool,
        /// SHA-256 of the contents it was trusted for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trusted_digest: Option<String>,
    },
    /// The line before was cut, because its writer was stopped; this one follows from the last whole line.
    Recovery {
        /// How many bytes of the cut line there are.
        cut_bytes: u64,
        /// Their SHA-256.
        cut_digest: String,
    },
}

/// A decision on invoking a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedCall {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// The rule that decided, with its place.
    pub rule: String,
    /// SHA-256 of the arguments as typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<String>,
    /// Contents: the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// How something ended that did not end by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordFailure {
    /// The kind, a short stable name.
    pub kind: String,
    /// The rule that refused, when one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Contents: the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Records into a chained log.
#[derive(Debug)]
pub struct FileAudit {
    log: ChainedLog,
    contents: bool,
}

impl FileAudit {
    /// Records into this file, without contents. See [`ChainedLog::open_ambient`] for what the file has to be.
    ///
    /// # Errors
    /// As [`ChainedLog::open_ambient`].
    pub fn open_ambient(path: impl AsRef<Path>, durability: Durability) -> Result<Self, StateError> {
        Ok(Self { log: ChainedLog::open_ambient(path, durability)?, contents: false })
    }

    /// Whether argument vectors, argument text, programs and messages are recorded too, and not only their digests.
    #[must_use]
    pub fn with_contents(mut self, contents: bool) -> Self {
        self.contents = contents;
        self
    }
}

impl AuditSink for FileAudit {
    fn record(&self, context: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        let fail = |reason: String| AuditError { reason };
        let text = |contents| object(&members(context, event, contents)).map_err(|error| fail(error.to_string()));
        let mut line = text(self.contents)?;
        if line.len() > MAX_MEMBERS {
            // What does not fit is still there as its digest.
            line = text(false)?;
        }
        self.log.append(&line).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            fail(format!("{error}{cause}"))
        })?;
        Ok(())
    }
}

/// Verifies the chain of an audit log, and that each line is a record. Each record that holds is given to `each`.
///
/// # Errors
/// What reading says. A fault is part of the verdict.
pub fn verify_log(
    log: &mut dyn BufRead,
    expected: Option<Expectation>,
    each: &mut dyn FnMut(AuditRecord),
) -> io::Result<Verdict> {
    verify(log, expected, &mut |line| {
        let record: AuditRecord = serde_json::from_str(line.text).map_err(|error| error.to_string())?;
        each(record);
        Ok(())
    })
}

/// The members as a JSON object on one line, with nothing in it that a terminal would act on.
fn object(members: &RecordMembers) -> serde_json::Result<String> {
    let json = serde_json::to_string(members)?;
    let unseen = |c: char| c.is_control() || skillgate_core::classify_invisible(c).is_some();
    if !json.contains(unseen) {
        return Ok(json);
    }
    // Such characters stand inside strings only, where JSON has a second way to write them.
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if unseen(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

fn members(context: &AuditContext, event: &AuditEvent, contents: bool) -> RecordMembers {
    let invoker = |invoker: Invoker| match invoker {
        Invoker::User => "user".to_owned(),
        Invoker::Model => "model".to_owned(),
    };
    RecordMembers {
        session: context.session.as_deref().map(bounded),
        invoker: context.invoker.map(invoker),
        skill: context.skill.as_ref().map(ToString::to_string),
        digest: context.digest.as_ref().map(ToString::to_string),
        event: recorded(event, contents),
    }
}

fn recorded(event: &AuditEvent, contents: bool) -> RecordEvent {
    let argv = |vector: &Vec<String>| contents.then(|| vector.clone());
    let failure = |failure: &AuditFailure| RecordFailure {
        kind: failure.kind.to_owned(),
        rule: failure.rule.as_deref().map(bounded),
        message: contents.then(|| failure.message.clone()),
    };
    let call = |call: &SkillCall| RecordedCall {
        decision: call.decision.to_string(),
        rule: bounded(&call.rule),
        arguments_digest: call.arguments.as_deref().map(text_digest),
        arguments: call.arguments.clone().filter(|_| contents),
    };
    match event {
        AuditEvent::SkillTyped(typed) => RecordEvent::SkillTyped(call(typed)),
        AuditEvent::SkillCalled(called) => RecordEvent::SkillCalled(call(called)),
        AuditEvent::SkillRead(read) => RecordEvent::SkillRead(call(read)),
        AuditEvent::Answer { asked, rule, answer } => {
            let (asked, vector) = match asked {
                Asked::Skill => ("skill", None),
                Asked::Command(vector) => ("command", Some(vector.clone())),
                Asked::Tool { tool, input } => ("tool", Some(vec![tool.clone(), input.clone()])),
            };
            RecordEvent::Answer {
                asked: asked.to_owned(),
                vector_digest: vector.as_deref().map(vector_digest),
                argv: vector.as_ref().and_then(argv),
                rule: bounded(rule),
                answer: (*answer).to_owned(),
            }
        }
        AuditEvent::RunStart { program } => {
            RecordEvent::RunStart { program_digest: text_digest(program), program: contents.then(|| program.clone()) }
        }
        AuditEvent::RunEnd { program, status, failure: ended, output_bytes, duration_us } => RecordEvent::RunEnd {
            program_digest: text_digest(program),
            status: *status,
            failure: ended.as_ref().map(failure),
            output_bytes: *output_bytes,
            duration_us: *duration_us,
        },
        AuditEvent::Command { vector, decision, rule } => RecordEvent::Command {
            vector_digest: vector_digest(vector),
            argv: argv(vector),
            decision: decision.to_string(),
            rule: bounded(rule),
        },
        AuditEvent::Tool { tool, input, decision, rule } => RecordEvent::Tool {
            tool: bounded(tool),
            input_digest: text_digest(input),
            input: contents.then(|| input.clone()),
            decision: decision.to_string(),
            rule: bounded(rule),
        },
        AuditEvent::CommandEnd { vector, backend, status, failure: ended, duration_us } => RecordEvent::CommandEnd {
            vector_digest: vector_digest(vector),
            argv: argv(vector),
            backend: (*backend).to_owned(),
            status: *status,
            failure: ended.as_ref().map(failure),
            duration_us: *duration_us,
        },
        AuditEvent::Refusal(refused) => RecordEvent::Refusal { failure: failure(refused) },
        AuditEvent::Hook { event, handler, verdict, duration_us } => RecordEvent::Hook {
            hook: bounded(event),
            handler: bounded(handler),
            verdict: bounded(verdict),
            duration_us: *duration_us,
        },
        AuditEvent::Trust { what, trusted, digest } => RecordEvent::Trust {
            what: bounded(what),
            trusted: *trusted,
            trusted_digest: digest.as_ref().map(ToString::to_string),
        },
        // An event of a newer version of the other crate is still a line.
        other => RecordEvent::Refusal {
            failure: RecordFailure {
                kind: "unknown-event".to_owned(),
                rule: None,
                message: contents.then(|| format!("{other:?}")),
            },
        },
    }
}

fn text_digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn vector_digest(vector: &[String]) -> String {
    Digest::of_parts(vector.iter().map(String::as_bytes)).to_string()
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
