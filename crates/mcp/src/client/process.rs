//! Servers that are started by the host.

use crate::finding::{Finding, FindingCode, shown};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// How long a server has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How much of the end of a server's standard error is kept, bytes.
const TAIL: usize = 2048;

/// A server's process with all that it started. Nothing of it outlives this value.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    said: Arc<Mutex<Vec<u8>>>,
    /// Ends when the server's standard error does.
    hears: Option<JoinHandle<()>>,
}

/// Starts a server with exactly this environment.
pub(super) fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
) -> Result<(ChildStdout, ChildStdin, ServerProcess), Finding> {
    let mut starting = Command::new(command);
    starting.args(args).env_clear().envs(env).kill_on_drop(true);
    starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    starting.process_group(0);
    let unreachable = |reason: String| {
        Finding::new(FindingCode::Unreachable, format!("`{}` cannot be started: {reason}", shown(command)))
    };
    let mut child = starting.spawn().map_err(|error| unreachable(error.to_string()))?;
    let (stdout, stdin, stderr) = (child.stdout.take(), child.stdin.take(), child.stderr.take());
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = stderr.map(|stderr| tokio::spawn(keep_tail(stderr, Arc::clone(&said))));
    let process = ServerProcess {
        #[cfg(unix)]
        group: child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())),
        child,
        said,
        hears,
    };
    match (stdout, stdin) {
        (Some(stdout), Some(stdin)) => Ok((stdout, stdin, process)),
        _ => Err(unreachable("its standard streams are not there".to_owned())),
    }
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

    /// Waits for the server, whose input is closed, and ends what is left of it.
    pub(super) async fn end(mut self) {
        let ended = tokio::time::timeout(GRACE, self.child.wait()).await;
        self.kill_group();
        if ended.is_err() {
            let _status = self.child.wait().await;
        }
    }

    fn kill_group(&mut self) {
        // The leader's number is not given to another process while it, or one of its group, is there.
        #[cfg(unix)]
        if let Some(group) = self.group.take() {
            let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ended = self.child.start_kill();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill_group();
    }
}
