//! Which remote branch a local one follows.

use crate::failure::{Outcome, fatal};
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};

/// The full name of the branch that `branch` (without `refs/heads/`) follows; `None` when none is set.
pub(crate) fn of_branch(repo: &Repository, branch: &str) -> Option<BString> {
    let remote = repo.config.text(&format!("branch.{branch}.remote"))?;
    let merge = repo.config.text(&format!("branch.{branch}.merge"))?;
    tracked(repo, &remote, &merge)
}

/// What `merge` of `remote` is called here.
fn tracked(repo: &Repository, remote: &str, merge: &str) -> Option<BString> {
    if remote == "." {
        return Some(merge.into());
    }
    let specs = repo.config.all(&format!("remote.{remote}.fetch"));
    specs.into_iter().find_map(|spec| map(spec.to_str().ok()?, merge))
}

/// Maps a name through a refspec.
fn map(spec: &str, name: &str) -> Option<BString> {
    let spec = spec.strip_prefix('+').unwrap_or(spec);
    let (from, to) = spec.split_once(':')?;
    match (from.split_once('*'), to.split_once('*')) {
        (Some((before, after)), Some((to_before, to_after))) => {
            let middle = name.strip_prefix(before)?.strip_suffix(after)?;
            Some(format!("{to_before}{middle}{to_after}").into())
        }
        (None, None) if from == name => Some(to.into()),
        _ => None,
    }
}

/// The full name of `name@{upstream}`, or git's words for why there is none.
pub(crate) fn of_name(repo: &Repository, name: &str, push: bool) -> Outcome<BString> {
    let branch = if matches!(name, "" | "HEAD" | "@") {
        match repo.refs.head_name() {
            Some(head) if repo.refs.resolve(&head).is_none() => {
                return fatal(format!(
                    "no such branch: '{}'",
                    head.strip_prefix(b"refs/heads/").unwrap_or(&head).as_bstr()
                ));
            }
            Some(head) => head,
            None => return fatal("HEAD does not point to a branch"),
        }
    } else {
        let full = BString::from(format!("refs/heads/{name}"));
        if repo.refs.resolve(&full).is_none() {
            return fatal(format!("no such branch: '{name}'"));
        }
        full
    };
    let Some(short) = branch.strip_prefix(b"refs/heads/").and_then(|name| name.to_str().ok()) else {
        return fatal("HEAD does not point to a branch");
    };
    let found = if push { of_push(repo, short) } else { of_branch(repo, short) };
    match found {
        Some(full) => Ok(full),
        None if repo.config.text(&format!("branch.{short}.merge")).is_none() => {
            fatal(format!("no upstream configured for branch '{short}'"))
        }
        None => {
            let merge = repo.config.text(&format!("branch.{short}.merge")).unwrap_or_default();
            fatal(format!("upstream branch '{merge}' not stored as a remote-tracking branch"))
        }
    }
}

/// Where a push of the branch would go, as far as the configuration says it plainly.
pub(crate) fn of_push(repo: &Repository, branch: &str) -> Option<BString> {
    let remote = repo
        .config
        .text(&format!("branch.{branch}.pushremote"))
        .or_else(|| repo.config.text("remote.pushdefault"))
        .or_else(|| repo.config.text(&format!("branch.{branch}.remote")))?;
    match repo.config.text("push.default").as_deref() {
        Some("upstream" | "tracking") => of_branch(repo, branch),
        Some("nothing") => None,
        _ => tracked(repo, &remote, &format!("refs/heads/{branch}")),
    }
}
