//! `git merge-base`.

use super::Out;
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::options::Arguments;
use crate::repository::Repository;
use crate::revision::{ancestry, names};
use gix_hash::ObjectId;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (mut all, mut is_ancestor, mut independent, mut fork_point, mut commits) =
        (false, false, false, false, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-a" | "--all" => all = true,
            "--is-ancestor" => is_ancestor = true,
            "--independent" => independent = true,
            "--fork-point" => fork_point = true,
            "--octopus" => return unsupported("merge-base: --octopus"),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => commits.push(argument),
        }
    }
    let mut ids: Vec<ObjectId> = Vec::new();
    for name in &commits {
        match names::find(repo, name)? {
            Some(_) => ids.push(names::commit(repo, name)?),
            None => return fatal(format!("Not a valid object name {name}")),
        }
    }
    if is_ancestor {
        let [one, other] = ids[..] else { return fatal("--is-ancestor takes exactly two commits") };
        return Ok(i32::from(!ancestry::is_ancestor(repo, &one, &other)?));
    }
    if independent {
        for id in ancestry::without_ancestors(repo, &ids)? {
            writeln!(out, "{id}")?;
        }
        return Ok(0);
    }
    if fork_point {
        return point(repo, &commits, &ids, out);
    }
    let [one, others @ ..] = &ids[..] else { return Err(usage()) };
    if others.is_empty() {
        return Err(usage());
    }
    let bases = ancestry::merge_bases(repo, one, others)?;
    for base in bases.iter().take(if all { usize::MAX } else { 1 }) {
        writeln!(out, "{base}")?;
    }
    Ok(i32::from(bases.is_empty()))
}

fn usage() -> Failure {
    Failure::Message("usage: git merge-base [-a | --all] <commit> <commit>...".into(), 129)
}

/// Where a branch left another, also when that one was rewritten since.
fn point(repo: &Repository, names: &[String], ids: &[ObjectId], out: &mut Out<'_>) -> Outcome<i32> {
    let (name, commit) = match (names, ids) {
        ([name], [_]) => (name, repo.head_id()),
        ([name, _], [_, commit]) => (name, Some(*commit)),
        _ => return Err(usage()),
    };
    let Some(commit) = commit else { return fatal("Not a valid object name HEAD") };
    let Some(full) = repo.refs.expand(name.as_bytes()).into_iter().next() else {
        return fatal(format!("No such ref: '{name}'"));
    };
    let log = repo.refs.log(&full)?.unwrap_or_default();
    let mut tips: Vec<ObjectId> = Vec::new();
    for entry in &log {
        for id in [entry.old, entry.new] {
            if !id.is_null() && !tips.contains(&id) && repo.odb.contains(&id)? {
                tips.push(id);
            }
        }
    }
    if tips.is_empty() {
        tips.extend(repo.refs.resolve(&full).map(|found| found.id));
    }
    let bases = ancestry::merge_bases(repo, &commit, &tips)?;
    match bases[..] {
        [base] if tips.contains(&base) => {
            writeln!(out, "{base}")?;
            Ok(0)
        }
        _ => Ok(1),
    }
}
