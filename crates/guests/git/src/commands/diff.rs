//! `git diff`.

use super::Out;
use crate::diff::options::Options;
use crate::diff::output::{self, Sides};
use crate::diff::{Pair, Reader, Side, index as index_diff, trees};
use crate::failure::{Outcome, fatal, unsupported};
use crate::index::Index;
use crate::options::Arguments;
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::revision::range::{self, Tip};
use crate::revision::{ancestry, names};
use crate::tree;
use crate::worktree::Worktree;
use gix_hash::ObjectId;
use gix_object::Kind;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options::new(repo)?;
    let (mut cached, mut merge_base) = (false, false);
    let mut others = Vec::new();
    let mut separated = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--" => separated = Some(arguments.remaining()),
            "--cached" | "--staged" => cached = true,
            "--merge-base" => merge_base = true,
            "--no-index" => return unsupported("--no-index"),
            "-0" | "-1" | "-2" | "-3" | "--base" | "--ours" | "--theirs" | "-c" | "--cc" => {
                return unsupported(argument);
            }
            option if option.starts_with('-') && option != "-" => {
                if !options.take(repo, option, &mut arguments)? {
                    return Err(arguments.unknown(option));
                }
            }
            _ => others.push(argument),
        }
    }
    if !options.formats.any() {
        options.formats.patch = true;
    }
    let divided = range::divide(repo, &others, separated.as_deref())?;
    let paths = Pathspec::parse(repo, &divided.paths)?;
    let reader = Reader::new(repo);
    let (pairs, sides) =
        compare(repo, &divided.revisions, &divided.written, cached, merge_base, options.formats.patch, &paths)?;
    let mut changed = Vec::new();
    for pair in pairs {
        // Another size in the working tree can be the same content in git.
        let candidate =
            !pair.unmerged && pair.old.mode == pair.new.mode && pair.old.id.is_some() && pair.new.id.is_none();
        if !candidate || Some(reader.id(&pair.new)?) != pair.old.id {
            changed.push(pair);
        }
    }
    let combines = changed.iter().any(|pair| pair.versions.is_some());
    if combines
        && (options.reverse || options.formats != (crate::diff::options::Formats { patch: true, ..Default::default() }))
    {
        return unsupported("a diff of files in conflict in this form");
    }
    let pairs = output::prepare(&reader, changed, &options)?;
    if !options.quiet {
        output::print(&reader, &pairs, &options, sides, &mut &mut *out)?;
    }
    Ok(i32::from(options.exit_code && !pairs.is_empty()))
}

/// The tree of a commit or tree.
fn tree_of(repo: &Repository, id: &ObjectId) -> Outcome<ObjectId> {
    tree::id_of(repo, id)
}

fn base_of(repo: &Repository, one: &ObjectId, other: &ObjectId) -> Outcome<ObjectId> {
    let commit = |id: &ObjectId| Ok::<_, crate::failure::Failure>(repo.peel(id)?.0);
    match ancestry::merge_bases(repo, &commit(one)?, &[commit(other)?])?[..] {
        [] => fatal("no merge base found"),
        [base] => Ok(base),
        _ => fatal("multiple merge bases found"),
    }
}

fn compare(
    repo: &Repository,
    tips: &[Tip],
    written: &[String],
    cached: bool,
    merge_base: bool,
    combine: bool,
    paths: &Pathspec,
) -> Outcome<(Vec<Pair>, Sides)> {
    if cached {
        let index = Index::open(repo)?;
        let old = match tips {
            [] => repo.head_id(),
            [tip] => Some(tip.id),
            _ => return usage(),
        };
        let old = match (old, merge_base, repo.head_id()) {
            (Some(old), true, Some(head)) => Some(base_of(repo, &old, &head)?),
            (old, ..) => old,
        };
        let old = old.map(|id| tree_of(repo, &id)).transpose()?;
        return Ok((index_diff::staged(repo, old, &index, paths)?, Sides::CommitAndIndex));
    }
    if let [name] = written
        && let Some((from, to)) = range::dots(name, "...")
    {
        let (from, to) = (names::commit(repo, from)?, names::commit(repo, to)?);
        let Some(base) = ancestry::merge_bases(repo, &from, &[to])?.first().copied() else {
            return fatal(format!("{name}: no merge base"));
        };
        return Ok((trees::diff(repo, Some(tree_of(repo, &base)?), Some(tree_of(repo, &to)?), paths)?, Sides::Commits));
    }
    match tips {
        [] => {
            let index = Index::open(repo)?;
            let worktree = Worktree::new(repo, &index)?;
            Ok((index_diff::unstaged(&worktree, &index, paths, combine)?, Sides::IndexAndWorktree))
        }
        [tip] => {
            let index = Index::open(repo)?;
            let worktree = Worktree::new(repo, &index)?;
            let mut id = tip.id;
            if repo.peel(&id)?.1 == Kind::Blob {
                return unsupported("a diff of a blob and the working tree");
            }
            if merge_base {
                let Some(head) = repo.head_id() else { return fatal("bad revision 'HEAD'") };
                id = base_of(repo, &id, &head)?;
            }
            Ok((index_diff::since(repo, &worktree, tree_of(repo, &id)?, &index, paths)?, Sides::CommitAndWorktree))
        }
        [one, other] => {
            let is_blob = |tip: &Tip| Ok::<_, crate::failure::Failure>(repo.peel(&tip.id)?.1 == Kind::Blob);
            if is_blob(one)? && is_blob(other)? {
                let side = |tip: &Tip| Side::stored(blob_path(&tip.name).as_bytes(), tree::FILE, tip.id);
                let pair = Pair::new(side(one), side(other));
                return Ok((if one.id == other.id { Vec::new() } else { vec![pair] }, Sides::Commits));
            }
            // A range is written with its end first excluded.
            let (old, new) = if other.flags.uninteresting && !one.flags.uninteresting {
                (other.id, one.id)
            } else {
                (one.id, other.id)
            };
            let old = if merge_base { base_of(repo, &old, &new)? } else { old };
            Ok((trees::diff(repo, Some(tree_of(repo, &old)?), Some(tree_of(repo, &new)?), paths)?, Sides::Commits))
        }
        _ => unsupported("a diff of more than two commits"),
    }
}

/// How a blob that was named `tree:path` is called in its diff.
fn blob_path(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, path)| path)
}

fn usage<T>() -> Outcome<T> {
    Err(crate::failure::Failure::Message("usage: git diff [<options>] [<commit>] [--] [<path>...]".into(), 129))
}
