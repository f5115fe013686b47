//! Skillgate for programs that embed it: Agent Skills are found, decided on, expanded into prompts, and what they run runs in
//! capability sandboxes only.
//!
//! One [`Runtime`] serves a whole program: the skills of one place, the [`Host`] that decides over them, and the [`Executor`] that
//! runs their commands. Each conversation is a [`Session`] of it; programs on tokio use [`AsyncSession`].
//!
//! What a host has to do so that the promises hold for its own tools too: ask [`Session::before_tool`] before each of them runs,
//! tell [`Session::after_tool`] what came of it, and say with [`Session::user_message`] when a turn begins. Without these calls
//! they cover only what Skillgate runs itself.
//!
//! ```
//! # let tree = tempfile::tempdir()?;
//! # let project = tree.path().join("project");
//! # std::fs::create_dir_all(project.join(".claude/skills/greet"))?;
//! # std::fs::write(project.join(".claude/skills/greet/SKILL.md"), "---\ndescription: Greets.\n---\nHello $0, !`echo hi`.\n")?;
//! use skillgate::prelude::*;
//!
//! let shell = Arc::new(CapabilityShell::new(Vec::new()));
//! let runtime = Runtime::builder(Host::new([], Defaults::BuiltIn), shell).project(project).trust_project(true).open()?;
//! let session = runtime.session(SessionOptions::default());
//! let result = session.call_skill(&SkillCall::new("greet", Invoker::User).args("Ada"))?;
//! assert_eq!(result.tool_result, "Launching skill: greet");
//! assert!(result.messages[1].content.ends_with("Hello Ada, hi.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate's examples are whole programs: `chat_loop` embeds it beside a model, `custom_source` brings skills from a place of
//! its own, `custom_backend` brings a command.
//!
//! | feature | brings |
//! |---|---|
//! | `wasm` (default) | [`wasm`]: commands as WebAssembly components |
//! | `packs` (default) | [`packs`]: the shipped commands |
//! | `host-sandbox` | `host_sandbox`, `sandbox`: programs of the machine in the Linux sandbox |
//! | `bundle` | `bundle`, `include_skills!`: skills inside the program, signed packs |
//! | `mcp` | `mcp`: skills from servers, a server of one's own |
//! | `watch` | skills that are followed while the program runs: `Runtime::watch`, and change events in [`loader`] |

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub use skillgate_core as core;
pub use skillgate_exec as exec;
pub use skillgate_format as format;
pub use skillgate_loader as loader;
pub use skillgate_policy as policy;
pub use skillgate_registry as registry;
pub use skillgate_runtime as runtime;
pub use skillgate_search as search;
pub use skillgate_state as state;

#[cfg(feature = "bundle")]
pub use skillgate_bundle as bundle;
#[cfg(feature = "bundle")]
pub use skillgate_bundle_macros::include_skills;
#[cfg(feature = "host-sandbox")]
pub use skillgate_exec_host as host_sandbox;
#[cfg(feature = "wasm")]
pub use skillgate_exec_wasm as wasm;
#[cfg(feature = "mcp")]
pub use skillgate_mcp as mcp;
#[cfg(feature = "packs")]
pub use skillgate_packs as packs;
/// The helper of the Linux sandbox. A program that uses it calls [`sandbox::init`] first in its `main`.
#[cfg(feature = "host-sandbox")]
pub use skillgate_sandbox as sandbox;

pub use skillgate_exec::{CapabilityShell, Executor};
pub use skillgate_policy::{Defaults, Host};
pub use skillgate_runtime::{AsyncSession, Runtime, Session};

#[cfg(feature = "packs")]
mod shipped;
#[cfg(feature = "packs")]
pub use shipped::shipped_commands;

/// What almost every program that embeds Skillgate names.
pub mod prelude {
    pub use skillgate_exec::{CapabilityShell, Executor};
    pub use skillgate_policy::{Defaults, Effect, Host, Invoker, Place, Rule};
    pub use skillgate_runtime::{
        AgentId, AgentRunner, Answer, Answerer, AsyncSession, CompactBudget, InvokeError, Question, Runtime, Save,
        Session, SessionOptions, SkillCall, SkillResult, SkillStatus, ToolCall, ToolDecision,
    };
    pub use std::sync::Arc;
}
