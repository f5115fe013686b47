//! Commands that run others: `xargs` and `find -exec`. Each command that they ask for is decided as its own vector when it
//! exists, and, as far as the text tells it, before anything runs.

use super::script::SHELLS;
use super::{Shell, builtin, resolve, stopped, system_command};
use crate::backend::{Backend, Nested, NestedCommand, NestedCommands, RunError};
use crate::eval::Io;
use crate::mounts::normalise;
use crate::stream::Input;
use skillgate_core::Span;
use skillgate_policy::{Provenance, Provider, Word as VectorWord};
use std::fmt;
use std::sync::Arc;

/// What `xargs` runs when it is given no command.
const DEFAULT: &str = "echo";
/// The words of `find` after which a command stands.
const FIND_ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];
/// Options of `xargs` that take a value, by letter and by name.
const XARGS_VALUES: &str = "aEIdLnPs";
const XARGS_LONG_VALUES: &[&str] =
    &["arg-file", "delimiter", "max-args", "max-chars", "max-procs", "process-slot-var", "max-lines"];

/// A word of a command as far as it is known.
type Sketched = Result<String, Span>;

/// Whether a vector says that its command runs others; no other command is let.
pub(super) fn runs_others(vector: &[String]) -> bool {
    match vector.first().map(String::as_str) {
        Some("xargs") => true,
        Some("env") => vector.len() > 1,
        Some("find") => vector.iter().any(|word| FIND_ACTIONS.contains(&word.as_str())),
        _ => false,
    }
}

/// The commands that a command will run, as far as its own words tell: what is put into them later is unknown.
pub(crate) fn templates(words: &[Sketched], span: Span) -> Vec<Vec<Sketched>> {
    match words.first().map(|word| word.as_deref()) {
        Some(Ok("xargs")) => xargs_template(&words[1..], span).into_iter().collect(),
        Some(Ok("find")) => find_templates(&words[1..], span),
        Some(Ok("env")) => env_template(&words[1..]).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `None` where an option is not known: then nothing is told, and everything is decided when it exists.
fn xargs_template(words: &[Sketched], span: Span) -> Option<Vec<Sketched>> {
    let mut rest = words.iter();
    let mut replaced: Option<String> = None;
    let mut command: Vec<Sketched> = Vec::new();
    while let Some(word) = rest.next() {
        let text = word.as_deref().ok()?;
        if text == "--" {
            command.extend(rest.by_ref().cloned());
        } else if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some(("replace", value)) => replaced = Some(value.to_owned()),
                None if long == "replace" => replaced = Some("{}".to_owned()),
                Some(_) => {}
                None if XARGS_LONG_VALUES.contains(&long) => drop(rest.next()),
                None => {}
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let value_at = letters.find(|letter| XARGS_VALUES.contains(letter) || letter == 'i');
            if let Some(at) = value_at {
                let (letter, joined) = letters[at..].split_at(1);
                let joined = (!joined.is_empty()).then(|| joined.to_owned());
                match letter {
                    "i" => replaced = Some(joined.unwrap_or_else(|| "{}".to_owned())),
                    letter => {
                        let value = match joined {
                            Some(joined) => joined,
                            None => rest.next()?.as_ref().ok()?.clone(),
                        };
                        if letter == "I" {
                            replaced = Some(value);
                        }
                    }
                }
            }
        } else {
            command.push(word.clone());
            command.extend(rest.by_ref().cloned());
        }
    }
    if command.is_empty() {
        command.push(Ok(DEFAULT.to_owned()));
    }
    match replaced {
        Some(mark) => command = command.into_iter().map(|word| with_hole(word, &mark, span)).collect(),
        None => command.push(Err(span)),
    }
    Some(command)
}

/// `None` where there is no command, or where it cannot be told where one begins.
fn env_template(words: &[Sketched]) -> Option<Vec<Sketched>> {
    let mut rest = words.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        let text = word.as_deref().ok()?;
        match text {
            "--" => {}
            "-" | "-i" | "-0" | "--ignore-environment" | "--null" => {}
            "-u" | "-C" | "--unset" | "--chdir" => drop(rest.next()?),
            text if text.starts_with("-u") || text.starts_with("-C") || text.starts_with("--") => {}
            // A text that becomes words (`-S`), or what `env` will refuse.
            text if text.starts_with('-') => return None,
            text if text.contains('=') => {}
            _ => return Some(words[at..].to_vec()),
        }
    }
    None
}

