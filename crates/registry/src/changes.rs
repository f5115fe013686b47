//! What is another in one catalogue than in the one before.

use crate::{Catalogue, Entry, State};
use skillgate_core::Skill;
use std::collections::HashMap;
use std::sync::Arc;

/// What became of the skills from one catalogue to the next, by their qualified names and in the order of these.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CatalogueChanges {
    /// Skills that were not there.
    pub added: Vec<String>,
    /// Skills whose text may be another, or that are read from elsewhere.
    pub changed: Vec<String>,
    /// Skills that are not there any more, or cannot be read.
    pub removed: Vec<String>,
    /// Skills that are what they were and stand otherwise, because of what became of others: one took their name or gave it free,
    /// or what they require came or went.
    pub affected: Vec<String>,
    /// Whether a model is offered other skills than before, so that the listing and searches give another answer.
    pub offered: bool,
}

impl CatalogueChanges {
    /// Whether nothing is another.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Catalogue {
    /// The same catalogue, which shares with one before it whatever is the same in both: what was kept for a skill is found again,
    /// and a skill that nobody touched is in memory once.
    #[must_use]
    pub fn sharing_with(mut self, before: &Catalogue) -> Self {
        let known = by_name(before);
        for entry in &mut self.entries {
            let Some(was) = known.get(entry.qualified_name()) else { continue };
            if !is_same(&entry.skill, &was.skill) {
                continue;
            }
            Arc::make_mut(entry).skill = Arc::clone(&was.skill);
            if entry == *was {
                *entry = Arc::clone(was);
            }
        }
        self
    }

    /// What is another than in the catalogue before. A header says nothing about the text behind it, so `same_text` tells of two
    /// skills that are described alike whether they are read from the same text.
    #[must_use]
    pub fn changes_since(&self, before: &Catalogue, same_text: impl Fn(&Skill) -> bool) -> CatalogueChanges {
        let mut known = by_name(before);
        let mut changes = CatalogueChanges::default();
        for entry in &self.entries {
            let name = || entry.qualified_name().to_owned();
            match known.remove(entry.qualified_name()) {
                None => changes.added.push(name()),
                Some(was) if entry.skill != was.skill || !same_text(&entry.skill) => changes.changed.push(name()),
                // What a conversation activated is no change of the skills.
                Some(was) if settled(entry) != settled(was) => changes.affected.push(name()),
                Some(_) => {}
            }
        }
        changes.removed = known.into_keys().map(str::to_owned).collect();
        for names in [&mut changes.added, &mut changes.changed, &mut changes.removed, &mut changes.affected] {
            names.sort_unstable();
        }
        changes.offered = !self.offered_to_model().eq(before.offered_to_model());
        changes
    }
}

fn by_name(catalogue: &Catalogue) -> HashMap<&str, &Arc<Entry>> {
    catalogue.entries.iter().map(|entry| (entry.qualified_name(), entry)).collect()
}

/// Whether they are one skill, described by one header. What the header says need not be compared, nor read for that: its digest is
/// there.
fn is_same(one: &Skill, other: &Skill) -> bool {
    let read = |skill: &Skill| (skill.head_digest, skill.bytes, skill.loaded_from, skill.header);
    read(one) == read(other)
        && one.id == other.id
        && one.path == other.path
        && one.directory == other.directory
        && one.plugin == other.plugin
        && one.diagnostics == other.diagnostics
}

/// How an entry stands among the others: whether it waits for a file is its own.
fn settled(entry: &Entry) -> (Option<&State>, bool, &str) {
    let waits_or_not = matches!(entry.state, State::Active | State::Hidden | State::Conditional);
    ((!waits_or_not).then_some(&entry.state), entry.unmet.is_some(), entry.called())
}
