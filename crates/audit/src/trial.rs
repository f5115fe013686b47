use crate::ended::{Ended, Ran};
use crate::field::Field;
use crate::subject::{Probe, ProbeForm, Subject};
use skillgate_core::{Digest, Limits};
use skillgate_exec::{
    Backend, CapabilityShell, Capture, Executor as _, HookLoader, Input, Job, Mounts, Output, Overflow, Program, Run,
    RunError, Scene, Streams, pipe,
};
use skillgate_policy::{Authority, CommandRequest, Effect, Gate, Host, Place, Provider, Rule};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Whether something has to be denied, or shows that the attempt would succeed where nothing denies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Attempt,
    Control,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) side: Side,
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) holds: bool,
}

/// Why a case could not go on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Trouble {
    /// The backend says that it cannot work here, and nothing ran.
    Unavailable { stage: String, reason: String },
    /// The case itself could not be set up, which is a failure of the case.
    Broken(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Broken(error.to_string())
    }
}

/// What everything of a run of the suite has in common.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The limits in force; a case only lowers them.
    pub(crate) limits: Limits,
    /// The suite's own native programs.
    pub(crate) probes: Option<PathBuf>,
}

/// One case that is being tried against one subject.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) ground: &'a Ground,
    pub(crate) field: Field,
    pub(crate) checks: Vec<Check>,
}

/// What surrounds something that a case runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    probes: Vec<Probe>,
    rules: Vec<(Effect, String)>,
    lowered: Vec<(&'static str, u64)>,
    environment: Vec<(String, String)>,
    endless_input: bool,
}

impl Setting {
    /// Every command is granted, nothing may be written.
    pub(crate) fn new() -> Self {
        Self::granting(&["Bash"])
    }

    /// What these patterns allow is granted, and nothing else.
    pub(crate) fn granting(patterns: &[&str]) -> Self {
        let rules = patterns.iter().map(|pattern| (Effect::Allow, (*pattern).to_owned())).collect();
        Self { rules, ..Self::default() }
    }

    /// With a guest.
    pub(crate) fn guest(self, command: &str, component: impl Into<Arc<[u8]>>) -> Self {
        let bytes = component.into();
        let digest = Digest::of(&bytes);
        self.probe(Probe { command: command.to_owned(), form: ProbeForm::Component { bytes, digest } })
    }

    /// With a probe as it is.
    pub(crate) fn probe(mut self, probe: Probe) -> Self {
        self.probes.push(probe);
        self
    }

    /// With a program of the machine.
    pub(crate) fn program(self, command: &str, path: &Path) -> Self {
        let form = ProbeForm::Program { path: path.to_owned(), writes: Vec::new() };
        self.probe(Probe { command: command.to_owned(), form })
    }

    /// Where every program of the setting may write in the project, and the rule that grants it.
    pub(crate) fn writing(mut self, directory: &str) -> Self {
        for probe in &mut self.probes {
            if let ProbeForm::Program { writes, .. } = &mut probe.form {
                writes.push(directory.to_owned());
            }
        }
        self.rule(Effect::Allow, &format!("Write({directory})"))
    }

    /// With one limit lowered.
    pub(crate) fn lower(mut self, limit: &'static str, value: u64) -> Self {
        self.lowered.push((limit, value));
        self
    }

    /// With a further rule.
    pub(crate) fn rule(mut self, effect: Effect, pattern: &str) -> Self {
        self.rules.push((effect, pattern.to_owned()));
        self
    }

    /// With a standard input that neither gives anything nor ends.
    pub(crate) fn endless_input(mut self) -> Self {
        self.endless_input = true;
        self
    }

    /// With a variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn limits(&self, in_force: &Limits) -> Result<Limits, Trouble> {
        let mut limits = in_force.clone();
        for (name, value) in &self.lowered {
            // A policy that is stricter than the case needs stays as it is.
            let current = limits.entries().into_iter().find(|(known, _)| known == name).map_or(0, |(_, value)| value);
            limits = limits
                .lowered_by(name, current.min(*value))
                .map_err(|error| Trouble::Broken(format!("the limit `{name}`: {error}")))?;
        }
        Ok(limits)
    }

    fn gate(&self) -> Result<Gate, Trouble> {
        let rule = |(effect, pattern): &(Effect, String)| {
            Rule::parse(*effect, pattern, Place::Host).map_err(|error| Trouble::Broken(format!("`{pattern}`: {error}")))
        };
        let rules: Vec<Rule> = self.rules.iter().map(rule).collect::<Result<_, _>>()?;
        Ok(Gate::new(Authority::of(Host::granting(rules))))
    }
}