/// Whether a text can be the name of a variable.
fn is_variable(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

fn find_templates(words: &[Sketched], span: Span) -> Vec<Vec<Sketched>> {
    let mut templates = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !word.as_deref().is_ok_and(|word| FIND_ACTIONS.contains(&word)) {
            continue;
        }
        let mut command: Vec<Sketched> = Vec::new();
        while let Some(word) = words.get(at) {
            at += 1;
            match word.as_deref() {
                Ok(";") => break,
                Ok("+") if command.last().is_some_and(Result::is_err) => break,
                _ => command.push(with_hole(word.clone(), "{}", span)),
            }
        }
        templates.push(command);
    }
    templates
}

fn with_hole(word: Sketched, mark: &str, span: Span) -> Sketched {
    match word {
        Ok(text) if text.contains(mark) => Err(span),
        word => word,
    }
}

/// Who runs a name that another command asks for: a program of the name where the shell's own command has one, and the shell for
/// its scripts. What only a shell can do to itself is not there.
pub(crate) fn program_of(name: &str, backends: &[Arc<dyn Backend>]) -> (Provider, &'static str) {
    let (provider, backend) = resolve(name, backends);
    if backend != "shell"
        || !builtin::is_builtin(name)
        || name.contains('/')
        || SHELLS.contains(&name)
        || name == "which"
    {
        return (provider, backend);
    }
    let program = backends.iter().find(|backend| backend.provider(name).is_some());
    program.map_or((Provider::Nobody, "none"), |program| (provider, program.name()))
}

/// Runs commands for one that is running.
pub(super) struct RunsOthers<'s, 'a> {
    pub(super) shell: &'s Shell<'a>,
    /// The vector of the command that asks.
    pub(super) words: &'s [VectorWord],
    pub(super) environment: &'s [(String, String)],
    pub(super) io: Io,
}

impl fmt::Debug for RunsOthers<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunsOthers").field("words", &self.words).finish_non_exhaustive()
    }
}

impl NestedCommands for RunsOthers<'_, '_> {
    fn run(&self, command: NestedCommand) -> Result<Nested, RunError> {
        let Some(called) = command.vector.first() else { return Ok(Nested::NotFound) };
        let backends = self.shell.shared.backends;
        let run = self.shell.shared.run;
        let mut shell = self.shell.fresh();
        if command.environment.is_some() {
            // The asking command says all of it.
            shell.variables.retain(|_, variable| !variable.exported);
        }
        let given = command.environment.as_deref().unwrap_or(self.environment);
        for (name, value) in given.iter().filter(|(name, _)| is_variable(name)) {
            let variable = super::Variable { value: value.clone(), provenance: Provenance::Expansion, exported: true };
            shell.variables.insert(name.clone(), variable);
        }
        if let Some(directory) = &command.directory {
            let path = normalise(&self.shell.absolute(directory));
            let located = self.shell.shared.scene.mounts.locate(&path);
            let found = located.map(|located| located.metadata(self.shell.shared.gate.paths(), true));
            if !found.is_some_and(|found| found.is_ok_and(|metadata| metadata.is_dir())) {
                return Ok(Nested::NotFound);
            }
            shell.directory = path;
        }
        let mut words = provenances(self.words, &command.vector);
        let mut name = called.clone();
        if let Some(system) = system_command(&name, backends).map(str::to_owned) {
            name = system;
            if let Some(first) = words.first_mut() {
                first.text.clone_from(&name);
            }
        }
        let (provider, backend) = program_of(&name, backends);
        let counted = if backend == "shell" { run.check() } else { run.count_command() };
        counted.map_err(|stop| stopped(&name, stop))?;
        if provider == Provider::Nobody {
            return Ok(Nested::NotFound);
        }
        let vector: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let approved = shell.admit(&vector, &words, provider)?;
        let mut io = self.io.clone();
        if !command.reads {
            (io.stdin, io.stdin_file) = (Input::Empty, None);
        }
        shell.finish(|shell| shell.nested(|shell| shell.perform(approved, &words, backend, Vec::new(), io, false)))?;
        Ok(Nested::Exited(shell.status))
    }
}

