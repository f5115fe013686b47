use crate::backend::RunError;
use skillgate_core::{Digest, SkillId};
use skillgate_policy::{Effect, Invoker};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something the audit log has a line for. Events hold contents (argument vectors, argument text, programs); whether a sink
/// keeps them or only their digests is the sink's business.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum AuditEvent {
    /// It was decided whether a skill whose name a user typed may be invoked.
    SkillTyped(SkillCall),
    /// It was decided whether a skill that a model called may be invoked.
    SkillCalled(SkillCall),
    /// It was decided whether a model may be given a skill's text as it stands, without an invocation.
    SkillRead(SkillCall),
    /// Somebody was asked.
    Answer {
        /// What was asked about.
        asked: Asked,
        /// The rule that asked, or what made a skill need an agreement.
        rule: String,
        /// `no`, `once` or `always`.
        answer: &'static str,
    },
    /// A program is about to run.
    RunStart {
        /// The program as its author wrote it.
        program: String,
    },
    /// A program ended.
    RunEnd {
        /// The program as its author wrote it.
        program: String,
        /// Its status, when it ended by itself.
        status: Option<u8>,
        /// How it ended otherwise.
        failure: Option<AuditFailure>,
        /// What it wrote to its standard output and standard error, bytes.
        output_bytes: u64,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// A command was decided: before anything ran when it is refused as a whole, else at the moment it is to run.
    Command {
        /// The vector, as far as it is known.
        vector: Vec<String>,
        /// The decision.
        decision: Effect,
        /// The rule that decided, with its place.
        rule: String,
    },
    /// It was decided whether a tool of the host may be used.
    Tool {
        /// The tool.
        tool: String,
        /// Its input, JSON.
        input: String,
        /// The decision.
        decision: Effect,
        /// The rule that decided, or why.
        rule: String,
    },
    /// A command ended.
    CommandEnd {
        /// The vector that ran.
        vector: Vec<String>,
        /// The backend that ran it.
        backend: &'static str,
        /// Its status, when it ended by itself.
        status: Option<u8>,
        /// How it ended otherwise.
        failure: Option<AuditFailure>,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// An invocation was refused for another reason than a rule about a skill or a command.
    Refusal(AuditFailure),
    /// A hook gave its verdict.
    Hook {
        /// The event it was for.
        event: String,
        /// The kind of handler.
        handler: String,
        /// Its verdict, or how it failed.
        verdict: String,
        /// Wall time, microseconds.
        duration_us: u64,
    },
    /// The host's trust in something changed.
    Trust {
        /// What is trusted: a project's path, a key's id.
        what: String,
        /// Whether it is trusted from now on.
        trusted: bool,
        /// The contents it was trusted for, where trust binds to contents.
        digest: Option<Digest>,
    },
}

/// A decision on invoking a skill. Which skill it is, the context says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillCall {
    /// The decision.
    pub decision: Effect,
    /// The rule that decided, with its place.
    pub rule: String,
    /// The arguments as typed.
    pub arguments: Option<String>,
}

/// What somebody was asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The invocation of the skill that the context names.
    Skill,
    /// A command; the vector as far as it is known.
    Command(Vec<String>),
    /// The use of a tool of the host.
    Tool {
        /// The tool.
        tool: String,
        /// Its input, JSON.
        input: String,
    },
}

/// How something ended that did not end by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditFailure {
    /// The kind, a short stable name: `refused`, `stopped`, `fault`, `unavailable`, `host` …
    pub kind: &'static str,
    /// The rule that refused, when one did.
    pub rule: Option<String>,
    /// The whole message, which may hold contents.
    pub message: String,
}

impl AuditFailure {
    /// A failure without a rule.
    #[must_use]
    pub fn new(kind: &'static str, message: impl fmt::Display) -> Self {
        Self { kind, rule: None, message: message.to_string() }
    }
}

impl From<&RunError> for AuditFailure {
    fn from(error: &RunError) -> Self {
        let rule = match error {
            RunError::Refused(refusal) => Some(refusal.reason.rule()),
            _ => None,
        };
        Self { kind: error.code(), rule, message: error.to_string() }
    }
}

/// On whose behalf an event happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditContext {
    /// The conversation.
    pub session: Option<String>,
    /// Who wanted it.
    pub invoker: Option<Invoker>,
    /// The skill.
    pub skill: Option<SkillId>,
    /// Digest of the skill's content.
    pub digest: Option<Digest>,
}