impl Trial<'_> {
    /// Notes what was denied: a word that has to be found exactly.
    pub(crate) fn denied(&mut self, what: impl Into<String>, expected: &str, found: impl fmt::Display) {
        self.note(Side::Attempt, what.into(), expected, found);
    }

    /// Notes what the same act gives where nothing denies it.
    pub(crate) fn control(&mut self, what: impl Into<String>, expected: &str, found: impl fmt::Display) {
        self.note(Side::Control, what.into(), expected, found);
    }

    /// Notes what was denied, where what has to hold is no single word.
    pub(crate) fn denied_when(
        &mut self,
        what: impl Into<String>,
        expected: &str,
        holds: bool,
        found: impl fmt::Display,
    ) {
        self.push(Side::Attempt, what.into(), expected, holds, found);
    }

    /// Notes a control, where what has to hold is no single word.
    pub(crate) fn control_when(
        &mut self,
        what: impl Into<String>,
        expected: &str,
        holds: bool,
        found: impl fmt::Display,
    ) {
        self.push(Side::Control, what.into(), expected, holds, found);
    }

    fn note(&mut self, side: Side, what: String, expected: &str, found: impl fmt::Display) {
        let found = found.to_string();
        let holds = found == expected;
        self.push(side, what, expected, holds, found);
    }

    fn push(&mut self, side: Side, what: String, expected: &str, holds: bool, found: impl fmt::Display) {
        let found = shortened(&found.to_string());
        self.checks.push(Check { side, what, expected: expected.to_owned(), found, holds });
    }

    /// Has the subject run one vector. What the gate approves here is what runs; a backend decides nothing.
    pub(crate) fn vector(&self, words: &[&str], setting: &Setting) -> Result<Ran, Trouble> {
        let backend = self.backend(setting)?;
        self.vector_on(backend.as_ref(), words, setting)
    }

    /// Has a backend run one vector.
    pub(crate) fn vector_on(&self, backend: &dyn Backend, words: &[&str], setting: &Setting) -> Result<Ran, Trouble> {
        self.vector_after(backend, words, setting, |_| {})
    }

    /// Has a backend run one vector, with something that happens after it was approved and before it is handed over.
    pub(crate) fn vector_after(
        &self,
        backend: &dyn Backend,
        words: &[&str],
        setting: &Setting,
        meanwhile: impl FnOnce(&Gate),
    ) -> Result<Ran, Trouble> {
        let name = words.first().copied().unwrap_or_default();
        let provider = backend.provider(name).unwrap_or(Provider::Nobody);
        if provider == Provider::Nobody {
            return Err(Trouble::Broken(format!("the backend `{}` does not offer `{name}`", self.subject.name())));
        }
        let gate = setting.gate()?;
        let approved = gate.approve(CommandRequest::from_author(words, provider));
        meanwhile(&gate);
        let mounts = self.mounts()?;
        let directory = self.field.text("project");
        let environment = self.environment(setting);
        self.watch(setting, |run, streams| {
            let approved = match approved {
                Ok(approved) => approved,
                Err(refusal) => return Ended::Error(refusal.into()),
            };
            let job = Job {
                directory: &directory,
                environment: &environment,
                stdin: streams.stdin,
                stdout: streams.stdout,
                stderr: streams.stderr,
                mounts: &mounts,
                run,
                nested: None,
            };
            backend.run(approved, job).map_or_else(Ended::Error, |exit| Ended::Exit(exit.code))
        })
    }

    /// Has the capability shell run a program over the subject.
    pub(crate) fn shell(&self, source: &str, setting: &Setting) -> Result<Ran, Trouble> {
        let backend = self.backend(setting)?;
        self.shell_on(backend, source, setting)
    }

    /// Has the capability shell run a program over a backend. A program that it does not take is refused with its reason.
    pub(crate) fn shell_on(&self, backend: Arc<dyn Backend>, source: &str, setting: &Setting) -> Result<Ran, Trouble> {
        let limits = setting.limits(&self.ground.limits)?;
        let gate = setting.gate()?;
        let shell = CapabilityShell::new(vec![backend]);
        let scene = Scene::new(self.mounts()?, self.field.text("project"), self.environment(setting));
        self.watch(setting, |run, streams| {
            let program = match Program::from_text(source, &limits) {
                Ok(program) => program,
                Err(error) => return Ended::Unsupported(error.to_string()),
            };
            let completion = shell.execute(&program, &gate, &scene, run, streams);
            completion.map_or_else(Ended::Error, |completion| Ended::Exit(completion.status))
        })
    }

    /// A backend of the subject that offers the probes of a setting.
    pub(crate) fn backend(&self, setting: &Setting) -> Result<Arc<dyn Backend>, Trouble> {
        self.subject.backend(&setting.probes).map_err(|error| match error {
            RunError::Unavailable { stage, reason, .. } => Trouble::Unavailable { stage: stage.to_owned(), reason },
            other => Trouble::Broken(other.to_string()),
        })
    }

    /// What loads handlers of hooks for the subject.
    pub(crate) fn hooks(&self) -> Result<Arc<dyn HookLoader>, Trouble> {
        match self.subject.hook_loader() {
            Some(Ok(hooks)) => Ok(hooks),
            Some(Err(RunError::Unavailable { stage, reason, .. })) => {
                Err(Trouble::Unavailable { stage: stage.to_owned(), reason })
            }
            Some(Err(error)) => Err(Trouble::Broken(error.to_string())),
            None => Err(Trouble::Broken("the subject loads no handlers of hooks".to_owned())),
        }
    }

    fn mounts(&self) -> Result<Arc<Mounts>, Trouble> {
        Mounts::open_ambient(Some(&self.field.project()), &[])
            .map_err(|(path, error)| Trouble::Broken(format!("opening `{}`: {error}", path.display())))
    }

    fn environment(&self, setting: &Setting) -> Vec<(String, String)> {
        let project = self.field.text("project");
        let fixed = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/skillgate"),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("CLAUDE_PROJECT_DIR", &project),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        fixed.chain(setting.environment.iter().cloned()).collect()
    }

    fn watch(&self, setting: &Setting, act: impl FnOnce(&Arc<Run>, Streams) -> Ended) -> Result<Ran, Trouble> {
        let limits = setting.limits(&self.ground.limits)?;
        let run = Run::start(limits);
        let keep = run.limits().output_bytes;
        let (out, err) = (Capture::new(keep, Overflow::Drop), Capture::new(keep, Overflow::Drop));
        let written = Arc::new(AtomicU64::new(0));
        // The writing end is held until the run is over.
        let (reader, _writer) = pipe(&run);
        let streams = Streams {
            stdin: if setting.endless_input { Input::Pipe(reader) } else { Input::Empty },
            stdout: Output::Capture(Arc::clone(&out)).counted(&written),
            stderr: Output::Capture(Arc::clone(&err)).counted(&written),
        };
        let started = Instant::now();
        let ended = act(&run, streams);
        let took = started.elapsed();
        let written = written.load(Ordering::Relaxed);
        let fuel = run.limits().fuel - run.fuel_left();
        let ran = Ran { ended, stdout: out.take().0, stderr: err.take().0, written, took, fuel };
        self.unless_unavailable(ran)
    }

    /// A native backend that says it is unavailable ends the case, when nothing ran. For a wasm backend the stage `component` is
    /// a refusal of one component, which is an answer like others.
    fn unless_unavailable(&self, ran: Ran) -> Result<Ran, Trouble> {
        match &ran.ended {
            Ended::Error(RunError::Unavailable { stage: "component", .. }) => Ok(ran),
            Ended::Error(RunError::Unavailable { stage, reason, .. }) if ran.nothing_ran() => {
                Err(Trouble::Unavailable { stage: (*stage).to_owned(), reason: reason.clone() })
            }
            Ended::Error(RunError::Unavailable { stage, .. }) => Err(Trouble::Broken(format!(
                "it says that it is not available (stage {stage}), and {} bytes of output are there",
                ran.written
            ))),
            _ => Ok(ran),
        }
    }
}

/// What was found can be as long as an attack makes it.
fn shortened(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A duration in the words of a limit.
pub(crate) fn milliseconds(duration: Duration) -> String {
    format!("{} ms", duration.as_millis())
}
