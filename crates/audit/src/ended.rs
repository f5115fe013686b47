//! How a run ended, in words that a case can name exactly.

use skillgate_exec::{Bound, RunError, Stop};
use std::fmt;
use std::time::Duration;

/// How something ended that a case ran.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ended {
    /// By itself.
    Exit(u8),
    /// It never began: the capability shell does not have the construct.
    Unsupported(String),
    /// Otherwise.
    Error(RunError),
}

/// What a case saw of something that it ran.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Bytes written to both streams, whether kept or not.
    pub(crate) written: u64,
    pub(crate) took: Duration,
    /// Instructions that the guests of the run executed, as the engine counts them.
    pub(crate) fuel: u64,
}

impl Ran {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub(crate) fn messages(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Whether anything ran: the sandbox says it could not, and there is no output either.
    pub(crate) fn nothing_ran(&self) -> bool {
        matches!(self.ended, Ended::Error(RunError::Unavailable { .. })) && self.written == 0
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "exit {code}"),
            Ended::Unsupported(_) => f.write_str("unsupported"),
            Ended::Error(RunError::Refused(refusal)) => write!(f, "refused: {}", refusal.reason.rule()),
            Ended::Error(RunError::Stopped { stop: Stop::Bound(bound), .. }) => {
                write!(f, "stopped: {}", bound_name(bound))
            }
            Ended::Error(RunError::Stopped { stop: Stop::Cancelled, .. }) => f.write_str("stopped: cancelled"),
            Ended::Error(RunError::Stopped { stop, .. }) => write!(f, "stopped: {stop}"),
            Ended::Error(RunError::Fault { fault, .. }) => write!(f, "fault: {fault}"),
            Ended::Error(RunError::Unavailable { stage, .. }) => write!(f, "unavailable: {stage}"),
            Ended::Error(error) => write!(f, "{}: {error}", error.code()),
        }
    }
}

impl Ended {
    /// The whole message, for details.
    pub(crate) fn message(&self) -> String {
        match self {
            Ended::Exit(_) => self.to_string(),
            Ended::Unsupported(reason) => reason.clone(),
            Ended::Error(error) => error.to_string(),
        }
    }
}

fn bound_name(bound: &Bound) -> String {
    let name = match bound {
        Bound::WallTime(_) => "wall time",
        Bound::Memory(_) => "memory",
        Bound::Output(_) => "output",
        Bound::Commands(_) => "commands",
        Bound::LoopTurns(_) => "loop turns",
        Bound::Depth(_) => "depth",
        Bound::PipelineStages(_) => "pipeline stages",
        Bound::OpenFiles(_) => "open files",
        Bound::GlobResults(_) => "glob results",
        Bound::PatternSteps(_) => "pattern steps",
        Bound::Variables(_) => "variables",
        Bound::Written(_) => "written",
        Bound::Source(_) => "source",
        Bound::Stack => "stack",
        Bound::Fuel(_) => "fuel",
        // A bound that is newer than this table is named by its message.
        other => return other.to_string(),
    };
    name.to_owned()
}
