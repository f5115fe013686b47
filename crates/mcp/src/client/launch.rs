//! How a host starts the programs of servers, when it does not leave it to this crate.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;

/// The program of a server, as its entry says.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerProgram {
    /// Its path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
}

/// Names of variables only: their values are secrets more often than not.
impl fmt::Debug for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProgram")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .finish()
    }
}

/// Starts the programs of servers in a confinement of the host's. Where it cannot, a server is not started: there is no weaker
/// way in which it is.
pub trait ServerLauncher: fmt::Debug + Send + Sync {
    /// Starts a program with exactly its environment. Called on a thread that may block, and bounded by the time for
    /// connecting: what comes later is ended at once.
    ///
    /// # Errors
    /// A [`LaunchError`]; nothing of it runs then.
    fn launch(&self, program: &ServerProgram) -> Result<LaunchedServer, LaunchError>;
}

/// A server that was started.
#[derive(Debug)]
pub struct LaunchedServer {
    /// The end of the pipe that it reads.
    pub stdin: File,
    /// The end of the pipe that it answers on.
    pub stdout: File,
    /// The end of the pipe of its standard error.
    pub stderr: File,
    /// What keeps it running.
    pub process: Box<dyn LaunchedProcess>,
}

/// A server's process with all that it started. Dropping it ends all of that.
pub trait LaunchedProcess: fmt::Debug + Send + Sync {
    /// Why it ended, for people, when it was not by itself; waits for a moment where it is about to be known.
    fn fault(&mut self) -> Option<String>;
}

/// Why a server was not started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The confinement that the host wants is not to be had.
    #[error("{reason}")]
    Unconfined {
        /// Why not.
        reason: String,
        /// The way out.
        help: Option<String>,
    },
    /// The program cannot be run in it.
    #[error("{reason}")]
    Program {
        /// Why not.
        reason: String,
        /// The way out.
        help: Option<String>,
    },
}
