//! The evaluator: walks the tree, expands words, and hands each vector to the gate and then to a backend.

mod builtin;
mod describe;
mod echo;
mod expand;
mod function;
mod glob;
mod nested;
mod read;
mod redirect;
mod regex;
mod script;
mod simple;
mod test;

use crate::backend::{Backend, RunError};
use crate::executor::Scene;
use crate::run::{Bound, Run, Stop};
use crate::stream::{Input, Output, WriteError, pipe};
use skillgate_core::Hole;
use skillgate_policy::{Gate, Provenance, Provider, Word as VectorWord};
use skillgate_shell::{
    AndOr, CaseTerminator, Command, CompoundCommand, CompoundKind, Connector, FunctionDefinition, List, Pipeline,
    Program, Word,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

pub use builtin::is_builtin;
pub(crate) use nested::{program_of, templates};
pub(crate) use redirect::is_free_target;
pub(crate) use script::system_command;
pub use script::{ScriptKind, script_at};
pub(crate) use simple::Records;

/// The stack of a thread that evaluates a stage, bytes: deep enough for the nesting that the parser lets through, with a
/// guest on top.
const STAGE_STACK: usize = 8 << 20;

/// How often over a stream's bound all variables together may be.
const VARIABLES_TIMES: u64 = 2;

/// What all parts of one run share.
pub(crate) struct Shared<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) backends: &'a [Arc<dyn Backend>],
    pub(crate) scene: &'a Scene,
    pub(crate) run: &'a Arc<Run>,
    pub(crate) holes: &'a [Hole],
    pub(crate) records: Mutex<Records>,
}

/// The streams of one command.
#[derive(Clone)]
pub(crate) struct Io {
    pub(crate) stdin: Input,
    /// The file that `stdin` is, when a redirection opened one: it is not for commands that see streams only.
    pub(crate) stdin_file: Option<String>,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    /// Descriptors above 2, which redirections alone know.
    pub(crate) others: Vec<(u32, Output)>,
}

/// Why evaluation cannot go on where it is.
enum Abort {
    /// The run is over.
    Run(RunError),
    /// This shell or subshell ends with a status.
    Exit(u8),
}

impl From<RunError> for Abort {
    fn from(error: RunError) -> Self {
        Abort::Run(error)
    }
}

type Eval<T> = Result<T, Abort>;

/// What happens after a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break(u32),
    Continue(u32),
    /// The function that is running ends with the status of the shell.
    Return,
}

#[derive(Clone)]
struct Variable {
    value: String,
    provenance: Provenance,
    exported: bool,
}

/// The state of a shell; a subshell works on a copy.
#[derive(Clone)]
struct Shell<'a> {
    shared: &'a Shared<'a>,
    variables: HashMap<String, Variable>,
    /// Names that were exported before they were set.
    exported_unset: BTreeSet<String>,
    directory: String,
    status: u8,
    /// Whether the words of the current command ran a substitution, whose status then counts.
    substituted: bool,
    /// The vector that gave the status.
    decided_by: Option<Vec<String>>,
    /// Whether the body of a here-document is being expanded.
    in_document: bool,
    exit_on_error: bool,
    fail_on_unset: bool,
    pipe_fail: bool,
    loops: u32,
    functions: Arc<HashMap<String, Arc<FunctionDefinition>>>,
    /// `$1` and on.
    positional: Arc<Vec<VectorWord>>,
    /// `$0`.
    zero: Arc<str>,
    /// For each function that is running, the variables that `local` hid.
    scopes: Vec<function::Scope>,
    /// How many files are being read by `source`, which `return` ends as well.
    sourced: u32,
    /// How deep groups, substitutions, functions and scripts nest here.
    depth: u32,
}

