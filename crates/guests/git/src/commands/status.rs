//! `git status`.

mod long;
mod short;

use super::Out;
use crate::diff::options::Options as DiffOptions;
use crate::diff::{Pair, Reader, index as index_diff, rename};
use crate::failure::{Failure, Outcome, fatal};
use crate::index::Index;
use crate::options::{Arguments, divide};
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::revision::{ancestry, upstream};
use crate::tree;
use crate::worktree::Worktree;
use crate::worktree::ignore::Ignores;
use crate::worktree::untracked::{self, Found, Ignored, Wanted};
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::collections::BTreeMap;

/// In which form it is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Long,
    Short,
    One,
    Two,
}

/// Which untracked files are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Untracked {
    No,
    Normal,
    All,
}

/// A stage of a file in conflict: its mode and id.
type Stages = [Option<(u32, ObjectId)>; 3];

/// Everything that is printed.
#[derive(Debug)]
pub(crate) struct Status {
    staged: Vec<Pair>,
    unstaged: Vec<Pair>,
    unmerged: BTreeMap<BString, Stages>,
    found: Found,
    head: Option<ObjectId>,
    /// The full name `HEAD` stands for.
    branch: Option<BString>,
    options: Options,
}

#[derive(Debug)]
struct Options {
    form: Form,
    untracked: Untracked,
    ignored: Ignored,
    branch: bool,
    nul: bool,
    show_stash: bool,
    ahead_behind: bool,
    quote_path: bool,
    relative: bool,
    hints: bool,
    verbose: usize,
}

/// The branch that is followed, and how far both are apart.
#[derive(Debug)]
pub(crate) struct Tracking {
    pub(crate) short: BString,
    /// Commits ahead and behind; `None` when it is gone.
    pub(crate) apart: Option<(usize, usize)>,
}

/// What the current branch follows.
pub(crate) fn tracking(repo: &Repository, branch: &str, id: Option<&ObjectId>) -> Outcome<Option<Tracking>> {
    let Some(full) = upstream::of_branch(repo, branch) else { return Ok(None) };
    let short = repo.refs.shorten(&full, false);
    let apart = match (repo.refs.resolve(&full), id) {
        (Some(other), Some(id)) => Some(ancestry::ahead_behind(repo, id, &other.id)?),
        (Some(_), None) => Some((0, 0)),
        (None, _) => None,
    };
    Ok(Some(Tracking { short, apart }))
}

fn untracked_mode(value: &str) -> Outcome<Untracked> {
    match value {
        "no" | "false" => Ok(Untracked::No),
        "normal" | "true" => Ok(Untracked::Normal),
        "all" => Ok(Untracked::All),
        other => fatal(format!("Invalid untracked files mode '{other}'")),
    }
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let config = &repo.config;
    let mut options = Options {
        form: if config.boolean("status.short") == Some(true) { Form::Short } else { Form::Long },
        untracked: config
            .text("status.showuntrackedfiles")
            .map_or(Ok(Untracked::Normal), |value| untracked_mode(&value))?,
        ignored: Ignored::No,
        branch: config.boolean("status.branch") == Some(true),
        nul: false,
        show_stash: config.boolean("status.showstash") == Some(true),
        ahead_behind: config.boolean("status.aheadbehind") != Some(false),
        quote_path: config.boolean("core.quotepath") != Some(false),
        relative: config.boolean("status.relativepaths") != Some(false),
        hints: config.boolean("advice.statushints") != Some(false),
        verbose: 0,
    };
    let mut diff = DiffOptions::new(repo)?;
    if config.boolean("status.renames") == Some(false) {
        diff.renames = None;
    }
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--" => paths.extend(arguments.remaining()),
            "-s" | "--short" => options.form = Form::Short,
            "--long" => options.form = Form::Long,
            "--porcelain" => {
                options.form = match value {
                    None | Some("v1" | "1") => Form::One,
                    Some("v2" | "2") => Form::Two,
                    Some(other) => return fatal(format!("unsupported porcelain version '{other}'")),
                }
            }
            "-b" | "--branch" => options.branch = true,
            "--no-branch" => options.branch = false,
            "-z" | "--null" => options.nul = true,
            "-sb" | "-bs" => (options.form, options.branch) = (Form::Short, true),
            "-u" | "--untracked-files" => options.untracked = value.map_or(Ok(Untracked::All), untracked_mode)?,
            "--ignored" => {
                options.ignored = match value {
                    None | Some("traditional") => Ignored::Traditional,
                    Some("matching") => Ignored::Matching,
                    Some("no") => Ignored::No,
                    Some(other) => return fatal(format!("Invalid ignored mode '{other}'")),
                }
            }
            "--show-stash" => options.show_stash = true,
            "--no-show-stash" => options.show_stash = false,
            "--ahead-behind" => options.ahead_behind = true,
            "--no-ahead-behind" => options.ahead_behind = false,
            "--no-renames" => diff.renames = None,
            "--renames" | "--find-renames" | "-M" => {
                diff.take(repo, &argument, &mut arguments)?;
            }
            "-v" | "--verbose" => options.verbose += 1,
            "--no-column" | "--ignore-submodules" => {}
            short if short.starts_with("-u") => options.untracked = untracked_mode(&short[2..])?,
            option if option.starts_with('-') && option != "-" => return Err(arguments.unknown(option)),
            _ => paths.push(argument),
        }
    }
    if options.nul && options.form == Form::Long {
        options.form = Form::One;
    }
    if options.form == Form::One || options.form == Form::Two {
        options.relative = false;
    }
    if repo.work_tree.is_none() || !repo.inside_work_tree {
        return fatal("this operation must be run in a work tree");
    }
    let paths = Pathspec::parse(repo, &paths)?;
    let verbose = options.verbose;
    let (status, index) = collect(repo, options, &diff, &paths)?;
    match status.options.form {
        Form::Long => long::print(repo, &status, &index, out)?,
        Form::Short | Form::One => short::one(repo, &status, out)?,
        Form::Two => short::two(repo, &status, &index, out)?,
    }
    if verbose > 0 && status.options.form == Form::Long {
        return crate::failure::unsupported("status --verbose");
    }
    Ok(0)
}

