//! What a conversation keeps, under random interleavings of everything that changes it.
#![expect(clippy::disallowed_methods, reason = "tests make the skills that sessions read")]

mod compaction;
mod model;
mod scopes;
mod session;
