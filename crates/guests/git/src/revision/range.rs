//! Arguments that mean commits and ranges of them, and where they end and paths begin.

use super::ancestry;
use super::names;
use super::walk::Flags;
use crate::failure::{Failure, Outcome, fatal};
use crate::files;
use crate::repository::Repository;
use bstr::ByteSlice as _;
use gix_hash::ObjectId;

/// One object that an argument names.
#[derive(Clone, Debug)]
pub(crate) struct Tip {
    pub(crate) id: ObjectId,
    pub(crate) flags: Flags,
    /// As written.
    pub(crate) name: String,
}

const fn flags(uninteresting: bool, left: bool) -> Flags {
    let mut flags = NONE;
    flags.uninteresting = uninteresting;
    flags.bottom = uninteresting;
    flags.left = left;
    flags
}

const NONE: Flags = Flags::none();

/// What one argument means: `a`, `^a`, `a..b`, `a...b`, `a^@`, `a^!`, `a^-`. `None` when it names nothing. Under `negated` each
/// counts the other way round.
pub(crate) fn parse(repo: &Repository, argument: &str, negated: bool) -> Outcome<Option<Vec<Tip>>> {
    let tip = |id, uninteresting: bool, left, name: &str| Tip {
        id,
        flags: flags(uninteresting != negated, left),
        name: name.to_owned(),
    };
    if let Some((from, to)) = dots(argument, "...") {
        let (Some(one), Some(other)) = (committish(repo, from)?, committish(repo, to)?) else { return Ok(None) };
        let mut tips: Vec<Tip> = ancestry::merge_bases(repo, &one, &[other])?
            .into_iter()
            .map(|base| tip(base, true, false, argument))
            .collect();
        tips.push(tip(one, false, true, from));
        tips.push(tip(other, false, false, to));
        return Ok(Some(tips));
    }
    if let Some((from, to)) = dots(argument, "..") {
        let (Some(one), Some(other)) = (names::find(repo, from)?, names::find(repo, to)?) else { return Ok(None) };
        return Ok(Some(vec![tip(one, true, false, from), tip(other, false, false, to)]));
    }
    if let Some(name) = argument.strip_prefix('^') {
        return Ok(names::find(repo, name)?.map(|id| vec![tip(id, true, false, name)]));
    }
    for (suffix, itself) in [("^@", false), ("^!", true)] {
        if let Some(name) = argument.strip_suffix(suffix) {
            let Some(id) = committish(repo, name)? else { continue };
            let parents = repo.node(&id)?.parents.clone();
            let mut tips = if itself { vec![tip(id, false, false, name)] } else { Vec::new() };
            tips.extend(parents.into_iter().map(|parent| tip(parent, itself, false, name)));
            return Ok(Some(tips));
        }
    }
    if let Some((name, number)) = argument.split_once("^-")
        && let Ok(number) = if number.is_empty() { Ok(1) } else { number.parse::<usize>() }
        && let Some(id) = committish(repo, name)?
    {
        let parent = number.checked_sub(1).and_then(|at| repo.node(&id).ok()?.parents.get(at).copied());
        return Ok(parent.map(|parent| vec![tip(parent, true, false, name), tip(id, false, false, name)]));
    }
    Ok(names::find(repo, argument)?.map(|id| vec![tip(id, false, false, argument)]))
}

fn committish(repo: &Repository, name: &str) -> Outcome<Option<ObjectId>> {
    match names::find(repo, name)? {
        Some(_) => names::commit(repo, name).map(Some),
        None => Ok(None),
    }
}

/// Divides a range; a missing side is `HEAD`. Dots that belong to a path are none.
pub(crate) fn dots<'a>(argument: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    if matches!(argument, ".." | "...") || argument.starts_with("../") || argument.starts_with("./") {
        return None;
    }
    let at = argument.find(separator)?;
    let (from, to) = (&argument[..at], &argument[at + separator.len()..]);
    if to.starts_with('.') || from.contains(':') || to.starts_with('/') {
        return None;
    }
    let head = |side: &'a str| if side.is_empty() { "HEAD" } else { side };
    Some((head(from), head(to)))
}

