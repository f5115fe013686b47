//! What `session` says of skills that were loaded again.

use super::session::PathFindingOutput;
use schemars::JsonSchema;
use serde::Serialize;
use skillgate_registry::CatalogueChanges;
use skillgate_runtime::{Reloaded, SessionReloaded};

/// What became of the skills when they were loaded again, by the names that always lead to them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedSkillsOutput {
    /// Skills that were not there.
    pub(crate) added: Vec<String>,
    /// Skills whose text may be another.
    pub(crate) changed: Vec<String>,
    /// Skills that are not there any more, or cannot be read.
    pub(crate) removed: Vec<String>,
    /// Skills that stand otherwise because of what became of others.
    pub(crate) affected: Vec<String>,
    /// Whether a model is offered other skills than before.
    pub(crate) offered: bool,
}

impl From<&CatalogueChanges> for ChangedSkillsOutput {
    fn from(changes: &CatalogueChanges) -> Self {
        let CatalogueChanges { added, changed, removed, affected, offered } = changes.clone();
        Self { added, changed, removed, affected, offered }
    }
}

/// What a reload found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReloadOutput {
    /// What became of the skills; of those that were found inside the project, the event `skills-changed` tells.
    #[serde(flatten)]
    pub(crate) changes: ChangedSkillsOutput,
    /// Findings that were not made before.
    pub(crate) diagnostics: Vec<PathFindingOutput>,
}

impl From<&Reloaded> for ReloadOutput {
    fn from(reloaded: &Reloaded) -> Self {
        let diagnostics = reloaded.diagnostics.iter().map(PathFindingOutput::from).collect();
        Self { changes: ChangedSkillsOutput::from(&reloaded.changes), diagnostics }
    }
}

/// What a reload means for the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillsChangedOutput {
    /// What became of its skills, those that it found inside the project among them.
    #[serde(flatten)]
    pub(crate) changes: ChangedSkillsOutput,
    /// Skills that were in use and are not any more.
    pub(crate) taken_back: Vec<TakenBackOutput>,
}

/// A skill that was in use and is not there any more.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TakenBackOutput {
    /// The agent that had it.
    pub(crate) agent: String,
    /// The skill.
    pub(crate) skill: String,
    /// The line that the agent is to be told.
    pub(crate) mark: String,
}

impl From<&SessionReloaded> for SkillsChangedOutput {
    fn from(reloaded: &SessionReloaded) -> Self {
        let taken_back = reloaded.taken_back.iter().map(|taken| TakenBackOutput {
            agent: taken.agent.to_string(),
            skill: taken.skill.to_string(),
            mark: taken.mark.clone(),
        });
        Self { changes: ChangedSkillsOutput::from(&reloaded.changes), taken_back: taken_back.collect() }
    }
}
