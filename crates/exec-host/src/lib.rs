//! The host backend: programs of the machine that the host's policy names, each run confined by the Linux sandbox.
//!
//! What a command may see becomes a [`Plan`](skillgate_sandbox::Plan) by a pure function ([`plan_for`]); the backend starts the
//! sandbox's helper with it, passes the streams on within the run's bounds, and kills everything of the run at the deadline.
//! Before the first run of each shape, a self-test of the same shape tries to reach the host from inside; when it reaches
//! anything, the backend is unavailable.
//!
//! What the host itself starts and speaks with, such as a server of skills, goes through the same stages
//! ([`HostBackend::start_server`]). No skill asks for it, so it needs no approval.
//!
//! Must not: find a program through a path list (the policy names it, absolute), run one for a skill without an
//! [`Approved`](skillgate_policy::Approved), pass a descriptor of a file to a program (through /proc it could be opened again,
//! for writing), or fall back to anything weaker.
//!
//! ```
//! use skillgate_exec::Backend as _;
//! use skillgate_exec_host::{HostBackend, NativeProgram};
//! use skillgate_policy::Provider;
//!
//! let backend = HostBackend::builder().program(NativeProgram::new("git", "/usr/bin/git")).build();
//! assert_eq!(backend.provider("git"), Some(Provider::Native));
//! assert_eq!(backend.provider("gh"), None);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod backend;
mod canary;
mod doctor;
mod examine;
mod hidden;
mod plan;
mod program;
mod run;
mod server;
mod system;
mod writeback;

pub use backend::{HostBackend, HostBackendBuilder};
pub use doctor::{DoctorReport, ProgramReport};
pub use examine::ProgramFault;
pub use plan::{PlanFault, PlanRequest, SeenDirectory, plan_for};
pub use program::NativeProgram;
pub use run::HostOutcome;
pub use server::{ServerFault, ServerProcess, ServerProgram};
pub use system::{System, UserRange};
pub use writeback::{Change, ChangeKind, ChangeObserver};
