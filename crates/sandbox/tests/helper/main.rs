//! The helper, from plan to outcome. Every test runs as the user who runs the tests and, when that is root, as nobody too.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests make files, and start what they test")]

mod life;
mod refusal;
mod run;
mod support;
mod walls;
