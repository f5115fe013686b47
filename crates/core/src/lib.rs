//! The domain types that every Skillgate crate speaks.
//!
//! This crate is pure data: it does no IO, knows no async runtime and compiles for `wasm32-unknown-unknown`. A value that
//! carries a promise ([`RelPath`], [`CommandName`], [`Digest`]) can only be made by checking the promise.
//!
//! Start at [`Skill`], which is what a `SKILL.md` becomes, and [`Diagnostic`], which is how everything that was lost, cut,
//! guessed or repaired on the way is reported.
//!
//! ```
//! use skillgate_core::{CommandName, RelPath};
//!
//! let name = CommandName::new("review-pr")?;
//! assert_eq!(name.as_str(), "review-pr");
//! assert!(RelPath::new("../outside").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod code;
mod diagnostic;
mod digest;
mod field;
mod frontmatter;
mod injection;
mod invisible;
mod lazy;
mod limits;
mod lookalike;
mod name;
mod path;
mod right;
mod skill;
mod source;
mod span;
mod suggest;
mod value;

pub use code::Code;
pub use diagnostic::{Diagnostic, Fix, Severity};
pub use digest::{Digest, ParseDigestError};
pub use field::{Field, Guarded};
pub use frontmatter::{Context, Effort, Frontmatter, HeaderState, ModelChoice, Requires, Version};
pub use injection::{Hole, HoleValue, Injection, InjectionForm};
pub use invisible::{InvisibleKind, classify_invisible, without_invisible};
pub use lazy::{FrontmatterStore, GivenKeys, KeptText, LazyFrontmatter};
pub use limits::{Limits, LimitsError};
pub use lookalike::{Lookalike, ascii_lookalike, mixed_lookalike};
pub use name::{CommandName, NameError};
pub use path::{RelPath, RelPathError};
pub use right::{ParseRightError, Right, Rights};
pub use skill::{LoadFailure, Plugin, Skill, SkillId};
pub use source::{LoadedFrom, Profile, Scope, Source};
pub use span::{LineIndex, Position, Span};
pub use suggest::nearest;
pub use value::{Entry, Scalar, ScalarStyle, Value, ValueKind};
