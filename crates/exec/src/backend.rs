use crate::audit::AuditError;
use crate::mounts::Mounts;
use crate::run::{Run, Stop};
use crate::stream::{Input, Output};
use skillgate_policy::{Approved, Provider, Refusal};
use std::fmt;
use std::sync::Arc;

/// Runs approved commands. A backend never decides: it is handed an [`Approved`], which only the gate makes, and runs the
/// vector that was checked or nothing.
pub trait Backend: Send + Sync + fmt::Debug {
    /// The backend's name in reports: `wasm`, `host`.
    fn name(&self) -> &'static str;

    /// Who would run the command of this name here; `None` when this backend does not know it.
    fn provider(&self, command: &str) -> Option<Provider>;

    /// Runs one command to its end.
    ///
    /// # Errors
    /// [`RunError`]: everything that is not the command's own exit status.
    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError>;
}

/// Everything a command gets besides its vector.
#[derive(Debug)]
pub struct Job<'a> {
    /// The directory it starts in, an absolute path inside one of the mounts.
    pub directory: &'a str,
    /// Its whole environment.
    pub environment: &'a [(String, String)],
    /// What it reads.
    pub stdin: Input,
    /// Where its output goes.
    pub stdout: Output,
    /// Where its messages go.
    pub stderr: Output,
    /// The directories it may be shown.
    pub mounts: &'a Arc<Mounts>,
    /// The run it belongs to.
    pub run: &'a Arc<Run>,
    /// What runs the commands that this one asks for; `None` for one whose vector does not say that it runs others.
    pub nested: Option<&'a dyn NestedCommands>,
}

/// Runs what a running command, such as `xargs`, wants to run: each vector is counted, decided by the gate and recorded as a
/// command of its own at the moment it exists.
pub trait NestedCommands: fmt::Debug {
    /// Runs one command to its end, with the output and the messages of the one that asks.
    ///
    /// # Errors
    /// [`RunError`], which ends the command that asks as well: a refusal is one of the whole run.
    fn run(&self, command: NestedCommand) -> Result<Nested, RunError>;
}

/// A command that a running command asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NestedCommand {
    /// Its vector, the command's name first.
    pub vector: Vec<String>,
    /// The directory it starts in, absolute or from that of the command that asks; `None` for the same.
    pub directory: Option<String>,
    /// Its whole environment; `None` for that of the command that asks. What is no name of a variable is left out.
    pub environment: Option<Vec<(String, String)>>,
    /// Whether it reads what the command that asks reads; else nothing.
    pub reads: bool,
}

/// How a command that was asked for ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nested {
    /// With a status.
    Exited(u8),
    /// Nobody offers it, or its directory is not there; nothing ran.
    NotFound,
}

/// How a command ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// Its status, 0 to 255.
    pub code: u8,
}

/// How a run ended other than by an exit status. The kinds are never mixed: the policy refused, a limit was reached, the guest
/// is at fault, the backend cannot work here, or we are at fault.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The policy refused; nothing of the run's output may be used.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A bound was reached, or the run was cancelled.
    #[error("`{command}` was stopped: {stop}")]
    Stopped {
        /// The command that was running.
        command: String,
        /// Why.
        stop: Stop,
    },
    /// The guest did what it must not: it trapped or broke its interface.
    #[error("`{command}` failed in the sandbox: {fault}")]
    Fault {
        /// The command.
        command: String,
        /// What it did.
        fault: String,
    },
    /// The backend cannot run commands on this machine.
    #[error("the {backend} sandbox is not available (stage {stage}): {reason}")]
    Unavailable {
        /// The backend's name.
        backend: &'static str,
        /// The stage that failed.
        stage: &'static str,
        /// Why.
        reason: String,
    },
    /// The record of it cannot be written, and what cannot be recorded does not run; nothing of the run's output may be used.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
    /// Something outside the guest went wrong.
    #[error("{doing}: {reason}")]
    Host {
        /// What was being done.
        doing: String,
        /// What went wrong.
        reason: String,
    },
}

impl RunError {
    /// A short, stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            RunError::Refused(_) => "refused",
            RunError::Stopped { .. } => "stopped",
            RunError::Fault { .. } => "fault",
            RunError::Unavailable { .. } => "unavailable",
            RunError::Unrecorded(_) => "unrecorded",
            RunError::Host { .. } => "host",
        }
    }
}

impl From<Refusal> for RunError {
    fn from(refusal: Refusal) -> Self {
        RunError::Refused(Box::new(refusal))
    }
}
