//! The commands of the shell itself.

use super::script::SHELLS;
use super::{Abort, Eval, Flow, Io, Shell, Variable, describe, echo, test};
use crate::mounts::normalise;
use skillgate_policy::{Provenance, Word as VectorWord};
use std::sync::Arc;

/// Names of the built-ins, sorted.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "bash", "break", "cd", "command", "continue", "echo", "eval", "exit", "export", "false", "local",
    "pwd", "read", "return", "set", "sh", "shift", "source", "test", "true", "type", "unset", "which",
];

/// Whether the shell runs the command of this name itself, whatever else offers it: a built-in, or a script named by its path.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    name.contains('/') || BUILTINS.binary_search(&name).is_ok()
}

/// Runs a built-in; its status is left in the shell. `words` is the vector with what is known of each word.
pub(super) fn run(
    shell: &mut Shell<'_>,
    vector: &[String],
    words: &[VectorWord],
    io: &Io,
    condition: bool,
) -> Eval<Flow> {
    let Some((name, arguments)) = vector.split_first() else { return Ok(Flow::Next) };
    let before = shell.status;
    shell.status = 0;
    match name.as_str() {
        ":" | "true" => {}
        "false" => shell.status = 1,
        "echo" => {
            let text = echo::text(arguments);
            if !shell.write(&io.stdout, text.as_bytes())? {
                shell.status = 1;
            }
        }
        "pwd" => {
            let text = format!("{}\n", shell.directory);
            shell.write(&io.stdout, text.as_bytes())?;
        }
        "test" | "[" => return test::run(shell, vector, io),
        "cd" => change_directory(shell, arguments, io)?,
        "export" => {
            for argument in arguments {
                let (name, value) = match argument.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (argument.as_str(), None),
                };
                if !is_name(name) {
                    shell.complain(io, &format!("export: `{argument}`: not a valid identifier"))?;
                    shell.status = 1;
                    continue;
                }
                let old = shell.variables.get(name).cloned();
                let (value, provenance) = match (value, old) {
                    // A value on the command line may hold anything that was produced.
                    (Some(value), _) => (value.to_owned(), Provenance::Expansion),
                    (None, Some(old)) => (old.value, old.provenance),
                    (None, None) => {
                        shell.exported_unset.insert(name.to_owned());
                        continue;
                    }
                };
                shell.set(name, Variable { value, provenance, exported: true })?;
            }
        }
        "unset" => {
            let functions = arguments.first().is_some_and(|option| option == "-f");
            for name in arguments.iter().filter(|name| !matches!(name.as_str(), "-v" | "-f")) {
                shell.exported_unset.remove(name);
                if functions || shell.variables.remove(name).is_none() {
                    Arc::make_mut(&mut shell.functions).remove(name);
                }
            }
        }
        "exit" => {
            let status = arguments.first().map_or(Some(before), |text| status_of(text));
            return Err(Abort::Exit(status.unwrap_or(2)));
        }
        "break" | "continue" => {
            let levels = arguments.first().map_or(Some(1), |text| text.parse().ok().filter(|n| *n > 0));
            let Some(levels) = levels else {
                shell.complain(io, &format!("{name}: loop count must be a positive number"))?;
                return Err(Abort::Exit(1));
            };
            let levels: u32 = levels;
            return Ok(match (shell.loops, name.as_str()) {
                (0, _) => Flow::Next,
                (loops, "break") => Flow::Break(levels.min(loops)),
                (loops, _) => Flow::Continue(levels.min(loops)),
            });
        }
        "set" => set_options(shell, arguments, words.get(1..).unwrap_or_default(), io)?,
        "shift" => return shell.shift(arguments, io),
        "local" => return shell.local(words.get(1..).unwrap_or_default(), io),
        "return" => return shell.returned(arguments, before, io),
        "eval" => return shell.eval(words, before, io, condition),
        "." | "source" => return shell.source(words, before, io, condition),
        name if SHELLS.contains(&name) => return shell.run_shell(words, io),
        path if path.contains('/') => return shell.run_path(words, io),
        "read" => super::read::line(shell, arguments, io)?,
        "which" => describe::which(shell, arguments, io)?,
        "command" | "type" => describe::describe(shell, name, arguments, io)?,
        _ => shell.status = 127,
    }
    Ok(Flow::Next)
}

