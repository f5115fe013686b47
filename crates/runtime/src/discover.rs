use crate::Session;
use serde::{Deserialize, Serialize};
use skillgate_core::Skill;
use skillgate_registry::FoundSkill;
use skillgate_search::{DEFAULT_LIMIT, Query};
use std::sync::Arc;

/// The most skills that one call of DiscoverSkills gives.
const MAX_LIMIT: usize = 50;

/// The input of the tool `DiscoverSkills`: what a model looks for.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DiscoverSkills {
    /// What is to be done, in a sentence.
    pub description: String,
    /// How many skills at most, 1 to 50. Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 50)))]
    pub limit: Option<usize>,
}

/// What `DiscoverSkills` answers, best first.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscoveredSkills {
    /// How many there are.
    pub count: usize,
    /// The skills.
    pub results: Vec<DiscoveredSkill>,
}

/// One skill of [`DiscoveredSkills`].
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscoveredSkill {
    /// The name that the Skill tool takes.
    pub name: String,
    /// What the skill does.
    pub description: Option<String>,
    /// How well it fits, above 0 and at most 1, in steps of a thousandth.
    pub score: f64,
}

impl Session {
    /// Finds the skills that a model may be told of by words of their names and descriptions. Changes nothing.
    ///
    /// The limit is kept within 1 and 50.
    #[must_use]
    pub fn discover_skills(&self, request: &DiscoverSkills) -> DiscoveredSkills {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let found = self.search_skills(&Query::new(&request.description).limit(limit));
        let results: Vec<DiscoveredSkill> = found.iter().map(DiscoveredSkill::of).collect();
        DiscoveredSkills { count: results.len(), results }
    }

    /// The skills that answer a query, best first. The index is made by the first call.
    #[must_use]
    pub fn search_skills(&self, query: &Query<'_>) -> Vec<RankedSkill> {
        let view = self.skills();
        let found = view.search().search(&view.catalogue, query);
        let ranked = |found: &FoundSkill<'_>| RankedSkill {
            name: found.entry.called().to_owned(),
            skill: Arc::clone(found.entry.skill()),
            score: found.score,
        };
        found.iter().map(ranked).collect()
    }
}

/// A skill that answers a query.
#[derive(Clone, PartialEq, Debug)]
pub struct RankedSkill {
    /// The name that it is called by.
    pub name: String,
    /// The skill.
    pub skill: Arc<Skill>,
    /// How well it fits, above 0 and at most 1.
    pub score: f32,
}

impl DiscoveredSkill {
    pub(crate) fn of(found: &RankedSkill) -> Self {
        let skill = &found.skill;
        Self {
            name: found.name.clone(),
            description: skill.description.as_deref().map(str::to_owned),
            score: (f64::from(found.score) * 1000.0).round() / 1000.0,
        }
    }
}
