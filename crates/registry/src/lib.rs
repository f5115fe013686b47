//! The catalogue: many skills from many sources become one answer for each name, with the losers and the reason.
//!
//! This crate is pure: it opens no file and gives no authority. The catalogue says what a name means; whether it may be
//! used is the gate's to decide. It must give the same answer for the same skills in any order, must let no untrusted or
//! broken skill hide another, and must not offer to a model what [`Entry::is_offered_to_model`] excludes.
//!
//! Start at [`Catalogue::build`] and [`Catalogue::lookup`].
//!
//! ```
//! use skillgate_registry::{Catalogue, CatalogueOptions, Lookup};
//!
//! let catalogue = Catalogue::build(Vec::new(), Vec::new(), &CatalogueOptions::default());
//! assert!(matches!(catalogue.lookup("/review"), Lookup::Unknown { .. }));
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod activation;
mod catalogue;
mod changes;
mod entry;
mod explain;
mod listing;
mod lookup;
mod options;
mod path_trie;
mod pattern;
mod precedence;
mod requires;
mod search;

pub use activation::{ActivationFault, PathActivation};
pub use catalogue::Catalogue;
pub use changes::CatalogueChanges;
pub use entry::{Entry, ShadowReason, State};
pub use explain::{Explained, Loser};
pub use listing::{
    Cut, DEFAULT_LISTING_CHARS, Level, Listed, Listing, ListingForm, ListingOptions, MAX_DESCRIPTION_CHARS,
    MIN_DESCRIPTION_CHARS, SKILL_TOOL_GUIDANCE,
};
pub use lookup::Lookup;
pub use options::CatalogueOptions;
pub use path_trie::PatternFault;
pub use pattern::NamePattern;
pub use precedence::precedence;
pub use requires::Unmet;
pub use search::{FoundSkill, SkillSearch};
