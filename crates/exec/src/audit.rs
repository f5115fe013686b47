use serde::Serialize;
use std::fmt;

/// Something the audit log has a line for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AuditEvent {
    /// A command was decided at the moment it was to run.
    Decision {
        /// The vector.
        vector: Vec<String>,
        /// `allow`, `ask` or `deny`.
        decision: String,
        /// The rule.
        rule: String,
    },
    /// A command ended.
    Command {
        /// The vector that ran.
        vector: Vec<String>,
        /// The backend that ran it.
        backend: &'static str,
        /// Its status, when it ended by itself.
        status: Option<u8>,
        /// How it ended otherwise.
        error: Option<String>,
        /// Wall time, microseconds.
        duration_us: u64,
    },
}

/// Takes audit events. It is called before a command starts and after it ended, from whichever thread runs the command.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// Records one event.
    ///
    /// # Errors
    /// What went wrong, as a sentence. A decision that cannot be recorded refuses the run.
    fn record(&self, event: &AuditEvent) -> Result<(), String>;
}

/// Records nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn record(&self, _: &AuditEvent) -> Result<(), String> {
        Ok(())
    }
}
