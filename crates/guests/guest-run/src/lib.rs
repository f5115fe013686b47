//! Running other commands: the host is asked for each (`wit/command`), decides it as a command of its own, and runs it in a
//! sandbox of its own. A refusal ends the command that asks.
//!
//! Must not: decide anything, or run a second command before the first has ended. Start at [`run`].

mod system;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With a status.
    Exited(u8),
    /// Nobody offers it.
    NotFound,
    /// It may not be run from here.
    CannotRun,
}

/// Runs a command to its end, with this command's output and messages. Flush yours before.
///
/// `directory` is where it starts, if not where this command does; `reads` lets it read this command's input, else it reads
/// nothing.
#[must_use]
pub fn run(vector: &[Vec<u8>], directory: Option<&[u8]>, reads: bool) -> Ended {
    system::run(vector, directory, None, reads)
}

/// As [`run`], with an environment of its own and this command's input.
#[must_use]
pub fn run_in(environment: &[(String, String)], vector: &[Vec<u8>], directory: Option<&[u8]>) -> Ended {
    system::run(vector, directory, Some(environment), true)
}
