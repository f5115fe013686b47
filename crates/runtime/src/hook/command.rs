//! Command hooks: from the author's text to a program, and what stands against it before anything runs.

use super::HookGrant;
use super::spec::{Handler, quoted};
use skillgate_core::{Limits, Span};
use skillgate_exec::{Executor, PlannedCommand, Program, ProgramError, ScriptKind, normalise, script_at};

/// Variables whose value is known beforehand. Filled in before the program is parsed, a path that begins with one is known when
/// the program is decided.
const PLACES: &[&str] = &["CLAUDE_SKILL_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"];
/// Scripts that are looked into before anything runs.
const MAX_SCRIPTS: usize = 16;

/// The program of a command handler.
pub(super) fn program_of(handler: &Handler, grant: &HookGrant, limits: &Limits) -> Result<Program, ProgramError> {
    let values = || {
        let known =
            |name: &str| grant.scene.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        PLACES.iter().filter_map(move |name| Some((*name, known(name)?)))
    };
    match handler {
        // No shell looks at it, so its variables are filled in as text and each word is quoted.
        Handler::Vector(words) => {
            let filled = words.iter().map(|word| {
                values().fold(word.clone(), |word, (name, value)| word.replace(&format!("${{{name}}}"), &value))
            });
            Program::from_text(&quoted(&filled.collect::<Vec<_>>()), limits)
        }
        Handler::Shell(source) => {
            let places: Vec<(&str, String)> = values().filter(|(_, value)| is_plain(value)).collect();
            Program::from_text(&filled(source, &places), limits)
        }
        Handler::Wasm(path) => {
            let reason = format!("`{path}` is a component and no program");
            Err(ProgramError::new(reason, Span::default()))
        }
    }
}

/// Whether a value means nothing to a shell, so that it can stand anywhere in a program. Any other is left to the variable of the
/// environment, which is data when the program runs.
fn is_plain(value: &str) -> bool {
    value.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ':'))
}

