//! `git branch`, as far as it lists.

use super::for_each_ref::filter_option;
use super::reference_format::{self, Filter, Reference};
use super::status::tracking;
use super::{Out, writes};
use crate::failure::{Outcome, unsupported};
use crate::options::{Arguments, divide};
use crate::pretty::message;
use crate::repository::Repository;
use crate::width;
use bstr::{BString, ByteSlice as _};
use std::collections::HashMap;

/// Where branches are listed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Local,
    Remote,
    All,
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut filter = Filter::default();
    let (mut which, mut verbose, mut listing, mut format, mut patterns, mut icase) =
        (Which::Local, 0, false, None, Vec::new(), false);
    let mut fields: Vec<String> = repo.config.all("branch.sort").map(ToString::to_string).collect();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "-a" | "--all" => (which, listing) = (Which::All, true),
            "-r" | "--remotes" => (which, listing) = (Which::Remote, true),
            "-l" | "--list" => listing = true,
            "-v" | "--verbose" => verbose += 1,
            "-vv" => verbose += 2,
            "-av" | "-va" => (which, verbose, listing) = (Which::All, verbose + 1, true),
            "-avv" | "-vva" => (which, verbose, listing) = (Which::All, verbose + 2, true),
            "-rv" | "-vr" => (which, verbose, listing) = (Which::Remote, verbose + 1, true),
            "-rvv" | "-vvr" => (which, verbose, listing) = (Which::Remote, verbose + 2, true),
            "--show-current" => {
                if let Some(name) = repo.refs.head_name() {
                    writeln!(out, "{}", name.strip_prefix(b"refs/heads/").unwrap_or(&name).as_bstr())?;
                }
                return Ok(0);
            }
            "--format" => format = Some(arguments.value(name, value)?),
            "--sort" => fields.push(arguments.value(name, value)?),
            "-i" | "--ignore-case" => icase = true,
            "--no-color" | "--no-column" | "--no-abbrev" if name != "--no-abbrev" => {}
            "--color" | "--column" if matches!(value, Some("never" | "auto")) => {}
            "-d" | "-D" | "-m" | "-M" | "-c" | "-C" | "-u" | "-f" | "--delete" | "--move" | "--copy"
            | "--set-upstream-to" | "--unset-upstream" | "--edit-description" | "--force" | "--track" | "-t" => {
                return Err(writes(&format!("branch {name}")));
            }
            option if option.starts_with('-') => {
                if !filter_option(repo, &mut filter, option, value, &mut arguments)? {
                    return Err(arguments.unknown(option));
                }
                listing = true;
            }
            _ => patterns.push(argument),
        }
    }
    if icase {
        return unsupported("branch: --ignore-case");
    }
    if !patterns.is_empty() && !listing {
        return Err(writes("branch with a name"));
    }
    let mut references = Vec::new();
    let detached = repo.refs.head_name().is_none().then(|| repo.head_id()).flatten();
    let prefixes: &[&str] = match which {
        Which::Local => &["refs/heads/"],
        Which::Remote => &["refs/remotes/"],
        Which::All => &["refs/heads/", "refs/remotes/"],
    };
    for prefix in prefixes {
        for reference in reference_format::below(repo, prefix) {
            let short = reference.name.strip_prefix(prefix.as_bytes()).unwrap_or_default();
            let mode = gix_glob::wildmatch::Mode::empty();
            let wanted = patterns.is_empty()
                || patterns.iter().any(|pattern| gix_glob::wildmatch(pattern.as_str().into(), short.as_bstr(), mode));
            if wanted && filter.keeps(repo, &reference)? {
                references.push(reference);
            }
        }
    }
    if !fields.is_empty() {
        reference_format::sort(repo, &mut references, &fields)?;
    }
    let mut lines = Vec::new();
    if let Some(id) = detached.filter(|_| which != Which::Remote && patterns.is_empty()) {
        let head = Reference { name: detached_name(repo, &id)?, id, symbolic: None };
        if filter.keeps(repo, &head)? {
            lines.push((head, true));
        }
    }
    lines.extend(references.into_iter().map(|reference| (reference, false)));
    if let Some(format) = format {
        let parts = reference_format::parse(&format)?;
        for (reference, _) in &lines {
            out.write_all(&reference_format::expand(repo, reference, &parts)?)?;
            out.write_all(b"\n")?;
        }
        return Ok(0);
    }
    list(repo, &lines, which, verbose, out)?;
    Ok(0)
}

