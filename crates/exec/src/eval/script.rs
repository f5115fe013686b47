//! Text that becomes a program while a program runs: scripts named by their path, `sh FILE`, `sh -c TEXT` and `eval`. The
//! shell runs it itself, so every command in it is decided as its own vector.

use super::{Abort, Eval, Flow, Io, Shell, stopped};
use crate::backend::Backend;
use crate::mounts::{Located, Mounts};
use crate::program::Program;
use crate::run::{Bound, Stop};
use skillgate_policy::{PathRules, Provenance, Word as VectorWord};
use std::io::Read as _;
use std::sync::Arc;

/// Names under which the shell runs scripts itself.
pub(super) const SHELLS: &[&str] = &["bash", "sh"];

/// Status of a path that is there and cannot be run.
const CANNOT_RUN: u8 = 126;
/// Status of a path that is not there.
const NOT_FOUND: u8 = 127;

/// The command that a path in the system's directories of programs stands for, when a backend offers it. No such directory is
/// ever mounted, so the path means the command and is decided as the command.
pub(crate) fn system_command<'n>(path: &'n str, backends: &[Arc<dyn Backend>]) -> Option<&'n str> {
    let name = path.strip_prefix("/usr").unwrap_or(path).strip_prefix("/bin/")?;
    let offered = SHELLS.contains(&name) || backends.iter().any(|backend| backend.provider(name).is_some());
    offered.then_some(name)
}

/// What a path that is run as a command turns out to be.
enum Script {
    /// A shell script.
    Text(String),
    /// Something the shell does not run, which has been said; the status.
    Not(u8),
}

