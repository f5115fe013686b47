//! The command as its users meet it: what it prints, where, and how it exits.
#![expect(clippy::disallowed_methods, reason = "tests make files and start the command they test")]

mod audit;
mod auditing;
#[cfg(unix)]
mod browse;
mod catalogue;
mod check;
mod check_cases;
mod check_documentation;
mod check_paths;
mod complaints;
mod components;
mod fixture;
mod hooks;
mod host;
mod list_and_show;
#[cfg(unix)]
mod mcp;
mod packs;
mod policy;
mod policy_verbs;
mod run;
mod sandbox;
mod schemas;
mod search;
mod session;
#[cfg(unix)]
mod terminal;
mod trust;
mod usage;
#[cfg(unix)]
mod watch;