fn collect(repo: &Repository, options: Options, diff: &DiffOptions, paths: &Pathspec) -> Outcome<(Status, Index)> {
    let index = Index::open(repo)?;
    let worktree = Worktree::new(repo, &index)?;
    let reader = Reader::new(repo);
    let head = repo.head_id();
    let root = head.map(|id| tree::id_of(repo, &id)).transpose()?;
    let renames = |pairs: Vec<Pair>| match diff.renames {
        Some(detection) => rename::detect(&reader, pairs, detection),
        None => Ok(pairs),
    };
    let mut staged = index_diff::staged(repo, root, &index, paths)?;
    staged.retain(|pair| !pair.unmerged);
    let mut unstaged = index_diff::unstaged(&worktree, &index, paths, false)?;
    let mut unmerged: BTreeMap<BString, Stages> = BTreeMap::new();
    for entry in index.entries().filter(|entry| entry.stage != 0 && paths.matches(entry.path)) {
        let stages = unmerged.entry(entry.path.into()).or_default();
        if let Some(stage) = usize::try_from(entry.stage).ok().and_then(|stage| stages.get_mut(stage - 1)) {
            *stage = Some((entry.mode, entry.id));
        }
    }
    unstaged.retain(|pair| !pair.unmerged && !unmerged.contains_key(&pair.new.path));
    let (staged, unstaged) = (renames(staged)?, renames(unstaged)?);
    let found = if options.untracked == Untracked::No {
        Found::default()
    } else {
        let ignores = Ignores::new(repo, repo.root()?, true);
        let wanted = Wanted {
            paths,
            every_file: options.untracked == Untracked::All,
            empty_directories: false,
            ignored: options.ignored,
        };
        untracked::find(repo, repo.root()?, &index, &ignores, &wanted)?
    };
    let branch = repo.refs.head_name();
    Ok((Status { staged, unstaged, unmerged, found, head, branch, options }, index))
}

impl Status {
    fn path(&self, repo: &Repository, path: &[u8]) -> BString {
        if self.options.relative { repo.relative(path) } else { path.into() }
    }

    fn branch_name(&self) -> Option<String> {
        let name = self.branch.as_ref()?;
        Some(name.strip_prefix(b"refs/heads/").unwrap_or(name).to_str_lossy().into_owned())
    }
}

/// The two letters of a file in conflict.
fn conflict(stages: &Stages) -> &'static str {
    match stages.map(|stage| stage.is_some()) {
        [true, false, false] => "DD",
        [false, true, false] => "AU",
        [true, true, false] => "UD",
        [false, false, true] => "UA",
        [true, false, true] => "DU",
        [false, true, true] => "AA",
        _ => "UU",
    }
}

fn stash_count(repo: &Repository) -> Result<usize, Failure> {
    Ok(repo.refs.log(b"refs/stash")?.map_or(0, |log| log.len()))
}
