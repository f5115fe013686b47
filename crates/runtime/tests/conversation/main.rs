//! One conversation as a host sees it: tools that are called, hooks, forks, compaction, saves.
#![expect(clippy::disallowed_methods, reason = "tests make the skills that sessions read")]

mod bad_input;
mod forks;
mod host_tools;
mod keeping;
mod skill_tool;
mod telemetry;
mod world;
