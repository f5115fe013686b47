//! `git rev-parse`.

use super::Out;
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::options::{Arguments, divide, number};
use crate::repository::{Place, Repository};
use crate::revision::{names, range, upstream};
use bstr::BString;

#[derive(Default)]
struct Options {
    verify: bool,
    quiet: bool,
    short: Option<Option<usize>>,
    abbrev_ref: Option<bool>,
    full_name: bool,
    symbolic: bool,
    revs_only: bool,
    no_revs: bool,
    default: Option<String>,
}

/// Opens the repository, or says in git's words that there is none.
pub(crate) fn start(place: &Place, arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    run(&Repository::open(place)?, arguments, out)
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options::default();
    let mut shown = 0;
    let mut only_paths = false;
    while let Some(argument) = arguments.next() {
        if only_paths {
            writeln!(out, "{argument}")?;
            continue;
        }
        let (name, value) = divide(&argument);
        match name {
            "--" => {
                only_paths = true;
                if !options.revs_only {
                    out.write_all(b"--\n")?;
                }
            }
            "--verify" => options.verify = true,
            "-q" | "--quiet" => options.quiet = true,
            "--short" => {
                (options.short, options.verify) = (Some(value.map(|value| number(name, value)).transpose()?), true)
            }
            "--abbrev-ref" => options.abbrev_ref = Some(value == Some("strict")),
            "--symbolic-full-name" => options.full_name = true,
            "--symbolic" => options.symbolic = true,
            "--revs-only" => options.revs_only = true,
            "--no-revs" => options.no_revs = true,
            "--default" => options.default = Some(arguments.value(name, value)?),
            "--end-of-options" => {}
            "--show-toplevel" => writeln!(out, "{}", repo.root()?.display())?,
            "--show-cdup" => {
                writeln!(out, "{}", "../".repeat(repo.prefix.iter().filter(|byte| **byte == b'/').count()))?
            }
            "--show-prefix" => writeln!(out, "{}", repo.prefix)?,
            "--git-dir" => writeln!(out, "{}", repo.git_dir_text)?,
            "--absolute-git-dir" => writeln!(out, "{}", repo.git_dir.display())?,
            "--git-common-dir" => {
                let text = if repo.common_dir == repo.git_dir {
                    common_text(repo)
                } else {
                    repo.common_dir.display().to_string()
                };
                writeln!(out, "{text}")?;
            }
            "--git-path" => {
                let path = arguments.value(name, value)?;
                let base = std::path::Path::new(&repo.git_dir_text).join(path);
                writeln!(out, "{}", base.display())?;
            }
            "--is-inside-work-tree" => writeln!(out, "{}", repo.inside_work_tree)?,
            "--is-inside-git-dir" => {
                writeln!(out, "{}", std::env::current_dir().is_ok_and(|here| here.starts_with(&repo.git_dir)))?
            }
            "--is-bare-repository" => writeln!(out, "{}", repo.work_tree.is_none())?,
            "--is-shallow-repository" => writeln!(out, "{}", repo.is_shallow())?,
            "--show-object-format" => writeln!(out, "sha1")?,
            "--show-ref-format" => writeln!(out, "files")?,
            "--show-superproject-working-tree"
            | "--local-env-vars"
            | "--parseopt"
            | "--sq-quote"
            | "--sq"
            | "--path-format"
            | "--resolve-git-dir"
            | "--prefix"
            | "--disambiguate"
            | "--shared-index-path"
            | "--flags"
            | "--no-flags"
            | "--not"
            | "--since"
            | "--until"
            | "--after"
            | "--before"
            | "--exclude" => return unsupported(format_args!("rev-parse: {name}")),
            "--all" | "--branches" | "--tags" | "--remotes" | "--glob" => {
                let tips = range::divide(repo, std::slice::from_ref(&argument), Some(&[]))?.revisions;
                for tip in tips.iter().filter(|tip| tip.name != "HEAD") {
                    writeln!(out, "{}", repo.refs.resolve(tip.name.as_bytes()).map_or(tip.id, |resolved| resolved.id))?;
                }
            }
            option if option.starts_with('-') && option.len() > 1 => {
                // As git: what it does not know it passes on.
                if !options.revs_only {
                    writeln!(out, "{argument}")?;
                }
            }
            _ => {
                shown += 1;
                revision(repo, &options, &argument, out)?;
            }
        }
    }
    if shown == 0
        && let Some(default) = options.default.take()
    {
        shown += 1;
        revision(repo, &options, &default, out)?;
    }
    if options.verify && shown != 1 {
        return needed(&options);
    }
    Ok(0)
}

