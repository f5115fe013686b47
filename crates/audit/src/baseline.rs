//! What is compared with: the same probes under weaker walls. None of them is a sandbox that Skillgate offers.

use crate::case::Target;
use crate::subject::{Probe, ProbeForm, Subject};
use skillgate_exec::{Backend, Exit, Job, Output, Run, RunError, Stop, WriteError};
use skillgate_policy::{Approved, Provider};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How often a running program is looked at.
const GLANCE: Duration = Duration::from_millis(10);
/// How long the output of a program that ended is still waited for, as long as somebody holds it open.
const DRAIN: Duration = Duration::from_secs(1);

/// Where the probes are asked to fill the private directory, which a weak wall does not make private, and what the names of the
/// files begin with that they make there.
const FILLED: (&str, &str) = ("/tmp", "probe-filling-");

/// A weaker wall.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Baseline {
    /// None at all: `sh -c`.
    Sh,
    /// Landlock over files, and nothing else.
    Landlock,
    /// Bubblewrap with new namespaces, the system read-only and a private `/tmp`.
    Bubblewrap(PathBuf),
}

impl Baseline {
    /// Those that this machine has.
    #[must_use]
    pub fn available() -> Vec<Baseline> {
        let mut all = vec![Baseline::Sh];
        // Without the interface its call fails, and the case says so.
        if Path::new("/sys/kernel/security").exists() || cfg!(target_os = "linux") {
            all.push(Baseline::Landlock);
        }
        let bubblewrap = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].iter().map(PathBuf::from);
        all.extend(bubblewrap.filter(|path| path.is_file()).take(1).map(Baseline::Bubblewrap));
        all
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Baseline::Sh => "sh -c",
            Baseline::Landlock => "landlock only",
            Baseline::Bubblewrap(_) => "bubblewrap",
        }
    }

    /// The same cases as against a host sandbox, for comparison.
    #[must_use]
    pub fn subject(&self) -> Subject {
        let baseline = self.clone();
        Subject::new(self.name(), Target::Host, move |probes| {
            Ok(Arc::new(Compared { baseline: baseline.clone(), probes: probes.to_vec() }))
        })
    }

    /// The program and its words, from the outermost wall inwards.
    fn command(&self, program: &Path, words: &[String], project: &str) -> Command {
        #[expect(clippy::disallowed_methods, reason = "what is compared with is started as everybody starts it")]
        let mut command = match self {
            Baseline::Sh => {
                let mut sh = Command::new("/bin/sh");
                sh.args(["-c", r#"exec "$@""#, "sh"]).arg(program);
                sh
            }
            Baseline::Landlock => {
                let mut confined = Command::new(program);
                confined.args(["confine", "/usr", "/lib", "/lib64", "/bin", "/proc", project]).arg(parent(program));
                confined.args(["--", "/dev", "--"]).arg(program);
                confined
            }
            Baseline::Bubblewrap(path) => {
                let mut bubblewrap = Command::new(path);
                bubblewrap.args(["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]);
                for link in ["bin", "sbin", "lib", "lib64"] {
                    bubblewrap.args(["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
                }
                bubblewrap.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", project, project]);
                bubblewrap.arg("--ro-bind").arg(program).arg(program).arg("--chdir").arg(project).arg(program);
                bubblewrap
            }
        };
        command.args(words);
        command
    }
}

fn parent(program: &Path) -> &Path {
    program.parent().unwrap_or(program)
}

#[derive(Debug)]
struct Compared {
    baseline: Baseline,
    probes: Vec<Probe>,
}

impl Compared {
    fn program(&self, command: &str) -> Option<&Path> {
        self.probes.iter().find_map(|probe| match &probe.form {
            ProbeForm::Program { path, .. } if probe.command == command => Some(path.as_path()),
            _ => None,
        })
    }
}

impl Backend for Compared {
    fn name(&self) -> &'static str {
        self.baseline.name()
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        self.program(command).map(|_| Provider::Native)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        let name = vector.first().cloned().unwrap_or_default();
        let host = |doing: &str, error: &dyn std::fmt::Display| RunError::Host {
            doing: doing.to_owned(),
            reason: error.to_string(),
        };
        let program = self.program(&name).ok_or_else(|| host("finding the program", &name))?;
        let words = vector.get(1..).unwrap_or_default();
        let mut command = self.baseline.command(program, words, job.directory);
        command.current_dir(job.directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| host("starting it", &error))?;
        let drains = [
            child.stdout.take().map(|stream| drain(stream, job.stdout.clone())),
            child.stderr.take().map(|stream| drain(stream, job.stderr.clone())),
        ];
        let status = wait(&mut child, job.run);
        // One that was stopped takes nothing away that it made on the machine.
        sweep();
        let status = status.map_err(|stop| RunError::Stopped { command: name, stop })?;
        let end = std::time::Instant::now() + DRAIN;
        while drains.iter().flatten().any(|drain| !drain.is_finished()) && std::time::Instant::now() < end {
            thread::sleep(GLANCE);
        }
        Ok(Exit { code: status })
    }
}

/// Removes what probes left behind.
#[expect(clippy::disallowed_methods, reason = "what ran without a sandbox is taken away without one")]
fn sweep() {
    let (directory, begin) = FILLED;
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(begin.as_bytes()) {
            // Another's cannot be removed, and what is gone is gone.
            let _gone_or_anothers = std::fs::remove_file(entry.path());
        }
    }
}

fn wait(child: &mut Child, run: &Run) -> Result<u8, Stop> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            use std::os::unix::process::ExitStatusExt as _;
            let signalled = status.signal().map(|signal| 128 + signal);
            let code = status.code().or(signalled).and_then(|code| u8::try_from(code).ok());
            return Ok(code.unwrap_or(u8::MAX));
        }
        if let Err(stop) = run.check() {
            // One that ended meanwhile needs no end.
            let _ended_already = child.kill();
            let _not_there_any_more = child.wait();
            return Err(stop);
        }
        thread::sleep(GLANCE);
    }
}

fn drain(mut stream: impl Read + Send + 'static, output: Output) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            match output.write(buffer.get(..count).unwrap_or_default()) {
                Ok(()) => {}
                Err(WriteError::Closed | WriteError::Stop(_)) => return,
            }
        }
    })
}
