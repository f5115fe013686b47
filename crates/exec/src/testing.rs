//! A backend of plain functions, and what tests need around it.

use crate::backend::{Backend, Exit, Job, Nested, NestedCommand, RunError};
use crate::executor::{CapabilityShell, Completion, Executor, Scene, Streams};
use crate::mounts::Mounts;
use crate::program::Program;
use crate::run::Run;
use crate::stream::{Capture, Input, Output, Overflow};
use skillgate_core::Limits;
use skillgate_policy::{Approved, Authority, Effect, Gate, Host, Place, Provider, Rule, builtin_limits};
use std::sync::{Arc, Mutex};

pub(crate) fn limits() -> Limits {
    builtin_limits()
}

/// Offers a few commands: `args` prints its words in brackets, `cat` copies, `fail` ends with its argument, `yes` never
/// stops, `touch` tries to write; `head` reads one line and leaves; `xargs` runs a command of its words and those it reads. It records every vector it ran.
#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) ran: Mutex<Vec<Vec<String>>>,
}

impl Backend for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        ["args", "cat", "fail", "yes", "touch", "head", "true2", "xargs"]
            .contains(&command)
            .then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        self.ran.lock().expect("no test panics while it holds this").push(vector.clone());
        let stopped = |stop| RunError::Stopped { command: vector[0].clone(), stop };
        let exit = |code| Ok(Exit { code });
        match vector[0].as_str() {
            "args" => {
                assert!(job.nested.is_none(), "only what runs others is given the means");
                let text: String = vector[1..].iter().map(|word| format!("[{word}]")).collect();
                let _reader_may_be_gone = job.stdout.write(format!("{text}\n").as_bytes());
                exit(0)
            }
            "cat" => loop {
                let bytes = job.stdin.read(4096).map_err(stopped)?;
                if bytes.is_empty() {
                    return exit(0);
                }
                if job.stdout.write(&bytes).is_err() {
                    return exit(141);
                }
            },
            "head" => {
                let bytes = job.stdin.read(4096).map_err(stopped)?;
                let line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
                let _reader_may_be_gone = job.stdout.write(line);
                exit(0)
            }
            "fail" => {
                let _reader_may_be_gone = job.stderr.write(b"fail: told to\n");
                exit(vector.get(1).and_then(|code| code.parse().ok()).unwrap_or(1))
            }
            "yes" => loop {
                job.run.check().map_err(stopped)?;
                match job.stdout.write(b"y\n") {
                    Ok(()) => {}
                    Err(crate::WriteError::Closed) => return exit(141),
                    Err(crate::WriteError::Stop(stop)) => return Err(stopped(stop)),
                }
            },
            // The words it is given and those it reads are one command.
            "xargs" => {
                let nested = job.nested.expect("its vector says that it runs others");
                let mut bytes = Vec::new();
                loop {
                    let more = job.stdin.read(4096).map_err(stopped)?;
                    if more.is_empty() {
                        break;
                    }
                    bytes.extend(more);
                }
                let read = String::from_utf8(bytes).expect("tests write UTF-8");
                let words = vector[1..].iter().map(String::as_str).chain(read.split_whitespace());
                let vector = words.map(str::to_owned).collect();
                match nested.run(NestedCommand { vector, directory: None, environment: None, reads: false })? {
                    Nested::Exited(code) => exit(code),
                    Nested::NotFound => exit(127),
                }
            }
            "touch" => Err(Approved::write_refusal(&vector, vector.get(1).map_or("", String::as_str)).into()),
            _ => exit(0),
        }
    }
}

pub(crate) struct Ran {
    pub(crate) result: Result<Completion, RunError>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) vectors: Vec<Vec<String>>,
}

/// Runs a program under these allowing patterns.
pub(crate) fn run_with(source: &str, allow: &[&str], mounts: &Arc<Mounts>, limits: Limits) -> Ran {
    let rules = allow.iter().map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule"));
    let gate = Gate::new(Authority::of(Host::granting(rules)));
    let fake = Arc::new(Fake::default());
    let shell = CapabilityShell::new(vec![fake.clone()]);
    let program = Program::from_text(source, &limits).expect(source);
    let directory = mounts.get(0).map_or("/", crate::Mount::path).to_owned();
    let scene = Scene::new(Arc::clone(mounts), directory, vec![("HOME".into(), "/home/s".into())]);
    let run = Run::start(limits);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let result = shell.execute(&program, &gate, &scene, &run, streams);
    let text = |capture: &Capture| String::from_utf8(capture.take().0).expect("tests print UTF-8");
    let vectors = fake.ran.lock().expect("no test panics while it holds this").clone();
    Ran { result, stdout: text(&out), stderr: text(&err), vectors }
}

pub(crate) fn run(source: &str) -> Ran {
    run_with(source, &["Bash"], &Mounts::none(), limits())
}
