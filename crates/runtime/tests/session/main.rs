//! Sessions over a backend of plain functions: who is asked, and what is recorded.
#![expect(clippy::disallowed_methods, reason = "tests make the skills that sessions read")]

mod answers;
mod audit;
mod fixture;
mod packs;
mod prefetch;
mod sources;
mod touch;
