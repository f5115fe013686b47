//! Servers that the host starts in its own way.

use super::started::{patient, server, shell_server};
use crate::client::{
    ClientOptions, LaunchError, LaunchedProcess, LaunchedServer, McpServers, ServerLauncher, ServerProgram, ServerState,
};
use crate::finding::FindingCode;
use skillgate_runtime::SkillSource as _;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// Starts programs as children, counts, and tells when one is ended; or refuses.
#[derive(Debug)]
struct Launcher {
    refuses: Option<LaunchError>,
    launched: AtomicUsize,
    ended: mpsc::Sender<()>,
}

#[derive(Debug)]
struct Started(Child, mpsc::Sender<()>);

impl LaunchedProcess for Started {
    fn fault(&mut self) -> Option<String> {
        self.0.wait().ok().map(|status| format!("it ended ({status})"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
        let _nobody_waits = self.1.send(());
    }
}

impl ServerLauncher for Launcher {
    fn launch(&self, program: &ServerProgram) -> Result<LaunchedServer, LaunchError> {
        if let Some(refusal) = &self.refuses {
            return Err(refusal.clone());
        }
        self.launched.fetch_add(1, Ordering::SeqCst);
        #[expect(clippy::disallowed_methods, reason = "what a host's launcher does")]
        let mut command = Command::new(&program.command);
        command.args(&program.args).env_clear().envs(&program.env).env("CONFINED", "yes");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let file = |end: Option<OwnedFd>| File::from(end.expect("a pipe"));
        Ok(LaunchedServer {
            stdin: file(child.stdin.take().map(OwnedFd::from)),
            stdout: file(child.stdout.take().map(OwnedFd::from)),
            stderr: file(child.stderr.take().map(OwnedFd::from)),
            process: Box::new(Started(child, self.ended.clone())),
        })
    }
}

fn options(refuses: Option<LaunchError>) -> (ClientOptions, Arc<Launcher>, mpsc::Receiver<()>) {
    let (ended, ends) = mpsc::channel();
    let launcher = Arc::new(Launcher { refuses, launched: AtomicUsize::new(0), ended });
    (ClientOptions { launcher: Some(Arc::clone(&launcher) as _), ..patient() }, launcher, ends)
}

#[test]
fn the_hosts_launcher_starts_every_server_and_each_ends_with_the_connections() {
    let (options, launcher, ends) = options(None);
    let program = shell_server("listed=$LISTED confined=${CONFINED:-no}");
    let servers = McpServers::connect(vec![server("local", &program)], &options).expect("threads");
    let reports = servers.reports();
    assert_eq!(reports[0].state, ServerState::Connected, "{reports:?}");
    assert_eq!(servers.skills().texts()[0].text, "listed=yes confined=yes");
    assert_eq!((launcher.launched.load(Ordering::SeqCst), ends.try_recv().is_err()), (1, true));
    drop(servers);
    ends.recv().expect("it is ended");
}

#[test]
fn a_server_that_cannot_be_confined_is_not_started_and_says_so() {
    let help = Some("see the doctor".to_owned());
    let unconfined = LaunchError::Unconfined { reason: "no user namespaces".to_owned(), help: help.clone() };
    let program = LaunchError::Program { reason: "it is a script".to_owned(), help };
    for (refusal, code) in [(unconfined, FindingCode::SandboxUnavailable), (program, FindingCode::Unreachable)] {
        let (options, launcher, _ends) = options(Some(refusal.clone()));
        let mark = tempfile::tempdir().expect("a directory");
        let path = mark.path().join("ran");
        let servers = McpServers::connect(vec![server("local", &format!(": > '{}'", path.display()))], &options);
        let report = servers.expect("threads").reports().remove(0);
        assert_eq!((report.state, report.findings[0].code), (ServerState::Failed, code), "{report:?}");
        assert!(report.findings[0].message.contains(&refusal.to_string()), "{report:?}");
        assert_eq!(report.findings[0].help.as_deref(), Some("see the doctor"));
        assert!(!path.exists() && launcher.launched.load(Ordering::SeqCst) == 0, "nothing ran");
    }
}

#[test]
fn a_launched_server_that_ends_says_how() {
    let (options, _launcher, _ends) = options(None);
    let servers = McpServers::connect(vec![server("local", "read -r line; exit 3")], &options).expect("threads");
    let report = servers.reports().remove(0);
    assert_eq!(report.findings[0].code, FindingCode::Closed, "{report:?}");
    assert!(report.findings[0].message.contains("it ended (exit status: 3)"), "{report:?}");
}
