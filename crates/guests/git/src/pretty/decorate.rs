//! Which references point at a commit.

use crate::failure::Outcome;
use crate::refs::Target;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::collections::{HashMap, HashSet};

/// Where names that are shown begin; `refs/stash` is one name.
const SHOWN: [&str; 4] = ["refs/heads/", "refs/remotes/", "refs/tags/", "refs/stash"];

/// The names of every commit that has some.
#[derive(Debug, Default)]
pub(crate) struct Decorations {
    /// In the order in which they are printed.
    names: HashMap<ObjectId, Vec<BString>>,
    head: Option<ObjectId>,
    branch: Option<BString>,
    full: bool,
    grafted: HashSet<ObjectId>,
}

impl Decorations {
    pub(crate) fn read(repo: &Repository, full: bool) -> Outcome<Self> {
        let mut all = Self {
            branch: repo.refs.head_name(),
            head: repo.head_id(),
            full,
            grafted: repo.shallow().clone(),
            ..Self::default()
        };
        for (name, target) in repo.refs.below("refs/").into_iter().rev() {
            if !SHOWN.iter().any(|prefix| name.starts_with_str(prefix)) {
                continue;
            }
            let id = match target {
                Target::Id(id) => id,
                Target::Name(_) => match repo.refs.resolve(&name) {
                    Some(resolved) => resolved.id,
                    None => continue,
                },
            };
            let peeled = if name.starts_with(b"refs/tags/") {
                match repo.refs.peeled(&name, &id) {
                    Some(peeled) => peeled,
                    None => repo.peel(&id)?.0,
                }
            } else {
                id
            };
            all.names.entry(peeled).or_default().push(name);
        }
        Ok(all)
    }

    fn shown(&self, name: &BString) -> String {
        let text = name.to_str_lossy();
        let (label, short) = match text.strip_prefix("refs/tags/") {
            Some(short) => ("tag: ", short),
            None => {
                ("", text.strip_prefix("refs/heads/").or_else(|| text.strip_prefix("refs/remotes/")).unwrap_or(&text))
            }
        };
        format!("{label}{}", if self.full { &text } else { short })
    }

    /// The names of a commit, joined; empty when it has none.
    pub(crate) fn of(&self, id: &ObjectId) -> String {
        self.list(id).join(", ")
    }

    fn list(&self, id: &ObjectId) -> Vec<String> {
        let mut shown = Vec::new();
        if self.grafted.contains(id) {
            shown.push("grafted".to_owned());
        }
        let names = self.names.get(id).map(Vec::as_slice).unwrap_or_default();
        let is_head = self.head.as_ref() == Some(id);
        if is_head {
            match self.branch.as_ref().filter(|branch| names.contains(branch)) {
                Some(branch) => shown.push(format!("HEAD -> {}", self.shown(branch))),
                None => shown.push("HEAD".to_owned()),
            }
        }
        shown.extend(
            names.iter().filter(|name| !is_head || Some(*name) != self.branch.as_ref()).map(|name| self.shown(name)),
        );
        shown
    }
}
