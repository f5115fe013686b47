//! What the loader makes of trees of files, good and bad.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "a fixture is made and looked at with `std::fs`, not through the code under test"
)]

mod bodies;
mod commands;
mod complaints;
mod content;
mod discovery;
mod extras;
mod find;
mod held;
mod hostile;
mod nested;
mod order;
mod plugins;
mod skills;
mod suspect;
mod tree;
