use super::expand::Expanded;
use super::nested::{self, RunsOthers};
use super::{Eval, Flow, Io, Shell, Variable, builtin, resolve, stopped, system_command};
use crate::audit::{AuditEvent, AuditFailure};
use crate::backend::{Job, NestedCommands, RunError};
use crate::executor::CommandRecord;
use skillgate_policy::{Approved, CommandRequest, Effect, Provenance, Provider, Sight, Word};
use skillgate_shell::SimpleCommand;
use std::sync::PoisonError;
use std::time::Instant;

/// How often over a stream's bound the argument vectors of a report may be; what comes later ran and is not in it.
const REPORT_TIMES: u64 = 4;

/// The commands of a report.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) list: Vec<CommandRecord>,
    bytes: usize,
}

impl Shell<'_> {
    pub(super) fn simple(&mut self, command: &SimpleCommand, io: &Io, condition: bool) -> Eval<Flow> {
        self.substituted = false;
        let mut expanded = self.words(&command.words, io)?;
        // `command NAME …` is NAME, whatever function has the name.
        let mut functions_too = true;
        while let [command, name, ..] = expanded.as_slice()
            && command.word.text == "command"
            && !name.word.text.starts_with('-')
        {
            expanded.drain(..1);
            functions_too = false;
        }
        let mut words: Vec<Word> = expanded.iter().map(|expanded| expanded.word.clone()).collect();
        if let Some(first) = words.first_mut()
            && let Some(name) = system_command(&first.text, self.shared.backends).map(str::to_owned)
        {
            first.text = name;
        }
        let positional = || expanded.into_iter().map(Expanded::into_positional).collect::<Vec<Word>>();
        let mut assignments = Vec::new();
        for assignment in &command.assignments {
            let field = self.pieces(&assignment.value, io)?;
            let (mut text, mut provenance) = (field.text(), field.whole_provenance());
            if assignment.append
                && let Some(variable) = self.variables.get(&assignment.name)
            {
                text = format!("{}{text}", variable.value);
                if variable.provenance == Provenance::Expansion {
                    provenance = Provenance::Expansion;
                }
            }
            assignments.push((assignment.name.clone(), text, provenance));
        }
        let Some(name) = words.first().map(|word| word.text.clone()) else {
            // Without a command the status is that of the last substitution, or 0. bash does a redirection of standard input
            // to a file in a subshell, whose status counts.
            for (name, value, provenance) in assignments {
                self.assign(&name, value, provenance)?;
            }
            let apart = command.redirects.iter().any(super::redirect::replaces_input);
            if self.redirected(&command.redirects, io)?.is_some() && (apart || !self.substituted) {
                self.status = 0;
            }
            return Ok(Flow::Next);
        };
        if functions_too && let Some(function) = self.functions.get(&name).cloned() {
            self.shared.run.check().map_err(|stop| stopped(&name, stop))?;
            let Some(io) = self.redirected(&command.redirects, io)? else { return Ok(Flow::Next) };
            let arguments = positional().split_off(1);
            return self.with_assignments(assignments, |shell| shell.call(&function, arguments, &io, condition));
        }
        let (provider, backend) = resolve(&name, self.shared.backends);
        let counted = if backend == "shell" { self.shared.run.check() } else { self.shared.run.count_command() };
        counted.map_err(|stop| stopped(&name, stop))?;
        let vector: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        if provider == Provider::Nobody {
            if let Some(io) = self.redirected(&command.redirects, io)? {
                self.complain(&io, &format!("{name}: command not found"))?;
                self.status = 127;
            }
            self.decided_by = Some(vector);
            return Ok(Flow::Next);
        }
        let approved = self.admit(&vector, &words, provider)?;
        let Some(io) = self.redirected(&command.redirects, io)? else {
            self.decided_by = Some(vector);
            return Ok(Flow::Next);
        };
        self.perform(approved, &positional(), backend, assignments, io, condition)
    }

    /// Has a vector decided, and records that it may run.
    pub(super) fn admit(&self, vector: &[String], words: &[Word], provider: Provider) -> Result<Approved, RunError> {
        let approved = self.approve(vector, words, provider)?;
        let (vector, rule) = (vector.to_vec(), approved.rule().to_owned());
        self.record(&AuditEvent::Command { vector, decision: Effect::Allow, rule })?;
        Ok(approved)
    }

    /// Runs an approved command to its end and leaves its status. `words` is its vector with what is known of each word, as a
    /// script's positional parameters get it.
    pub(super) fn perform(
        &mut self,
        approved: Approved,
        words: &[Word],
        backend: &'static str,
        assignments: Vec<(String, String, Provenance)>,
        io: Io,
        condition: bool,
    ) -> Eval<Flow> {
        let (vector, provider) = (approved.vector().to_vec(), approved.provider());
        if let (Sight::StreamsOnly, Some(path)) = (approved.sight(), &io.stdin_file) {
            return Err(RunError::from(Approved::unmounted_refusal(&vector, path, approved.withheld())).into());
        }
        let name = vector.first().cloned().unwrap_or_default();
        let index = self.note(&vector, approved.rule().to_owned(), backend);
        let started = Instant::now();
        let result = if provider == Provider::BuiltIn && backend == "shell" {
            self.with_assignments(assignments, |shell| builtin::run(shell, &vector, words, &io, condition))
        } else {
            let environment = self.environment(assignments);
            let runs_others = provider == Provider::Shipped && nested::runs_others(&vector);
            let others =
                runs_others.then(|| RunsOthers { shell: self, words, environment: &environment, io: io.clone() });
            let job = Job {
                directory: &self.directory,
                environment: &environment,
                stdin: io.stdin,
                stdout: io.stdout,
                stderr: io.stderr,
                mounts: &self.shared.scene.mounts,
                run: self.shared.run,
                nested: others.as_ref().map(|others| others as &dyn NestedCommands),
            };
            let backend = self.shared.backends.iter().find(|backend| backend.provider(&name).is_some());
            match backend.map(|backend| backend.run(approved, job)) {
                Some(Ok(exit)) => {
                    self.status = exit.code;
                    Ok(Flow::Next)
                }
                Some(Err(error)) => Err(error.into()),
                None => Err(RunError::Unavailable {
                    backend: "none",
                    stage: "resolve",
                    reason: format!("no backend offers `{name}` any more"),
                }
                .into()),
            }
        };
        let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (status, failure) = match &result {
            Ok(_) => (Some(self.status), None),
            Err(super::Abort::Exit(status)) => (Some(*status), None),
            Err(super::Abort::Run(error)) => (None, Some(AuditFailure::from(error))),
        };
        let mut records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = index.and_then(|index| records.list.get_mut(index)) {
            record.status = status;
            record.duration_us = duration_us;
        }
        drop(records);
        self.decided_by = Some(vector.clone());
        self.record(&AuditEvent::CommandEnd { vector, backend, status, failure, duration_us })?;
        result
    }

    /// Has the gate decide, and asks somebody where a rule wants it.
    pub(super) fn approve(&self, vector: &[String], words: &[Word], provider: Provider) -> Result<Approved, RunError> {
        let mut asked = Vec::new();
        loop {
            let refusal = match self.shared.gate.approve(CommandRequest { words: words.to_vec(), provider }) {
                Ok(approved) => return Ok(approved),
                Err(refusal) => refusal,
            };
            let error = match (refusal.asking().cloned(), &self.shared.scene.asker) {
                // Each rule asks once, so that this ends.
                (Some(rule), Some(asker)) if !asked.contains(&rule) => {
                    asked.push(rule);
                    // The time that somebody takes to think is not the program's.
                    match self.shared.run.not_counting(|| asker.ask(vector, refusal)) {
                        Ok(()) => continue,
                        Err(error) => error,
                    }
                }
                _ => RunError::from(refusal),
            };
            if let RunError::Refused(refusal) = &error {
                let (decision, rule) = (refusal.reason.effect(), refusal.reason.rule());
                self.record(&AuditEvent::Command { vector: vector.to_vec(), decision, rule })?;
            }
            return Err(error);
        }
    }

    /// Keeps a command for the report, as long as the report stays within its bounds.
    fn note(&self, vector: &[String], rule: String, backend: &'static str) -> Option<usize> {
        let mut records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = vector.iter().map(String::len).sum();
        records.bytes += bytes;
        let limits = self.shared.run.limits();
        if records.list.len() as u64 >= limits.commands || records.bytes as u64 > REPORT_TIMES * limits.output_bytes {
            return None;
        }
        records.list.push(CommandRecord { argv: vector.to_vec(), rule, backend, status: None, duration_us: 0 });
        Some(records.list.len() - 1)
    }

    /// Runs a built-in with the assignments before it, which hold no longer than it runs.
    fn with_assignments(
        &mut self,
        assignments: Vec<(String, String, Provenance)>,
        run: impl FnOnce(&mut Self) -> Eval<Flow>,
    ) -> Eval<Flow> {
        let mut before = Vec::new();
        for (name, value, provenance) in assignments {
            before.push((name.clone(), self.variables.get(&name).cloned()));
            self.assign(&name, value, provenance)?;
        }
        let flow = run(self)?;
        for (name, variable) in before.into_iter().rev() {
            match variable {
                Some(variable) => drop(self.variables.insert(name, variable)),
                None => drop(self.variables.remove(&name)),
            }
        }
        Ok(flow)
    }

    fn record(&self, event: &AuditEvent) -> Result<(), RunError> {
        Ok(self.shared.scene.trail.record(event)?)
    }

    /// The exported variables, with the assignments before the command.
    fn environment(&self, assignments: Vec<(String, String, Provenance)>) -> Vec<(String, String)> {
        let exported = |(name, variable): (&String, &Variable)| {
            let assigned = assignments.iter().any(|(assigned, ..)| assigned == name);
            (variable.exported && !assigned).then(|| (name.clone(), variable.value.clone()))
        };
        let mut environment: Vec<_> = self.variables.iter().filter_map(exported).collect();
        environment.extend(assignments.iter().map(|(name, value, _)| (name.clone(), value.clone())));
        environment.sort_unstable();
        environment
    }
}
