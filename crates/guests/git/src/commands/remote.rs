//! `git remote`, as far as it lists.

use super::{Out, writes};
use crate::failure::{Failure, Outcome, unsupported};
use crate::options::Arguments;
use crate::repository::Repository;
use bstr::ByteSlice as _;
use std::collections::BTreeSet;

fn names(repo: &Repository) -> BTreeSet<String> {
    let keys = repo.config.variables.iter().filter_map(|variable| {
        let name = variable.key.strip_prefix(b"remote.")?.to_str().ok()?.rsplit_once('.')?.0;
        Some(name.to_owned())
    });
    keys.collect()
}

/// The addresses of a remote as they are used: shortened ones written out.
fn urls(repo: &Repository, name: &str, push: bool) -> Vec<String> {
    let list =
        |key: &str| repo.config.all(&format!("remote.{name}.{key}")).map(ToString::to_string).collect::<Vec<_>>();
    let pushed = if push { list("pushurl") } else { Vec::new() };
    let explicit = !pushed.is_empty();
    let urls = if explicit { pushed } else { list("url") };
    urls.into_iter().map(|url| rewritten(repo, &url, push && !explicit)).collect()
}

fn rewritten(repo: &Repository, url: &str, push: bool) -> String {
    let longest = |what: &str| {
        let matching = repo.config.variables.iter().filter_map(|variable| {
            let base = variable.key.strip_prefix(b"url.")?.to_str().ok()?.strip_suffix(what)?.strip_suffix('.')?;
            let prefix = variable.value.as_ref()?.to_str().ok()?;
            url.strip_prefix(prefix).map(|rest| (prefix.len(), format!("{base}{rest}")))
        });
        matching.max_by_key(|(length, _)| *length).map(|(_, url)| url)
    };
    let pushed = if push { longest("pushinsteadof") } else { None };
    pushed.or_else(|| longest("insteadof")).unwrap_or_else(|| url.to_owned())
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut verbose = false;
    let mut action = None;
    for argument in arguments.by_ref() {
        match argument.as_str() {
            "-v" | "--verbose" => verbose = true,
            _ => {
                action = Some(argument);
                break;
            }
        }
    }
    match action.as_deref() {
        None => {
            for name in names(repo) {
                if !verbose {
                    writeln!(out, "{name}")?;
                    continue;
                }
                let fetch = urls(repo, &name, false);
                if let Some(url) = fetch.first() {
                    writeln!(out, "{name}\t{url} (fetch)")?;
                }
                for url in urls(repo, &name, true) {
                    writeln!(out, "{name}\t{url} (push)")?;
                }
            }
            Ok(0)
        }
        Some("get-url") => {
            let (options, rest): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument.starts_with('-'));
            let (mut push, mut all) = (false, false);
            for option in &options {
                match option.as_str() {
                    "--push" => push = true,
                    "--all" => all = true,
                    other => return unsupported(format_args!("remote get-url: {other}")),
                }
            }
            let [name] = &rest[..] else {
                return Err(Failure::Message("usage: git remote get-url [--push] [--all] <name>".into(), 129));
            };
            let urls = urls(repo, name, push);
            if !names(repo).contains(name) || urls.is_empty() {
                return Err(Failure::Error(format!("No such remote '{name}'"), 2));
            }
            for url in urls.iter().take(if all { usize::MAX } else { 1 }) {
                writeln!(out, "{url}")?;
            }
            Ok(0)
        }
        Some("show") => {
            let rest: Vec<String> = arguments.collect();
            if rest.iter().any(|argument| !argument.starts_with('-')) {
                return unsupported("remote show with a name");
            }
            for name in names(repo) {
                writeln!(out, "{name}")?;
            }
            Ok(0)
        }
        Some(
            action
            @ ("add" | "rename" | "remove" | "rm" | "set-head" | "set-branches" | "set-url" | "prune" | "update"),
        ) => Err(writes(&format!("remote {action}"))),
        Some(other) => Err(Failure::Error(format!("unknown subcommand: `{other}'"), 129)),
    }
}
