//! Which files there are to search.

use crate::request::{Filter, Request};
use guest_command::output::path;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{Walk, WalkBuilder};
use std::path::{Path, PathBuf};

/// ripgrep's own name for files of patterns.
const OWN_IGNORE: &str = ".rgignore";
/// Where it searches when nothing is named.
pub(crate) const HERE: &str = "./";

/// The walk over what is named, or over this directory.
pub(crate) fn walk(request: &Request) -> Result<Walk, ignore::Error> {
    let filter = &request.filter;
    let mut paths = request.paths.iter().map(|named| path(named));
    let mut builder = WalkBuilder::new(paths.next().unwrap_or_else(|| PathBuf::from(HERE)));
    for path in paths {
        builder.add(path);
    }
    let ignores = !filter.no_ignore;
    builder
        .follow_links(filter.follow)
        .max_depth(filter.max_depth)
        .max_filesize(filter.max_size)
        .overrides(overrides(filter)?)
        .types(types(filter)?)
        .hidden(!filter.hidden)
        .parents(ignores && !filter.no_ignore_parents)
        .ignore(ignores)
        .git_ignore(ignores && !filter.no_ignore_vcs)
        .git_exclude(ignores && !filter.no_ignore_vcs)
        // There is no user in a sandbox who could have patterns of his own.
        .git_global(false)
        .require_git(!filter.no_require_git);
    if ignores {
        builder.add_custom_ignore_filename(OWN_IGNORE);
    }
    if filter.sorted {
        let reversed = filter.reversed;
        builder.sort_by_file_name(move |one, other| if reversed { other.cmp(one) } else { one.cmp(other) });
    }
    Ok(builder.build())
}

fn overrides(filter: &Filter) -> Result<Override, ignore::Error> {
    let mut builder = OverrideBuilder::new(std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")));
    for (glob, fold_case) in &filter.globs {
        builder.case_insensitive(*fold_case || filter.ignore_glob_case)?.add(glob)?;
    }
    builder.build()
}

fn types(filter: &Filter) -> Result<Types, ignore::Error> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for (name, wanted) in &filter.types {
        if *wanted {
            builder.select(name)
        } else {
            builder.negate(name)
        };
    }
    builder.build()
}

/// Every type with its patterns, as `--type-list` prints them.
pub(crate) fn type_list() -> String {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let lines = builder.definitions().into_iter().map(|kind| format!("{}: {}\n", kind.name(), kind.globs().join(", ")));
    lines.collect()
}

/// A path as it is printed: without what nobody wrote.
pub(crate) fn shown<'p>(request: &Request, path: &'p Path) -> &'p Path {
    if request.paths.is_empty() { path.strip_prefix(HERE).unwrap_or(path) } else { path }
}
