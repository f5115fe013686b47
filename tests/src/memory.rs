//! A backend without components, and a run of a program on it.

use skillgate_core::Limits;
use skillgate_exec::{
    AuditContext, AuditError, AuditEvent, AuditSink, Backend, CapabilityShell, Capture, Executor, Exit, Input, Job,
    Mounts, Output, Overflow, Program, Run, RunError, Scene, Streams, Trail, WriteError,
};
use skillgate_policy::{Approved, Effect, Gate, Provider};
use std::sync::{Arc, Mutex};

/// What a command of the name does here, when it is offered.
///
/// `args` prints its words in brackets, `cat` copies its input, `fail` complains and ends with its argument, `envof` prints a
/// variable of its environment, `printf` knows `%s` and `\n`, `touch` tries to write; every other name does nothing.
pub const COMMANDS: &[&str] = &["args", "cat", "envof", "fail", "printf", "touch"];

/// What `fail` complains with.
pub const COMPLAINT: &str = "fail: told to\n";

/// Runs a few commands itself, and keeps every vector that it was handed.
#[derive(Debug)]
pub struct MemoryBackend {
    offered: Vec<String>,
    ran: Mutex<Vec<Vec<String>>>,
}

impl MemoryBackend {
    /// A backend that offers these commands.
    #[must_use]
    pub fn offering(names: &[&str]) -> Arc<Self> {
        Arc::new(Self { offered: names.iter().map(|name| (*name).to_owned()).collect(), ran: Mutex::default() })
    }

    /// The vectors that ran, in the order in which they started.
    #[must_use]
    pub fn ran(&self) -> Vec<Vec<String>> {
        self.ran.lock().expect("nobody panics while he holds this").clone()
    }
}

impl Backend for MemoryBackend {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        self.offered.iter().any(|name| name == command).then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        self.ran.lock().expect("nobody panics while he holds this").push(vector.clone());
        let stopped = |stop| RunError::Stopped { command: vector[0].clone(), stop };
        let say = |output: &Output, text: &str| match output.write(text.as_bytes()) {
            Ok(()) => Ok(0),
            Err(WriteError::Closed) if output.reader_is_gone() => Ok(141),
            Err(WriteError::Closed) => Ok(1),
            Err(WriteError::Stop(stop)) => Err(stopped(stop)),
        };
        let words = &vector[1..];
        let code = match vector[0].as_str() {
            "args" => {
                let text: String = words.iter().map(|word| format!("[{word}]")).collect();
                say(&job.stdout, &format!("{text}\n"))?
            }
            "cat" => loop {
                let bytes = job.stdin.read(4096).map_err(stopped)?;
                if bytes.is_empty() {
                    break 0;
                }
                match job.stdout.write(&bytes) {
                    Ok(()) => {}
                    Err(WriteError::Closed) => break 141,
                    Err(WriteError::Stop(stop)) => return Err(stopped(stop)),
                }
            },
            "envof" => {
                let name = words.first().map_or("", String::as_str);
                let text = match job.environment.iter().find(|(known, _)| known == name) {
                    Some((name, value)) => format!("{name}={value}\n"),
                    None => format!("{name} is not there\n"),
                };
                say(&job.stdout, &text)?
            }
            "fail" => {
                say(&job.stderr, COMPLAINT)?;
                words.first().and_then(|code| code.parse().ok()).unwrap_or(1)
            }
            "printf" => say(&job.stdout, &printf(words))?,
            "touch" => {
                let path = words.first().map_or("", String::as_str);
                return Err(Approved::write_refusal(&vector, path).into());
            }
            _ => 0,
        };
        Ok(Exit { code })
    }
}

/// The format, once for each of the words.
fn printf(words: &[String]) -> String {
    let Some((format, words)) = words.split_first() else { return String::new() };
    let format = format.replace("\\n", "\n");
    let empty = [String::new()];
    let words = if words.is_empty() { &empty } else { words };
    words.iter().map(|word| format.replace("%s", word)).collect()
}

/// What the audit log tells of commands.
#[derive(Debug, Default)]
struct Log {
    allowed: Mutex<Vec<Vec<String>>>,
    ended: Mutex<Vec<Vec<String>>>,
}

impl AuditSink for Log {
    fn record(&self, _: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        let (list, vector) = match event {
            AuditEvent::Command { vector, decision: Effect::Allow, .. } => (&self.allowed, vector),
            AuditEvent::CommandEnd { vector, backend: "memory", .. } => (&self.ended, vector),
            _ => return Ok(()),
        };
        list.lock().expect("nobody panics while he holds this").push(vector.clone());
        Ok(())
    }
}

/// What a program did.
#[derive(Debug)]
pub struct MemoryRun {
    /// How it ended: its status, or why it was refused or stopped.
    pub result: Result<u8, RunError>,
    /// The vectors that the backend ran.
    pub vectors: Vec<Vec<String>>,
    /// The vectors that the audit log says were allowed, also those of the shell's own commands and those that a redirection
    /// kept from running.
    pub allowed: Vec<Vec<String>>,
    /// The vectors that the audit log says a backend ran.
    pub ended: Vec<Vec<String>>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a program over the commands that are `offered`, in a directory below the first of the mounts.
#[must_use]
pub fn run_in_memory(
    program: &Program,
    gate: &Gate,
    (mounts, directory): (&Arc<Mounts>, &str),
    limits: Limits,
    offered: &[&str],
) -> MemoryRun {
    let backend = MemoryBackend::offering(offered);
    let shell = CapabilityShell::new(vec![backend.clone()]);
    let directory = format!("{}/{directory}", mounts.get(0).map_or("", skillgate_exec::Mount::path));
    let directory = skillgate_exec::normalise(&directory);
    let log = Arc::new(Log::default());
    let trail = Trail::new(log.clone(), AuditContext::default());
    let scene = Scene { trail, ..Scene::new(Arc::clone(mounts), directory, vec![("HOME".into(), HOME.into())]) };
    let keep = limits.output_bytes;
    let (out, err) = (Capture::new(keep, Overflow::Drop), Capture::new(keep, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let result = shell.execute(program, gate, &scene, &Run::start(limits), streams);
    let taken = |list: &Mutex<Vec<Vec<String>>>| list.lock().expect("nobody panics while he holds this").clone();
    MemoryRun {
        result: result.map(|completion| completion.status),
        vectors: backend.ran(),
        allowed: taken(&log.allowed),
        ended: taken(&log.ended),
        stdout: out.take().0,
        stderr: err.take().0,
    }
}

impl MemoryRun {
    /// Checks that what ran is what was checked: every vector that the backend was handed was allowed once for each time, and
    /// is the one that the record names.
    ///
    /// # Errors
    /// What was found.
    pub fn ran_what_was_checked(&self) -> Result<(), String> {
        let sorted = |vectors: &[Vec<String>]| {
            let mut vectors = vectors.to_vec();
            vectors.sort_unstable();
            vectors
        };
        let (ran, ended, mut allowed) = (sorted(&self.vectors), sorted(&self.ended), sorted(&self.allowed));
        if ran != ended {
            return Err(format!("{ran:?} ran, and the record says {ended:?}"));
        }
        for vector in ran {
            match allowed.binary_search(&vector) {
                Ok(at) => drop(allowed.remove(at)),
                Err(_) => return Err(format!("{vector:?} ran and was not allowed")),
            }
        }
        Ok(())
    }
}

/// The home directory of [`run_in_memory`].
pub const HOME: &str = "/home/skill";
