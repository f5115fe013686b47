//! One revision: `HEAD`, `main~2`, `v1.0^{}`, `@{u}`, `:/text`, `HEAD:path`, abbreviated ids.

use super::upstream;
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::index::Index;
use crate::repository::Repository;
use crate::{date, tree};
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use gix_object::Kind;

/// git's words for something that is neither a revision nor a path.
pub(crate) fn unknown(text: &str) -> Failure {
    Failure::Fatal(format!(
        "ambiguous argument '{text}': unknown revision or path not in the working tree.\n\
         Use '--' to separate paths from revisions, like this:\n\
         'git <command> [<revision>...] -- [<file>...]'"
    ))
}

/// The object that `text` names; `None` when nothing has that name.
pub(crate) fn find(repo: &Repository, text: &str) -> Outcome<Option<ObjectId>> {
    if text.starts_with(":/") && text.len() > 2 {
        return unsupported("a revision by its message (:/text)");
    }
    if let Some(rest) = text.strip_prefix(':') {
        return in_index(repo, rest).map(Some);
    }
    // A colon outside braces divides a tree from a path.
    if let Some(at) = outside_braces(text, ':') {
        let (tree_text, path) = (&text[..at], &text[at + 1..]);
        let Some(id) = find(repo, tree_text)? else { return fatal(format!("invalid object name '{tree_text}'.")) };
        return in_tree(repo, tree_text, &id, path).map(Some);
    }
    with_suffixes(repo, text)
}

/// The object that `text` names, or git's words that it is unknown.
pub(crate) fn get(repo: &Repository, text: &str) -> Outcome<ObjectId> {
    find(repo, text)?.ok_or_else(|| unknown(text))
}

/// The commit that `text` names, through tags.
pub(crate) fn commit(repo: &Repository, text: &str) -> Outcome<ObjectId> {
    let id = get(repo, text)?;
    match repo.peel(&id)? {
        (id, Kind::Commit) => Ok(id),
        (id, kind) => Err(Failure::Message(
            format!("error: object {id} is a {kind}, not a commit\nfatal: Not a valid commit name {text}"),
            128,
        )),
    }
}

fn outside_braces(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, character)| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            character if character == wanted && depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

fn in_tree(repo: &Repository, name: &str, id: &ObjectId, path: &str) -> Outcome<ObjectId> {
    let root = tree::id_of(repo, id)?;
    let full = relative_path(repo, path);
    match tree::entry(repo, &root, full.as_bytes())? {
        Some(entry) => Ok(entry.id),
        None => {
            let on_disk = repo.work_tree.as_ref().is_some_and(|top| crate::files::exists(&top.join(&full)));
            if on_disk {
                return fatal(format!("path '{full}' exists on disk, but not in '{name}'"));
            }
            fatal(format!("path '{full}' does not exist in '{name}'"))
        }
    }
}

/// `./x` and `../x` are meant from the current directory, others from the root.
fn relative_path(repo: &Repository, path: &str) -> String {
    if path.starts_with("./") || path.starts_with("../") || path == "." || path == ".." {
        let joined = std::path::Path::new("/").join(repo.prefix.to_string()).join(path);
        let normal = crate::repository::normal(&joined);
        return normal.to_string_lossy().trim_start_matches('/').to_owned();
    }
    path.trim_end_matches('/').to_owned()
}

fn in_index(repo: &Repository, text: &str) -> Outcome<ObjectId> {
    let (stage, path) = match text.split_at_checked(2) {
        Some((stage, path)) if matches!(stage, "0:" | "1:" | "2:" | "3:") => {
            (u32::from(stage.as_bytes()[0] - b'0'), path)
        }
        _ => (0, text),
    };
    let full = relative_path(repo, path);
    let index = Index::open(repo)?;
    let entry = index.entries().find(|entry| entry.path == full.as_bytes() && entry.stage == stage);
    match entry {
        Some(entry) => Ok(entry.id),
        None if repo.work_tree.as_ref().is_some_and(|top| crate::files::exists(&top.join(&full))) => {
            fatal(format!("path '{full}' exists on disk, but not in the index"))
        }
        None => fatal(format!("path '{full}' does not exist (neither on disk nor in the index)")),
    }
}

