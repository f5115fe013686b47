//! `git rev-list`.

use super::Out;
use super::log::{Request, Shower};
use crate::failure::{Outcome, unsupported};
use crate::options::Arguments;
use crate::pretty::{Extra, Format};
use crate::repository::Repository;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut request = Request::new(repo)?;
    // The configuration is for `log`.
    request.format = Format::Medium;
    request.abbreviate = false;
    request.decorate = None;
    let (mut count, mut parents, mut timestamp, mut quiet, mut header) = (false, false, false, false, true);
    let mut written = false;
    request.read(repo, &mut arguments, |_, argument| {
        match argument {
            "--count" => count = true,
            "--parents" => parents = true,
            "--timestamp" => timestamp = true,
            "--quiet" => quiet = true,
            "--no-commit-header" => header = false,
            "--commit-header" => header = true,
            option => {
                written |= option.starts_with("--pretty") || option.starts_with("--format") || option == "--oneline";
                return false;
            }
        }
        true
    })?;
    if request.diff.formats.any() {
        return unsupported("a diff in rev-list");
    }
    let no_revision = request.others.is_empty();
    if no_revision {
        return Err(crate::failure::Failure::Message(
            "usage: git rev-list [<options>] <commit>... [--] [<path>...]".into(),
            129,
        ));
    }
    let divided = request.divide(repo)?;
    let mut walk = request.walk(repo, &divided)?;
    let (mut left, mut right) = (0_usize, 0_usize);
    let mut shower = Shower::new(repo, &request)?;
    let symmetric = request.left_right;
    request.commits(repo, &mut walk, |walk, id| {
        if count {
            if symmetric && walk.is_left(id) {
                left += 1
            } else {
                right += 1
            }
            return Ok(true);
        }
        if quiet {
            return Ok(true);
        }
        let mark = symmetric.then(|| if walk.is_left(id) { '<' } else { '>' });
        if written {
            if header && matches!(request.format, Format::Written { .. }) {
                writeln!(out, "commit {}{id}", mark.map(String::from).unwrap_or_default())?;
            }
            return shower.show(&request, id, &[], &Extra { mark, ..Extra::default() }, out);
        }
        if timestamp {
            write!(out, "{} ", repo.node(id)?.time)?;
        }
        let name = if request.abbreviate { repo.short(id)? } else { id.to_string() };
        write!(out, "{}{name}", mark.map(String::from).unwrap_or_default())?;
        if parents {
            for parent in walk.parents_of(id)?.iter() {
                write!(out, " {parent}")?;
            }
        }
        out.write_all(b"\n")?;
        Ok(true)
    })?;
    if count {
        if symmetric {
            writeln!(out, "{left}\t{right}")?;
        } else {
            writeln!(out, "{}", left + right)?;
        }
    }
    Ok(0)
}
