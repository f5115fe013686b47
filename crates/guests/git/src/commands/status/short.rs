//! `--short` and both porcelain formats.

use super::{Form, Status, conflict, stash_count, tracking};
use crate::commands::Out;
use crate::diff::{MAX_SCORE, Pair};
use crate::failure::Outcome;
use crate::index::Index;
use crate::quote;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::collections::BTreeMap;

/// What happened to one file in the index and in the working tree.
#[derive(Default)]
struct Line<'s> {
    staged: Option<&'s Pair>,
    unstaged: Option<&'s Pair>,
}

impl Line<'_> {
    fn letters(&self) -> (char, char) {
        let letter = |pair: Option<&Pair>| pair.map_or(' ', Pair::letter);
        (letter(self.staged), letter(self.unstaged))
    }

    /// Where the file came from, when it was renamed.
    fn origin(&self) -> Option<&Pair> {
        self.staged
            .filter(|pair| pair.renamed.is_some())
            .or_else(|| self.unstaged.filter(|pair| pair.renamed.is_some()))
    }
}

fn lines(status: &Status) -> BTreeMap<&BString, Line<'_>> {
    let mut lines: BTreeMap<&BString, Line<'_>> = BTreeMap::new();
    for pair in &status.staged {
        lines.entry(&pair.new.path).or_default().staged = Some(pair);
    }
    for pair in &status.unstaged {
        lines.entry(&pair.new.path).or_default().unstaged = Some(pair);
    }
    lines
}

pub(super) fn one(repo: &Repository, status: &Status, out: &mut Out<'_>) -> Outcome {
    let options = &status.options;
    let end: &[u8] = if options.nul { b"\0" } else { b"\n" };
    if options.branch {
        out.write_all(b"## ")?;
        out.write_all(branch_line(repo, status)?.as_bytes())?;
        out.write_all(end)?;
    }
    let shown = |path: &[u8]| {
        let path = status.path(repo, path);
        if options.nul { path } else { quote::spaced(&path, options.quote_path) }
    };
    let changed = lines(status);
    let mut all: Vec<&BString> = changed.keys().copied().chain(status.unmerged.keys()).collect();
    all.sort();
    all.dedup();
    for path in all {
        if let Some(stages) = status.unmerged.get(path) {
            write!(out, "{} ", conflict(stages))?;
            out.write_all(&shown(path))?;
            out.write_all(end)?;
            continue;
        }
        let Some(line) = changed.get(path) else { continue };
        let (x, y) = line.letters();
        write!(out, "{x}{y} ")?;
        match line.origin() {
            Some(origin) if options.nul => {
                out.write_all(&shown(path))?;
                out.write_all(end)?;
                out.write_all(&shown(&origin.old.path))?;
            }
            Some(origin) => {
                out.write_all(&shown(&origin.old.path))?;
                out.write_all(b" -> ")?;
                out.write_all(&shown(path))?;
            }
            None => out.write_all(&shown(path))?,
        }
        out.write_all(end)?;
    }
    for (mark, paths) in [("??", &status.found.untracked), ("!!", &status.found.ignored)] {
        for path in paths {
            write!(out, "{mark} ")?;
            out.write_all(&shown(path))?;
            out.write_all(end)?;
        }
    }
    Ok(())
}

fn branch_line(repo: &Repository, status: &Status) -> Outcome<String> {
    let Some(branch) = status.branch_name() else { return Ok("HEAD (no branch)".into()) };
    let start = if status.head.is_none() { format!("No commits yet on {branch}") } else { branch.clone() };
    let Some(tracking) = tracking(repo, &branch, status.head.as_ref())? else { return Ok(start) };
    let apart = match tracking.apart {
        None => " [gone]".to_owned(),
        Some((0, 0)) => String::new(),
        Some(_) if !status.options.ahead_behind => " [different]".to_owned(),
        Some((ahead, 0)) => format!(" [ahead {ahead}]"),
        Some((0, behind)) => format!(" [behind {behind}]"),
        Some((ahead, behind)) => format!(" [ahead {ahead}, behind {behind}]"),
    };
    debug_assert!(matches!(status.options.form, Form::Short | Form::One));
    Ok(format!("{start}...{}{apart}", tracking.short))
}