/// What is known of each word: one that stands where the command that asks has it in its own vector is as that word, all others
/// were made from data.
fn provenances(outer: &[VectorWord], vector: &[String]) -> Vec<VectorWord> {
    let same = |at: usize| outer[at..].iter().zip(vector).take_while(|(outer, inner)| outer.text == **inner).count();
    let place = (1..outer.len()).max_by_key(|at| (same(*at), std::cmp::Reverse(*at))).filter(|at| same(*at) > 0);
    let provenance = |(index, text): (usize, &String)| {
        let written = place.and_then(|at| outer.get(at + index)).filter(|word| word.text == *text);
        let provenance = written.map_or(Provenance::Expansion, |word| word.provenance);
        VectorWord { text: text.clone(), provenance }
    };
    vector.iter().enumerate().map(provenance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let span = Span::new(0, 0);
        let words: Vec<Sketched> =
            line.split(' ').map(|word| if word == "?" { Err(span) } else { Ok(word.to_owned()) }).collect();
        let text = |word: &Sketched| word.clone().unwrap_or_else(|_| "…".to_owned());
        templates(&words, span).iter().map(|words| words.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn what_will_run_is_read_from_the_text() {
        for (line, commands) in [
            ("xargs grep -l x", vec!["grep -l x …"]),
            ("xargs", vec!["echo …"]),
            ("xargs -0 -n 1 wc -l", vec!["wc -l …"]),
            ("xargs -0n1 -P4 wc", vec!["wc …"]),
            ("xargs -I{} cp {} out/{}.bak", vec!["cp … …"]),
            ("xargs -I % echo a % b", vec!["echo a … b"]),
            ("xargs --replace=X echo X", vec!["echo …"]),
            ("xargs --max-args=1 -r -- rm -f", vec!["rm -f …"]),
            ("xargs ? rm", vec![]),
            ("env", vec![]),
            ("env -i A=1 -u B rm -f x", vec!["rm -f x"]),
            ("env A=1", vec![]),
            ("env A=1 ? x", vec![]),
            ("env -S ls", vec![]),
            ("env -C dir -- ls ?", vec!["ls …"]),
            ("xargs -n ? rm", vec![]),
            ("xargs grep ?", vec!["grep … …"]),
            ("find . -name x -exec grep a {} ;", vec!["grep a …"]),
            ("find . -exec wc -l {} +", vec!["wc -l …"]),
            ("find . -exec a + ; -execdir b x{} ;", vec!["a +", "b …"]),
            ("find . -name -exec", vec![""]),
            ("grep xargs rm", vec![]),
        ] {
            assert_eq!(shown(line), commands, "{line}");
        }
    }

    #[test]
    fn only_words_of_the_asking_vector_are_somebodys() {
        let outer: Vec<VectorWord> =
            ["find", ".", "-exec", "grep", "-l", "x", "{}", ";", "-exec", "grep", "-c", "{}", ";"]
                .iter()
                .map(|text| VectorWord { text: (*text).to_owned(), provenance: Provenance::Author })
                .collect();
        for (vector, written) in [
            (vec!["grep", "-l", "x", "./a"], 3),
            (vec!["grep", "-c", "-l"], 2),
            (vec!["rm", "-l"], 0),
            (vec!["-l", "-l"], 1),
        ] {
            let vector: Vec<String> = vector.into_iter().map(str::to_owned).collect();
            let found = provenances(&outer, &vector);
            let known = found.iter().filter(|word| word.provenance == Provenance::Author).count();
            assert_eq!(known, written, "{vector:?}");
        }
    }
}
