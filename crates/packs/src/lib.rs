//! The command components that Skillgate ships: `wasi:cli/command` components, compressed, with their digests.
//!
//! A component offers several commands and learns from its argument zero which one it is. The bytes are embedded when this
//! crate is built and unpacked on request, never more than the recorded size, and never handed out when their digest is not
//! the recorded one.
//!
//! Must not: read files, run anything, or decide who may use a command. Start at [`PackSet::shipped`].
//!
//! ```
//! use skillgate_packs::PackSet;
//!
//! let packs = PackSet::shipped();
//! let coreutils = packs.find("wc").expect("coreutils offers wc");
//! assert_eq!(coreutils.name(), "coreutils");
//! assert_eq!(&coreutils.wasm()?[..4], b"\0asm");
//! # Ok::<(), skillgate_packs::PackError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod component;
mod set;

pub use component::{Component, PackError};
pub use set::PackSet;
