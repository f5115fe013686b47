use crate::audit::{AuditEvent, AuditFailure, Trail};
use crate::backend::{Backend, RunError};
use crate::eval::{self, Io, Shared};
use crate::mounts::{Mounts, normalise};
use crate::program::Program;
use crate::run::Run;
use crate::scratch;
use crate::stream::{Input, Output};
use serde::Serialize;
use skillgate_core::{HoleValue, Span};
use skillgate_policy::{Approved, Gate, Refusal, Sight, Sketch, Verdict};
use skillgate_shell::{Node, RedirectOperator, RedirectTarget, SimpleCommand, Word, WordPart, walk};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What surrounds a program: the directories it may be shown, where it starts, and its environment.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The directories.
    pub mounts: Arc<Mounts>,
    /// The absolute path at which the program starts.
    pub directory: String,
    /// Environment variables; nothing else is inherited.
    pub environment: Vec<(String, String)>,
    /// Where what happens is recorded, and on whose behalf.
    pub trail: Trail,
    /// Who is asked about commands whose vector was not known before; without one, an ask is a refusal.
    pub asker: Option<Arc<dyn Asker>>,
}

impl Scene {
    /// A scene in which nothing is recorded and nobody can be asked.
    #[must_use]
    pub fn new(mounts: Arc<Mounts>, directory: impl Into<String>, environment: Vec<(String, String)>) -> Self {
        Self { mounts, directory: directory.into(), environment, trail: Trail::none(), asker: None }
    }
}

/// Asks somebody about a command that is about to run.
pub trait Asker: Send + Sync + fmt::Debug {
    /// Asks. A yes is told to the gate that refused (its [`Answers`](skillgate_policy::Answers)), which then decides again;
    /// nothing runs on the word of an asker alone.
    ///
    /// # Errors
    /// The refusal that the run ends with, when the answer is no; or that the answer cannot be recorded.
    fn ask(&self, vector: &[String], refusal: Refusal) -> Result<(), RunError>;
}

/// The three standard streams of a program.
#[derive(Clone, Debug)]
pub struct Streams {
    /// What it reads.
    pub stdin: Input,
    /// Where its output goes.
    pub stdout: Output,
    /// Where its messages go.
    pub stderr: Output,
}

/// One command of a program as it is decided before anything runs.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedCommand {
    /// The words as far as they are known; `Err` is the place of one that is known only later.
    pub words: Vec<Result<String, Span>>,
    /// The command in the program's source.
    pub span: Span,
    /// The backend that would run it, when its name is known: `shell` for built-ins, `none` for a command nobody offers.
    pub backend: Option<&'static str>,
    /// The decision.
    pub verdict: Result<Verdict, Box<Refusal>>,
}

/// One command that ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CommandRecord {
    /// The vector.
    pub argv: Vec<String>,
    /// The rule that approved it.
    pub rule: String,
    /// The backend that ran it; `shell` for built-ins.
    pub backend: &'static str,
    /// Its status, when it ended by itself.
    pub status: Option<u8>,
    /// Wall time, microseconds.
    pub duration_us: u64,
}

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The program's status.
    pub status: u8,
    /// The vector of the command that gave the status.
    pub decided_by: Option<Vec<String>>,
    /// Every command that ran, in the order in which they started.
    pub commands: Vec<CommandRecord>,
}

/// Plans and runs shell programs. Hosts may bring their own; the one of this crate is [`CapabilityShell`].
pub trait Executor: Send + Sync + fmt::Debug {
    /// Decides every command of a program as far as its words are known. Nothing runs.
    fn plan(&self, program: &Program, gate: &Gate) -> Vec<PlannedCommand>;

    /// Whether a command of this name can run here at all; `None` when the executor does not know.
    fn provides(&self, program: &str) -> Option<bool> {
        let _unknown = program;
        None
    }

    /// Plans the program and, when nothing in it is refused, runs it to its end.
    ///
    /// # Errors
    /// [`RunError`]; after a refusal none of the output may be used.
    fn execute(
        &self,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        run: &Arc<Run>,
        streams: Streams,
    ) -> Result<Completion, RunError>;
}

/// Evaluates programs itself and hands commands to its backends, the first that knows a name.
#[derive(Debug)]
pub struct CapabilityShell {
    backends: Vec<Arc<dyn Backend>>,
}

