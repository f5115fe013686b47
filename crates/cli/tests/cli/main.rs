//! The command as its users meet it: what it prints, where, and how it exits.
#![expect(clippy::disallowed_methods, reason = "tests make files and start the command they test")]

mod check;
mod fixture;
mod list_and_show;
mod run;
mod sandbox;
mod schemas;
mod usage;
