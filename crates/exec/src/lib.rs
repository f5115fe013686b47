//! The capability shell: evaluates shell programs so that what is checked is what runs.
//!
//! A [`Program`] is parsed once. Before anything runs, every simple command in it is decided as far as its words are known
//! ([`Executor::plan`]); when a command's vector exists, the gate decides again, and only that decision makes the `Approved`
//! that a [`Backend`] runs. No second parser exists, and no backend decides.
//!
//! Must not: start a process (a backend does), decide (the gate does), or reach a file other than through [`Mounts`]. Start
//! at [`Executor`] and its implementation [`CapabilityShell`].
//!
//! ```
//! use skillgate_core::Injection;
//! use skillgate_exec::{CapabilityShell, Executor, Program, Scene};
//! use skillgate_policy::{Authority, Gate, Host, builtin_limits};
//!
//! let program = Program::from_text("echo hello", &builtin_limits())?;
//! let gate = Gate::new(Authority::of(Host::granting([])));
//! let shell = CapabilityShell::new(Vec::new());
//! // Nothing is granted, so not even a built-in runs.
//! assert!(shell.plan(&program, &gate).iter().all(|command| command.verdict.is_err()));
//! # Ok::<(), skillgate_exec::ProgramError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod audit;
mod backend;
mod eval;
mod executor;
mod hook;
mod mounts;
mod program;
mod run;
mod sanitise;
mod scratch;
mod stream;
#[cfg(test)]
mod testing;
mod written;

pub use audit::{
    AllSinks, Asked, AuditContext, AuditError, AuditEvent, AuditFailure, AuditSink, BestEffort, NoAudit, SkillCall,
    Trail,
};
pub use backend::{Backend, Exit, Job, Nested, NestedCommand, NestedCommands, RunError};
pub use eval::{ScriptKind, is_builtin, script_at};
pub use executor::{Asker, CapabilityShell, CommandRecord, Completion, Executor, PlannedCommand, Scene, Streams};
pub use hook::{HookCall, HookHandler, HookLoadError, HookLoader, HookReply};
pub use mounts::{ChangeError, Located, Mount, Mounts, Writing, normalise};
pub use program::{Program, ProgramError};
pub use run::{Bound, Run, Stop};
pub use sanitise::{Sanitiser, cut, sanitise};
pub use stream::{
    Buffer, Capture, Counted, FileOutput, Input, Output, Overflow, PipeReader, PipeWriter, Sink, WriteError, pipe,
};
pub use written::{WrittenCommand, WrittenFile, WrittenProgram};
