//! Skills that run in an agent of their own: who runs it, what it may do, how it is stopped, and what comes back.

mod bound;
mod chain;
mod mode;
mod pending;
mod process;
mod result;

pub(crate) use bound::{ForkCount, ForkPlace};
pub use bound::{MAX_FORKS, MAX_RUNTIME_FORKS, TooManyForks};
pub use chain::{MAX_CHAIN, RecursionError, SkillChain};
pub use mode::{ForkMode, WaitReason, fork_mode};
pub use pending::{DeliveryError, PendingForks};
pub use process::{ProcessRunner, ProcessRunnerError};
pub use result::{COMPLETED, MAX_RESULT_CHARS, result_text};

use crate::cancel::CancelToken;
use crate::invocation::AuthorityReport;
use crate::invoked::AgentId;
use serde::Serialize;
use skillgate_core::{Effort, SkillId};

/// What an agent of its own is begun with.
#[derive(Clone, PartialEq, Debug)]
pub struct ForkRequest {
    /// Names this fork in the conversation, and in what is delivered later.
    pub id: String,
    /// The agent that is begun: its invoked skills, hooks and scope are its own.
    pub agent: AgentId,
    /// The skill.
    pub skill: SkillId,
    /// The forks that it stands in, itself the last: who runs it hands this on, so that a skill cannot call itself for ever.
    pub chain: SkillChain,
    /// The prompt. The agent knows nothing else of the conversation.
    pub prompt: String,
    /// What it may do at most: what its parent may and the skill leaves. A runner whose agent has tools of its own asks
    /// `before_tool` for each call; this is the same for people and for what cannot ask.
    pub authority: AuthorityReport,
    /// The model that the skill asks for.
    pub model: Option<String>,
    /// The effort that the skill asks for.
    pub effort: Option<Effort>,
    /// The kind of agent that the skill asks for.
    pub kind: Option<String>,
}

/// What happens while an agent runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ForkProgress {
    /// It runs.
    Started,
    /// It said something that may become its result.
    Message {
        /// What it said.
        text: String,
    },
    /// It said something about its work.
    Log {
        /// What it said.
        text: String,
    },
}

/// What an agent said, in the order in which it did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentOutput {
    /// Its messages. The last one with text in it is the result.
    pub messages: Vec<String>,
}

/// Why an agent gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Somebody took it back.
    #[error("the agent was stopped")]
    Cancelled,
    /// It ran as long as it may.
    #[error("the agent ran longer than {seconds} s and was stopped")]
    TooLong {
        /// The bound.
        seconds: u64,
    },
    /// It said more than it may.
    #[error("the agent wrote more than {limit} bytes and was stopped")]
    TooMuch {
        /// The bound.
        limit: u64,
    },
    /// It ended and said that it failed.
    #[error("the agent failed ({status}){}", .said.as_ref().map_or_else(String::new, |said| format!(": {said}")))]
    Failed {
        /// How it ended.
        status: String,
        /// The end of what it said about it.
        said: Option<String>,
    },
    /// There is no agent of this kind.
    #[error("there is no agent `{kind}`{}", nearest(.known))]
    UnknownKind {
        /// What was asked for.
        kind: String,
        /// The kinds there are.
        known: Vec<String>,
    },
    /// It could not be begun.
    #[error("the agent cannot be begun: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
}

fn nearest(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; there are {}", known.join(", ")) }
}

impl AgentError {
    /// A short, stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            AgentError::Cancelled => "fork-cancelled",
            AgentError::TooLong { .. } => "fork-too-long",
            AgentError::TooMuch { .. } => "fork-too-much",
            AgentError::Failed { .. } => "fork-failed",
            AgentError::UnknownKind { .. } => "fork-unknown-agent",
            AgentError::Unavailable { .. } => "fork-unavailable",
        }
    }
}

/// Runs the agents of skills that do not run in the conversation. The host gives one; without any, such a skill is refused.
pub trait AgentRunner: std::fmt::Debug + Send + Sync {
    /// The kinds of agents there are, by the names that a skill's `agent` uses; `None` when any name will do. A skill that asks
    /// for another one is unavailable from the moment it is loaded.
    fn kinds(&self) -> Option<Vec<String>> {
        None
    }

    /// Whether a result can reach the conversation after the call that began the agent was answered.
    fn delivers_later(&self) -> bool {
        false
    }

    /// Runs an agent to its end. Called on a thread that may block; `progress` may be called from any, and what it is told is
    /// not kept. When `cancel` is set the agent has to end soon.
    ///
    /// # Errors
    /// An [`AgentError`] when there is no result.
    fn run(
        &self,
        request: &ForkRequest,
        progress: &(dyn Fn(ForkProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<AgentOutput, AgentError>;
}

/// Whether a runner has an agent of the kind that a skill asks for.
///
/// # Errors
/// [`AgentError::UnknownKind`] with the kinds there are.
pub fn check_kind(runner: &dyn AgentRunner, kind: Option<&str>) -> Result<(), AgentError> {
    match (kind, runner.kinds()) {
        (Some(kind), Some(known)) if !known.iter().any(|name| name == kind) => {
            Err(AgentError::UnknownKind { kind: kind.to_owned(), known })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
