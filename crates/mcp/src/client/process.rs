//! Servers that are started by the host.

use super::launch::{LaunchedProcess, ServerLauncher, ServerProgram};
use crate::finding::{Finding, FindingCode, shown};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// How long a server has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How much of the end of a server's standard error is kept, bytes.
const TAIL: usize = 2048;

/// What a server answers on.
pub(super) type Answers = Box<dyn AsyncRead + Send + Unpin>;
/// What a server reads.
pub(super) type Requests = Box<dyn AsyncWrite + Send + Unpin>;

/// A server's process with all that it started. Nothing of its process group outlives this value.
#[derive(Debug)]
pub(super) struct ServerProcess {
    runs: Runs,
    said: Arc<Mutex<Vec<u8>>>,
    /// Ends when the server's standard error does.
    hears: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Runs {
    Child {
        child: Child,
        #[cfg(unix)]
        group: Option<rustix::process::Pid>,
    },
    /// As the host started it, until it is ended.
    Launched(Option<Box<dyn LaunchedProcess>>),
}

/// Starts a server with exactly its environment: by the host's launcher, or as a child of this process where there is none.
pub(super) async fn start(
    program: &ServerProgram,
    launcher: Option<&Arc<dyn ServerLauncher>>,
    within: Duration,
) -> Result<(Answers, Requests, ServerProcess), Finding> {
    match launcher {
        Some(launcher) => launched(program.clone(), Arc::clone(launcher), within).await,
        None => child(program),
    }
}

fn child(program: &ServerProgram) -> Result<(Answers, Requests, ServerProcess), Finding> {
    let mut starting = Command::new(&program.command);
    starting.args(&program.args).env_clear().envs(&program.env).kill_on_drop(true);
    starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    starting.process_group(0);
    let mut child = starting.spawn().map_err(|error| not_started(program, &error.to_string()))?;
    let (stdout, stdin, stderr) = (child.stdout.take(), child.stdin.take(), child.stderr.take());
    let process = ServerProcess::new(
        Runs::Child {
            #[cfg(unix)]
            group: child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())),
            child,
        },
        stderr,
    );
    match (stdout, stdin) {
        (Some(stdout), Some(stdin)) => Ok((Box::new(stdout), Box::new(stdin), process)),
        _ => Err(not_started(program, "its standard streams are not there")),
    }
}

/// Has the host start it. What comes after its time is dropped, which ends it.
async fn launched(
    program: ServerProgram,
    launcher: Arc<dyn ServerLauncher>,
    within: Duration,
) -> Result<(Answers, Requests, ServerProcess), Finding> {
    let wanted = program.clone();
    let launching = tokio::task::spawn_blocking(move || launcher.launch(&wanted));
    let server = match tokio::time::timeout(within, launching).await {
        Err(_) => {
            let message = format!("it was not started within {} ms", within.as_millis());
            return Err(Finding::new(FindingCode::TimedOut, message));
        }
        Ok(Err(_)) => return Err(not_started(&program, "starting it ended in a bug")),
        Ok(Ok(Err(error))) => return Err(refused(&program, &error)),
        Ok(Ok(Ok(server))) => server,
    };
    let (answers, requests, stderr) =
        pipes(server.stdin, server.stdout, server.stderr).map_err(|error| not_started(&program, &error.to_string()))?;
    let process = ServerProcess::new(Runs::Launched(Some(server.process)), Some(stderr));
    Ok((answers, requests, process))
}

/// The ends of pipes for the tasks that speak with the server.
#[cfg(unix)]
fn pipes(
    stdin: std::fs::File,
    stdout: std::fs::File,
    stderr: std::fs::File,
) -> std::io::Result<(Answers, Requests, Answers)> {
    use tokio::net::unix::pipe::{Receiver, Sender};
    let (answers, requests) = (Receiver::from_file(stdout)?, Sender::from_file(stdin)?);
    Ok((Box::new(answers), Box::new(requests), Box::new(Receiver::from_file(stderr)?)))
}

