//! `git stash`, as far as it reads.

use super::log::{self, Request, Shower};
use super::{Out, writes};
use crate::failure::{Outcome, unsupported};
use crate::options::Arguments;
use crate::pretty::Format;
use crate::repository::Repository;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    match arguments.next().as_deref() {
        Some("list") => {
            if repo.refs.resolve(b"refs/stash").is_none() {
                return Ok(0);
            }
            let mut request = Request::new(repo)?;
            request.format = Format::Written { text: "%gd: %gs".into(), terminated: true };
            request.read(repo, &mut arguments, |_, _| false)?;
            let mut shower = Shower::new(repo, &request)?;
            log::reflog_of(repo, &request, &mut shower, "stash", out)
        }
        Some("show") => unsupported("stash show"),
        Some(action) if !action.starts_with('-') => Err(writes(&format!("stash {action}"))),
        _ => Err(writes("stash push")),
    }
}
