//! The fuzz targets' bodies, taken from the suites that replay their corpus; see `tests/src/fuzzing`.
//!
//! Must not: hold an invariant of its own, or depend on a crate that starts processes or components.

#![forbid(unsafe_code)]

#[path = "../../src/fuzzing/mod.rs"]
mod fuzzing;
#[path = "../../src/memory.rs"]
pub mod memory;

pub use fuzzing::*;