/// A program with the plain values in the places of `$NAME` and `${NAME}`, but in single quotes.
fn filled(source: &str, values: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(source.len());
    let (mut single, mut double) = (false, false);
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let place = if c == '$' && !single { place_at(rest, values) } else { None };
        let taken = match (c, place) {
            (_, Some((length, value))) => {
                out.push_str(value);
                rest = &rest[length..];
                continue;
            }
            ('\\', None) if !single => c.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        single ^= c == '\'' && !double;
        double ^= c == '"' && !single;
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// The variable that a text begins with: its length with `$` and braces, and its value.
fn place_at<'v>(text: &str, values: &'v [(&str, String)]) -> Option<(usize, &'v str)> {
    let name = text.strip_prefix('$')?;
    values.iter().find_map(|(known, value)| {
        let length = match name.strip_prefix('{') {
            Some(inner) => inner.strip_prefix(known)?.starts_with('}').then_some(known.len() + 3)?,
            None => {
                let after = name.strip_prefix(known)?;
                let ends = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                ends.then_some(known.len() + 1)?
            }
        };
        Some((length, value.as_str()))
    })
}

/// Why a program cannot do what it is meant to, as far as that is known before it runs, and the way out.
pub(super) fn stands_against(
    program: &Program,
    grant: &HookGrant,
    executor: &dyn Executor,
    limits: &Limits,
) -> Option<(String, Option<String>)> {
    let mut scripts = 0;
    let mut planned = executor.plan(program, &grant.gate);
    let mut at = 0;
    while let Some(command) = planned.get(at) {
        at += 1;
        if let Err(refusal) = &command.verdict {
            let remedy = refusal.remedy.as_ref().map(|pattern| format!("the host can allow it: `--allow '{pattern}'`"));
            return Some((refusal.to_string(), remedy));
        }
        let (name, by_path) = match needs(command) {
            None => continue,
            Some(Needs::Program(name)) => {
                let help =
                    "name it in the host's policy (`[programs]`), or write the hook as a shell script or a component";
                return Some((format!("`{name}` is not offered here"), Some(help.to_owned())));
            }
            Some(Needs::Script { name, by_path }) => (name.to_owned(), by_path),
        };
        let path = match name.strip_prefix('/') {
            Some(_) => normalise(&name),
            None => normalise(&format!("{}/{name}", grant.scene.directory)),
        };
        scripts += 1;
        if scripts > MAX_SCRIPTS {
            return None;
        }
        match script_at(&grant.scene.mounts, grant.gate.paths(), &path, limits.source_bytes) {
            ScriptKind::Shell(text) => match Program::from_text(&text, limits) {
                Ok(script) => planned.extend(executor.plan(&script, &grant.gate)),
                Err(error) => return Some((format!("its script `{name}`: {error}"), None)),
            },
            ScriptKind::Interpreter(interpreter) => {
                let help =
                    format!("needs-interpreter:{interpreter}: name it in the host's policy (`[programs]`) and call it");
                return Some((format!("`{name}` needs `{interpreter}`, which is not offered here"), Some(help)));
            }
            // A shell that is named reads whatever text it is given.
            ScriptKind::Other if !by_path => {}
            ScriptKind::Other => {
                return Some((format!("`{name}` is no shell script"), Some("end its name in `.sh`".to_owned())));
            }
            ScriptKind::Missing => {
                let help = "paths are those of the project, the skill's own directory and the plugin";
                return Some((format!("there is no `{name}`"), Some(help.to_owned())));
            }
        }
    }
    None
}

/// What has to be there for a command to run.
enum Needs<'c> {
    /// A program that nobody offers.
    Program(&'c str),
    /// A file; `by_path` when it is the command itself.
    Script { name: &'c str, by_path: bool },
}

fn needs(command: &PlannedCommand) -> Option<Needs<'_>> {
    let word = |at: usize| command.words.get(at)?.as_deref().ok();
    let name = word(0)?;
    match (name, command.backend?) {
        // The shell takes what is called by its path for a script.
        (name, "shell" | "none") if name.contains('/') => Some(Needs::Script { name, by_path: true }),
        ("sh" | "bash" | "source" | ".", _) => {
            let name = word(1).filter(|name| !name.starts_with('-'))?;
            Some(Needs::Script { name, by_path: false })
        }
        (name, "none") => Some(Needs::Program(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in_where_a_shell_would() {
        let values = [("CLAUDE_SKILL_DIR", "/s".to_owned()), ("CLAUDE_PROJECT_DIR", "/p".to_owned())];
        for (source, program) in [
            ("${CLAUDE_SKILL_DIR}/x.sh", "/s/x.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/x.sh $CLAUDE_SKILL_DIR", "\"/p\"/x.sh /s"),
            ("echo \\$CLAUDE_SKILL_DIR", "echo \\$CLAUDE_SKILL_DIR"),
            ("echo \\\\$CLAUDE_SKILL_DIR", "echo \\\\/s"),
            ("echo '$CLAUDE_SKILL_DIR' \"it's $CLAUDE_SKILL_DIR\"", "echo '$CLAUDE_SKILL_DIR' \"it's /s\""),
            (
                "echo $CLAUDE_SKILL_DIRECTORY ${CLAUDE_SKILL_DIR:-x}",
                "echo $CLAUDE_SKILL_DIRECTORY ${CLAUDE_SKILL_DIR:-x}",
            ),
            ("echo \\", "echo \\"),
            ("ü$", "ü$"),
        ] {
            assert_eq!(filled(source, &values), program, "{source}");
        }
    }

    #[test]
    fn only_what_means_nothing_to_a_shell_is_filled_in() {
        assert!(is_plain("/home/ann/p-1/.claude"));
        for value in ["/a b", "/a;b", "/a$b", "/a'b", "/a\nb", "/a*", "~/a"] {
            assert!(!is_plain(value), "{value}");
        }
    }
}