/// Runs a program and gives its status and the vector that gave it.
pub(crate) fn run(shared: &Shared<'_>, program: &Program, io: Io) -> Result<(u8, Option<Vec<String>>), RunError> {
    let variable = |value: &String| Variable { value: value.clone(), provenance: Provenance::Author, exported: true };
    let mut shell = Shell {
        shared,
        variables: shared.scene.environment.iter().map(|(name, value)| (name.clone(), variable(value))).collect(),
        exported_unset: BTreeSet::new(),
        directory: shared.scene.directory.clone(),
        status: 0,
        substituted: false,
        decided_by: None,
        in_document: false,
        exit_on_error: false,
        fail_on_unset: false,
        pipe_fail: false,
        loops: 0,
        functions: Arc::default(),
        positional: Arc::default(),
        zero: Arc::from("skillgate"),
        scopes: Vec::new(),
        sourced: 0,
        depth: 0,
    };
    shell.reset_separators();
    shell.finish(|shell| shell.list(program, &io, false))?;
    Ok((shell.status, shell.decided_by))
}

/// Who offers a command, and the name of what runs it.
pub(crate) fn resolve(name: &str, backends: &[Arc<dyn Backend>]) -> (Provider, &'static str) {
    if builtin::is_builtin(name) {
        return (Provider::BuiltIn, "shell");
    }
    let offer = |backend: &Arc<dyn Backend>| backend.provider(name).map(|provider| (provider, backend.name()));
    let found = backends.iter().find_map(offer);
    match found {
        Some((_, backend)) if name == "printf" => (Provider::BuiltIn, backend),
        Some(found) => found,
        None => (Provider::Nobody, "none"),
    }
}

fn stopped(command: &str, stop: Stop) -> RunError {
    RunError::Stopped { command: command.to_owned(), stop }
}

impl<'a> Shell<'a> {
    /// Evaluates to the end of this shell: an exit inside ends it, and only it.
    fn finish(&mut self, evaluate: impl FnOnce(&mut Self) -> Eval<Flow>) -> Result<(), RunError> {
        match evaluate(self) {
            Ok(_) => Ok(()),
            Err(Abort::Exit(status)) => {
                self.status = status;
                Ok(())
            }
            Err(Abort::Run(error)) => Err(error),
        }
    }

