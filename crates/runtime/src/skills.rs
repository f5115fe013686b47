//! The skills as one conversation sees them.

use crate::Session;
use skillgate_core::{Profile, Skill};
use skillgate_loader::SkillRoots;
use skillgate_registry::{Catalogue, PathActivation, SkillSearch};
use std::sync::{Arc, OnceLock};

/// A catalogue with what is made of it when it is first asked for. Conversations share one until something changes for one of
/// them.
#[derive(Debug)]
pub(crate) struct SkillView {
    pub(crate) catalogue: Arc<Catalogue>,
    /// Where skills were found that the project holds inside it.
    pub(crate) nested: Vec<Arc<SkillRoots>>,
    search: OnceLock<Arc<SkillSearch>>,
    /// The search of the view before, which differs in few skills.
    before: Option<Arc<SkillSearch>>,
    waiting: OnceLock<Arc<PathActivation>>,
}

impl SkillView {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            nested: Vec::new(),
            search: OnceLock::new(),
            before: None,
            waiting: OnceLock::new(),
        }
    }

    /// The view after this one. The search is brought up to date when it is asked for.
    pub(crate) fn followed_by(&self, catalogue: Catalogue, found: Option<SkillRoots>) -> Self {
        let mut nested = self.nested.clone();
        nested.extend(found.map(Arc::new));
        let before = self.search.get().or(self.before.as_ref()).map(Arc::clone);
        Self { nested, before, ..Self::new(catalogue) }
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
}

impl Session {
    /// Asks the directories in which the skill was found.
    pub(crate) fn roots_of<T>(&self, skill: &Skill, ask: impl FnOnce(&SkillRoots) -> T) -> T {
        let view = self.skills();
        let holds = |roots: &&Arc<SkillRoots>| roots.iter().any(|root| skill.path.starts_with(&root.path));
        match view.nested.iter().find(holds) {
            Some(nested) => ask(nested),
            None => ask(&self.runtime.roots),
        }
    }
}
