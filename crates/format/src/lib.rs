//! The `SKILL.md` format: bytes to a typed document, and a body to a prompt.
//!
//! This crate is pure: it opens no file, runs no command and knows no async runtime. It never fails on input; what is
//! wrong with a file stands in its diagnostics. It decides nothing about authority: what cannot be read is marked as such,
//! and whoever reads it fails closed.
//!
//! Start at [`Document::read`] for a file and at [`Template::parse`] for its body.
//!
//! ```
//! use skillgate_format::{Document, ReadOptions, Template, TemplateOptions, Values};
//!
//! let file = b"---\nname: greet\ndescription: Greets: politely.\n---\nSay hello to $ARGUMENTS.\n";
//! let document = Document::read(file, &ReadOptions::default());
//! assert_eq!(document.description().map(|found| found.text), Some("Greets: politely."));
//! assert_eq!(document.diagnostics()[0].code.to_string(), "yaml-recovered:description");
//!
//! let template = Template::parse(
//!     &document.body(),
//!     &TemplateOptions::new(Default::default(), document.frontmatter()),
//! );
//! let filled = template.fill(&Values { arguments: Some("Ada"), ..Values::default() });
//! assert_eq!(filled.assemble::<&str>(&[]), "Say hello to Ada.\n");
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bytes;
mod chunk;
mod describe;
mod document;
mod fields;
mod fill;
mod fix;
mod header;
mod invisible;
mod key;
mod lines;
mod lists;
mod markdown;
mod normal;
mod options;
mod path_pattern;
mod placeholder;
mod quote;
mod reading;
mod repair;
mod requires;
mod scan;
mod strict;
mod template;
mod words;
mod yaml;
mod yaml_subset;

pub use document::{Description, Document};
pub use fill::{FilledTemplate, InjectionMode, Values, expand_variables, with_base_directory};
pub use fix::{apply_fixes, fix_all};
pub use key::known_keys;
pub use lists::split_list;
pub use normal::Fields;
pub use options::{READER, ReadOptions};
pub use path_pattern::{PathPatternProblem, path_pattern_problem};
pub use placeholder::{PlaceholderKind, Variable};
pub use scan::scan;
pub use strict::export_standard;
pub use template::{HoleSite, InjectionSite, Template, TemplateOptions};
pub use words::{Words, split_words};
