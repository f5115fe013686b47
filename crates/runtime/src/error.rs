use crate::fork::{AgentError, RecursionError, TooManyForks};
use crate::hook::HookRefusal;
use skillgate_core::{LoadFailure, Right, Span};
use skillgate_exec::{AuditError, ProgramError, RunError};
use skillgate_loader::{BodyError, CallBodyError, FilesError};
use skillgate_policy::{Effect, Place, Refusal, SkillRefusal};
use skillgate_registry::Unmet;
use std::path::PathBuf;

/// Why a skill was not invoked. Whatever the reason, nothing of it enters a prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The policy switches all skills off.
    #[error("skills are switched off ({place})")]
    SkillsOff {
        /// Where it says so.
        place: Place,
    },
    /// No skill has the name (error 1 of the Skill tool).
    #[error("there is no skill `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names like it, the nearest first.
        nearest: Vec<String>,
    },
    /// Something of the name is there and cannot be read.
    #[error("`{}` cannot be used: {}", .0.name, .0.diagnostic.message)]
    Unreadable(Box<LoadFailure>),
    /// The skill is a project's that the host does not trust.
    #[error("`{name}` belongs to a project that is not trusted")]
    Untrusted {
        /// The skill.
        name: String,
        /// The project.
        project: PathBuf,
    },
    /// The skill is a plugin's that the host does not trust.
    #[error("`{name}` belongs to a plugin that is not trusted")]
    UntrustedPlugin {
        /// The skill.
        name: String,
        /// The plugin's directory.
        root: PathBuf,
    },
    /// The skill is of a trusted project or plugin, and what it wants to do needs a right that was not granted for its content.
    #[error("`{name}` has no right to {right} ({})", if *.lapsed { "it was granted for another content" } else { "trust in a folder covers reading" })]
    RightMissing {
        /// The skill.
        name: String,
        /// The right.
        right: Right,
        /// Whether it was granted for a content that the skill had before.
        lapsed: bool,
        /// The folder of the project or plugin.
        folder: PathBuf,
        /// What was refused.
        refusal: Box<Refusal>,
    },
    /// The policy switches the skill off.
    #[error("`{name}` is switched off by the policy (`{pattern}`, {place})")]
    Disabled {
        /// The skill.
        name: String,
        /// The pattern that does.
        pattern: String,
        /// Where it stands.
        place: Place,
    },
    /// The policy names the only skills that are not switched off, and this is none of them.
    #[error("`{name}` is switched off by the policy: it is not among the only ones that are not ({place})")]
    LeftOut {
        /// The skill.
        name: String,
        /// Where the others are named.
        place: Place,
    },
    /// Something that the skill requires is not there.
    #[error("`{name}` cannot be invoked: {unmet}")]
    Unavailable {
        /// The skill.
        name: String,
        /// What is not there.
        unmet: Unmet,
    },
    /// The decision on the skill itself.
    #[error(transparent)]
    Skill(#[from] SkillRefusal),
    /// The skill's header cannot be read: its text may be looked at, and not invoked.
    #[error("`{name}` cannot be invoked, because its header cannot be read")]
    Broken {
        /// The skill.
        name: String,
        /// What was found in the header.
        findings: Vec<String>,
    },
    /// A hook of the skill can block, and cannot do what its author meant it to.
    #[error(transparent)]
    Hooks(Box<HookRefusal>),
    /// A hook keeps the skill from being invoked.
    #[error("`{name}` is not invoked: {reason}")]
    HeldBack {
        /// The skill.
        name: String,
        /// What the hook says.
        reason: String,
    },
    /// The skill was taken back after it was decided on.
    #[error("`{name}` was revoked before it ran, or its text is another by now")]
    Revoked {
        /// The skill.
        name: String,
    },
    /// The name is one of a command that the host carries out itself (error 5 of the Skill tool).
    #[error("`{name}` is a command that only the user can give, and no skill")]
    HostAction {
        /// The command.
        name: String,
    },
    /// The arguments are longer than a prompt takes.
    #[error("the arguments have {chars} characters, and at most {limit} are taken")]
    ArgumentsTooLong {
        /// Characters they have.
        chars: usize,
        /// The most.
        limit: usize,
    },
    /// The skill runs in an agent of its own, and the host runs none.
    #[error("`{name}` runs in an agent of its own (`context: fork`), and this host runs none")]
    NoAgents {
        /// The skill.
        name: String,
    },
    /// The skill's fork would stand in itself, or too deep.
    #[error(transparent)]
    Recursion(#[from] RecursionError),
    /// As many agents run as may.
    #[error("`{name}` is not begun: {error}")]
    TooManyForks {
        /// The skill.
        name: String,
        /// Where they run.
        error: TooManyForks,
    },
    /// The skill's own agent gave no result.
    #[error("`{name}` gave no result: {error}")]
    Agent {
        /// The skill.
        name: String,
        /// Why not.
        error: AgentError,
    },
    /// The skill's text is not what was decided on, or gone.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The skill's text is made of the call's arguments, and it was not.
    #[error("`{name}` has no text for this call: {error}")]
    CallBody {
        /// The skill.
        name: String,
        /// Why not.
        error: CallBodyError,
    },
    /// An injection cannot be run; nothing ran.
    #[error("an injection cannot be run: {error}")]
    Program {
        /// What is wrong, with its place in the injection.
        error: ProgramError,
        /// The injection.
        source_text: String,
        /// Where the cause stands in the skill's file.
        span: Span,
        /// The skill's file.
        path: PathBuf,
    },
    /// The gate refused a command of an injection.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The record of it cannot be written, and the host wants none of it without.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
    /// An injected command ended with a status that means failure.
    #[error(transparent)]
    Failed(Box<FailedCommand>),
    /// A limit, a fault of a guest, or a fault of ours.
    #[error("an injection did not end by itself: {error}")]
    Run {
        /// How it ended.
        error: RunError,
        /// The injection.
        source_text: String,
    },
    /// The files beside the skill cannot be taken to disk, and its prompt would name them.
    #[error("the files of `{name}` cannot be taken to disk: {error}")]
    Files {
        /// The skill.
        name: String,
        /// The step and the path.
        error: FilesError,
    },
    /// The project or the skill's directory cannot be shown to commands.
    #[error("`{}` cannot be opened for the sandbox: {reason}", .path.display())]
    Mount {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl InvokeError {
    /// The number of the Skill tool's error; `None` for what has none there.
    #[must_use]
    pub fn number(&self) -> Option<u8> {
        match self {
            InvokeError::Unknown { .. } | InvokeError::Unreadable(_) | InvokeError::SkillsOff { .. } => Some(1),
            InvokeError::Skill(refusal) => Some(refusal.number()),
            InvokeError::Refused(refusal) if refusal.reason.effect() == Effect::Ask => Some(3),
            InvokeError::Disabled { .. }
            | InvokeError::LeftOut { .. }
            | InvokeError::Untrusted { .. }
            | InvokeError::UntrustedPlugin { .. }
            | InvokeError::RightMissing { .. }
            | InvokeError::Refused(_)
            | InvokeError::HeldBack { .. }
            | InvokeError::Revoked { .. } => Some(2),
            InvokeError::HostAction { .. } => Some(5),
            _ => None,
        }
    }

    /// A short, stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            InvokeError::Unknown { .. } => "unknown",
            InvokeError::Unreadable(_) => "unreadable",
            InvokeError::Untrusted { .. } | InvokeError::UntrustedPlugin { .. } => "untrusted",
            InvokeError::RightMissing { .. } => "right-missing",
            InvokeError::Disabled { .. } | InvokeError::LeftOut { .. } => "disabled",
            InvokeError::Unavailable { .. } => "unavailable",
            InvokeError::SkillsOff { .. } => "skills-off",
            InvokeError::Skill(_) | InvokeError::Refused(_) => "refused",
            InvokeError::Broken { .. } => "broken",
            InvokeError::Hooks(_) => "hooks",
            InvokeError::HeldBack { .. } => "held-back",
            InvokeError::Revoked { .. } => "revoked",
            InvokeError::HostAction { .. } => "wrong-type",
            InvokeError::ArgumentsTooLong { .. } => "arguments-too-long",
            InvokeError::NoAgents { .. } => "no-agents",
            InvokeError::Recursion(_) => "fork-recursion",
            InvokeError::TooManyForks { .. } => "too-many-forks",
            InvokeError::Agent { error, .. } => error.code(),
            InvokeError::Body(_) => "body",
            InvokeError::CallBody { error, .. } => error.code(),
            InvokeError::Program { .. } => "program",
            InvokeError::Failed(_) => "failed",
            InvokeError::Run { error, .. } => error.code(),
            InvokeError::Files { .. } => "files",
            InvokeError::Mount { .. } => "mount",
            InvokeError::Unrecorded(_) => "unrecorded",
        }
    }
}

/// An injected command that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the injection `{source_text}` failed: `{command}` ended with status {status}")]
pub struct FailedCommand {
    /// The injection.
    pub source_text: String,
    /// The command that gave the status.
    pub command: String,
    /// The status.
    pub status: u8,
    /// What the injection printed, sanitised and cut.
    pub output: String,
}

impl FailedCommand {
    /// What stands in the prompt in place of the output, where the policy wants it there.
    pub(crate) fn mark(&self) -> String {
        let mark = format!("[command failed with status {}: {}]", self.status, self.source_text);
        if self.output.is_empty() { mark } else { format!("{mark}\n{}", self.output) }
    }
}
