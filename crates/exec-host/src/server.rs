//! Programs that the host itself starts and goes on speaking with, such as servers of skills. They are confined as what a skill
//! runs is; they see nothing of a project, and what they write is gone with them.

use crate::HostBackend;
use crate::examine::{Examined, ProgramFault, examine_ambient};
use crate::plan::{PlanFault, PlanRequest, SeenDirectory, plan};
use crate::program::NativeProgram;
use crate::run::{HostOutcome, concluded};
use crate::system::System;
use skillgate_core::Limits;
use skillgate_sandbox::{Action, Event, Identity, Link, Plan, Refused, Reply, Running, Stage, Stream, Unavailable};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time on a processor that each of its processes has. It lasts for as long as somebody speaks with it, so it is more than a
/// run's; one that turns in circles still ends.
const CPU_SECONDS: u64 = 3_600;
/// How long the stages may take before the program is begun.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program of the host's own, with everything that it is given.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerProgram {
    /// Its absolute path.
    pub path: String,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Directories, besides the system's, that it is shown, read-only; absolute.
    pub show: Vec<String>,
    /// The bounds of every run. That on time does not hold for it.
    pub limits: Limits,
    /// Address space of each of its processes, bytes, as [`NativeProgram::memory_bytes`].
    pub memory_bytes: Option<u64>,
}

/// Names of variables only: their values are secrets more often than not.
impl fmt::Debug for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ServerProgram")
            .field("path", &self.path)
            .field("arguments", &self.arguments.len())
            .field("environment", &names)
            .field("show", &self.show)
            .finish_non_exhaustive()
    }
}

/// Why a program was not started. There is no weaker way in which it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// The sandbox cannot do its part on this machine.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Its file cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramFault),
    /// Something that it is to be shown is no directory that can be.
    #[error("`{path}` cannot be shown to it: {reason}")]
    Shown {
        /// The path.
        path: String,
        /// Why not.
        reason: String,
    },
    /// What it is given contradicts itself.
    #[error(transparent)]
    Plan(#[from] PlanFault),
    /// What a stage found does not fit the plan.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// A program that runs, with all that it started. Dropping it kills all of that and waits for the end.
#[derive(Debug)]
pub struct ServerProcess {
    running: Running,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    outcome: Option<HostOutcome>,
}

impl HostBackend {
    /// Starts a program in the sandbox. It runs until it ends by itself or its [`ServerProcess`] is dropped. Blocks until every
    /// stage before the program was gone through.
    ///
    /// # Errors
    /// A [`ServerFault`]; nothing of it runs then.
    pub fn start_server(&self, program: &ServerProgram) -> Result<ServerProcess, ServerFault> {
        let examined = examine_ambient(&program.path)?;
        let helper = self.helper.as_ref().map_err(Clone::clone)?;
        let mut plan = server_plan(program, &examined, self.system()?, self.next_number())?;
        plan.fault = self.fault;
        self.ensure_tested(helper, &plan)?;
        let mut running = helper.start(&plan, true)?;
        let (stdin, stdout, stderr) = (running.input(), running.output(Stream::Stdout), running.output(Stream::Stderr));
        await_program(&mut running)?;
        Ok(ServerProcess { running, stdin, stdout, stderr, outcome: None })
    }
}

/// Waits until the program is begun.
fn await_program(running: &mut Running) -> Result<(), ServerFault> {
    let lost = |reason: String| ServerFault::Unavailable(Unavailable::new(Stage::Helper, reason));
    let until = Instant::now() + PATIENCE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(lost(format!("it did not come to its program within {} s", PATIENCE.as_secs())));
        }
        match running.next(left).map_err(|error| lost(error.to_string()))? {
            Event::Reply(Reply::Enforced(_)) => return Ok(()),
            Event::Reply(Reply::Unavailable(why)) => return Err(why.into()),
            Event::Reply(Reply::Refused(why)) => return Err(why.into()),
            Event::Over => return Err(lost("it ended before its program began".to_owned())),
            Event::Reply(_) | Event::Output(..) | Event::Quiet => {}
        }
    }
}

/// The plan of a server: the system, what it is shown, and exactly its environment.
fn server_plan(
    program: &ServerProgram,
    examined: &Examined,
    system: &System,
    number: u32,
) -> Result<Plan, ServerFault> {
    let name = program.path.rsplit('/').next().unwrap_or_default();
    // What it is shown may hold libraries that it loads.
    let native = NativeProgram::new(name, &program.path).runs_project_files(true).memory_bytes(program.memory_bytes);
    let (seen, links) = shown(program, system)?;
    let mut vector = vec![program.path.clone()];
    vector.extend(program.arguments.iter().cloned());
    let request = PlanRequest {
        system,
        program: &native,
        vector,
        directory: "/",
        seen,
        writable: Vec::new(),
        environment: &[],
        limits: &program.limits,
        number,
    };
    let mut plan = plan(request, examined)?;
    plan.links.extend(links);
    plan.limits.cpu_seconds = CPU_SECONDS;
    if let Action::Run(inside) = &mut plan.action {
        inside.environment.clone_from(&program.environment);
    }
    plan.validate().map_err(PlanFault::from)?;
    Ok(plan)
}

