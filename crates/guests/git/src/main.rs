//! The component `git`: a git that only reads.
//!
//! It prints what git prints, byte for byte, or says what it does not support; it never gives a different result. It writes
//! nothing, not even the index, and runs nothing: no hook, filter, pager, monitor, alias or external diff, whatever the
//! configuration of the repository says. `docs/commands/git.md` lists what it supports.

mod commands;
mod commit;
mod config;
mod date;
mod diff;
mod failure;
mod files;
mod index;
mod odb;
mod options;
mod pathspec;
mod person;
mod pretty;
mod quote;
mod refs;
mod repository;
mod revision;
mod tree;
mod width;
mod worktree;

use std::io::Write as _;

#[cfg(target_os = "wasi")]
fn main() {
    guest_start::run(git);
}

#[cfg(not(target_os = "wasi"))]
fn main() {
    std::process::exit(git());
}

fn git() -> i32 {
    let arguments = std::env::args().skip(1).collect();
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let result = commands::run(arguments, &mut out);
    // What was printed before an error comes before its message.
    let flushed = out.flush();
    match (result, flushed) {
        (Ok(status), Ok(())) => status,
        (Ok(_), Err(error)) => failure::Failure::Output(error).report(),
        (Err(failure), _) => failure.report(),
    }
}
