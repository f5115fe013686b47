//! `git config`, as far as it reads.

use super::{Out, writes};
use crate::config::{Conditions, Config, Variable, boolean, canonical, integer};
use crate::failure::{Failure, Outcome, unsupported};
use crate::options::{Arguments, divide};
use crate::repository::{Place, Repository, user_config};
use bstr::{BString, ByteSlice as _};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Get,
    GetAll,
    GetRegexp,
    List,
}

#[derive(Debug, Default)]
struct Options {
    nul: bool,
    name_only: bool,
    show_origin: bool,
    show_scope: bool,
    kind: Option<String>,
    scope: Option<&'static str>,
    default: Option<String>,
}

pub(crate) fn run(place: &Place, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options::default();
    let mut action = None;
    let mut others = Vec::new();
    let (mut all, mut regexp) = (false, false);
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "get" if others.is_empty() && action.is_none() => action = Some(Action::Get),
            "list" if others.is_empty() && action.is_none() => action = Some(Action::List),
            "set" | "unset" | "rename-section" | "remove-section" | "edit" if others.is_empty() && action.is_none() => {
                return Err(writes(&format!("config {name}")));
            }
            "--get" => action = Some(Action::Get),
            "--get-all" => action = Some(Action::GetAll),
            "--get-regexp" => action = Some(Action::GetRegexp),
            "-l" | "--list" => action = Some(Action::List),
            "--all" => all = true,
            "--regexp" => regexp = true,
            "-z" | "--null" => options.nul = true,
            "--name-only" => options.name_only = true,
            "--show-origin" => options.show_origin = true,
            "--show-scope" => options.show_scope = true,
            "--local" => options.scope = Some("local"),
            "--global" => options.scope = Some("global"),
            "--system" => options.scope = Some("system"),
            "--worktree" => options.scope = Some("worktree"),
            "--bool" | "--int" | "--path" | "--bool-or-int" => options.kind = Some(name[2..].to_owned()),
            "--type" | "-t" => options.kind = Some(arguments.value(name, value)?),
            "--default" => options.default = Some(arguments.value(name, value)?),
            "--includes" => {}
            "--add" | "--unset" | "--unset-all" | "--replace-all" | "--rename-section" | "--remove-section" | "-e"
            | "--edit" => return Err(writes(&format!("config {name}"))),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => others.push(argument),
        }
    }
    let action = match action {
        Some(Action::Get) if regexp => Action::GetRegexp,
        Some(Action::Get) if all => Action::GetAll,
        Some(action) => action,
        None if others.len() == 1 => Action::Get,
        None if others.is_empty() => return Err(Failure::Message("usage: git config [<options>]".into(), 129)),
        None => return Err(writes("config with a value")),
    };
    let config = load(place)?;
    let in_scope = |variable: &&Variable| options.scope.is_none_or(|scope| variable.scope == scope);
    let variables: Vec<&Variable> = config.variables.iter().filter(in_scope).collect();
    if action == Action::List {
        for variable in variables {
            print(&options, variable, true, b'=', out)?;
        }
        return Ok(0);
    }
    let Some(wanted) = others.first() else {
        return Err(Failure::Error("wrong number of arguments, should be from 1 to 2".into(), 129));
    };
    if others.len() > 1 {
        return unsupported("config: a pattern for values");
    }
    if action == Action::GetRegexp {
        let regex = regex::bytes::Regex::new(&wanted.to_lowercase())
            .map_err(|_| Failure::Error(format!("invalid key pattern: {wanted}"), 6))?;
        let mut found = false;
        for variable in variables.into_iter().filter(|variable| regex.is_match(&variable.key)) {
            found = true;
            print(&options, variable, true, b' ', out)?;
        }
        return Ok(i32::from(!found));
    }
    let Some(key) = canonical(wanted) else {
        return Err(Failure::Error(format!("key does not contain a section: {wanted}"), 1));
    };
    let found: Vec<&Variable> = variables.into_iter().filter(|variable| variable.key == key).collect();
    match (found.last(), &options.default) {
        (None, Some(default)) => {
            let variable = Variable {
                key,
                value: Some(default.as_str().into()),
                scope: "command",
                origin: "command line:".into(),
            };
            print(&options, &variable, false, b' ', out)?;
        }
        (None, None) => return Ok(1),
        (Some(last), _) if action == Action::Get => print(&options, last, false, b' ', out)?,
        _ => {
            for variable in found {
                print(&options, variable, false, b' ', out)?;
            }
        }
    }
    Ok(0)
}

/// The repository's configuration; outside of one, the user's.
fn load(place: &Place) -> Outcome<Config> {
    match Repository::open(place) {
        Ok(repo) => Ok(repo.config),
        Err(Failure::Fatal(text)) if text.starts_with("not a git repository (or any") => {
            let mut config = user_config(&Conditions { git_dir: None, branch: None })?;
            for argument in &place.config {
                config.add_argument(argument)?;
            }
            Ok(config)
        }
        Err(error) => Err(error),
    }
}

fn print(options: &Options, variable: &Variable, with_key: bool, separator: u8, out: &mut Out<'_>) -> Outcome {
    let between = if options.nul { "\0" } else { "\t" };
    if options.show_scope {
        write!(out, "{}{between}", variable.scope)?;
    }
    if options.show_origin {
        write!(out, "{}{between}", variable.origin)?;
    }
    if with_key {
        out.write_all(&variable.key)?;
    }
    if !(with_key && options.name_only) {
        let value = typed(options, variable)?;
        if let Some(value) = value {
            if with_key {
                out.write_all(&[if options.nul { b'\n' } else { separator }])?;
            }
            out.write_all(&value)?;
        }
    }
    out.write_all(if options.nul { b"\0" } else { b"\n" })?;
    Ok(())
}

fn typed(options: &Options, variable: &Variable) -> Outcome<Option<BString>> {
    let Some(kind) = options.kind.as_deref() else { return Ok(variable.value.clone()) };
    let value = variable.value.clone().unwrap_or_else(|| "true".into());
    let bad = |what: &str| Failure::Fatal(format!("bad {what} config value '{value}' for '{}'", variable.key));
    Ok(Some(match kind {
        "bool" => boolean(value.as_bstr()).ok_or_else(|| bad("boolean"))?.to_string().into(),
        "int" => integer(value.as_bstr()).ok_or_else(|| bad("numeric"))?.to_string().into(),
        "bool-or-int" => match integer(value.as_bstr()) {
            Some(number) => number.to_string().into(),
            None => boolean(value.as_bstr()).ok_or_else(|| bad("boolean"))?.to_string().into(),
        },
        "path" => match value.strip_prefix(b"~/") {
            Some(rest) => {
                let home = std::env::var("HOME").unwrap_or_default();
                [home.as_bytes(), b"/", rest].concat().into()
            }
            None => value,
        },
        other => return unsupported(format_args!("config: --type={other}")),
    }))
}
