//! The Linux host sandbox: a [`Plan`] as plain data, and the helper that confines itself by it and runs one program.
//!
//! The host makes a plan and starts the [`Helper`], a process with one thread that reads the plan from a socket, goes through
//! the stages of [`Stage::ALL`] in order, and executes the program by descriptor. Every stage is fatal: one that cannot do all of
//! its part ends the helper with [`Unavailable`] and its name, or with [`Refused`] when it is the plan that is at fault. There
//! is no weaker sandbox to fall back to.
//!
//! A program that embeds Skillgate has no helper binary beside it; it calls [`init`] first in its `main`, and is started again
//! in the helper's place.
//!
//! Must not: decide what is granted (a plan is taken as it is), know any other crate of the workspace, read the environment,
//! or go on after a failure.
//!
//! ```
//! use skillgate_sandbox::{Plan, PlanError};
//!
//! // A plan that contradicts itself is refused before anything starts.
//! let plan = Plan::new("git", "/usr/bin/git");
//! assert_eq!(plan.validate(), Err(PlanError::ProgramNotMounted { path: "/usr/bin/git".to_owned() }));
//! ```

mod fault;
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "nobody is spoken to where there is no sandbox")
)]
mod message;
mod plan;
mod reentry;
mod stage;
mod start;
mod validate;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
use unsupported as linux;

pub use fault::FAULT_INJECTION;
pub use message::{Ending, Reply, SourceFault};
pub use plan::{
    Action, GeneratedFile, Identity, Link, Mount, MountKind, Plan, ProcessLimits, Program, RunUser, ScratchLimits,
    SelfTest, WritableDirectory,
};
pub use reentry::{init, run_main};
pub use stage::{Refused, Stage, StageReport, Unavailable};
pub use start::{Event, Helper, Running, Stream};
pub use validate::PlanError;