/// The newest commit reachable from `tips` whose message matches.
fn newest_with_message(repo: &Repository, tips: Vec<ObjectId>, pattern: &str) -> Outcome<Option<ObjectId>> {
    let (pattern, wanted) = match pattern.strip_prefix("!-") {
        Some(pattern) => (pattern, false),
        None => (pattern.strip_prefix('!').filter(|rest| rest.starts_with('!')).unwrap_or(pattern), true),
    };
    let regex = regex::bytes::RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .map_err(|_| Failure::Fatal(format!("invalid regex: {pattern}")))?;
    let mut walk = super::walk::Walk::new(repo);
    for tip in tips {
        if let (id, Kind::Commit) = repo.peel(&tip)? {
            walk.push(id, super::walk::Flags::default())?;
        }
    }
    while let Some(id) = walk.next_raw()? {
        if regex.is_match(&repo.commit(&id)?.message) == wanted {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A name with any number of `^`, `~` and `^{…}` behind it.
fn with_suffixes(repo: &Repository, text: &str) -> Outcome<Option<ObjectId>> {
    let start = text.char_indices().find(|(at, character)| matches!(character, '^' | '~') && !inside_braces(text, *at));
    let (base, mut suffix) = start.map_or((text, ""), |(at, _)| text.split_at(at));
    let base = if base.is_empty() && !suffix.is_empty() { return Ok(None) } else { base };
    let Some(mut id) = simple(repo, base, !suffix.is_empty())? else { return Ok(None) };
    while !suffix.is_empty() {
        let (kind, rest) = suffix.split_at(1);
        if kind == "^" && rest.starts_with('{') {
            let Some(end) = rest.find('}') else { return Ok(None) };
            match peel_to(repo, &id, &rest[1..end])? {
                Some(peeled) => id = peeled,
                None => return Ok(None),
            }
            suffix = &rest[end + 1..];
            continue;
        }
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = if length == 0 { 1 } else { rest[..length].parse().unwrap_or(usize::MAX) };
        suffix = &rest[length..];
        let (peeled, Kind::Commit) = repo.peel(&id)? else { return Ok(None) };
        id = peeled;
        match kind {
            "^" if number == 0 => {}
            "^" => match repo.node(&id)?.parents.get(number - 1) {
                Some(parent) => id = *parent,
                None => return Ok(None),
            },
            "~" => {
                for _ in 0..number {
                    match repo.node(&id)?.parents.first() {
                        Some(parent) => id = *parent,
                        None => return Ok(None),
                    }
                }
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(id))
}

fn inside_braces(text: &str, at: usize) -> bool {
    let (open, close) = (text[..at].matches('{').count(), text[..at].matches('}').count());
    open > close
}

fn peel_to(repo: &Repository, id: &ObjectId, what: &str) -> Outcome<Option<ObjectId>> {
    if let Some(pattern) = what.strip_prefix('/') {
        let (id, kind) = repo.peel(id)?;
        return if kind == Kind::Commit { newest_with_message(repo, vec![id], pattern) } else { Ok(None) };
    }
    let (peeled, kind) = repo.peel(id)?;
    Ok(match what {
        "" => Some(peeled),
        "object" => Some(*id),
        "commit" => (kind == Kind::Commit).then_some(peeled),
        "tree" => match kind {
            Kind::Commit => Some(repo.node(&peeled)?.tree),
            Kind::Tree => Some(peeled),
            _ => None,
        },
        "blob" => (kind == Kind::Blob).then_some(peeled),
        "tag" => (repo.odb.get(id)?.kind == Kind::Tag).then_some(*id),
        _ => None,
    })
}

/// A name without suffixes.
fn simple(repo: &Repository, text: &str, wants_commit: bool) -> Outcome<Option<ObjectId>> {
    if text.len() == 40
        && let Ok(id) = ObjectId::from_hex(text.as_bytes())
    {
        return Ok(Some(id));
    }
    if let Some(at) = text.find("@{").filter(|_| text.ends_with('}')) {
        return reflog(repo, &text[..at], &text[at + 2..text.len() - 1]);
    }
    let name = if text == "@" { "HEAD" } else { text };
    if let Some(full) = repo.refs.expand(name.as_bytes()).first() {
        return Ok(repo.refs.resolve(full).map(|resolved| resolved.id));
    }
    // `v1.0-3-gabcdef`, as `describe` prints it.
    let described = name.rsplit_once("-g").map(|(_, hex)| hex);
    for hex in [Some(name), described].into_iter().flatten() {
        if (4..=40).contains(&hex.len()) && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return abbreviated(repo, &hex.to_lowercase(), wants_commit || described == Some(hex));
        }
    }
    Ok(None)
}

fn abbreviated(repo: &Repository, hex: &str, wants_commit: bool) -> Outcome<Option<ObjectId>> {
    let mut found = repo.odb.with_prefix(hex)?;
    if found.len() > 1 {
        let mut commits = Vec::new();
        for id in &found {
            let kind = repo.odb.get(id)?.kind;
            if kind == Kind::Commit || (wants_commit && kind == Kind::Tag && repo.peel(id)?.1 == Kind::Commit) {
                commits.push(*id);
            }
        }
        if commits.len() == 1 && wants_commit {
            found = commits;
        }
    }
    match found[..] {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        _ => {
            eprintln!("error: short object ID {hex} is ambiguous");
            Ok(None)
        }
    }
}

/// `name@{what}`.
fn reflog(repo: &Repository, name: &str, what: &str) -> Outcome<Option<ObjectId>> {
    if let Some(back) = what.strip_prefix('-').and_then(|number| number.parse::<usize>().ok()) {
        return match previous_branch(repo, back)? {
            Some(branch) => simple(repo, &branch, true),
            None => Ok(None),
        };
    }
    if matches!(what.to_ascii_lowercase().as_str(), "u" | "upstream" | "push") {
        let full = upstream::of_name(repo, name, what.eq_ignore_ascii_case("push"))?;
        return Ok(repo.refs.resolve(&full).map(|resolved| resolved.id));
    }
    let full = match name {
        "" => repo.refs.head_name().unwrap_or_else(|| "HEAD".into()),
        "HEAD" | "@" => BString::from("HEAD"),
        name => match repo.refs.expand(name.as_bytes()).into_iter().next() {
            Some(full) => full,
            None => return Ok(None),
        },
    };
    let Some(log) = repo.refs.log(&full)?.filter(|log| !log.is_empty()) else {
        return if what == "0" {
            Ok(repo.refs.resolve(&full).map(|resolved| resolved.id))
        } else {
            fatal(format!("log for '{}' is empty", short(name)))
        };
    };
    if let Ok(number) =
        what.parse::<usize>().map_err(drop).and_then(|number| if what.len() < 9 { Ok(number) } else { Err(()) })
    {
        if number == log.len()
            && let Some(old) = log.first().map(|entry| entry.old).filter(|id| !id.is_null())
        {
            return Ok(Some(old));
        }
        return match number.checked_add(1).and_then(|back| log.len().checked_sub(back)).and_then(|at| log.get(at)) {
            Some(entry) => Ok(Some(entry.new)),
            None => {
                let shown = if name.is_empty() {
                    full.strip_prefix(b"refs/heads/").unwrap_or(&full).to_str_lossy()
                } else {
                    name.into()
                };
                fatal(format!("log for '{shown}' only has {} entries", log.len()))
            }
        };
    }
    let moment = date::parse(what, date::now());
    let at = log.iter().rposition(|entry| entry.who.seconds <= moment);
    Ok(at.map_or_else(
        || log.first().map(|entry| if entry.old.is_null() { entry.new } else { entry.old }),
        |at| Some(log[at].new),
    ))
}

fn short(name: &str) -> &str {
    if name.is_empty() { "HEAD" } else { name }
}

/// The branch (or commit) that was checked out `back` switches ago.
pub(crate) fn previous_branch(repo: &Repository, back: usize) -> Outcome<Option<String>> {
    let log = repo.refs.log(b"HEAD")?.unwrap_or_default();
    let mut switches = log.iter().rev().filter_map(|entry| {
        let rest = entry.message.strip_prefix(b"checkout: moving from ")?;
        Some(rest.split_once_str(" to ")?.0.to_str_lossy().into_owned())
    });
    Ok(back.checked_sub(1).and_then(|back| switches.nth(back)))
}