impl Shell<'_> {
    /// Runs a path as a command.
    pub(super) fn run_path(&mut self, words: &[VectorWord], io: &Io) -> Eval<Flow> {
        let Some((path, arguments)) = words.split_first() else { return Ok(Flow::Next) };
        match self.script(&path.text, true, io)? {
            Script::Text(text) => self.run_script(&path.text, &text, arguments, io),
            Script::Not(status) => {
                self.status = status;
                Ok(Flow::Next)
            }
        }
    }

    /// `sh [-e] [-u] [-o pipefail] FILE ARG…` and `sh -c TEXT [NAME ARG…]`.
    pub(super) fn run_shell(&mut self, words: &[VectorWord], io: &Io) -> Eval<Flow> {
        let Some((own, mut rest)) = words.split_first() else { return Ok(Flow::Next) };
        let mut inner = self.fresh();
        let mut text_follows = false;
        while let Some((option, after)) = rest.split_first() {
            let Some(letters) = option.text.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
            rest = after;
            if letters == "-" {
                break;
            }
            for letter in letters.chars() {
                match letter {
                    'c' => text_follows = true,
                    'e' => inner.exit_on_error = true,
                    'u' => inner.fail_on_unset = true,
                    'o' if rest.first().is_some_and(|word| word.text == "pipefail") => {
                        inner.pipe_fail = true;
                        rest = &rest[1..];
                    }
                    _ => {
                        self.complain(io, &format!("{}: {} is not supported", own.text, option.text))?;
                        self.status = 2;
                        return Ok(Flow::Next);
                    }
                }
            }
        }
        let Some((first, arguments)) = rest.split_first() else {
            self.complain(io, &format!("{}: a program on standard input is not supported", own.text))?;
            self.status = 2;
            return Ok(Flow::Next);
        };
        if text_follows {
            if self.may_be_argument(std::slice::from_ref(first))
                || (first.provenance != Provenance::Author && !self.shared.gate.is_unrestricted())
            {
                return Err(self.refuse_produced(words));
            }
            let (zero, arguments) = arguments
                .split_first()
                .map_or((own.text.as_str(), arguments), |(zero, rest)| (zero.text.as_str(), rest));
            return self.run_inner(inner, zero, &first.text, arguments, io);
        }
        match self.script(&first.text, false, io)? {
            Script::Text(text) => self.run_inner(inner, &first.text, &text, arguments, io),
            Script::Not(status) => {
                self.status = status;
                Ok(Flow::Next)
            }
        }
    }

    /// `eval WORD…`, which is for grants that permit every command: nobody sees its text before it is made.
    pub(super) fn eval(&mut self, words: &[VectorWord], before: u8, io: &Io, condition: bool) -> Eval<Flow> {
        if !self.shared.gate.is_unrestricted() || self.may_be_argument(words) {
            return Err(self.refuse_produced(words));
        }
        let text = super::function::texts(words.get(1..).unwrap_or_default()).join(" ");
        let Some(program) = self.parsed("eval", &text, io)? else { return Ok(Flow::Next) };
        if !program.tree.items.is_empty() {
            // What its first command sees as `$?`.
            self.status = before;
        }
        self.nested(|shell| shell.list(&program.tree, io, condition))
    }

    /// `source FILE [ARG…]` and `. FILE [ARG…]`: the commands of the file in this shell, each decided as its own vector.
    pub(super) fn source(&mut self, words: &[VectorWord], before: u8, io: &Io, condition: bool) -> Eval<Flow> {
        let Some((path, arguments)) = words.get(1..).and_then(<[_]>::split_first) else {
            self.complain(io, "source: a file name is missing")?;
            self.status = 2;
            return Ok(Flow::Next);
        };
        let text = match self.script(&path.text, false, io)? {
            Script::Text(text) => text,
            Script::Not(_) => {
                self.status = 1;
                return Ok(Flow::Next);
            }
        };
        let Some(program) = self.parsed(&path.text, &text, io)? else { return Ok(Flow::Next) };
        if !program.tree.items.is_empty() {
            // What its first command sees as `$?`.
            self.status = before;
        }
        let positional = (!arguments.is_empty()).then(|| Arc::clone(&self.positional));
        if positional.is_some() {
            self.set_positional(arguments);
        }
        self.sourced += 1;
        let flow = self.nested(|shell| shell.list(&program.tree, io, condition))?;
        self.sourced -= 1;
        if let Some(positional) = positional {
            self.positional = positional;
        }
        Ok(if flow == Flow::Return { Flow::Next } else { flow })
    }

    /// Whether a text could hold an argument of the invocation, which is data and never becomes a program, whatever is granted.
    /// Where arguments are put in at all, any text that the author did not write himself could have come from one.
    fn may_be_argument(&self, words: &[VectorWord]) -> bool {
        !self.shared.holes.is_empty() && words.iter().any(|word| word.provenance != Provenance::Author)
    }

    fn refuse_produced(&self, words: &[VectorWord]) -> Abort {
        let vector = super::function::texts(words);
        crate::backend::RunError::from(skillgate_policy::Approved::produced_program_refusal(
            &vector,
            !self.may_be_argument(words),
        ))
        .into()
    }

    fn run_script(&mut self, path: &str, text: &str, arguments: &[VectorWord], io: &Io) -> Eval<Flow> {
        let inner = self.fresh();
        self.run_inner(inner, path, text, arguments, io)
    }

    /// A shell as a new process of it would be: exported variables, no functions, no options.
    pub(super) fn fresh(&self) -> Self {
        let mut inner = self.clone();
        inner.variables.retain(|_, variable| variable.exported);
        inner.functions = Arc::default();
        inner.reset_separators();
        inner.scopes.clear();
        inner.sourced = 0;
        inner.loops = 0;
        (inner.exit_on_error, inner.fail_on_unset, inner.pipe_fail) = (false, false, false);
        inner.status = 0;
        inner
    }

    fn run_inner(&mut self, mut inner: Self, zero: &str, text: &str, arguments: &[VectorWord], io: &Io) -> Eval<Flow> {
        let Some(program) = self.parsed(zero, text, io)? else { return Ok(Flow::Next) };
        inner.zero = Arc::from(zero);
        inner.set_positional(arguments);
        inner.finish(|shell| shell.nested(|shell| shell.list(&program.tree, io, false)))?;
        self.status = inner.status;
        self.decided_by = inner.decided_by;
        Ok(Flow::Next)
    }

    /// Parses; a text that is no program has been said and is status 2.
    fn parsed(&mut self, name: &str, text: &str, io: &Io) -> Eval<Option<Program>> {
        match Program::from_text(text, self.shared.run.limits()) {
            Ok(program) => Ok(Some(program)),
            Err(error) => {
                let line = text.get(..error.span.start).unwrap_or_default().matches('\n').count() + 1;
                self.complain(io, &format!("{name}: line {line}: {error}"))?;
                self.status = 2;
                Ok(None)
            }
        }
    }

    /// Reads the script at a path. `by_path`: it is run as a command, so it has to look like a shell script.
    fn script(&mut self, path: &str, by_path: bool, io: &Io) -> Eval<Script> {
        let not = |shell: &Self, reason: &str, status| {
            shell.complain(io, &format!("{path}: {reason}"))?;
            Ok(Script::Not(status))
        };
        let located = self.shared.scene.mounts.locate(&self.absolute(path));
        if located.as_ref().is_some_and(Located::is_scratch) {
            // What a program put together itself may hold text that could be an argument.
            return not(self, "is in /tmp, from where no script is run", CANNOT_RUN);
        }
        let opened = match located.map(|located| located.open(self.shared.gate.paths())) {
            Some(Ok(opened)) => opened,
            Some(Err(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return not(self, "Permission denied", CANNOT_RUN);
            }
            Some(Err(_)) | None => return not(self, "No such file or directory", NOT_FOUND),
        };
        let (file, metadata) = opened;
        if metadata.is_dir() {
            return not(self, "Is a directory", CANNOT_RUN);
        }
        let limit = self.shared.run.limits().source_bytes;
        let mut bytes = Vec::new();
        if file.into_std().take(limit + 1).read_to_end(&mut bytes).is_err() {
            return not(self, "cannot be read", CANNOT_RUN);
        }
        if bytes.len() as u64 > limit {
            return Err(stopped(path, Stop::Bound(Bound::Source(limit))).into());
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return not(self, "is not a shell script", CANNOT_RUN);
        };
        match interpreter(&text) {
            Some(name) if SHELLS.contains(&name) => Ok(Script::Text(text)),
            Some(name) => not(self, &format!("needs `{name}`, which is not offered here"), CANNOT_RUN),
            None if !by_path || path.ends_with(".sh") => Ok(Script::Text(text)),
            None => not(self, "is not a shell script", CANNOT_RUN),
        }
    }
}

