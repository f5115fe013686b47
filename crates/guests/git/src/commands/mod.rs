//! The commands, one file each.

mod branch;
mod cat_file;
mod check_ignore;
mod config;
mod describe;
mod diff;
mod for_each_ref;
mod grep;
mod log;
mod ls_files;
mod ls_tree;
mod merge_base;
mod reference_format;
mod remote;
mod rev_list;
mod rev_parse;
mod shortlog;
mod show;
mod stash;
mod status;
mod symbolic_ref;
mod tag;
mod worktree;

use crate::failure::{Failure, Outcome, fatal};
use crate::options::Arguments;
use crate::repository::{Place, Repository};
use std::io::Write;
use std::path::PathBuf;

/// Where commands print.
pub(crate) type Out<'o> = dyn Write + 'o;

type Command = fn(&Repository, Arguments, &mut Out<'_>) -> Outcome<i32>;

const COMMANDS: [(&str, Command); 24] = [
    ("branch", branch::run),
    ("cat-file", cat_file::run),
    ("check-ignore", check_ignore::run),
    ("count-objects", cat_file::count),
    ("describe", describe::run),
    ("diff", diff::run),
    ("for-each-ref", for_each_ref::run),
    ("grep", grep::run),
    ("log", log::run),
    ("ls-files", ls_files::run),
    ("ls-tree", ls_tree::run),
    ("merge-base", merge_base::run),
    ("reflog", log::reflog),
    ("remote", remote::run),
    ("rev-list", rev_list::run),
    ("rev-parse", rev_parse::run),
    ("shortlog", shortlog::run),
    ("show", show::run),
    ("show-ref", for_each_ref::show_ref),
    ("stash", stash::run),
    ("status", status::run),
    ("symbolic-ref", symbolic_ref::run),
    ("tag", tag::run),
    ("worktree", worktree::run),
];

/// Commands of git that change something.
const WRITING: &str = "add am apply archive bisect bundle checkout cherry-pick clean clone commit commit-tree fast-import fetch filter-branch \
                       format-patch fsck gc hash-object init maintenance merge merge-file mktag mktree mv notes pack-objects pack-refs \
                       prune pull push read-tree rebase receive-pack remote-add repack replace rerere reset restore revert rm send-email sparse-checkout \
                       stage submodule switch unpack-objects update-index update-ref update-server-info write-tree";
/// Commands of git that this one does not have.
const OTHERS: &str = "blame annotate bugreport check-attr check-mailmap check-ref-format cherry column credential daemon diff-files diff-index diff-tree \
                      difftool gitk gui help instaweb interpret-trailers ls-remote mailinfo mailsplit mergetool name-rev patch-id prune-packed \
                      range-diff request-pull rev-list show-branch show-index stripspace var verify-commit verify-pack verify-tag whatchanged";

/// Runs the command that the arguments name and gives its status.
pub(crate) fn run(arguments: Vec<String>, out: &mut Out<'_>) -> Outcome<i32> {
    let mut arguments = arguments.into_iter();
    let mut place = Place::default();
    let name = loop {
        let Some(argument) = arguments.next() else {
            return Err(Failure::Message(USAGE.into(), 1));
        };
        let mut value = |name: &str| match argument.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            Some(value) => Ok(value.to_owned()),
            None => arguments
                .next()
                .ok_or_else(|| Failure::Message(format!("no directory given for '{name}' option\n{USAGE}"), 129)),
        };
        match argument.split('=').next().unwrap_or_default() {
            "-C" => {
                let directory = value("-C")?;
                if !directory.is_empty() && std::env::set_current_dir(&directory).is_err() {
                    return fatal(format!("cannot change to '{directory}': No such file or directory"));
                }
            }
            "-c" => place.config.push(value("-c")?),
            "--git-dir" => place.git_dir = Some(PathBuf::from(value("--git-dir")?)),
            "--work-tree" => place.work_tree = Some(PathBuf::from(value("--work-tree")?)),
            "--no-pager" | "-P" | "--no-optional-locks" | "--no-lazy-fetch" | "--no-advice" => {}
            "--version" | "-v" => {
                writeln!(out, "git version 2.47.3 (skillgate {})", env!("CARGO_PKG_VERSION"))?;
                return Ok(0);
            }
            option if option.starts_with('-') => {
                return Err(Failure::Unsupported(format!("{option} is not supported")));
            }
            _ => break argument,
        }
    };
    let name = name.as_str();
    if name == "version" {
        writeln!(out, "git version 2.47.3 (skillgate {})", env!("CARGO_PKG_VERSION"))?;
        return Ok(0);
    }
    if name == "config" {
        return config::run(&place, Arguments::new("config", arguments), out);
    }
    if let Some((name, command)) = COMMANDS.iter().find(|(known, _)| *known == name) {
        let arguments = Arguments::new(name, arguments);
        if *name == "rev-parse" {
            return rev_parse::start(&place, arguments, out);
        }
        return command(&Repository::open(&place)?, arguments, out);
    }
    if WRITING.split_whitespace().any(|known| known == name) {
        return Err(writes(name));
    }
    if OTHERS.split_whitespace().any(|known| known == name) {
        return Err(Failure::Unsupported(format!("{name} is not supported")));
    }
    Err(Failure::Message(format!("git: '{name}' is not a git command. See 'git --help'."), 1))
}

/// The refusal of something that would write.
pub(crate) fn writes(what: &str) -> Failure {
    Failure::Unsupported(format!("{what} is not supported: this git only reads"))
}

const USAGE: &str =
    "usage: git [-C <path>] [-c <name>=<value>] [--git-dir=<path>] [--work-tree=<path>] <command> [<args>]";
