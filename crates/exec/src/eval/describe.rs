//! What a name means: `command -v`, `command -V`, `type` and `which`.

use super::script::SHELLS;
use super::{Abort, Eval, Io, Shell, resolve};
use skillgate_policy::Provider;

/// Words that begin or join commands.
const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];
/// Where programs lie that a backend offers.
const PROGRAMS: &str = "/usr/bin/";

/// What a name is.
enum Meaning {
    Keyword,
    Function,
    BuiltIn,
    Program(String),
}

impl Shell<'_> {
    fn meaning(&self, name: &str) -> Option<Meaning> {
        if name.contains('/') {
            return self.exists(name).then(|| Meaning::Program(name.to_owned()));
        }
        if KEYWORDS.contains(&name) {
            return Some(Meaning::Keyword);
        }
        if self.functions.contains_key(name) {
            return Some(Meaning::Function);
        }
        match resolve(name, self.shared.backends) {
            (Provider::Nobody, _) => None,
            // What a shell runs here is a program elsewhere.
            (Provider::BuiltIn, _) if !is_program_elsewhere(name) => Some(Meaning::BuiltIn),
            _ => Some(Meaning::Program(format!("{PROGRAMS}{name}"))),
        }
    }
}

fn is_program_elsewhere(name: &str) -> bool {
    SHELLS.contains(&name) || name == "which"
}

/// `command -v NAME…`, `command -V NAME…` and `type [-t] NAME…`.
pub(super) fn describe(shell: &mut Shell<'_>, own: &str, arguments: &[String], io: &Io) -> Eval<()> {
    let refuse = |shell: &Shell<'_>, message: String| -> Eval<()> {
        shell.complain(io, &message)?;
        Err(Abort::Exit(2))
    };
    let (form, names) = match (own, arguments.split_first()) {
        ("command", Some((option, names))) if matches!(option.as_str(), "-v" | "-V") => (option.as_str(), names),
        ("command", _) => {
            return refuse(shell, "command: only `command -v NAME` and `command -V NAME` are supported".to_owned());
        }
        (_, Some((option, names))) if option == "-t" => ("-t", names),
        (_, Some((option, _))) if option.starts_with('-') => {
            return refuse(shell, format!("type: {option} is not supported"));
        }
        _ => ("-V", arguments),
    };
    let mut missing = false;
    let mut found = false;
    for name in names {
        let Some(meaning) = shell.meaning(name) else {
            if form == "-V" {
                shell.complain(io, &format!("{own}: {name}: not found"))?;
            }
            missing = true;
            continue;
        };
        found = true;
        let text = match (form, meaning) {
            ("-t", Meaning::Keyword) => "keyword".to_owned(),
            ("-t", Meaning::Function) => "function".to_owned(),
            ("-t", Meaning::BuiltIn) => "builtin".to_owned(),
            ("-t", Meaning::Program(_)) => "file".to_owned(),
            ("-v", Meaning::Program(path)) => path,
            ("-v", _) => name.clone(),
            (_, Meaning::Keyword) => format!("{name} is a shell keyword"),
            (_, Meaning::BuiltIn) => format!("{name} is a shell builtin"),
            (_, Meaning::Program(path)) => format!("{name} is {path}"),
            (_, Meaning::Function) => {
                return refuse(shell, format!("{own}: {name}: showing a function is not supported"));
            }
        };
        shell.write(&io.stdout, format!("{text}\n").as_bytes())?;
    }
    // `command` fails when nothing was found, `type` when something was not.
    shell.status = u8::from(if own == "command" { !found } else { missing });
    Ok(())
}

/// `which NAME…`, the program of Debian, which knows no built-ins.
pub(super) fn which(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> Eval<()> {
    if let Some(option) = arguments.iter().find(|argument| argument.starts_with('-') && argument.len() > 1) {
        shell.complain(io, &format!("which: {option} is not supported"))?;
        shell.status = 2;
        return Ok(());
    }
    shell.status = u8::from(arguments.is_empty());
    for name in arguments {
        let offered = shell.shared.backends.iter().any(|backend| backend.provider(name).is_some());
        let path = if name.contains('/') {
            shell.exists(name).then(|| name.clone())
        } else {
            (offered || is_program_elsewhere(name)).then(|| format!("{PROGRAMS}{name}"))
        };
        match path {
            Some(path) => {
                shell.write(&io.stdout, format!("{path}\n").as_bytes())?;
            }
            None => shell.status = 1,
        }
    }
    Ok(())
}