fn common_text(repo: &Repository) -> String {
    // From a directory below the root, git names the shared directory by its relative path.
    let depth = repo.prefix.iter().filter(|byte| **byte == b'/').count();
    if depth > 0 && repo.inside_work_tree { format!("{}.git", "../".repeat(depth)) } else { repo.git_dir_text.clone() }
}

fn needed<T>(options: &Options) -> Outcome<T> {
    if options.quiet { Err(Failure::Quiet(1)) } else { fatal("Needed a single revision") }
}

fn revision(repo: &Repository, options: &Options, argument: &str, out: &mut Out<'_>) -> Outcome {
    let tips = match range::parse(repo, argument, false) {
        Ok(Some(tips)) => tips,
        Ok(None) if options.verify => return needed(options),
        Err(Failure::Fatal(_)) if options.verify && options.quiet => return Err(Failure::Quiet(1)),
        Ok(None) => {
            if options.revs_only {
                return Ok(());
            }
            let is_file = std::env::current_dir().is_ok_and(|here| crate::files::exists(&here.join(argument)));
            writeln!(out, "{argument}")?;
            return if is_file { Ok(()) } else { Err(names::unknown(argument)) };
        }
        Err(error) => {
            // git has printed what it could not read before it says so, when it is a path.
            let about_path = matches!(&error, Failure::Fatal(text) if text.starts_with("path '") || text.starts_with("invalid object name"));
            if !options.verify && !options.revs_only && about_path {
                writeln!(out, "{argument}")?;
            }
            return Err(error);
        }
    };
    if options.no_revs {
        return Ok(());
    }
    if options.verify && tips.len() != 1 {
        return needed(options);
    }
    let is_range = tips.len() > 1;
    // `a..b` is printed with its end first, as git reads it.
    let ordered: Vec<_> = if range::dots(argument, "...").is_some() {
        let (bases, sides): (Vec<_>, Vec<_>) = tips.into_iter().partition(|tip| tip.flags.uninteresting);
        sides.into_iter().rev().chain(bases).collect()
    } else if is_range && range::dots(argument, "..").is_some() {
        tips.into_iter().rev().collect()
    } else {
        tips
    };
    for tip in ordered {
        let sign = if tip.flags.uninteresting { "^" } else { "" };
        if options.full_name || options.abbrev_ref.is_some() {
            if let Some(full) = full_name(repo, &tip.name)? {
                let text = match options.abbrev_ref {
                    Some(strict) => {
                        repo.refs.shorten(&full, strict || repo.config.boolean("core.warnambiguousrefs") != Some(false))
                    }
                    None => full,
                };
                writeln!(out, "{sign}{text}")?;
            }
        } else if options.symbolic {
            writeln!(out, "{sign}{}", tip.name)?;
        } else if let Some(length) = options.short {
            writeln!(out, "{sign}{}", repo.odb.abbreviate(&tip.id, length.unwrap_or_else(|| repo.abbreviation()))?)?;
        } else {
            writeln!(out, "{sign}{}", tip.id)?;
        }
    }
    Ok(())
}

/// The reference that a name stands for, `HEAD` followed.
fn full_name(repo: &Repository, name: &str) -> Outcome<Option<BString>> {
    if let Some((branch, what)) = name.strip_suffix('}').and_then(|name| name.split_once("@{")) {
        if matches!(what, "u" | "upstream" | "push") {
            return upstream::of_name(repo, branch, what == "push").map(Some);
        }
        if let Some(back) = what.strip_prefix('-').and_then(|back| back.parse().ok()) {
            return Ok(names::previous_branch(repo, back)?.map(|branch| format!("refs/heads/{branch}").into()));
        }
        return Ok(None);
    }
    let name = if name == "@" { "HEAD" } else { name };
    let Some(full) = repo.refs.expand(name.as_bytes()).into_iter().next() else { return Ok(None) };
    Ok(repo.refs.resolve(&full).map(|resolved| {
        if resolved.name.starts_with(b"refs/") || resolved.name == "HEAD" { resolved.name } else { full }
    }))
}
