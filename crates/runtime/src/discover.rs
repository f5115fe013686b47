use crate::Session;
use serde::{Deserialize, Serialize};
use skillgate_registry::{FoundSkill, SkillSearch};
use skillgate_search::{DEFAULT_LIMIT, Query};

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
    pub fn search_skills(&self, query: &Query<'_>) -> Vec<FoundSkill<'_>> {
        self.search.get_or_init(|| SkillSearch::of(&self.catalogue)).search(&self.catalogue, query)
    }
}

impl DiscoveredSkill {
    fn of(found: &FoundSkill<'_>) -> Self {
        let skill = found.entry.skill();
        Self {
            name: skill.id.command.to_string(),
            description: skill.description.clone(),
            score: (f64::from(found.score) * 1000.0).round() / 1000.0,
        }
    }
}
