use crate::{Catalogue, Entry};
use skillgate_core::Digest;
use skillgate_search::{Document, Index, Query, Ranking};
use std::collections::BTreeMap;

/// The search over what a catalogue offers to a model.
///
/// It is kept beside the catalogue and brought up to date by [`SkillSearch::refresh`], which touches the skills that changed and
/// no others.
#[derive(Clone, Debug)]
pub struct SkillSearch {
    /// By qualified name.
    index: Index<String>,
    indexed: BTreeMap<String, Digest>,
}

/// A skill that answers a query.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FoundSkill<'c> {
    /// The skill.
    pub entry: &'c Entry,
    /// How well it fits, above 0 and at most 1.
    pub score: f32,
}

impl Default for SkillSearch {
    fn default() -> Self {
        Self::new(Ranking::default())
    }
}

impl SkillSearch {
    /// An empty search.
    #[must_use]
    pub fn new(ranking: Ranking) -> Self {
        Self { index: Index::new(ranking), indexed: BTreeMap::new() }
    }

    /// A search over this catalogue.
    #[must_use]
    pub fn of(catalogue: &Catalogue) -> Self {
        let mut search = Self::default();
        search.refresh(catalogue);
        search
    }

    /// Takes in what the catalogue offers now, and says how many skills were added, changed or removed.
    pub fn refresh(&mut self, catalogue: &Catalogue) -> usize {
        let mut gone = std::mem::take(&mut self.indexed);
        let mut changes = 0;
        for entry in catalogue.offered_to_model() {
            let (name, digest) = (entry.qualified_name(), entry.skill().head_digest);
            if gone.remove(name) != Some(digest) {
                self.insert(entry);
                changes += 1;
            }
            self.indexed.insert(name.to_owned(), digest);
        }
        for name in gone.into_keys() {
            self.index.remove(&name);
            changes += 1;
        }
        changes
    }

    fn insert(&mut self, entry: &Entry) {
        let skill = entry.skill();
        let listed = skill.frontmatter.allowed_tools.present().map(Vec::as_slice).unwrap_or_default();
        let tools: String = listed.iter().flat_map(|tool| [tool.value.as_str(), " "]).collect();
        self.index.insert(
            entry.qualified_name().to_owned(),
            &Document {
                name: entry.called(),
                description: skill.description.as_deref().unwrap_or_default(),
                when_to_use: skill.frontmatter.when_to_use().as_ref().map_or("", |field| field.value.as_str()),
                allowed_tools: &tools,
            },
        );
    }

    /// The skills of `catalogue` that answer the query, best first. What the catalogue has not or does not offer any more is
    /// left out, also before the next [`SkillSearch::refresh`].
    #[must_use]
    pub fn search<'c>(&self, catalogue: &'c Catalogue, query: &Query<'_>) -> Vec<FoundSkill<'c>> {
        let hits = self.index.search(query).into_iter();
        hits.filter_map(|hit| {
            let entry = catalogue.qualified(hit.key)?;
            entry.is_offered_to_model().then_some(FoundSkill { entry, score: hit.score })
        })
        .collect()
    }
}
