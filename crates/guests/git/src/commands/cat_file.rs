//! `git cat-file` and `git count-objects`.

use super::Out;
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::files;
use crate::options::Arguments;
use crate::repository::Repository;
use crate::revision::names;
use crate::tree;
use gix_object::Kind;

pub(crate) fn run(repo: &Repository, arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (options, names): (Vec<String>, Vec<String>) =
        arguments.partition(|argument| argument.starts_with('-') && argument != "-");
    let usage = || Failure::Message("usage: git cat-file (-e | -p | -t | -s | <type>) <object>".into(), 129);
    if let Some(option) = options.iter().find(|option| !matches!(option.as_str(), "-e" | "-p" | "-t" | "-s")) {
        return unsupported(format_args!("cat-file: {option}"));
    }
    let (what, name) = match (&options[..], &names[..]) {
        ([what], [name]) => (what.as_str(), name),
        ([], [kind, name]) => (kind.as_str(), name),
        _ => return Err(usage()),
    };
    let id = match names::find(repo, name) {
        Ok(Some(id)) if what == "-e" => return Ok(i32::from(!repo.odb.contains(&id)?)),
        Ok(Some(id)) => id,
        Ok(None) => return fatal(format!("Not a valid object name {name}")),
        Err(error) => return Err(error),
    };
    let Some(object) = repo.odb.find(&id)? else {
        return match what {
            "-p" => fatal(format!("Not a valid object name {name}")),
            "-t" | "-s" => fatal("git cat-file: could not get object info"),
            _ => fatal(format!("git cat-file {name}: bad file")),
        };
    };
    match what {
        "-t" => writeln!(out, "{}", object.kind)?,
        "-s" => writeln!(out, "{}", object.data.len())?,
        "-p" if object.kind == Kind::Tree => {
            let quote_path = repo.config.boolean("core.quotepath") != Some(false);
            for entry in tree::parse(&id, &object.data)? {
                let kind = match entry.mode {
                    tree::DIRECTORY => "tree",
                    tree::SUBMODULE => "commit",
                    _ => "blob",
                };
                writeln!(
                    out,
                    "{:06o} {kind} {}\t{}",
                    entry.mode,
                    entry.id,
                    crate::quote::path(&entry.name, quote_path)
                )?;
            }
        }
        "-p" => out.write_all(&object.data)?,
        kind => {
            let wanted = Kind::from_bytes(kind.as_bytes())
                .map_err(|_| Failure::Fatal(format!("invalid object type \"{kind}\"")))?;
            let mut found = id;
            loop {
                let object = repo.odb.get(&found)?;
                if object.kind == wanted {
                    out.write_all(&object.data)?;
                    break;
                }
                found = match object.kind {
                    Kind::Tag => repo.tag(&found)?.target,
                    Kind::Commit if wanted == Kind::Tree => repo.node(&found)?.tree,
                    _ => return fatal(format!("git cat-file {name}: bad file")),
                };
            }
        }
    }
    Ok(0)
}

/// Bytes of a block, as the system counts them.
const BLOCK: u64 = 4_096;

/// `git count-objects`, without what only a repacked repository has.
pub(crate) fn count(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    if let Some(option) = arguments.next() {
        return Err(arguments.unknown(&option));
    }
    let (mut objects, mut bytes) = (0, 0);
    for directory in repo.odb.loose_directories() {
        for (name, status) in files::list(&directory).unwrap_or_default() {
            if name.len() == 38 {
                objects += 1;
                bytes += status.size.div_ceil(BLOCK) * BLOCK;
            }
        }
    }
    writeln!(out, "{objects} objects, {} kilobytes", bytes / 1024)?;
    Ok(0)
}
