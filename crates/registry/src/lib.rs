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

mod catalogue;
mod entry;
mod lookup;
mod options;
mod pattern;
mod precedence;

pub use catalogue::Catalogue;
pub use entry::{Entry, ShadowReason, State};
pub use lookup::Lookup;
pub use options::CatalogueOptions;
pub use pattern::NamePattern;
pub use precedence::precedence;
