//! Directories for temporary files that are hostile, full, or closed: a typed error with the way out, and nothing left. Every test
//! runs as the user who runs the tests and, when that is root, as nobody too.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the directories and mounts are made outside the code under test")]

mod directories;
mod mounts;
mod support;