impl CapabilityShell {
    /// A shell over these backends.
    #[must_use]
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends }
    }

    fn plan_command(
        &self,
        program: &Program,
        functions: &HashSet<&str>,
        gate: &Gate,
        command: &SimpleCommand,
    ) -> Option<PlannedCommand> {
        let mut words: Vec<_> = command.words.iter().flat_map(|word| sketch(word, program)).collect();
        while let [Ok(command), Ok(name), ..] = words.as_slice()
            && command == "command"
            && !name.starts_with('-')
        {
            words.drain(..1);
        }
        if let Some(Ok(name)) = words.first_mut()
            && let Some(command) = eval::system_command(name, &self.backends)
        {
            *name = command.to_owned();
        }
        let name = words.first()?.as_deref().ok();
        if name.is_some_and(|name| functions.contains(name)) {
            // The commands of its body are planned where they stand; a call before the definition is decided when it runs.
            return None;
        }
        let known = name.map(|name| eval::resolve(name, &self.backends));
        let sketch = Sketch { words: words.clone(), provider: known.map(|(provider, _)| provider), span: command.span };
        let mut verdict = gate.check(&sketch).map_err(Box::new);
        if name == Some("eval") && verdict.is_ok() && !gate.is_unrestricted() {
            let vector: Vec<String> = words.iter().map_while(|word| word.clone().ok()).collect();
            verdict = Err(Box::new(Approved::produced_program_refusal(&vector, true)));
        }
        if let Ok(Verdict { certain: true, sight: Sight::StreamsOnly, withheld, .. }) = &verdict
            && known.is_some_and(|(_, backend)| backend != "shell" && backend != "none")
            && let Some(path) = read_file(command, program)
        {
            let vector: Vec<String> = words.iter().filter_map(|word| word.clone().ok()).collect();
            verdict = Err(Box::new(Approved::unmounted_refusal(&vector, &path, withheld)));
        }
        Some(PlannedCommand { words, span: command.span, backend: known.map(|(_, backend)| backend), verdict })
    }

    fn plan_written(&self, program: &Program, gate: &Gate) -> Vec<PlannedCommand> {
        let functions: HashSet<&str> = walk(&program.tree)
            .filter_map(|node| match node {
                Node::Command(skillgate_shell::Command::Function(function)) => Some(function.name.as_str()),
                _ => None,
            })
            .collect();
        walk(&program.tree)
            .filter_map(|node| match node {
                Node::Command(skillgate_shell::Command::Simple(command)) => {
                    self.plan_command(program, &functions, gate, command)
                }
                Node::Redirect(redirect) => {
                    let writes = matches!(
                        redirect.operator,
                        RedirectOperator::Write
                            | RedirectOperator::Append
                            | RedirectOperator::Clobber
                            | RedirectOperator::WriteBoth
                            | RedirectOperator::AppendBoth
                    );
                    let RedirectTarget::File(word) = &redirect.target else { return None };
                    let path = sketch(word, program).into_iter().next()?.ok().filter(|_| writes)?;
                    if eval::is_free_target(&path) || is_temporary(&path) || gate.paths().grants_writing() {
                        // Which file it is depends on where the program stands then, and on what is mounted at `/tmp`.
                        return None;
                    }
                    let vector = [">".to_owned(), path.clone()];
                    Some(PlannedCommand {
                        words: vector.iter().cloned().map(Ok).collect(),
                        span: redirect.span,
                        backend: Some("shell"),
                        verdict: Err(Box::new(Approved::write_refusal(&vector, &path))),
                    })
                }
                _ => None,
            })
            .collect()
    }

    /// What a planned command will run itself, as far as its words tell it.
    fn plan_nested(&self, command: &PlannedCommand, gate: &Gate) -> Vec<PlannedCommand> {
        if command.backend.is_none_or(|backend| matches!(backend, "shell" | "none")) {
            return Vec::new();
        }
        let planned = |mut words: Vec<Result<String, Span>>| {
            if let Some(Ok(name)) = words.first_mut()
                && let Some(command) = eval::system_command(name, &self.backends)
            {
                *name = command.to_owned();
            }
            let known = words.first()?.as_deref().ok().map(|name| eval::program_of(name, &self.backends));
            let provider = known.map(|(provider, _)| provider);
            let sketch = Sketch { words: words.clone(), provider, span: command.span };
            let verdict = gate.check(&sketch).map_err(Box::new);
            Some(PlannedCommand { words, span: command.span, backend: known.map(|(_, backend)| backend), verdict })
        };
        eval::templates(&command.words, command.span).into_iter().filter_map(planned).collect()
    }

    fn evaluate(
        &self,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        run: &Arc<Run>,
        streams: Streams,
    ) -> Result<Completion, RunError> {
        let shared =
            Shared { gate, backends: &self.backends, scene, run, holes: &program.holes, records: Mutex::default() };
        let (stdout, stderr) = (streams.stdout, streams.stderr);
        let io = Io { stdin: streams.stdin, stdin_file: None, stdout, stderr, others: Vec::new() };
        let result = eval::run(&shared, &program.tree, io);
        let commands = shared.records.into_inner().unwrap_or_else(PoisonError::into_inner).list;
        match result {
            Ok((status, decided_by)) => Ok(Completion { status, decided_by, commands }),
            Err(RunError::Refused(mut refusal)) => {
                // The command that was refused has no status.
                let ended = commands.into_iter().filter(|command| command.status.is_some());
                refusal.already_ran = ended.map(|command| command.argv).collect();
                Err(RunError::Refused(refusal))
            }
            Err(error) => Err(error),
        }
    }
}