pub(super) fn two(repo: &Repository, status: &Status, index: &Index, out: &mut Out<'_>) -> Outcome {
    let options = &status.options;
    let end: &[u8] = if options.nul { b"\0" } else { b"\n" };
    if options.branch {
        let head = status.head.map_or_else(|| "(initial)".to_owned(), |id| id.to_string());
        out.write_all(format!("# branch.oid {head}").as_bytes())?;
        out.write_all(end)?;
        let name = status.branch_name();
        write!(out, "# branch.head {}", name.as_deref().unwrap_or("(detached)"))?;
        out.write_all(end)?;
        if let Some(tracking) = name.map(|name| tracking(repo, &name, status.head.as_ref())).transpose()?.flatten() {
            write!(out, "# branch.upstream {}", tracking.short)?;
            out.write_all(end)?;
            if let Some((ahead, behind)) = tracking.apart.filter(|_| status.head.is_some()) {
                if options.ahead_behind || (ahead, behind) == (0, 0) {
                    write!(out, "# branch.ab +{ahead} -{behind}")?;
                } else {
                    out.write_all(b"# branch.ab +? -?")?;
                }
                out.write_all(end)?;
            }
        }
    }
    if options.show_stash {
        let count = stash_count(repo)?;
        if count > 0 {
            write!(out, "# stash {count}")?;
            out.write_all(end)?;
        }
    }
    let null = ObjectId::null(gix_hash::Kind::Sha1);
    let shown = |path: &[u8]| if options.nul { BString::from(path) } else { quote::path(path, options.quote_path) };
    for (path, line) in lines(status) {
        if status.unmerged.contains_key(path) {
            continue;
        }
        let (x, y) = line.letters();
        let dot = |letter: char| if letter == ' ' { '.' } else { letter };
        let entry =
            index.at(index.lower_bound(path)).filter(|entry| entry.path == path.as_slice() && !entry.intent_to_add());
        let (index_mode, index_id) = entry.map_or((0, null), |entry| (entry.mode, entry.id));
        let (head_mode, head_id) = match line.staged {
            Some(pair) => (pair.old.mode, pair.old.id.unwrap_or(null)),
            None => (index_mode, index_id),
        };
        let mut worktree_mode = line.unstaged.map_or(index_mode, |pair| pair.new.mode);
        let (mut index_mode, mut index_id) = (index_mode, index_id);
        if let Some(pair) = line.unstaged.filter(|pair| pair.renamed.is_some()) {
            (index_mode, index_id, worktree_mode) = (pair.old.mode, pair.old.id.unwrap_or(null), pair.new.mode);
        }
        let submodule = if [head_mode, index_mode, worktree_mode].contains(&crate::tree::SUBMODULE) {
            if line.unstaged.is_some() { "SC.." } else { "S..." }
        } else {
            "N..."
        };
        let origin = line.origin();
        write!(
            out,
            "{} {}{} {submodule} {head_mode:06o} {index_mode:06o} {worktree_mode:06o} {head_id} {index_id} ",
            if origin.is_some() { 2 } else { 1 },
            dot(x),
            dot(y),
        )?;
        if let Some(score) = origin.and_then(|pair| pair.renamed) {
            write!(out, "R{} ", score * 100 / MAX_SCORE)?;
        }
        out.write_all(&shown(path))?;
        if let Some(origin) = origin {
            out.write_all(if options.nul { b"\0" } else { b"\t" })?;
            out.write_all(&shown(&origin.old.path))?;
        }
        out.write_all(end)?;
    }
    for (path, stages) in &status.unmerged {
        let root = repo.root()?.join(crate::files::path(path));
        let mode = match crate::files::status(&root) {
            Ok(found) if found.kind == crate::files::Kind::Link => crate::tree::LINK,
            Ok(found) if found.executable => crate::tree::EXECUTABLE,
            Ok(_) => crate::tree::FILE,
            Err(_) => 0,
        };
        write!(out, "u {} N...", conflict(stages))?;
        for stage in stages {
            write!(out, " {:06o}", stage.map_or(0, |(mode, _)| mode))?;
        }
        write!(out, " {mode:06o}")?;
        for stage in stages {
            write!(out, " {}", stage.map_or(null, |(_, id)| id))?;
        }
        out.write_all(b" ")?;
        out.write_all(shown(path).as_bytes())?;
        out.write_all(end)?;
    }
    for (mark, paths) in [("?", &status.found.untracked), ("!", &status.found.ignored)] {
        for path in paths {
            write!(out, "{mark} ")?;
            out.write_all(&shown(path))?;
            out.write_all(end)?;
        }
    }
    Ok(())
}
