//! `git for-each-ref` and `git show-ref`.

use super::Out;
use super::reference_format::{self, Filter};
use crate::failure::{Failure, Outcome, unsupported};
use crate::options::{Arguments, divide, number};
use crate::refs::Resolved;
use crate::repository::Repository;
use crate::revision::names;
use bstr::{BString, ByteSlice as _};

const DEFAULT: &str = "%(objectname) %(objecttype)\t%(refname)";

/// Takes in an option that `for-each-ref`, `branch` and `tag` share.
pub(crate) fn filter_option(
    repo: &Repository,
    filter: &mut Filter,
    name: &str,
    value: Option<&str>,
    arguments: &mut Arguments,
) -> Outcome<bool> {
    let list = match name {
        "--contains" => &mut filter.contains,
        "--no-contains" => &mut filter.no_contains,
        "--merged" => &mut filter.merged,
        "--no-merged" => &mut filter.no_merged,
        "--points-at" => &mut filter.points_at,
        _ => return Ok(false),
    };
    let given = match value {
        Some(value) => value.to_owned(),
        None => arguments.next().unwrap_or_else(|| "HEAD".into()),
    };
    let id = match names::find(repo, &given)? {
        Some(id) if name == "--points-at" => id,
        Some(_) => names::commit(repo, &given)?,
        None if name.ends_with("merged") => return Err(Failure::Fatal(format!("malformed object name {given}"))),
        None => return Err(Failure::Error(format!("malformed object name {given}"), 129)),
    };
    list.push(id);
    Ok(true)
}

/// Whether a full name is one of these patterns: a whole name, a directory of names, or a pattern with wildcards.
fn matches(name: &BString, patterns: &[String]) -> bool {
    patterns.is_empty()
        || patterns.iter().any(|pattern| {
            let below = name
                .strip_prefix(pattern.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || pattern.ends_with('/'));
            below
                || gix_glob::wildmatch(
                    pattern.as_str().into(),
                    name.as_bstr(),
                    gix_glob::wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
                )
        })
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut filter = Filter::default();
    let (mut format, mut fields, mut count, mut patterns) = (DEFAULT.to_owned(), Vec::new(), usize::MAX, Vec::new());
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--format" => format = arguments.value(name, value)?,
            "--sort" => fields.push(arguments.value(name, value)?),
            "--count" => count = number(name, &arguments.value(name, value)?)?,
            "--no-color" => {}
            "--color" if value != Some("always") => {}
            option if option.starts_with('-') => {
                if !filter_option(repo, &mut filter, option, value, &mut arguments)? {
                    return Err(arguments.unknown(option));
                }
            }
            _ => patterns.push(argument),
        }
    }
    let parts = reference_format::parse(&format)?;
    let mut references = Vec::new();
    for reference in reference_format::below(repo, "refs/") {
        if matches(&reference.name, &patterns) && filter.keeps(repo, &reference)? {
            references.push(reference);
        }
    }
    reference_format::sort(repo, &mut references, &fields)?;
    for reference in references.iter().take(if count == 0 { usize::MAX } else { count }) {
        out.write_all(&reference_format::expand(repo, reference, &parts)?)?;
        out.write_all(b"\n")?;
    }
    Ok(0)
}

pub(crate) fn show_ref(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (mut heads, mut tags, mut head, mut verify, mut quiet, mut dereference, mut patterns) =
        (false, false, false, false, false, false, Vec::new());
    let mut digits = None;
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--heads" | "--branches" => heads = true,
            "--tags" => tags = true,
            "--head" => head = true,
            "--verify" => verify = true,
            "-q" | "--quiet" => quiet = true,
            "-d" | "--dereference" => dereference = true,
            "-s" | "--hash" => digits = Some(value.map(|value| number(name, value)).transpose()?.unwrap_or(40)),
            "--exists" | "--exclude-existing" | "--abbrev" => return unsupported(format_args!("show-ref: {name}")),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => patterns.push(argument),
        }
    }
    let mut print = |name: &BString, id: &gix_hash::ObjectId| -> Outcome {
        if quiet {
            return Ok(());
        }
        let peeled =
            if dereference && repo.odb.get(id)?.kind == gix_object::Kind::Tag { Some(repo.peel(id)?.0) } else { None };
        for (id, suffix) in std::iter::once((*id, "")).chain(peeled.map(|id| (id, "^{}"))) {
            match digits {
                Some(digits) => writeln!(out, "{}", repo.odb.abbreviate(&id, digits)?)?,
                None => writeln!(out, "{id} {name}{suffix}")?,
            }
        }
        Ok(())
    };
    if verify {
        for pattern in &patterns {
            match repo.refs.resolve(pattern.as_bytes()).filter(|_| pattern.starts_with("refs/") || pattern == "HEAD") {
                Some(Resolved { id, .. }) => print(&pattern.as_str().into(), &id)?,
                None if quiet => return Err(Failure::Quiet(1)),
                None => return Err(Failure::Fatal(format!("'{pattern}' - not a valid ref"))),
            }
        }
        return Ok(0);
    }
    let mut found = 0;
    if head && let Some(id) = repo.head_id() {
        found += 1;
        print(&"HEAD".into(), &id)?;
    }
    for reference in reference_format::below(repo, "refs/") {
        let kind = (!heads && !tags)
            || (heads && reference.name.starts_with(b"refs/heads/"))
            || (tags && reference.name.starts_with(b"refs/tags/"));
        let wanted = patterns.is_empty()
            || patterns.iter().any(|pattern| {
                reference
                    .name
                    .strip_suffix(pattern.as_bytes())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
            });
        if kind && wanted {
            found += 1;
            print(&reference.name, &reference.id)?;
        }
    }
    Ok(i32::from(found == 0))
}
