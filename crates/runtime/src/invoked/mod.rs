//! The skills that were invoked in a conversation: what is given again when the conversation is compacted, and what a second
//! call of a skill does not have to repeat.

mod agent;
mod entry;

pub use agent::{AgentId, AgentIdError};
pub use entry::{InvokedSkill, Presence, UnloadReason, UnloadedSkill};

use skillgate_core::SkillId;
use std::collections::BTreeMap;

/// Every skill that an agent invoked, once for each agent and skill, with the text of its latest invocation.
///
/// Agents never see each other's: every operation but [`InvokedSkills::clear`] names one agent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InvokedSkills {
    slots: BTreeMap<(AgentId, SkillId), Slot>,
    /// Of the latest invocation; those before have smaller ones.
    pub(crate) sequence: u64,
}

/// What is kept of a skill that was invoked.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Slot {
    Loaded(Box<InvokedSkill>),
    Unloaded(UnloadedSkill),
}

/// What a recorded invocation means for the conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "what the model is given depends on it"]
pub enum Recorded {
    /// The text is new to the conversation and has to enter it.
    New,
    /// The whole text stands in the conversation already; this note is enough.
    Unchanged {
        /// The note, in one line.
        note: String,
    },
}

impl InvokedSkills {
    /// A store without any.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records an invocation; it is the newest from now on, whatever was known of the skill before.
    ///
    /// Where the skill's file and the expanded text are what they were, and a compaction has left the whole text in the
    /// conversation, nothing has to be said twice.
    pub fn record(&mut self, mut invoked: InvokedSkill) -> Recorded {
        self.sequence += 1;
        invoked.sequence = self.sequence;
        let key = (invoked.agent.clone(), invoked.skill.clone());
        let note = self.loaded(&key).filter(|known| known.stands_as(&invoked)).map(InvokedSkill::unchanged_note);
        if let Some(known) = self.loaded(&key) {
            invoked.carried = known.carried.clone();
        }
        self.slots.insert(key, Slot::Loaded(Box::new(invoked)));
        note.map_or(Recorded::New, |note| Recorded::Unchanged { note })
    }

    /// What an agent knows of a skill, when it invoked it and it was not unloaded.
    #[must_use]
    pub fn get(&self, agent: &AgentId, skill: &SkillId) -> Option<&InvokedSkill> {
        self.loaded(&(agent.clone(), skill.clone()))
    }

    /// The skills that an agent invoked and that are loaded, the newest first.
    #[must_use]
    pub fn of(&self, agent: &AgentId) -> Vec<&InvokedSkill> {
        let mut skills: Vec<&InvokedSkill> = self
            .slots_of(agent)
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Loaded(skill) => Some(skill.as_ref()),
                Slot::Unloaded(_) => None,
            })
            .collect();
        skills.sort_by_key(|skill| std::cmp::Reverse(skill.sequence));
        skills
    }

    /// The skills that were unloaded for an agent, the newest invocation first.
    #[must_use]
    pub fn unloaded(&self, agent: &AgentId) -> Vec<&UnloadedSkill> {
        let mut skills: Vec<&UnloadedSkill> = self
            .slots_of(agent)
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Unloaded(skill) => Some(skill),
                Slot::Loaded(_) => None,
            })
            .collect();
        skills.sort_by_key(|skill| std::cmp::Reverse(skill.sequence));
        skills
    }

    /// The agents that invoked something, the main one first.
    #[must_use]
    pub fn agents(&self) -> Vec<&AgentId> {
        let mut agents: Vec<&AgentId> = self.slots.keys().map(|(agent, _)| agent).collect();
        agents.dedup();
        agents
    }

    /// Forgets the text of a skill and keeps that it was there. Gives the line that the model is to be told; `None` when the
    /// agent has no such skill loaded.
    pub fn unload(&mut self, agent: &AgentId, skill: &SkillId, reason: UnloadReason) -> Option<String> {
        let slot = self.slots.get_mut(&(agent.clone(), skill.clone()))?;
        let Slot::Loaded(loaded) = slot else { return None };
        let unloaded = UnloadedSkill::of(loaded, reason);
        let mark = unloaded.mark();
        *slot = Slot::Unloaded(unloaded);
        Some(mark)
    }

    /// Forgets everything of an agent that has ended. The main agent does not end.
    pub fn end_agent(&mut self, agent: &AgentId) {
        if !agent.is_main() {
            self.slots.retain(|(of, _), _| of != agent);
        }
    }

    /// Begins a new conversation: forgets everything but what belongs to these agents.
    pub fn clear(&mut self, preserve: &[AgentId]) {
        self.slots.retain(|(agent, _), _| preserve.contains(agent));
    }

    /// How many skills are loaded for all agents together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.values().filter(|slot| matches!(slot, Slot::Loaded(_))).count()
    }

    /// Whether no skill is loaded for any agent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    pub(crate) fn insert(&mut self, slot: Slot) {
        let (key, sequence) = match &slot {
            Slot::Loaded(skill) => ((skill.agent.clone(), skill.skill.clone()), skill.sequence),
            Slot::Unloaded(skill) => ((skill.agent.clone(), skill.skill.clone()), skill.sequence),
        };
        self.sequence = self.sequence.max(sequence);
        self.slots.insert(key, slot);
    }

    pub(crate) fn set_presence(&mut self, agent: &AgentId, skill: &SkillId, presence: Presence) {
        if let Some(Slot::Loaded(loaded)) = self.slots.get_mut(&(agent.clone(), skill.clone())) {
            loaded.presence = presence;
        }
    }

    fn loaded(&self, key: &(AgentId, SkillId)) -> Option<&InvokedSkill> {
        match self.slots.get(key) {
            Some(Slot::Loaded(skill)) => Some(skill),
            Some(Slot::Unloaded(_)) | None => None,
        }
    }

    fn slots_of(&self, agent: &AgentId) -> Vec<&Slot> {
        self.slots.iter().filter(|((of, _), _)| of == agent).map(|(_, slot)| slot).collect()
    }
}

#[cfg(test)]
mod tests;
