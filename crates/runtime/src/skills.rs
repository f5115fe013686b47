//! The skills as one conversation sees them.

use crate::Session;
use crate::load::{Base, Place};
use skillgate_core::{Profile, Skill};
use skillgate_loader::{SkillRoots, TextStamp};
use skillgate_registry::{Catalogue, PathActivation, SkillSearch};
use std::sync::{Arc, OnceLock};

/// A catalogue with what is made of it when it is first asked for. Conversations share one until something changes for one of
/// them.
#[derive(Debug)]
pub(crate) struct SkillView {
    pub(crate) catalogue: Arc<Catalogue>,
    /// What all conversations share.
    pub(crate) base: Arc<Base>,
    /// Where skills were found that the project holds inside it.
    pub(crate) nested: Vec<Arc<Place>>,
    search: OnceLock<Arc<SkillSearch>>,
    /// The search of the view before, which differs in few skills.
    before: Option<Arc<SkillSearch>>,
    waiting: OnceLock<Arc<PathActivation>>,
}

impl SkillView {
    pub(crate) fn new(catalogue: Catalogue, base: Arc<Base>) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            base,
            nested: Vec::new(),
            search: OnceLock::new(),
            before: None,
            waiting: OnceLock::new(),
        }
    }

    /// The view after this one. The search is brought up to date when it is asked for.
    pub(crate) fn followed_by(&self, catalogue: Catalogue, found: Option<Place>) -> Self {
        let mut nested = self.nested.clone();
        nested.extend(found.map(Arc::new));
        Self { nested, before: self.latest_search(), ..Self::new(catalogue, Arc::clone(&self.base)) }
    }

    /// The view after this one when the places were looked at again. Where the catalogue is the same, so is what was made of it.
    pub(crate) fn reloaded(&self, catalogue: Catalogue, base: Arc<Base>, nested: Vec<Arc<Place>>) -> Self {
        if catalogue == *self.catalogue {
            return Self {
                catalogue: Arc::clone(&self.catalogue),
                base,
                nested,
                search: self.search.clone(),
                before: self.before.clone(),
                waiting: self.waiting.clone(),
            };
        }
        Self { nested, before: self.latest_search(), ..Self::new(catalogue, base) }
    }

    fn latest_search(&self) -> Option<Arc<SkillSearch>> {
        self.search.get().or(self.before.as_ref()).map(Arc::clone)
    }

    pub(crate) fn search(&self) -> &SkillSearch {
        self.search.get_or_init(|| {
            Arc::new(match &self.before {
                None => SkillSearch::of(&self.catalogue),
                Some(before) => {
                    let mut search = SkillSearch::clone(before);
                    search.refresh(&self.catalogue);
                    search
                }
            })
        })
    }

    /// The skills that wait for a file, in one matcher.
    pub(crate) fn waiting(&self, profile: Profile) -> Arc<PathActivation> {
        Arc::clone(self.waiting.get_or_init(|| Arc::new(PathActivation::of(&self.catalogue, profile))))
    }

    /// Where the skill was read.
    pub(crate) fn place_of(&self, skill: &Skill) -> &Place {
        self.nested.iter().find(|place| place.holds(skill)).map_or(&self.base.place, AsRef::as_ref)
    }

    /// The stamp of the skill's file when its header was read.
    pub(crate) fn stamp_of(&self, skill: &Skill) -> Option<TextStamp> {
        self.place_of(skill).stamp(skill)
    }
}

impl Session {
    /// Asks the directories in which the skill was found.
    pub(crate) fn roots_of<T>(&self, skill: &Skill, ask: impl FnOnce(&SkillRoots) -> T) -> T {
        ask(&self.skills().place_of(skill).roots)
    }
}
