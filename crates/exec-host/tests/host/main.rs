//! The backend, from an approved command to what it printed and left. Every test runs as the user who runs the tests and, when
//! that is root, as nobody too.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests make files, and start what they test")]

mod ends;
mod git;
mod server;
mod support;
mod writing;
