//! `git worktree list`.

use super::{Out, writes};
use crate::failure::{Outcome, unsupported};
use crate::files;
use crate::options::Arguments;
use crate::refs::Refs;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::path::Path;

/// One worktree.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    pub(crate) path: String,
    pub(crate) branch: Option<BString>,
    head: Option<ObjectId>,
    bare: bool,
    locked: Option<String>,
    prunable: bool,
}

/// The main worktree and those linked to it.
pub(crate) fn all(repo: &Repository) -> Outcome<Vec<Linked>> {
    let main_root = repo.common_dir.parent().filter(|_| repo.common_dir.ends_with(".git")).unwrap_or(&repo.common_dir);
    let bare = repo.config.boolean("core.bare") == Some(true);
    let mut found = vec![linked(repo, main_root, &repo.common_dir, bare)];
    let mut others = Vec::new();
    for (name, _) in files::list(&repo.common_dir.join("worktrees")).unwrap_or_default() {
        let git_dir = repo.common_dir.join("worktrees").join(files::path(&name));
        let Ok(Some(target)) = files::read_optional(&git_dir.join("gitdir")) else { continue };
        let dot_git = files::path(target.trim_end());
        let root = dot_git.parent().unwrap_or(&dot_git).to_owned();
        let mut worktree = linked(repo, &root, &git_dir, false);
        worktree.locked = files::read_optional(&git_dir.join("locked"))
            .ok()
            .flatten()
            .map(|reason| reason.trim().to_str_lossy().into_owned());
        worktree.prunable = worktree.locked.is_none() && !files::exists(&dot_git);
        others.push(worktree);
    }
    others.sort_by(|a, b| a.path.cmp(&b.path));
    found.extend(others);
    Ok(found)
}

fn linked(repo: &Repository, root: &Path, git_dir: &Path, bare: bool) -> Linked {
    let refs = Refs::new(git_dir, &repo.common_dir);
    let head = refs.resolve(b"HEAD").map(|head| head.id);
    Linked { path: root.display().to_string(), branch: refs.head_name(), head, bare, locked: None, prunable: false }
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    match arguments.next().as_deref() {
        Some("list") => {}
        Some(action @ ("add" | "lock" | "move" | "prune" | "remove" | "repair" | "unlock")) => {
            return Err(writes(&format!("worktree {action}")));
        }
        _ => {
            return Err(crate::failure::Failure::Message(
                "usage: git worktree list [-v | --porcelain [-z]]".into(),
                129,
            ));
        }
    }
    let (mut porcelain, mut nul) = (false, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--porcelain" => porcelain = true,
            "-z" => nul = true,
            "-v" | "--verbose" => return unsupported("worktree list: --verbose"),
            option => return Err(arguments.unknown(option)),
        }
    }
    let all = all(repo)?;
    let null = ObjectId::null(gix_hash::Kind::Sha1);
    let longest = all.iter().map(|worktree| crate::width::of(worktree.path.as_bytes())).max().unwrap_or_default();
    let digits = all
        .iter()
        .map(|worktree| worktree.head.map_or(Ok(7), |id| repo.short(&id).map(|short| short.len())))
        .collect::<Outcome<Vec<_>>>()?;
    let widest = digits.into_iter().max().unwrap_or(7);
    let end = if nul { "\0" } else { "\n" };
    for worktree in &all {
        let head = worktree.head.unwrap_or(null);
        if porcelain {
            write!(out, "worktree {}{end}", worktree.path)?;
            if worktree.bare {
                write!(out, "bare{end}")?;
            } else {
                write!(out, "HEAD {head}{end}")?;
                match &worktree.branch {
                    Some(branch) => write!(out, "branch {branch}{end}")?,
                    None => write!(out, "detached{end}")?,
                }
            }
            match worktree.locked.as_deref() {
                Some("") => write!(out, "locked{end}")?,
                Some(reason) => write!(out, "locked {reason}{end}")?,
                None => {}
            }
            if worktree.prunable {
                write!(out, "prunable gitdir file points to non-existent location{end}")?;
            }
            out.write_all(end.as_bytes())?;
            continue;
        }
        write!(out, "{}{:2$}  ", worktree.path, "", longest - crate::width::of(worktree.path.as_bytes()))?;
        if worktree.bare {
            out.write_all(b"(bare)")?;
        } else {
            let short = if head.is_null() { "0000000".to_owned() } else { repo.short(&head)? };
            write!(out, "{short:widest$} ")?;
            match &worktree.branch {
                Some(branch) => write!(out, "[{}]", branch.strip_prefix(b"refs/heads/").unwrap_or(branch).as_bstr())?,
                None => out.write_all(b"(detached HEAD)")?,
            }
        }
        if worktree.locked.is_some() {
            out.write_all(b" locked")?;
        } else if worktree.prunable {
            out.write_all(b" prunable")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(0)
}
