//! What may run: tool patterns, the host's rules, the caveats of skills, and the gate.
//!
//! The one rule of this crate is that a skill can only take authority away. A [`Host`] grants, a [`Caveat`] narrows, an
//! [`Authority`] is the list of both, and an action is permitted when every member of the list permits it. [`Gate`] is the
//! only maker of [`Approved`], and a backend runs nothing without one.
//!
//! The crate is pure: no IO, no clock, no async runtime; it compiles for `wasm32-unknown-unknown`.
//!
//! ```
//! use skillgate_policy::{Authority, CommandRequest, Effect, Gate, Host, Place, Provider, Rule};
//!
//! let rule = Rule::parse(Effect::Allow, "Bash(ls:*)", Place::flag("--allow"))?;
//! let gate = Gate::new(Authority::of(Host::granting([rule])));
//! let vector = |words: &[&str]| CommandRequest::from_author(words, Provider::Shipped);
//! assert!(gate.approve(vector(&["ls", "-l"])).is_ok());
//! assert!(gate.approve(vector(&["rm", "-r"])).is_err());
//! # Ok::<(), skillgate_policy::PatternError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod action;
mod answers;
mod authority;
mod builtin;
mod carrier;
mod caveat;
mod command;
mod covers;
mod decision;
mod explain;
pub mod file;
mod filter;
mod gate;
mod history;
mod host;
mod index;
mod level;
mod paths;
mod pattern;
mod refusal;
mod request;
mod rule;
mod ruling;
mod skill;
mod trust;

pub use action::Action;
pub use answers::Answers;
pub use authority::{Authority, EffectiveEntry};
pub use builtin::builtin_limits;
pub use carrier::{Carrier, carrier};
pub use caveat::{Caveat, CaveatKind};
pub use command::{CommandPattern, Match};
pub use decision::{Conjunct, Decision, Reason};
pub use explain::{Account, Explanation, MatchedRule, NearRule};
pub use filter::is_pure_filter;
pub use gate::{Approved, Gate, Revocation, Sight, Verdict, Withheld};
pub use history::{HISTORY_VERSION, History, HistoryChange, HistoryError, PresentSkill, Restored, SavedCaveat};
pub use host::{Defaults, Host};
pub use level::{Ceiling, NotARestriction, PreApproval, Restriction};
pub use paths::{PathBase, PathRules};
pub use pattern::{PatternError, SkillPattern, ToolPattern, ToolSpec, UnknownTool};
pub use refusal::{Refusal, RefusalReason, SkillRefusal};
pub use request::{CommandRequest, Known, Provenance, Provider, Sketch, Word};
pub use rule::{Effect, Place, Rule};
pub use skill::{Invoker, SkillDecision, SkillRequest, decide_skill, unsafe_properties};
pub use trust::{SignerGrant, SkillCeiling, Trust, skill_ceiling};
