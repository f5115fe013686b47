use crate::catalogue::{named, qualified};
use crate::{Catalogue, Entry};
use skillgate_core::{LoadFailure, nearest};
use std::borrow::Borrow;

/// What a name means.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Lookup<'a> {
    /// This skill. Its [state](Entry::state) may still say that it cannot be used.
    Found(&'a Entry),
    /// Something that was meant as a skill and cannot be read.
    Broken(&'a LoadFailure),
    /// No skill has the name.
    Unknown {
        /// Names like it, the nearest first, at most three.
        nearest: Vec<&'a str>,
    },
}

impl Catalogue {
    /// Finds the skill that a person or a model names: `name`, `/name` or `source:name`; blanks around it do not count.
    ///
    /// The last part of a plugin's skill leads to it too, while no other skill has that name and no other plugin has it.
    /// A qualified name goes first, so that no skill can take the qualified name of another by being called so. A name that
    /// no skill competes for leads to the strongest that cannot: its state is the answer.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        let name = name.trim();
        let name = name.strip_prefix('/').unwrap_or(name);
        if let Some(index) = leads_to(self.entries(), name) {
            return Lookup::Found(&self.entries()[index]);
        }
        let is_named = |failure: &&LoadFailure| {
            failure.name == name
                || name.strip_prefix(failure.source.as_str()).and_then(|rest| rest.strip_prefix(':'))
                    == Some(failure.name.as_str())
        };
        if let Some(failure) = self.broken().iter().find(is_named) {
            return Lookup::Broken(failure);
        }
        let of_plugins: Vec<_> =
            of_plugins(self.entries(), name).map(|index| self.entries()[index].qualified_name()).collect();
        if !of_plugins.is_empty() {
            return Lookup::Unknown { nearest: of_plugins };
        }
        let known = self.entries().iter().filter(|entry| entry.state.competes());
        Lookup::Unknown { nearest: nearest(name, known.map(|entry| entry.skill.id.command.as_str())) }
    }
}

/// The skill that a name without a slash leads to.
pub(crate) fn leads_to<E: Borrow<Entry>>(entries: &[E], name: &str) -> Option<usize> {
    let exact = qualified(entries, name).or_else(|| named(entries, name).next());
    exact.or_else(|| {
        let mut short = of_plugins(entries, name);
        short.next().filter(|_| short.next().is_none())
    })
}

/// The skills of plugins whose own name, without the plugin's, is `name`.
pub(crate) fn of_plugins<'e, E: Borrow<Entry>>(entries: &'e [E], name: &'e str) -> impl Iterator<Item = usize> + 'e {
    let is_short = move |entry: &Entry| {
        let command = entry.skill.id.command.as_str();
        let plugin = entry.skill.plugin.as_ref().map(|plugin| plugin.name.as_str());
        let short = plugin.and_then(|plugin| command.strip_prefix(plugin)?.strip_prefix(':'));
        short == Some(name) && entry.state.competes()
    };
    entries.iter().enumerate().filter(move |(_, entry)| is_short((*entry).borrow())).map(|(index, _)| index)
}