    fn list(&mut self, list: &List, io: &Io, condition: bool) -> Eval<Flow> {
        for item in &list.items {
            match self.and_or(&item.and_or, io, condition)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn and_or(&mut self, and_or: &AndOr, io: &Io, condition: bool) -> Eval<Flow> {
        let last = and_or.rest.len();
        let mut flow = self.pipeline(&and_or.first, io, condition || last > 0)?;
        for (index, (connector, pipeline)) in and_or.rest.iter().enumerate() {
            if flow != Flow::Next {
                return Ok(flow);
            }
            let wanted = match connector {
                Connector::And => self.status == 0,
                Connector::Or => self.status != 0,
            };
            if wanted {
                flow = self.pipeline(pipeline, io, condition || index + 1 < last)?;
            }
        }
        Ok(flow)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, io: &Io, condition: bool) -> Eval<Flow> {
        let condition = condition || pipeline.negated;
        let flow = match pipeline.stages.as_slice() {
            [only] => self.command(only, io, condition)?,
            stages => {
                self.stages(stages, &pipeline.stderr_too, io, condition)?;
                Flow::Next
            }
        };
        if pipeline.negated {
            // The status that `return` gives is the function's.
            if flow != Flow::Return {
                self.status = u8::from(self.status == 0);
            }
        } else if self.status != 0 && self.exit_on_error && !condition && ends_on_error(&pipeline.stages) {
            return Err(Abort::Exit(self.status));
        }
        Ok(flow)
    }

    fn stages(&mut self, stages: &[Command], stderr_too: &[bool], io: &Io, condition: bool) -> Eval<()> {
        let run = self.shared.run;
        let _alive = run.take_stages(stages.len()).map_err(|stop| stopped("a pipeline", stop))?;
        let mut inputs = vec![(io.stdin.clone(), io.stdin_file.clone())];
        let mut outputs = Vec::new();
        for _ in 1..stages.len() {
            let (reader, writer) = pipe(run);
            inputs.push((Input::Pipe(reader), None));
            outputs.push(Output::Pipe(writer));
        }
        outputs.push(io.stdout.clone());
        let mut jobs: Vec<(Shell<'a>, &Command, Io)> = stages
            .iter()
            .zip(inputs)
            .zip(outputs)
            .enumerate()
            .map(|(index, ((stage, (stdin, stdin_file)), stdout))| {
                let joined = stderr_too.get(index).copied().unwrap_or(false);
                let stderr = if joined { stdout.clone() } else { io.stderr.clone() };
                (self.clone(), stage, Io { stdin, stdin_file, stdout, stderr, others: io.others.clone() })
            })
            .collect();
        let ended: Vec<Result<Shell<'a>, RunError>> = std::thread::scope(|scope| {
            let Some((last, last_stage, last_io)) = jobs.pop() else { return Vec::new() };
            let mut threads = Vec::new();
            for (shell, stage, io) in jobs {
                let thread = std::thread::Builder::new()
                    .name("skillgate-stage".to_owned())
                    .stack_size(STAGE_STACK)
                    .spawn_scoped(scope, move || shell.stage(stage, io, condition));
                threads.push(thread.map_err(|error| {
                    run.cancel();
                    RunError::Host { doing: "starting a pipeline".to_owned(), reason: error.to_string() }
                }));
            }
            let last = last.stage(last_stage, last_io, condition);
            let mut ended: Vec<_> = threads
                .into_iter()
                .map(|thread| match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|_| {
                        Err(RunError::Host {
                            doing: "running a stage of a pipeline".to_owned(),
                            reason: "it panicked".to_owned(),
                        })
                    }),
                    Err(error) => Err(error),
                })
                .collect();
            ended.push(last);
            ended
        });
        // The error that started it is not the cancellation of the others.
        let cancelled = |error: &RunError| matches!(error, RunError::Stopped { stop: Stop::Cancelled, .. });
        if let Some(error) = ended.iter().filter_map(|end| end.as_ref().err()).min_by_key(|error| cancelled(error)) {
            return Err(error.clone().into());
        }
        let shells: Vec<_> = ended.into_iter().filter_map(Result::ok).collect();
        let deciding = if self.pipe_fail { shells.iter().rev().find(|shell| shell.status != 0) } else { None };
        if let Some(shell) = deciding.or(shells.last()) {
            self.status = shell.status;
            self.decided_by.clone_from(&shell.decided_by);
        }
        Ok(())
    }

    /// Runs one stage of a pipeline in a shell of its own. The other stages end with it when it fails.
    fn stage(mut self, command: &Command, io: Io, condition: bool) -> Result<Self, RunError> {
        let run = self.shared.run;
        self.loops = 0;
        match self.finish(|shell| shell.command(command, &io, condition)) {
            Ok(()) => Ok(self),
            Err(error) => {
                run.cancel();
                Err(error)
            }
        }
    }

    fn command(&mut self, command: &Command, io: &Io, condition: bool) -> Eval<Flow> {
        match command {
            Command::Simple(simple) => self.simple(simple, io, condition),
            Command::Compound(compound) => self.compound(compound, io, condition),
            Command::Function(function) => {
                Arc::make_mut(&mut self.functions).insert(function.name.clone(), Arc::new(function.clone()));
                self.status = 0;
                Ok(Flow::Next)
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, io: &Io, condition: bool) -> Eval<Flow> {
        let Some(io) = self.redirected(&compound.redirects, io)? else { return Ok(Flow::Next) };
        self.nested(|shell| shell.compound_kind(&compound.kind, &io, condition))
    }

    /// Evaluates one level deeper, as far as the run's limit lets it.
    fn nested<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let limit = self.shared.run.limits().depth;
        if self.depth >= limit {
            return Err(stopped("the shell", Stop::Bound(Bound::Depth(limit))).into());
        }
        self.depth += 1;
        let result = evaluate(self);
        self.depth -= 1;
        result
    }

    fn compound_kind(&mut self, kind: &CompoundKind, io: &Io, condition: bool) -> Eval<Flow> {
        match kind {
            CompoundKind::Group(list) => self.list(list, io, condition),
            CompoundKind::Subshell(list) => {
                let mut inner = self.clone();
                // A loop around it is none of its own.
                inner.loops = 0;
                inner.finish(|shell| shell.list(list, io, condition))?;
                self.status = inner.status;
                self.decided_by = inner.decided_by;
                Ok(Flow::Next)
            }
            CompoundKind::If { branches, otherwise } => {
                for (test, then) in branches {
                    match self.list(test, io, true)? {
                        Flow::Next => {}
                        flow => return Ok(flow),
                    }
                    if self.status == 0 {
                        return self.list(then, io, condition);
                    }
                }
                match otherwise {
                    Some(list) => self.list(list, io, condition),
                    None => {
                        self.status = 0;
                        Ok(Flow::Next)
                    }
                }
            }
            CompoundKind::For { variable, words, body } => {
                let words = match words {
                    Some(words) => self.words(words, io)?,
                    None => self.positional.iter().cloned().map(expand::Expanded::whole).collect(),
                };
                if words.is_empty() {
                    self.status = 0;
                }
                self.looped(|shell| {
                    for word in words {
                        shell.turn()?;
                        // The value may be split again, and then any part of it begins a word.
                        let provenance = if word.produced { Provenance::Expansion } else { word.word.provenance };
                        shell.assign(variable, word.word.text, provenance)?;
                        match shell.list(body, io, condition)? {
                            Flow::Break(n) => return Ok(leave(Flow::Break(n))),
                            Flow::Continue(n) if n > 1 => return Ok(leave(Flow::Continue(n))),
                            Flow::Return => return Ok(Flow::Return),
                            Flow::Continue(_) | Flow::Next => {}
                        }
                    }
                    Ok(Flow::Next)
                })
            }
            CompoundKind::While { until, condition: test, body } => self.looped(|shell| {
                let mut status = 0;
                loop {
                    shell.turn()?;
                    let mut flow = shell.list(test, io, true)?;
                    if flow == Flow::Next {
                        if (shell.status == 0) == *until {
                            shell.status = status;
                            return Ok(Flow::Next);
                        }
                        flow = shell.list(body, io, condition)?;
                        status = shell.status;
                    }
                    match flow {
                        Flow::Break(n) => return Ok(leave(Flow::Break(n))),
                        Flow::Continue(n) if n > 1 => return Ok(leave(Flow::Continue(n))),
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Continue(_) | Flow::Next => {}
                    }
                }
            }),
            CompoundKind::Case { subject, arms } => {
                let subject = self.text(subject, io)?;
                let (mut fallen, mut ran) = (false, false);
                for arm in arms {
                    let mut chosen = std::mem::take(&mut fallen);
                    for pattern in &arm.patterns {
                        chosen = chosen || self.matches(pattern, &subject, io)?;
                    }
                    if !chosen {
                        continue;
                    }
                    if arm.body.items.is_empty() {
                        self.status = 0;
                    }
                    ran = true;
                    let flow = self.list(&arm.body, io, condition)?;
                    match arm.terminator {
                        CaseTerminator::Break => return Ok(flow),
                        _ if flow != Flow::Next => return Ok(flow),
                        CaseTerminator::FallThrough => fallen = true,
                        CaseTerminator::TryNext => {}
                    }
                }
                if !ran {
                    self.status = 0;
                }
                Ok(Flow::Next)
            }
            CompoundKind::Conditional(test) => {
                let status = self.conditional(test, io)?;
                self.decide(status, vec!["[[".to_owned()]);
                Ok(Flow::Next)
            }
            CompoundKind::Arithmetic(expr) => {
                let value = self.arithmetic_or_complaint(expr, io)?;
                self.decide(u8::from(value.unwrap_or(0) == 0), vec!["((".to_owned()]);
                Ok(Flow::Next)
            }
        }
    }

    fn looped(&mut self, turns: impl FnOnce(&mut Self) -> Eval<Flow>) -> Eval<Flow> {
        self.loops += 1;
        let flow = turns(self);
        self.loops -= 1;
        flow
    }

    fn turn(&mut self) -> Eval<()> {
        self.shared.run.count_loop_turn().map_err(|stop| stopped("a loop", stop).into())
    }

    fn decide(&mut self, status: u8, vector: Vec<String>) {
        self.status = status;
        self.decided_by = Some(vector);
    }

    fn assign(&mut self, name: &str, value: String, provenance: Provenance) -> Eval<()> {
        let exported = match self.variables.get(name) {
            Some(variable) => variable.exported,
            None => self.exported_unset.remove(name),
        };
        self.set(name, Variable { value, provenance, exported })
    }

    /// A shell begins with its own separators of fields, whatever its environment says.
    fn reset_separators(&mut self) {
        let value = " \t\n".to_owned();
        self.variables.insert("IFS".to_owned(), Variable { value, provenance: Provenance::Author, exported: false });
    }

    /// Sets a variable, as long as all of them together stay within their bound.
    fn set(&mut self, name: &str, variable: Variable) -> Eval<()> {
        let limit = VARIABLES_TIMES * self.shared.run.limits().output_bytes;
        let held: usize = self.variables.iter().map(|(name, variable)| name.len() + variable.value.len()).sum();
        if (held + name.len() + variable.value.len()) as u64 > limit {
            return Err(stopped("the shell", Stop::Bound(Bound::Variables(limit))).into());
        }
        self.variables.insert(name.to_owned(), variable);
        Ok(())
    }

    /// Says something on standard error, as a shell does about its own failures.
    fn complain(&self, io: &Io, message: &str) -> Eval<()> {
        self.write(&io.stderr, format!("skillgate: {message}\n").as_bytes()).map(drop)
    }

    /// Writes; `false` when nobody reads.
    fn write(&self, output: &Output, bytes: &[u8]) -> Eval<bool> {
        match output.write(bytes) {
            Ok(()) => Ok(true),
            // As SIGPIPE ends a shell that writes.
            Err(WriteError::Closed) if output.reader_is_gone() => Err(Abort::Exit(128 + 13)),
            Err(WriteError::Closed) => Ok(false),
            Err(WriteError::Stop(stop)) => Err(stopped("the shell", stop).into()),
        }
    }

    /// An absolute path for a path as a command names it.
    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.directory.trim_end_matches('/')) }
    }

    /// Whether every `..` of a path leaves a directory that is there. Paths are otherwise looked up without them.
    fn parents_are_there(&self, path: &str) -> bool {
        let parents = path.match_indices("..").filter(|(at, _)| {
            let (before, after) = (&path[..*at], &path[at + 2..]);
            (before.is_empty() || before.ends_with('/')) && (after.is_empty() || after.starts_with('/'))
        });
        parents.map(|(at, _)| &path[..at]).filter(|left| !left.trim_matches(['/', '.']).is_empty()).all(|left| {
            let located = self.shared.scene.mounts.locate(&self.absolute(left));
            // What lies outside of every mount is not asked about.
            located.is_none_or(|located| {
                located.metadata(self.shared.gate.paths(), true).is_ok_and(|metadata| metadata.is_dir())
            })
        })
    }

    /// Whether a text matches the pattern that a word becomes.
    fn matches(&mut self, pattern: &Word, text: &str, io: &Io) -> Eval<bool> {
        let pieces = self.pieces(pattern, io)?;
        self.affordable(&pieces, text)?;
        Ok(self.compile(&pieces, io)?.matches(text))
    }
}

/// Whether `set -e` looks at the status of a pipeline. The commands in a group, a loop or a choice have been looked at one by
/// one; what is left is the status of one that `set -e` ignores, such as `! true`.
fn ends_on_error(stages: &[Command]) -> bool {
    match stages {
        [Command::Compound(compound)] => {
            matches!(
                compound.kind,
                CompoundKind::Subshell(_) | CompoundKind::Conditional(_) | CompoundKind::Arithmetic(_)
            )
        }
        _ => true,
    }
}

/// What a loop that is left passes on to the one around it.
fn leave(flow: Flow) -> Flow {
    match flow {
        Flow::Break(n) if n > 1 => Flow::Break(n - 1),
        Flow::Continue(n) if n > 1 => Flow::Continue(n - 1),
        _ => Flow::Next,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files that programs see")]
mod tests;
