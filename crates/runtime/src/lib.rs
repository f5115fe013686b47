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
//! use skillgate_runtime::{InvokeRequest, Session};
//! use std::sync::Arc;
//!
//! let session = Session::builder(Host::new([], Defaults::BuiltIn), Arc::new(CapabilityShell::new(Vec::new())))
//!     .project(project)
//!     .trust_project(true)
//!     .open()?;
//! let invocation = session.invoke(&InvokeRequest::new("greet", Invoker::User).arguments("Ada"))?;
//! assert!(invocation.text().ends_with("Hello Ada, hi.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod audit;
mod consent;
mod discover;
mod error;
mod exceeds;
mod invocation;
mod invoke;
mod plan;
mod session;
mod settle;
mod trust;

pub use answer::{Always, Answer, Answerer, Question};
pub use audit::{AuditRecord, FileAudit, RecordEvent, RecordFailure, RecordMembers, RecordedCall, verify_log};
pub use discover::{DiscoverSkills, DiscoveredSkill, DiscoveredSkills};
pub use error::{FailedCommand, InvokeError};
pub use invocation::{AuthorityReport, CaveatReport, InjectionReport, Invocation, Message, Role};
pub use invoke::InvokeRequest;
pub use plan::{InjectionPlan, InvocationPlan, Positions};
pub use session::{OpenError, Session, SessionBuilder};
pub use trust::ProjectTrust;
