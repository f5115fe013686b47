//! The form for people.

use super::{Status, Tracking, Untracked, conflict, stash_count, tracking};
use crate::commands::Out;
use crate::diff::Pair;
use crate::failure::{Outcome, unsupported};
use crate::files;
use crate::index::Index;
use crate::quote;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};

/// Columns of the longest label and its gap.
const LABEL: usize = 12;
const CONFLICT_LABEL: usize = 17;

pub(super) fn print(repo: &Repository, status: &Status, index: &Index, out: &mut Out<'_>) -> Outcome {
    let printed = Long { repo, status, hints: status.options.hints };
    printed.head(out)?;
    printed.in_progress(out)?;
    if status.head.is_none() {
        out.write_all(b"\nNo commits yet\n\n")?;
    }
    printed.staged(out)?;
    printed.unmerged(out)?;
    printed.unstaged(out)?;
    printed.others(
        "Untracked files",
        "add",
        &status.found.untracked,
        status.options.untracked != Untracked::No,
        out,
    )?;
    printed.others(
        "Ignored files",
        "add -f",
        &status.found.ignored,
        status.options.ignored != super::Ignored::No,
        out,
    )?;
    printed.conclusion(index, out)?;
    if status.options.show_stash {
        match stash_count(repo)? {
            0 => {}
            1 => out.write_all(b"Your stash currently has 1 entry\n")?,
            count => writeln!(out, "Your stash currently has {count} entries")?,
        }
    }
    Ok(())
}

struct Long<'s> {
    repo: &'s Repository,
    status: &'s Status,
    hints: bool,
}

