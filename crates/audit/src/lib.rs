//! The auditor's suite: attacks on a sandbox, run on the machine it stands on.
//!
//! A [`Case`] tries something that a sandbox has to deny, asserts the exact denial, and has a control that shows that the same act
//! succeeds where nothing denies it; a case without an attempt or without a control has failed. Backends are handed in as
//! [`Subject`]s, so that what is tested is what runs: Skillgate's own, or a host's.
//!
//! A control never harms: a destructive call is made with arguments that fail later than its permission, bombs are small, and
//! nothing reaches the network. [`plan`] says what would be done.
//!
//! Must not: decide what a backend may do, weaken a limit that is in force, or know MCP. It reads and makes files with `std::fs`,
//! because what it looks at is what the code under test must not touch. Start at [`run`]:
//!
//! ```
//! use skillgate_audit::{Options, Silent, Subject, Target, run};
//! use skillgate_exec::{Backend, Exit, Job, RunError};
//! use skillgate_policy::{Approved, Provider, builtin_limits};
//! use std::sync::Arc;
//!
//! /// A host's own backend, which is not finished.
//! #[derive(Debug)]
//! struct Mine;
//!
//! impl Backend for Mine {
//!     fn name(&self) -> &'static str {
//!         "mine"
//!     }
//!     fn provider(&self, _: &str) -> Option<Provider> {
//!         Some(Provider::ThirdParty)
//!     }
//!     fn run(&self, _: Approved, _: Job<'_>) -> Result<Exit, RunError> {
//!         Err(RunError::Unavailable { backend: "mine", stage: "everything", reason: "it is not written".to_owned() })
//!     }
//! }
//!
//! let subject = Subject::new("mine", Target::Wasm, |_probes| Ok(Arc::new(Mine)));
//! let report = run(&Options::new(builtin_limits()).only([1]), &[subject], &Silent);
//! assert_eq!(report.summary["mine"].unavailable, 1);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "the field of a case is made and looked at with `std::fs`, not through the code under test"
)]

mod archive;
mod baseline;
mod bomb;
mod case;
mod cases;
mod ended;
mod environment;
mod field;
mod guest;
mod html;
mod memory;
mod native;
mod random;
mod record;
mod report;
mod runner;
mod skills;
mod subject;
mod trial;

pub use baseline::Baseline;
pub use case::{Case, Group, Target};
pub use environment::{About, Environment, Kernel};
pub use report::{CaseReport, CheckReport, Outcome, PlannedCase, Report, Summary, matrix};
pub use runner::{Options, Progress, Silent, all_cases, has_cases, plan, run};
pub use subject::{Probe, ProbeForm, Subject};