/// The record of an event could not be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the audit record cannot be written: {reason}")]
pub struct AuditError {
    /// Why, as a sentence.
    pub reason: String,
}

/// Takes audit events. It is called before a command starts and after it ended, from whichever thread runs the command.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// Records one event.
    ///
    /// # Errors
    /// [`AuditError`]. What cannot be recorded does not run; a host for which a record is worth less than a run wraps its sink
    /// in [`BestEffort`].
    fn record(&self, context: &AuditContext, event: &AuditEvent) -> Result<(), AuditError>;
}

/// Records nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn record(&self, _: &AuditContext, _: &AuditEvent) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Records in every one of several sinks. The first failure is given when all were called.
#[derive(Clone, Debug)]
pub struct AllSinks(pub Vec<Arc<dyn AuditSink>>);

impl AuditSink for AllSinks {
    fn record(&self, context: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        let results: Vec<_> = self.0.iter().map(|sink| sink.record(context, event)).collect();
        results.into_iter().collect()
    }
}

/// Records when it can: a failure is told once and keeps nothing from running.
pub struct BestEffort<F> {
    sink: Arc<dyn AuditSink>,
    tell: F,
    told: AtomicBool,
}

impl<F: Fn(&AuditError) + Send + Sync> BestEffort<F> {
    /// A sink that calls `tell` at the first failure of `sink`.
    #[must_use]
    pub fn new(sink: Arc<dyn AuditSink>, tell: F) -> Self {
        Self { sink, tell, told: AtomicBool::new(false) }
    }
}

impl<F> fmt::Debug for BestEffort<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BestEffort").field(&self.sink).finish()
    }
}

impl<F: Fn(&AuditError) + Send + Sync> AuditSink for BestEffort<F> {
    fn record(&self, context: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        if let Err(error) = self.sink.record(context, event)
            && !self.told.swap(true, Ordering::Relaxed)
        {
            (self.tell)(&error);
        }
        Ok(())
    }
}

/// A sink together with the context of everything that is recorded through it.
#[derive(Clone, Debug)]
pub struct Trail {
    sink: Arc<dyn AuditSink>,
    context: Arc<AuditContext>,
}

impl Trail {
    /// Records into `sink`.
    #[must_use]
    pub fn new(sink: Arc<dyn AuditSink>, context: AuditContext) -> Self {
        Self { sink, context: Arc::new(context) }
    }

    /// Records nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Arc::new(NoAudit), AuditContext::default())
    }

    /// On whose behalf things happen.
    #[must_use]
    pub fn context(&self) -> &AuditContext {
        &self.context
    }

    /// Records one event.
    ///
    /// # Errors
    /// As [`AuditSink::record`].
    pub fn record(&self, event: &AuditEvent) -> Result<(), AuditError> {
        self.sink.record(&self.context, event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    struct Broken(Mutex<u32>);

    impl AuditSink for Broken {
        fn record(&self, _: &AuditContext, _: &AuditEvent) -> Result<(), AuditError> {
            *self.0.lock().expect("no test panics while it holds this") += 1;
            Err(AuditError { reason: "no space".to_owned() })
        }
    }

    #[test]
    fn best_effort_tells_once_and_goes_on_trying() {
        let broken = Arc::new(Broken::default());
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = {
            let told = Arc::clone(&told);
            move |error: &AuditError| told.lock().expect("no panic").push(error.to_string())
        };
        let trail = Trail::new(Arc::new(BestEffort::new(broken.clone(), tell)), AuditContext::default());
        for _ in 0..3 {
            trail.record(&AuditEvent::RunStart { program: String::new() }).expect("it is best effort");
        }
        assert_eq!(*told.lock().expect("no panic"), ["the audit record cannot be written: no space"]);
        assert_eq!(*broken.0.lock().expect("no panic"), 3);
    }

    #[test]
    fn one_sink_that_fails_keeps_no_other_from_recording() {
        let (first, second) = (Arc::new(Broken::default()), Arc::new(Broken::default()));
        let all = AllSinks(vec![first.clone(), Arc::new(NoAudit), second.clone()]);
        let failed = all.record(&AuditContext::default(), &AuditEvent::RunStart { program: String::new() });
        assert!(failed.is_err());
        assert_eq!((*first.0.lock().expect("no panic"), *second.0.lock().expect("no panic")), (1, 1));
    }
}
