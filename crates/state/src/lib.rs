//! Owner-only, locked, atomic files: everything Skillgate keeps between runs (the compiled-component cache, trust, usage,
//! saves, lock files, the audit log) is kept through this crate.
//!
//! An [`OwnerDir`] is a directory that only its owner can enter. It is opened once, after its own mode and every directory
//! above it were checked, and each later operation goes through its handle, names one component and follows no link. A
//! reader sees the old file or the new one, whole, at whatever step a writer is killed.
//!
//! A [`ChainedLog`] is a file of lines that are only ever appended, each naming the hash of the one before it; [`verify`] finds
//! the first that does not follow.
//!
//! A [`TrustStore`] is which folders the user trusts. [`FolderId`] says which folder it is, by what the system and the
//! repository say and never by what a file of the folder claims.
//!
//! Of other files the crate must not know what they mean, and it must not loosen a check because a file is "only a cache": a compiled
//! component is code. Access control lists and writers with the same user id are outside what it can promise.
//!
//! ```
//! # #[cfg(unix)] fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! use skillgate_state::OwnerDir;
//!
//! let dir = OwnerDir::open_ambient(home.path().join("state"))?;
//! dir.write_atomic("trust.json", b"{}")?;
//! assert_eq!(dir.read("trust.json", 1024)?.as_deref(), Some(b"{}".as_slice()));
//! assert!(dir.write_atomic("../trust.json", b"{}").is_err());
//! # Ok(()) }
//! # #[cfg(not(unix))] fn main() {}
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod atomic;
mod error;
mod guarded;
mod leftover;
mod lock;
mod log;
mod name;
mod owner_dir;
mod trust;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as platform;

#[cfg(not(unix))]
mod unsupported;
#[cfg(not(unix))]
use unsupported as platform;

pub use error::{NameFault, StateError};
pub use guarded::read_guarded_ambient;
pub use lock::Lock;
pub use log::{
    ChainedLog, CutLine, Durability, Expectation, Fault, FaultKind, Head, Line, MAX_LINE_BYTES, ParseExpectationError,
    ParseHeadError, Verdict, verify,
};
pub use owner_dir::OwnerDir;
pub use trust::{
    DirectoryId, FolderFault, FolderId, Standing, TrustError, TrustRecord, TrustStore, TrustedFile, TrustedSkill,
};