/// `(HEAD detached at …)`.
fn detached_name(repo: &Repository, head: &gix_hash::ObjectId) -> Outcome<BString> {
    for state in ["rebase-merge", "rebase-apply"] {
        if crate::files::exists(&repo.git_dir.join(state)) {
            return unsupported("the list of branches during a rebase");
        }
    }
    let log = repo.refs.log(b"HEAD")?.unwrap_or_default();
    let moved = log.iter().rev().find_map(|entry| {
        let rest = entry.message.strip_prefix(b"checkout: moving from ")?;
        Some((rest.split_once_str(" to ")?.1.to_str_lossy().into_owned(), entry.new))
    });
    let Some((target, id)) = moved else { return Ok("(no branch)".into()) };
    let named = target.len() != 40
        && repo
            .refs
            .expand(target.as_bytes())
            .first()
            .and_then(|full| repo.refs.resolve(full))
            .is_some_and(|found| repo.peel(&found.id).is_ok_and(|(peeled, _)| peeled == id));
    let name = if named { target } else { repo.short(&id)? };
    Ok(format!("(HEAD detached {} {name})", if *head == id { "at" } else { "from" }).into())
}

fn list(repo: &Repository, lines: &[(Reference, bool)], which: Which, verbose: usize, out: &mut Out<'_>) -> Outcome {
    let current = repo.refs.head_name();
    let checked_out = worktrees(repo);
    let shown = |reference: &Reference, detached: bool| -> BString {
        if detached {
            return reference.name.clone();
        }
        let name = reference.name.as_slice();
        if let Some(short) = name.strip_prefix(b"refs/heads/") {
            return short.into();
        }
        let short = name.strip_prefix(b"refs/remotes/").unwrap_or(name);
        if which == Which::All { [b"remotes/", short].concat().into() } else { short.into() }
    };
    let longest =
        lines.iter().map(|(reference, detached)| width::of(&shown(reference, *detached))).max().unwrap_or_default();
    for (reference, detached) in lines {
        let is_current = *detached || current.as_ref() == Some(&reference.name);
        let elsewhere = checked_out.get(&reference.name);
        let mark = if is_current {
            "* "
        } else if elsewhere.is_some() {
            "+ "
        } else {
            "  "
        };
        let name = shown(reference, *detached);
        out.write_all(mark.as_bytes())?;
        out.write_all(&name)?;
        if let Some(target) = &reference.symbolic {
            if verbose > 0 {
                write!(out, "{:1$}", "", longest - width::of(&name))?;
            }
            write!(
                out,
                " -> {}",
                target
                    .strip_prefix(b"refs/remotes/")
                    .or_else(|| target.strip_prefix(b"refs/heads/"))
                    .unwrap_or(target)
                    .as_bstr()
            )?;
        } else if verbose > 0 {
            write!(out, "{:1$} ", "", longest - width::of(&name))?;
            write!(out, "{} ", repo.short(&reference.id)?)?;
            if verbose > 1
                && let Some(path) = elsewhere.filter(|_| !is_current)
            {
                write!(out, "({path}) ")?;
            }
            write!(out, "{}", followed(repo, reference, verbose)?)?;
            out.write_all(&message::subject(&repo.commit(&reference.id)?.message))?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// `[origin/main: ahead 1] `.
fn followed(repo: &Repository, reference: &Reference, verbose: usize) -> Outcome<String> {
    let Some(branch) = reference.name.strip_prefix(b"refs/heads/").and_then(|name| name.to_str().ok()) else {
        return Ok(String::new());
    };
    let Some(tracking) = tracking(repo, branch, Some(&reference.id))? else { return Ok(String::new()) };
    let apart = match tracking.apart {
        None => "gone".to_owned(),
        Some((0, 0)) => String::new(),
        Some((ahead, 0)) => format!("ahead {ahead}"),
        Some((0, behind)) => format!("behind {behind}"),
        Some((ahead, behind)) => format!("ahead {ahead}, behind {behind}"),
    };
    Ok(match (verbose > 1, apart.is_empty()) {
        (true, true) => format!("[{}] ", tracking.short),
        (true, false) => format!("[{}: {apart}] ", tracking.short),
        (false, true) => String::new(),
        (false, false) => format!("[{apart}] "),
    })
}

/// Branches that other worktrees have checked out, with their directories.
fn worktrees(repo: &Repository) -> HashMap<BString, String> {
    let all = super::worktree::all(repo).unwrap_or_default();
    all.into_iter().filter_map(|worktree| Some((worktree.branch?, worktree.path))).collect()
}
