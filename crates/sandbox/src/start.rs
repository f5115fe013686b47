use crate::linux;
use crate::message::Reply;
use crate::plan::Plan;
use crate::stage::{Stage, Unavailable};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The helper's file name, beside the program that uses it.
const HELPER_FILE: &str = "skillgate-sandbox";

/// How the helper is started.
///
/// Its process is started with the first run, and then stays for those that come after: each begins in a copy of it, which costs
/// much less than to start it anew. Clones share it; with the last of them, and the last run, it is gone.
#[derive(Clone, Debug)]
pub struct Helper {
    program: PathBuf,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no helper to speak to"))]
    pub(crate) server: Arc<linux::Server>,
}

/// Two are equal when they start the same program.
impl PartialEq for Helper {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

impl Eq for Helper {}

impl Helper {
    /// A helper binary at a known place.
    #[must_use]
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), server: Arc::default() }
    }

    /// The helper binary beside the running program.
    ///
    /// # Errors
    /// [`Unavailable`] when there is none.
    pub fn beside_ambient() -> Result<Self, Unavailable> {
        let own = Self::this_program_ambient()?.program;
        let beside = own.with_file_name(format!("{HELPER_FILE}{}", std::env::consts::EXE_SUFFIX));
        if is_file(&beside) {
            return Ok(Self::at(beside));
        }
        let reason = format!(
            "there is no `{HELPER_FILE}` beside `{}`; a program that embeds Skillgate calls `sandbox::init()` first in its main instead",
            own.display()
        );
        Err(Unavailable::new(Stage::Helper, reason))
    }

    /// The running program itself, which calls [`init`](crate::init) first in its `main`. A program that does not would run again
    /// with its ordinary work.
    ///
    /// # Errors
    /// [`Unavailable`] when the system does not say where it is.
    pub fn this_program_ambient() -> Result<Self, Unavailable> {
        std::env::current_exe()
            .map(Self::at)
            .map_err(|error| Unavailable::new(Stage::Helper, format!("where this program is cannot be told: {error}")))
    }

    /// Where the helper is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a helper with a valid plan. The program inside reads from [`Running::input`] when `with_input`, else it finds the
    /// end of the stream at once.
    ///
    /// # Errors
    /// [`Unavailable`], when the helper cannot be started or given its plan. What its stages find comes as a [`Reply`].
    pub fn start(&self, plan: &Plan, with_input: bool) -> Result<Running, Unavailable> {
        linux::start(self, plan, with_input).map(Running)
    }
}

#[expect(clippy::disallowed_methods, reason = "the program's own installation")]
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Which of the program's two outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What happened next in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The program wrote.
    Output(Stream, Vec<u8>),
    /// The helper said something.
    Reply(Reply),
    /// Nothing happened for as long as was waited.
    Quiet,
    /// The run is over: every process that the program started is gone and every byte was given out.
    Over,
}

/// A helper at work, with everything that runs in its namespaces. Dropping it kills all of that and waits for the end.
#[derive(Debug)]
pub struct Running(linux::Started);

impl Running {
    /// What happens next, waiting for it for at most `wait`.
    ///
    /// # Errors
    /// When the helper cannot be heard any more.
    pub fn next(&mut self, wait: Duration) -> io::Result<Event> {
        self.0.next(wait)
    }

    /// The end of the pipe that the program reads, once.
    pub fn input(&mut self) -> Option<File> {
        self.0.input()
    }

    /// The end of the pipe that the program writes this stream to, once: for a host that reads it itself. [`Running::next`] gives
    /// nothing of it any more.
    pub fn output(&mut self, stream: Stream) -> Option<File> {
        self.0.output(stream)
    }

    /// The private file system of the run, which the helper gave away; with what the program wrote, once it is over.
    pub fn scratch(&mut self) -> Option<File> {
        self.0.scratch()
    }

    /// Reads a stream no more: the program's next write to it fails, as for a reader that is gone.
    pub fn close(&mut self, stream: Stream) {
        self.0.close(stream);
    }

    /// Kills the helper, and with it every process of the run. What they wrote can still be read, until [`Event::Over`].
    pub fn kill(&mut self) {
        self.0.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill();
        self.0.reap();
    }
}
