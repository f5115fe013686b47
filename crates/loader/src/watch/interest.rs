use crate::find::is_skill_name;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

/// Which entries of a directory can make a difference. All else that happens there wakes nobody.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Interest {
    everything: bool,
    skill_files: bool,
    names: BTreeSet<OsString>,
}

impl Interest {
    /// Any entry: a directory of skills or of commands.
    pub(super) fn add_everything(&mut self) {
        self.everything = true;
    }

    /// A `SKILL.md` in any case: a skill's own directory, in which programs may build what they like.
    pub(super) fn add_skill_files(&mut self) {
        self.skill_files = true;
    }

    /// One name: the way to a root, or the target of a link.
    pub(super) fn add_name(&mut self, name: &OsStr) {
        self.names.insert(name.to_owned());
    }

    pub(super) fn concerns(&self, name: &OsStr) -> bool {
        self.everything || (self.skill_files && is_skill_name(name)) || self.names.contains(name)
    }
}