impl Executor for CapabilityShell {
    fn provides(&self, program: &str) -> Option<bool> {
        let built_in = !program.contains('/') && crate::is_builtin(program);
        Some(built_in || self.backends.iter().any(|backend| backend.provider(program).is_some()))
    }

    fn plan(&self, program: &Program, gate: &Gate) -> Vec<PlannedCommand> {
        let mut planned = self.plan_written(program, gate);
        // A command that another one runs may run others again; each is shorter than the one before.
        let mut at = 0;
        while let Some(command) = planned.get(at) {
            at += 1;
            let nested = self.plan_nested(command, gate);
            planned.extend(nested);
        }
        planned
    }

    fn execute(
        &self,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        run: &Arc<Run>,
        streams: Streams,
    ) -> Result<Completion, RunError> {
        for command in self.plan(program, gate) {
            if let Err(refusal) = command.verdict {
                scene.trail.record(&AuditEvent::Command {
                    vector: command.words.into_iter().map_while(Result::ok).collect(),
                    decision: refusal.reason.effect(),
                    rule: refusal.reason.rule(),
                })?;
                return Err(RunError::Refused(refusal));
            }
        }
        scene.trail.record(&AuditEvent::RunStart { program: program.source().to_owned() })?;
        let started = Instant::now();
        let bytes = Arc::default();
        let streams =
            Streams { stdout: streams.stdout.counted(&bytes), stderr: streams.stderr.counted(&bytes), ..streams };
        let scene = &Scene { mounts: scene.mounts.with_scratch(), ..scene.clone() };
        let result = self.evaluate(program, gate, scene, run, streams);
        scene.trail.record(&AuditEvent::RunEnd {
            program: program.source().to_owned(),
            status: result.as_ref().ok().map(|completion| completion.status),
            failure: result.as_ref().err().map(AuditFailure::from),
            output_bytes: bytes.load(Ordering::Relaxed),
            duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        })?;
        result
    }
}

/// Whether a path may lie in the run's own `/tmp`, which needs no grant.
fn is_temporary(path: &str) -> bool {
    path.starts_with('/') && normalise(path).strip_prefix(scratch::PATH).is_some_and(|rest| rest.starts_with('/'))
}

/// The file that a command's own redirection opens for it, when its name is known.
fn read_file(command: &SimpleCommand, program: &Program) -> Option<String> {
    let last = command.redirects.iter().rev().find(|redirect| redirect.operator == RedirectOperator::Read)?;
    let RedirectTarget::File(word) = &last.target else { return None };
    let path = sketch(word, program).into_iter().next()?.ok()?;
    (!matches!(path.as_str(), "/dev/null" | "/dev/stdin")).then_some(path)
}

/// A word as far as it is known before anything runs. A placeholder's value is known.
pub(crate) fn sketch(word: &Word, program: &Program) -> Vec<Result<String, Span>> {
    let unknown = || vec![Err(word.span)];
    if word.has_glob() {
        return unknown();
    }
    // Braces are text until they are expanded.
    if let Some(text) = word.known_text() {
        return vec![Ok(text)];
    }
    if let [WordPart::Hole { index, quoted: false, .. }] = word.parts.as_slice()
        && let Some(hole) = program.holes.get(*index)
    {
        return match &hole.value {
            HoleValue::Words { words, .. } => words.iter().cloned().map(Ok).collect(),
            HoleValue::Word(text) => vec![Ok(text.clone())],
            HoleValue::Missing => Vec::new(),
        };
    }
    let mut text = String::new();
    if known_parts(&word.parts, program, &mut text).is_some() { vec![Ok(text)] } else { unknown() }
}

fn known_parts(parts: &[WordPart], program: &Program, text: &mut String) -> Option<()> {
    for part in parts {
        match part {
            WordPart::Quoted { text: quoted, .. } => text.push_str(quoted),
            WordPart::Literal { text: literal, .. } if !literal.contains(['{', '}']) => text.push_str(literal),
            WordPart::DoubleQuoted { parts, .. } => known_parts(parts, program, text)?,
            WordPart::Hole { index, quoted: true, .. } => match &program.holes.get(*index)?.value {
                HoleValue::Words { text: typed, .. } => text.push_str(typed),
                HoleValue::Word(word) => text.push_str(word),
                HoleValue::Missing => {}
            },
            _ => return None,
        }
    }
    Some(())
}
