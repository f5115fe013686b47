//! What a conversation keeps, under random interleavings of everything that changes it.

mod compaction;
mod scopes;
