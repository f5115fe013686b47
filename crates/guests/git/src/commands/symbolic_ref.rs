//! `git symbolic-ref`, as far as it reads.

use super::{Out, writes};
use crate::failure::{Failure, Outcome, fatal};
use crate::options::Arguments;
use crate::refs::Target;
use crate::repository::Repository;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (mut quiet, mut short, mut recurse, mut names) = (false, false, true, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-q" | "--quiet" => quiet = true,
            "--short" => short = true,
            "--recurse" => recurse = true,
            "--no-recurse" => recurse = false,
            "-d" | "--delete" | "-m" => return Err(writes(&format!("symbolic-ref {argument}"))),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => names.push(argument),
        }
    }
    let name = match &names[..] {
        [name] => name,
        [] => return Err(Failure::Message("usage: git symbolic-ref [-q] [--short] <name>".into(), 129)),
        _ => return Err(writes("symbolic-ref with a target")),
    };
    let Some(Target::Name(mut target)) = repo.refs.find(name.as_bytes()) else {
        return if quiet { Err(Failure::Quiet(1)) } else { fatal(format!("ref {name} is not a symbolic ref")) };
    };
    while let Some(Target::Name(next)) = repo.refs.find(&target).filter(|_| recurse) {
        target = next;
    }
    let shown = if short { repo.refs.shorten(&target, false) } else { target };
    writeln!(out, "{shown}")?;
    Ok(0)
}