/// `exit` takes the number modulo 256.
pub(super) fn status_of(text: &str) -> Option<u8> {
    text.parse::<i64>().ok().and_then(|number| u8::try_from(number.rem_euclid(256)).ok())
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn change_directory(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> Eval<()> {
    let (target, say) = match arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments) {
        [] => (shell.variables.get("HOME").map(|home| home.value.clone()).ok_or("HOME not set"), false),
        [dash] if dash == "-" => {
            (shell.variables.get("OLDPWD").map(|old| old.value.clone()).ok_or("OLDPWD not set"), true)
        }
        [target] => (Ok(target.clone()), false),
        _ => (Err("too many arguments"), false),
    };
    let target = match target {
        Ok(target) => target,
        Err(reason) => {
            shell.complain(io, &format!("cd: {reason}"))?;
            shell.status = 1;
            return Ok(());
        }
    };
    let path = normalise(&shell.absolute(&target));
    let rules = shell.shared.gate.paths();
    let located = shell.shared.scene.mounts.locate(&path);
    let reason = match located.map(|located| located.metadata(rules, true)) {
        _ if !shell.parents_are_there(&target) => Some("No such file or directory"),
        Some(Ok(metadata)) if metadata.is_dir() => None,
        Some(Ok(_)) => Some("Not a directory"),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Some("No such file or directory"),
        Some(Err(_)) => Some("Permission denied"),
        None => Some("No such file or directory"),
    };
    match reason {
        None => {
            if say {
                shell.write(&io.stdout, format!("{path}\n").as_bytes())?;
            }
            let old = std::mem::replace(&mut shell.directory, path.clone());
            // A directory's name may have come from a glob.
            shell.assign("OLDPWD", old, Provenance::Expansion)?;
            shell.assign("PWD", path, Provenance::Expansion)?;
        }
        Some(reason) => {
            shell.complain(io, &format!("cd: {target}: {reason}"))?;
            shell.status = 1;
        }
    }
    Ok(())
}

fn set_options(shell: &mut Shell<'_>, arguments: &[String], words: &[VectorWord], io: &Io) -> Eval<()> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let after = words.len() - arguments.len();
        if argument == "--" {
            shell.set_positional(&words[after..]);
            return Ok(());
        }
        if !argument.starts_with(['-', '+']) {
            shell.set_positional(&words[after - 1..]);
            return Ok(());
        }
        let on = argument.starts_with('-');
        let letters = argument.strip_prefix(['-', '+']).unwrap_or_default();
        let mut known = !letters.is_empty();
        for letter in letters.chars() {
            match letter {
                'e' => shell.exit_on_error = on,
                'u' => shell.fail_on_unset = on,
                'o' => match arguments.next().map(String::as_str) {
                    Some("pipefail") => shell.pipe_fail = on,
                    Some("errexit") => shell.exit_on_error = on,
                    Some("nounset") => shell.fail_on_unset = on,
                    _ => known = false,
                },
                _ => known = false,
            }
        }
        if !known {
            shell.complain(io, &format!("set: {argument}: only -e, -u and -o pipefail are supported"))?;
            return Err(Abort::Exit(2));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_binary_search() {
        assert!(BUILTINS.is_sorted());
    }

    #[test]
    fn exit_statuses_wrap_as_a_shells_do() {
        assert_eq!(
            [status_of("3"), status_of("256"), status_of("-1"), status_of("x")],
            [Some(3), Some(0), Some(255), None]
        );
    }
}