impl Long<'_> {
    fn hint(&self, text: &str, out: &mut Out<'_>) -> Outcome {
        if self.hints {
            writeln!(out, "  ({text})")?;
        }
        Ok(())
    }

    fn shown(&self, path: &[u8]) -> BString {
        quote::path(&self.status.path(self.repo, path), self.status.options.quote_path)
    }

    fn state(&self, name: &str) -> bool {
        files::exists(&self.repo.git_dir.join(name))
    }

    fn read(&self, name: &str) -> String {
        let content = files::read_optional(&self.repo.git_dir.join(name)).ok().flatten().unwrap_or_default();
        content.trim().to_str_lossy().into_owned()
    }

    fn head(&self, out: &mut Out<'_>) -> Outcome {
        let Some(branch) = self.status.branch_name() else { return self.detached(out) };
        writeln!(out, "On branch {branch}")?;
        if let Some(tracking) = tracking(self.repo, &branch, self.status.head.as_ref())? {
            self.tracking(&tracking, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn detached(&self, out: &mut Out<'_>) -> Outcome {
        for (directory, name) in [("rebase-merge", "onto"), ("rebase-apply", "onto")] {
            if self.state(&format!("{directory}/{name}")) {
                let onto = self.read(&format!("{directory}/{name}"));
                let short = gix_hash::ObjectId::from_hex(onto.as_bytes())
                    .ok()
                    .map(|id| self.repo.short(&id))
                    .transpose()?
                    .unwrap_or(onto);
                let interactive = if self.state("rebase-merge/interactive") { "interactive rebase" } else { "rebase" };
                writeln!(out, "{interactive} in progress; onto {short}")?;
                return Ok(());
            }
        }
        let log = self.repo.refs.log(b"HEAD")?.unwrap_or_default();
        let moved = log.iter().rev().find_map(|entry| {
            let rest = entry.message.strip_prefix(b"checkout: moving from ")?;
            Some((rest.split_once_str(" to ")?.1.to_str_lossy().into_owned(), entry.new))
        });
        let Some((target, id)) = moved else {
            out.write_all(b"Not currently on any branch.\n")?;
            return Ok(());
        };
        // A name that still means that commit is shown as it is, with a tag or remote branch shortened.
        let named = self.repo.refs.expand(target.as_bytes()).into_iter().next().filter(|_| target.len() != 40);
        let same = match &named {
            Some(full) => match self.repo.refs.resolve(full) {
                Some(found) => self.repo.peel(&found.id)?.0 == id,
                None => false,
            },
            None => false,
        };
        let name = match named.filter(|_| same) {
            Some(full) => {
                let text = full.to_str_lossy().into_owned();
                ["refs/tags/", "refs/remotes/"]
                    .iter()
                    .find_map(|prefix| text.strip_prefix(prefix))
                    .map_or(text.clone(), str::to_owned)
            }
            None => self.repo.short(&id)?,
        };
        let at = if self.status.head == Some(id) { "at" } else { "from" };
        writeln!(out, "HEAD detached {at} {name}")?;
        Ok(())
    }

    fn tracking(&self, tracking: &Tracking, out: &mut Out<'_>) -> Outcome {
        let name = &tracking.short;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match tracking.apart {
            None => {
                writeln!(out, "Your branch is based on '{name}', but the upstream is gone.")?;
                self.hint("use \"git branch --unset-upstream\" to fixup", out)
            }
            Some((0, 0)) => {
                writeln!(out, "Your branch is up to date with '{name}'.")?;
                Ok(())
            }
            Some(_) if !self.status.options.ahead_behind => {
                writeln!(out, "Your branch and '{name}' refer to different commits.")?;
                self.hint("use \"git status --ahead-behind\" for details", out)
            }
            Some((ahead, 0)) => {
                writeln!(out, "Your branch is ahead of '{name}' by {ahead} commit{}.", plural(ahead))?;
                self.hint("use \"git push\" to publish your local commits", out)
            }
            Some((0, behind)) => {
                writeln!(
                    out,
                    "Your branch is behind '{name}' by {behind} commit{}, and can be fast-forwarded.",
                    plural(behind)
                )?;
                self.hint("use \"git pull\" to update your local branch", out)
            }
            Some((ahead, behind)) => {
                writeln!(
                    out,
                    "Your branch and '{name}' have diverged,\nand have {ahead} and {behind} different commits each, respectively."
                )?;
                self.hint("use \"git pull\" if you want to integrate the remote branch with yours", out)
            }
        }
    }

    fn in_progress(&self, out: &mut Out<'_>) -> Outcome {
        let unmerged = !self.status.unmerged.is_empty();
        if self.state("MERGE_HEAD") {
            if unmerged {
                out.write_all(b"You have unmerged paths.\n")?;
                self.hint("fix conflicts and run \"git commit\"", out)?;
                self.hint("use \"git merge --abort\" to abort the merge", out)?;
            } else {
                out.write_all(b"All conflicts fixed but you are still merging.\n")?;
                self.hint("use \"git commit\" to conclude merge", out)?;
            }
            out.write_all(b"\n")?;
        } else if self.state("rebase-merge") || self.state("rebase-apply") {
            return unsupported("the long status of a rebase in progress");
        } else if self.state("CHERRY_PICK_HEAD") {
            self.picking("cherry-pick", "CHERRY_PICK_HEAD", "cherry-picking", unmerged, out)?;
        } else if self.state("REVERT_HEAD") {
            self.picking("revert", "REVERT_HEAD", "reverting", unmerged, out)?;
        }
        if self.state("BISECT_LOG") {
            let start = self.read("BISECT_START");
            if start.is_empty() {
                out.write_all(b"You are currently bisecting.\n")?;
            } else {
                writeln!(out, "You are currently bisecting, started from branch '{start}'.")?;
            }
            self.hint("use \"git bisect reset\" to get back to the original branch", out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn picking(&self, command: &str, head: &str, doing: &str, unmerged: bool, out: &mut Out<'_>) -> Outcome {
        let id = gix_hash::ObjectId::from_hex(self.read(head).as_bytes()).ok();
        match id {
            Some(id) => writeln!(out, "You are currently {doing} commit {}.", self.repo.short(&id)?)?,
            None => {
                writeln!(out, "{} currently in progress.", if command == "revert" { "Revert" } else { "Cherry-pick" })?
            }
        }
        if unmerged {
            self.hint(&format!("fix conflicts and run \"git {command} --continue\""), out)?;
        } else {
            self.hint(&format!("all conflicts fixed: run \"git {command} --continue\""), out)?;
        }
        self.hint(&format!("use \"git {command} --skip\" to skip this patch"), out)?;
        let what = if command == "revert" { "revert" } else { "cherry-pick" };
        self.hint(&format!("use \"git {command} --abort\" to cancel the {what} operation"), out)?;
        out.write_all(b"\n")?;
        Ok(())
    }

    fn unstage_hint(&self, out: &mut Out<'_>) -> Outcome {
        if self.state("MERGE_HEAD") || self.state("CHERRY_PICK_HEAD") {
            return Ok(());
        }
        if self.status.head.is_none() {
            self.hint("use \"git rm --cached <file>...\" to unstage", out)
        } else {
            self.hint("use \"git restore --staged <file>...\" to unstage", out)
        }
    }

    fn changed(&self, pair: &Pair, out: &mut Out<'_>) -> Outcome {
        let label = match pair.letter() {
            'A' => "new file:",
            'D' => "deleted:",
            'R' => "renamed:",
            'T' => "typechange:",
            _ => "modified:",
        };
        write!(out, "\t{label:LABEL$}")?;
        if pair.renamed.is_some() {
            out.write_all(&self.shown(&pair.old.path))?;
            out.write_all(b" -> ")?;
        }
        out.write_all(&self.shown(&pair.new.path))?;
        out.write_all(b"\n")?;
        Ok(())
    }

    fn staged(&self, out: &mut Out<'_>) -> Outcome {
        if self.status.staged.is_empty() {
            return Ok(());
        }
        out.write_all(b"Changes to be committed:\n")?;
        self.unstage_hint(out)?;
        for pair in &self.status.staged {
            self.changed(pair, out)?;
        }
        out.write_all(b"\n")?;
        Ok(())
    }

    fn unmerged(&self, out: &mut Out<'_>) -> Outcome {
        let unmerged = &self.status.unmerged;
        if unmerged.is_empty() {
            return Ok(());
        }
        out.write_all(b"Unmerged paths:\n")?;
        self.unstage_hint(out)?;
        let kinds: Vec<&str> = unmerged.values().map(conflict).collect();
        let deleted = kinds.iter().any(|kind| matches!(*kind, "DD" | "UD" | "DU"));
        let both_deleted = kinds.contains(&"DD");
        let not_deleted = kinds.iter().any(|kind| !matches!(*kind, "DD" | "UD" | "DU"));
        if !deleted {
            self.hint("use \"git add <file>...\" to mark resolution", out)?;
        } else if both_deleted && !not_deleted && kinds.iter().all(|kind| *kind == "DD") {
            self.hint("use \"git rm <file>...\" to mark resolution", out)?;
        } else {
            self.hint("use \"git add/rm <file>...\" as appropriate to mark resolution", out)?;
        }
        for (path, stages) in unmerged {
            let label = match conflict(stages) {
                "DD" => "both deleted:",
                "AU" => "added by us:",
                "UD" => "deleted by them:",
                "UA" => "added by them:",
                "DU" => "deleted by us:",
                "AA" => "both added:",
                _ => "both modified:",
            };
            write!(out, "\t{label:CONFLICT_LABEL$}")?;
            out.write_all(&self.shown(path))?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")?;
        Ok(())
    }

    fn unstaged(&self, out: &mut Out<'_>) -> Outcome {
        let unstaged = &self.status.unstaged;
        if unstaged.is_empty() {
            return Ok(());
        }
        out.write_all(b"Changes not staged for commit:\n")?;
        let add = if unstaged.iter().any(|pair| !pair.new.exists()) { "add/rm" } else { "add" };
        self.hint(&format!("use \"git {add} <file>...\" to update what will be committed"), out)?;
        self.hint("use \"git restore <file>...\" to discard changes in working directory", out)?;
        for pair in unstaged {
            let submodule = pair.old.mode == crate::tree::SUBMODULE && pair.new.mode == crate::tree::SUBMODULE;
            if submodule {
                write!(out, "\t{:LABEL$}", "modified:")?;
                out.write_all(&self.shown(&pair.new.path))?;
                out.write_all(b" (new commits)\n")?;
                continue;
            }
            self.changed(pair, out)?;
        }
        out.write_all(b"\n")?;
        Ok(())
    }

    fn others(&self, title: &str, command: &str, paths: &[BString], asked: bool, out: &mut Out<'_>) -> Outcome {
        if paths.is_empty() || !asked {
            return Ok(());
        }
        writeln!(out, "{title}:")?;
        self.hint(&format!("use \"git {command} <file>...\" to include in what will be committed"), out)?;
        for path in paths {
            out.write_all(b"\t")?;
            out.write_all(&self.shown(path))?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")?;
        Ok(())
    }

    fn conclusion(&self, index: &Index, out: &mut Out<'_>) -> Outcome {
        let status = self.status;
        if !status.staged.is_empty() {
            if status.options.untracked == Untracked::No {
                let text = if self.hints {
                    "Untracked files not listed (use -u option to show untracked files)"
                } else {
                    "Untracked files not listed"
                };
                writeln!(out, "{text}")?;
            }
            return Ok(());
        }
        let text = if !status.unstaged.is_empty() || !status.unmerged.is_empty() {
            if self.hints {
                "no changes added to commit (use \"git add\" and/or \"git commit -a\")"
            } else {
                "no changes added to commit"
            }
        } else if !status.found.untracked.is_empty() {
            if self.hints {
                "nothing added to commit but untracked files present (use \"git add\" to track)"
            } else {
                "nothing added to commit but untracked files present"
            }
        } else if status.head.is_none() && index.len() == 0 {
            if self.hints {
                "nothing to commit (create/copy files and use \"git add\" to track)"
            } else {
                "nothing to commit"
            }
        } else if status.options.untracked == Untracked::No {
            if self.hints { "nothing to commit (use -u to show untracked files)" } else { "nothing to commit" }
        } else {
            "nothing to commit, working tree clean"
        };
        writeln!(out, "{text}")?;
        Ok(())
    }
}
