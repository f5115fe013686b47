//! Skills that ship inside a program or as a pack.
//!
//! [`Extraction`] takes files to disk so that nothing on the way can make them something else: into a directory of its own
//! that nobody else can enter, every part opened relative to the handle of its parent and never through a link. A [`Pack`] is a
//! directory as one deterministic file with a manifest of digests; [`Signature`]s are over the manifest.
//!
//! Must not: trust a size, a name or a mode that an archive claims, follow a link, or give a path to a file that was not
//! written and checked whole.
//!
//! ```
//! use skillgate_bundle::{Pack, PackFile, PackInfo};
//!
//! let files = vec![PackFile::new("greet/SKILL.md", "---\ndescription: Greets.\n---\nSay hello.\n")];
//! let pack = Pack::build(PackInfo::new("greetings", "1.0.0")?, files)?;
//! let read = Pack::read(&pack.to_bytes())?;
//! assert_eq!(read.digest(), pack.digest());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
#[cfg(unix)]
mod extract;
mod import;
#[cfg(unix)]
mod lazy;
mod limits;
mod manifest;
mod name;
#[cfg(feature = "network")]
mod network;
mod pack;
mod requests;
#[cfg(unix)]
mod resolve;
mod sign;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod tree;

pub use error::{ExtractError, PackError, Step};
#[cfg(unix)]
pub use extract::{Extraction, ExtractionName, remove_leftovers_ambient};
#[cfg(unix)]
pub use import::import_ambient;
pub use import::{ImportError, ImportOptions, Imported, SourceForm, import_bytes};
#[cfg(unix)]
pub use lazy::LazyExtraction;
pub use limits::PackLimits;
pub use manifest::{FileRecord, Manifest, PackInfo, PackInfoError, RequestedAuthority, SkillRecord};
pub use name::{NameFault, PathSet, portable};
#[cfg(feature = "network")]
pub use network::{FetchError, FetchLimits, Fetched, RegistryLogin, fetch, pull, push};
pub use pack::{Pack, PackFile};
pub use requests::requested_authority;
#[cfg(unix)]
pub use resolve::Resolver;
pub use sign::{KeyError, PublicKey, SecretKey, Signature, SignatureFault};
#[cfg(unix)]
pub use store::{
    Change, Consent, FileChange, FileDiff, InstalledPack, LOCK_VERSION, LockFile, LockedPack, Outcome, PackDiff,
    PackSource, PackStore, PreviousPack, StoreError, bundled_tree,
};
