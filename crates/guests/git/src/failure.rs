//! The ways in which a command ends early, with git's own texts and statuses.

use std::fmt::Display;
use std::io;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// git's `fatal: …`, status 128.
    Fatal(String),
    /// git's `error: …`, with the status of the command.
    Error(String, i32),
    /// Lines as they are, with the status of the command.
    Message(String, i32),
    /// What this git does not do, by its name; status 2.
    Unsupported(String),
    /// Nothing to say.
    Quiet(i32),
    /// The output could not be written.
    Output(io::Error),
}

/// What a part of a command gives.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Status of a death by SIGPIPE, as a shell reports it.
const STATUS_BROKEN_PIPE: i32 = 141;

impl Failure {
    /// Says what has to be said and gives the status.
    pub(crate) fn report(self) -> i32 {
        match self {
            Failure::Fatal(text) => {
                eprintln!("fatal: {text}");
                128
            }
            Failure::Error(text, status) => {
                eprintln!("error: {text}");
                status
            }
            Failure::Message(text, status) => {
                eprintln!("{text}");
                status
            }
            Failure::Unsupported(what) => {
                eprintln!("skillgate: git: {what}");
                2
            }
            Failure::Quiet(status) => status,
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => STATUS_BROKEN_PIPE,
            Failure::Output(error) => {
                eprintln!("fatal: write failure on standard output: {error}");
                128
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// `fatal: …`.
pub(crate) fn fatal<T>(text: impl Into<String>) -> Outcome<T> {
    Err(Failure::Fatal(text.into()))
}

/// The refusal of something that git can do and this one cannot.
pub(crate) fn unsupported<T>(what: impl Display) -> Outcome<T> {
    Err(Failure::Unsupported(format!("{what} is not supported")))
}