/// The directories it is shown, and the links that lead to them where they were named by a link.
fn shown(program: &ServerProgram, system: &System) -> Result<(Vec<SeenDirectory>, Vec<Link>), ServerFault> {
    let (mut seen, mut links): (Vec<SeenDirectory>, Vec<Link>) = (Vec::new(), Vec::new());
    for path in &program.show {
        let fault = |error: io::Error| ServerFault::Shown { path: path.clone(), reason: error.to_string() };
        let real = Path::new(path).canonicalize().map_err(fault)?;
        let real = real.to_str().ok_or_else(|| fault(io::Error::other("its path is not UTF-8")))?;
        // The system is shown anyway, with its links.
        if system.directories.iter().any(|directory| is_below(real, directory)) {
            continue;
        }
        let identity = identity_of_directory(real).map_err(fault)?;
        if !seen.iter().any(|other| other.path == real) {
            seen.push(SeenDirectory { path: real.to_owned(), identity, hidden: Vec::new() });
        }
        if real != path && !links.iter().any(|link| link.path == *path) {
            links.push(Link { path: path.clone(), to: real.to_owned() });
        }
    }
    // What lies in something that is shown is there already.
    links.retain(|link| !seen.iter().any(|seen| is_below(&link.path, &seen.path)));
    Ok((seen, links))
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Which directory it is.
#[cfg(unix)]
fn identity_of_directory(path: &str) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    #[expect(clippy::disallowed_methods, reason = "a directory that the host's policy names by its path")]
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    Ok(Identity { device: metadata.dev(), inode: metadata.ino(), content: None })
}

#[cfg(not(unix))]
fn identity_of_directory(_: &str) -> io::Result<Identity> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

impl ServerProcess {
    /// The end of the pipe that it reads, once.
    pub fn stdin(&mut self) -> Option<File> {
        self.stdin.take()
    }

    /// The end of the pipe that it answers on, once.
    pub fn stdout(&mut self) -> Option<File> {
        self.stdout.take()
    }

    /// The end of the pipe of its standard error, once.
    pub fn stderr(&mut self) -> Option<File> {
        self.stderr.take()
    }

    /// How it ended, when it has; waits for that for at most `wait`.
    pub fn outcome(&mut self, wait: Duration) -> Option<HostOutcome> {
        let until = Instant::now() + wait;
        while self.outcome.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            match self.running.next(left) {
                Ok(Event::Reply(reply)) => self.outcome = concluded(reply),
                Ok(Event::Over) | Err(_) => break,
                Ok(Event::Quiet | Event::Output(..)) if left.is_zero() => break,
                Ok(Event::Quiet | Event::Output(..)) => {}
            }
        }
        self.outcome.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::UserRange;
    use skillgate_policy::builtin_limits;

    fn system() -> System {
        System {
            directories: vec!["/usr".to_owned()],
            files: Vec::new(),
            links: vec![("/bin".to_owned(), "usr/bin".to_owned())],
            users: UserRange { first: 5000, count: 10 },
        }
    }

    fn program(show: &[&str]) -> ServerProgram {
        ServerProgram {
            path: "/usr/bin/node".to_owned(),
            arguments: vec!["/opt/server.js".to_owned()],
            environment: vec![("TOKEN".to_owned(), "secret".to_owned())],
            show: show.iter().map(|path| (*path).to_owned()).collect(),
            limits: builtin_limits(),
            memory_bytes: Some(1 << 32),
        }
    }

    fn planned(show: &[&str]) -> Result<Plan, ServerFault> {
        let identity = Identity { device: 1, inode: 2, content: Some((3, 4)) };
        let examined = Examined { path: "/usr/bin/node".to_owned(), identity };
        server_plan(&program(show), &examined, &system(), 1)
    }

    #[test]
    fn a_server_has_the_system_its_own_environment_and_no_project() {
        let plan = planned(&[]).expect("a plan");
        let targets: Vec<&str> = plan.mounts.iter().map(|mount| mount.target.as_str()).collect();
        assert_eq!((targets, plan.writable.len(), plan.directory.as_str()), (vec!["/usr"], 0, "/"));
        let Action::Run(inside) = &plan.action else { unreachable!("a program") };
        assert_eq!(inside.environment, [("TOKEN".to_owned(), "secret".to_owned())]);
        assert_eq!(inside.vector, ["/usr/bin/node", "/opt/server.js"]);
        assert_eq!((plan.limits.memory_bytes, plan.limits.cpu_seconds), (1 << 32, CPU_SECONDS));
        let debugged = format!("{:?}", program(&[]));
        assert!(debugged.contains("TOKEN") && !debugged.contains("secret"), "{debugged}");
    }

    #[cfg(unix)]
    #[test]
    fn what_it_is_shown_is_read_only_and_has_to_be_a_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let real = root.path().canonicalize().expect("it is there");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let (own, link, file) = (real.join("own"), real.join("link"), real.join("file"));
        #[expect(clippy::disallowed_methods, reason = "tests make files")]
        {
            std::fs::create_dir(&own).expect("a directory");
            std::fs::write(&file, "x").expect("a file");
        }
        std::os::unix::fs::symlink(&own, &link).expect("a link");
        let plan = planned(&[&text(&own), &text(&link), "/usr/bin"]).expect("a plan");
        let shown: Vec<&str> = plan.mounts.iter().map(|mount| mount.target.as_str()).collect();
        assert_eq!(shown, ["/usr", &text(&own)]);
        assert!(plan.links.contains(&Link { path: text(&link), to: text(&own) }), "{:?}", plan.links);
        for path in [text(&file), text(&real.join("none"))] {
            assert!(matches!(planned(&[&path]), Err(ServerFault::Shown { .. })), "{path}");
        }
    }
}