/// Arguments in two parts.
#[derive(Debug, Default)]
pub(crate) struct Divided {
    pub(crate) revisions: Vec<Tip>,
    /// The revisions as written, for commands that look at ranges themselves.
    pub(crate) written: Vec<String>,
    pub(crate) paths: Vec<String>,
}

/// Divides the arguments that are no options. `separated` are those behind `--`, when there was one.
pub(crate) fn divide(repo: &Repository, arguments: &[String], separated: Option<&[String]>) -> Outcome<Divided> {
    let mut divided = Divided::default();
    let mut negated = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--not" {
            negated = !negated;
            continue;
        }
        if let Some(tips) = special(repo, argument, negated)? {
            divided.revisions.extend(tips);
            divided.written.push(argument.clone());
            continue;
        }
        match parse(repo, argument, negated) {
            Ok(Some(tips)) => {
                if separated.is_none()
                    && !argument.starts_with('^')
                    && is_file(repo, argument)
                    && !argument.contains("..")
                {
                    return fatal(format!(
                        "ambiguous argument '{argument}': both revision and filename\n\
                         Use '--' to separate paths from revisions, like this:\n\
                         'git <command> [<revision>...] -- [<file>...]'"
                    ));
                }
                divided.revisions.extend(tips);
                divided.written.push(argument.clone());
            }
            Ok(None) | Err(Failure::Fatal(_)) if separated.is_none() && looks_like_path(repo, argument) => {
                divided.paths.push(argument.clone());
                for path in rest.by_ref() {
                    if !looks_like_path(repo, path) {
                        return Err(names::unknown(path));
                    }
                    divided.paths.push(path.clone());
                }
            }
            Ok(None) if separated.is_some() => return fatal(format!("bad revision '{argument}'")),
            Ok(None) => return Err(names::unknown(argument)),
            Err(error) => return Err(error),
        }
    }
    divided.paths.extend(separated.unwrap_or_default().iter().cloned());
    Ok(divided)
}

/// `--all`, `--branches`, `--tags`, `--remotes`, with patterns.
fn special(repo: &Repository, argument: &str, negated: bool) -> Outcome<Option<Vec<Tip>>> {
    let (name, pattern) = argument.split_once('=').map_or((argument, None), |(name, pattern)| (name, Some(pattern)));
    let prefix = match name {
        "--all" => "refs/",
        "--branches" => "refs/heads/",
        "--tags" => "refs/tags/",
        "--remotes" => "refs/remotes/",
        "--glob" => "refs/",
        _ => return Ok(None),
    };
    let pattern = pattern.map(|pattern| {
        let full = if pattern.starts_with("refs/") { pattern.to_owned() } else { format!("{prefix}{pattern}") };
        if full.contains(['*', '?', '[']) { full } else { format!("{}/*", full.trim_end_matches('/')) }
    });
    let mut tips = Vec::new();
    let mut add = |name: &[u8]| -> Outcome {
        if let Some(resolved) = repo.refs.resolve(name)
            && let (id, gix_object::Kind::Commit) = repo.peel(&resolved.id)?
        {
            tips.push(Tip { id, flags: flags(negated, false), name: name.to_str_lossy().into_owned() });
        }
        Ok(())
    };
    for (name, _) in repo.refs.below(prefix) {
        let matches = |pattern: &String| {
            gix_glob::wildmatch(pattern.as_str().into(), name.as_bstr(), gix_glob::wildmatch::Mode::empty())
        };
        if pattern.as_ref().is_none_or(matches) {
            add(&name)?;
        }
    }
    if name == "--all" {
        add(b"HEAD")?;
    }
    Ok(Some(tips))
}

fn is_file(repo: &Repository, argument: &str) -> bool {
    repo.work_tree.is_some() && std::env::current_dir().is_ok_and(|here| files::exists(&here.join(argument)))
}

/// Whether an argument that is no revision is taken for a path.
fn looks_like_path(repo: &Repository, argument: &str) -> bool {
    if argument.starts_with('-') {
        return false;
    }
    argument.starts_with(":(")
        || argument.starts_with(":!")
        || argument.starts_with(":^")
        || argument.starts_with(":/")
        || argument.contains(['*', '?', '['])
        || is_file(repo, argument)
}
