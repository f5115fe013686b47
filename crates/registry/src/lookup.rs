use crate::{Catalogue, Entry};
use skillgate_core::{LoadFailure, nearest};

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
    /// A qualified name goes first, so that no skill can take the qualified name of another by being called so. A name that
    /// no skill competes for leads to the strongest that cannot: its state is the answer.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        let name = name.trim();
        let name = name.strip_prefix('/').unwrap_or(name);
        let qualified = self.by_qualified_name.get(name).map(|index| &self.entries()[*index]);
        if let Some(entry) = qualified.or_else(|| self.named(name).first()) {
            return Lookup::Found(entry);
        }
        let is_named = |failure: &&LoadFailure| {
            failure.name == name
                || name.strip_prefix(failure.source.as_str()).and_then(|rest| rest.strip_prefix(':'))
                    == Some(failure.name.as_str())
        };
        if let Some(failure) = self.broken().iter().find(is_named) {
            return Lookup::Broken(failure);
        }
        let known = self.entries().iter().filter(|entry| entry.state.competes());
        Lookup::Unknown { nearest: nearest(name, known.map(|entry| entry.skill.id.command.as_str())) }
    }
}
