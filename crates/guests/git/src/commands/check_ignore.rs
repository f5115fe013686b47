//! `git check-ignore`.

use super::Out;
use crate::failure::{Outcome, fatal, unsupported};
use crate::files::{self, Kind};
use crate::index::Index;
use crate::options::Arguments;
use crate::quote;
use crate::repository::{Repository, normal};
use crate::worktree::ignore::Ignores;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (mut quiet, mut verbose, mut no_index, mut non_matching, mut nul, mut paths) =
        (false, false, false, false, false, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--" => paths.extend(arguments.remaining()),
            "-q" | "--quiet" => quiet = true,
            "-v" | "--verbose" => verbose = true,
            "--no-index" => no_index = true,
            "-n" | "--non-matching" => non_matching = true,
            "-z" => nul = true,
            "--stdin" => return unsupported("check-ignore: --stdin"),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => paths.push(argument),
        }
    }
    if paths.is_empty() {
        return fatal("no path specified");
    }
    if non_matching && !verbose {
        return fatal("--non-matching is only valid with --verbose");
    }
    let root = repo.root()?;
    let index = Index::open(repo)?;
    let ignores = Ignores::new(repo, root, true);
    let quote_path = repo.config.boolean("core.quotepath") != Some(false);
    let mut found = 0;
    for written in &paths {
        let full = normal(&root.join(files::path(&repo.prefix)).join(written));
        let Ok(below) = full.strip_prefix(root) else {
            return fatal(format!("{written}: '{written}' is outside repository at '{}'", root.display()));
        };
        let path = files::bytes(below);
        let is_directory = files::status(&full).is_ok_and(|status| status.kind == Kind::Directory);
        let tracked = !no_index && (index.contains(&path) || index.has_below(&path));
        let decided = if tracked { None } else { ignores.decide_whole(&path, is_directory) };
        let ignored = decided.as_ref().is_some_and(|decided| decided.ignored || verbose);
        found += usize::from(ignored);
        if quiet || (!ignored && !non_matching) {
            continue;
        }
        let shown = if nul { written.as_str().into() } else { quote::path(written.as_bytes(), quote_path) };
        match (verbose, decided) {
            (true, Some(decided)) if nul => write!(out, "{}\0{}\0{}\0", decided.source, decided.line, decided.pattern)?,
            (true, Some(decided)) => {
                write!(out, "{}:{}:{}\t", quote::path(&decided.source, quote_path), decided.line, decided.pattern)?
            }
            (true, None) if nul => out.write_all(b"\0\0\0")?,
            (true, None) => out.write_all(b"::\t")?,
            _ => {}
        }
        out.write_all(&shown)?;
        out.write_all(if nul { b"\0" } else { b"\n" })?;
    }
    Ok(i32::from(found == 0))
}