/// What a path that a program runs as a command is, as far as that can be told before anything runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScriptKind {
    /// A script that the shell runs itself; its text.
    Shell(String),
    /// A script for this interpreter.
    Interpreter(String),
    /// Something else, or a script that is longer than may be parsed.
    Other,
    /// Nothing that a run is shown.
    Missing,
}

/// Looks at an absolute path as a run would that is shown `mounts` under `rules`, and reads at most `most` bytes.
#[must_use]
pub fn script_at(mounts: &Mounts, rules: &PathRules, path: &str, most: u64) -> ScriptKind {
    let opened = mounts.locate(path).filter(|located| !located.is_scratch()).map(|located| located.open(rules));
    let Some(Ok((file, metadata))) = opened else { return ScriptKind::Missing };
    let mut bytes = Vec::new();
    if metadata.is_dir() || file.into_std().take(most + 1).read_to_end(&mut bytes).is_err() || bytes.len() as u64 > most
    {
        return ScriptKind::Other;
    }
    let Ok(text) = String::from_utf8(bytes) else { return ScriptKind::Other };
    match interpreter(&text) {
        Some(name) if !SHELLS.contains(&name) => ScriptKind::Interpreter(name.to_owned()),
        None if !path.ends_with(".sh") => ScriptKind::Other,
        _ => ScriptKind::Shell(text),
    }
}

/// The name of the program that a script's first line asks for.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    match words.next()? {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        name => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_interpreter() {
        for (text, expected) in [
            ("#!/bin/sh\necho", Some("sh")),
            ("#! /usr/bin/env bash", Some("bash")),
            ("#!/usr/bin/env -S X=1 bash -e\n", Some("bash")),
            ("#!/usr/bin/env python3\n", Some("python3")),
            ("echo\n#!/bin/sh", None),
            ("#!", None),
            ("", None),
        ] {
            assert_eq!(interpreter(text), expected, "{text}");
        }
    }
}