#[cfg(not(unix))]
fn pipes(_: std::fs::File, _: std::fs::File, _: std::fs::File) -> std::io::Result<(Answers, Requests, Answers)> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}

fn not_started(program: &ServerProgram, reason: &str) -> Finding {
    let command = shown(&program.command);
    Finding::new(FindingCode::Unreachable, format!("`{command}` cannot be started: {}", shown(reason)))
}

fn refused(program: &ServerProgram, error: &super::launch::LaunchError) -> Finding {
    use super::launch::LaunchError;
    let (finding, help) = match error {
        LaunchError::Unconfined { reason, help } => {
            let message = format!("it was not started, because it cannot be confined: {}", shown(reason));
            (Finding::new(FindingCode::SandboxUnavailable, message), help)
        }
        LaunchError::Program { reason, help } => (not_started(program, reason), help),
    };
    help.iter().fold(finding, |finding, help| finding.help(help))
}

/// Reads to the end, so that the server never waits for it, and keeps the last of it.
async fn keep_tail(mut stderr: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&buffer[..read]);
        let surplus = said.len().saturating_sub(TAIL);
        said.drain(..surplus);
    }
}

impl ServerProcess {
    fn new(runs: Runs, stderr: Option<impl AsyncRead + Send + Unpin + 'static>) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = stderr.map(|stderr| tokio::spawn(keep_tail(stderr, Arc::clone(&said))));
        Self { runs, said, hears }
    }

    /// The last line that the server wrote to its standard error, as a person may be shown it.
    pub(super) fn last_words(&self) -> Option<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said);
        text.lines().rev().find(|line| !line.trim().is_empty()).map(shown)
    }

    /// The same of a server whose connection failed: one that is ending may still say why.
    pub(super) async fn all_words(&mut self) -> Option<String> {
        if let Some(hears) = &mut self.hears {
            let _heard = tokio::time::timeout(GRACE, hears).await;
        }
        self.last_words()
    }

    /// Ends it at once; what it wrote is kept.
    pub(super) async fn kill(&mut self) {
        match &mut self.runs {
            Runs::Child { .. } => self.runs.kill(),
            Runs::Launched(process) => {
                let process = process.take();
                // To end it takes a moment.
                let _ended = tokio::task::spawn_blocking(move || drop(process)).await;
            }
        }
    }

    /// Why it ended, where whoever started it knows more than what it wrote.
    pub(super) fn fault(&mut self) -> Option<String> {
        match &mut self.runs {
            Runs::Launched(Some(process)) => process.fault().map(|fault| shown(&fault)),
            Runs::Launched(None) | Runs::Child { .. } => None,
        }
    }

    /// Waits for the server, whose input is closed, and ends what is left of it.
    pub(super) async fn end(mut self) {
        match &mut self.runs {
            Runs::Child { child, .. } => {
                let ended = tokio::time::timeout(GRACE, child.wait()).await.is_ok();
                self.runs.kill();
                if let (false, Runs::Child { child, .. }) = (ended, &mut self.runs) {
                    let _status = child.wait().await;
                }
            }
            Runs::Launched(process) => {
                let process = process.take();
                if let Some(hears) = &mut self.hears {
                    let _ended = tokio::time::timeout(GRACE, hears).await;
                }
                // To end it takes a moment.
                let _ended = tokio::task::spawn_blocking(move || drop(process)).await;
            }
        }
    }
}

impl Runs {
    fn kill(&mut self) {
        match self {
            #[cfg(unix)]
            Runs::Child { child, group } => {
                // The leader's number is not given to another process while it, or one of its group, is there.
                if let Some(group) = group.take() {
                    let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                }
                let _ended = child.start_kill();
            }
            #[cfg(not(unix))]
            Runs::Child { child } => {
                let _ended = child.start_kill();
            }
            Runs::Launched(process) => drop(process.take()),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.runs.kill();
    }
}
