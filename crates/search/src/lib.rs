//! Search: which skills, and which deferred tools, answer a query.
//!
//! This crate is pure: it opens no file and decides no authority; the caller puts into an [`Index`] what the catalogue offers
//! to a model, and nothing else can be found. Everything is deterministic: the same documents give the same answer in
//! whatever order they were inserted, and ties are broken by key.
//!
//! Start at [`Index`] for skills and at [`ToolSearch`] for tools. `docs/search.md` says how the default ranking was chosen
//! and where the tokens differ from the description they come from.
//!
//! ```
//! use skillgate_search::{Document, Index, Query, Ranking};
//!
//! let mut index = Index::new(Ranking::default());
//! index.insert("deploy", &Document { name: "deploy", description: "Ship the site to production", ..Document::default() });
//! index.insert("review", &Document { name: "review", description: "Read a diff and comment on it", ..Document::default() });
//!
//! let hits = index.search(&Query::new("how do I ship this site?"));
//! assert_eq!(*hits[0].key, "deploy");
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod index;
mod mention;
mod opening;
mod prefetch;
mod ranking;
mod stem;
mod tokens;
mod tools;

pub use index::{DEFAULT_LIMIT, DEFAULT_THRESHOLD, Document, Hit, Index, Query};
pub use prefetch::{AUTO_LOAD_LIMIT, AUTO_LOAD_MAX_CHARS, AUTO_LOAD_THRESHOLD, prefetch_query};
pub use ranking::Ranking;
pub use tools::{ToolInfo, ToolMatches, ToolSearch};
