//! Invokes skills: finds one by its name, decides whether it may be used, decides every command of its injections before
//! anything runs, runs them, and puts the prompt together.
//!
//! Must not: know a backend (an [`Executor`](skillgate_exec::Executor) is handed in), read a file other than through the
//! loader's handles, or widen what the host grants. Start at [`Session`].
//!
//! ```
//! # let tree = tempfile::tempdir()?;
//! # let project = tree.path().join("project");
//! # std::fs::create_dir_all(project.join(".claude/skills/greet"))?;
//! # std::fs::write(project.join(".claude/skills/greet/SKILL.md"), "---\ndescription: Greets.\n---\nHello $0, !`echo hi`.\n")?;
//! use skillgate_exec::CapabilityShell;
//! use skillgate_policy::{Defaults, Host, Invoker};
//! use skillgate_runtime::{InvokeRequest, Runtime, SessionOptions};
//! use std::sync::Arc;
//!
//! let runtime = Runtime::builder(Host::new([], Defaults::BuiltIn), Arc::new(CapabilityShell::new(Vec::new())))
//!     .project(project)
//!     .trust_project(true)
//!     .open()?;
//! let session = runtime.session(SessionOptions::default());
//! let invocation = session.invoke(&InvokeRequest::new("greet", Invoker::User).arguments("Ada"))?;
//! assert!(invocation.text().ends_with("Hello Ada, hi.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod asynchronous;
mod audit;
mod cancel;
mod clock;
mod compact;
mod consent;
mod conversation;
mod deciding;
mod discover;
mod error;
mod exceeds;
mod fire;
mod fork;
pub mod hook;
mod invocation;
mod invoke;
mod invoked;
mod lifecycle;
mod live;
mod load;
#[cfg(unix)]
mod packs;
mod plan;
mod prefetch;
mod reading;
mod reload;
mod runtime;
mod save;
mod scope;
mod session;
mod settle;
mod skills;
mod subscribers;
mod telemetry;
mod texts;
mod tool;
mod touch;
mod trust;
mod usage;
#[cfg(feature = "watch")]
mod watch;

pub use answer::{Always, Answer, Answerer, Question};
pub use asynchronous::AsyncSession;
pub use audit::{AuditRecord, FileAudit, RecordEvent, RecordFailure, RecordMembers, RecordedCall, verify_log};
pub use cancel::CancelToken;
pub use clock::Clock;
pub use compact::{CompactBudget, CompactOutcome, Compacted, CompactedSkill};
pub use discover::{DiscoverSkills, DiscoveredSkill, DiscoveredSkills, RankedSkill};
pub use error::{FailedCommand, InvokeError};
pub use fork::{
    AgentError, AgentOutput, AgentRunner, COMPLETED, DeliveryError, ForkMode, ForkProgress, ForkRequest, MAX_CHAIN,
    MAX_FORKS, MAX_RESULT_CHARS, MAX_RUNTIME_FORKS, PendingForks, ProcessRunner, ProcessRunnerError, RecursionError,
    SkillChain, TooManyForks, WaitReason, check_kind, fork_mode, result_text,
};
pub use invocation::{AuthorityReport, CaveatReport, InjectionReport, Invocation, Message, MessageKind, Role};
pub use invoke::InvokeRequest;
pub use invoked::{
    AgentId, AgentIdError, InvokedSkill, InvokedSkills, Presence, Recorded, UnloadReason, UnloadedSkill,
};
pub use lifecycle::{CompactHeld, EventResult};
#[cfg(unix)]
pub use packs::{BundledPlace, EmbeddedSkills, InstalledPacks, embedded_skills};
pub use plan::{InjectionPlan, InvocationPlan, Positions};
pub use prefetch::{Prefetch, PrefetchSource, Prefetched, SkillDiscovery};
pub use reload::{Reloaded, SessionReloaded, SkillsChange, TakenBack};
pub use runtime::{OpenError, Runtime, RuntimeBuilder};
pub use save::{
    Activation, MAX_SAVE_BYTES, NarrowedSkill, RefusedSkill, RestoreReport, RestoredSkill, SAVE_VERSION, Save,
    SaveError, SavedConversation, SpentHook, Standing,
};
pub use scope::{ActiveSkill, ActiveSkills, TurnScopes};
pub use session::{Session, SessionOptions};
pub use skillgate_loader::{
    BodyCall, CallBody, CallBodyError, HeldExtras, HeldMark, HeldSkill, LazyBody, SkillRoots, SkillSource,
};
pub use skillgate_registry::CatalogueChanges;
pub use subscribers::Subscription;
pub use telemetry::Telemetry;
pub use tool::{
    CommandPermissions, ForkEnd, FoundTool, FoundTools, HostCommand, HostCommandKind, MAX_ARGUMENT_CHARS,
    MAX_PROMPT_CHARS, SkillCall, SkillResult, SkillStatus, ToolAfter, ToolCall, ToolDecision, ToolDefinition,
    TypedResult,
};
pub use touch::TouchOutcome;
pub use trust::ProjectTrust;
pub use usage::UsageCounts;
#[cfg(feature = "watch")]
pub use watch::RuntimeWatch;
