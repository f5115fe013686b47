//! What the suites that cross crates share: a tree of files in one string, the shipped commands with their compiled form kept
//! between runs, a session over a tree, and the invariants that the fuzzers and the replay of their corpus check.
//!
//! For tests and benchmarks alone: it reads and writes files directly and takes a host's word for everything. Must not: hold
//! a test (those stand in `tests`), or be published. Start at [`Tree`] and [`builder`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "a fixture is made and looked at with `std::fs`, not through the code under test"
)]

pub mod fuzzing;
pub mod generated;
pub mod memory;

mod ran;
mod sandbox;
mod session;
mod tree;

pub use ran::Ran;
pub use sandbox::{Sandboxed, sandboxed};
pub use session::{backend, builder, host, prompt, rules, shell};
pub use tree::Tree;
