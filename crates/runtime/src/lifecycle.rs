//! The turns of a conversation, what leaves it, and what goes on after it was compacted or saved.

use crate::Session;
use crate::compact::{CompactBudget, Compacted};
use crate::hook::{AgentScope, HookEvent, HookInput, HookOutcome, HookReport, HookText, HookVerdict};
use crate::invoke::InvokeRequest;
use crate::invoked::{AgentId, UnloadReason};
use crate::save::{Activation, RefusedSkill, RestoreReport, Save, SaveError, SavedConversation, Standing};
use serde::Serialize;
use serde_json::{Map, Value};
use skillgate_core::{Skill, SkillId};
use skillgate_policy::{Invoker, PresentSkill, SkillRefusal};
use skillgate_registry::{Listing, ListingOptions, NamePattern};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the hooks of an event came to.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[must_use = "a hook may hold what the event is about"]
pub struct EventResult {
    /// That it must not happen, or on `Stop` and its like that the agent goes on, and why.
    pub held: Option<String>,
    /// Texts for the model.
    pub context: Vec<HookText>,
    /// Texts for the user.
    pub messages: Vec<HookText>,
    /// That the agent is to end, and why.
    pub stop: Option<HookText>,
    /// One for each hook that was called.
    pub hooks: Vec<HookReport>,
}

impl From<HookOutcome> for EventResult {
    fn from(outcome: HookOutcome) -> Self {
        Self {
            held: match outcome.verdict {
                HookVerdict::Deny(reason) => Some(reason),
                // Nobody is asked about an event; what a hook wants asked does not happen by itself.
                HookVerdict::Ask(reasons) => Some(reasons.join("; ")),
                HookVerdict::Pass => None,
            },
            context: outcome.context,
            messages: outcome.messages,
            stop: outcome.stop,
            hooks: outcome.reports,
        }
    }
}

/// A compaction that a hook holds back.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the conversation is not compacted: {reason}")]
pub struct CompactHeld {
    /// What the hook says.
    pub reason: String,
}

impl Session {
    /// The user says something: the turn of the main agent ends, and with it what its skills took away, their models and their
    /// efforts. Hooks may keep the message from the model.
    pub fn user_message(&self, text: &str) -> EventResult {
        let _left = self.conversation().scopes.end_turn(&AgentId::MAIN);
        self.event(&AgentId::MAIN, HookEvent::UserPromptSubmit, members([("prompt", Value::from(text))]))
    }

    /// An agent wants to end. Where the result is [held](EventResult::held), it goes on and is told why. `again`: it goes on for
    /// that reason already, which hooks are told so that they let it end.
    pub fn stop(&self, agent: &AgentId, again: bool) -> EventResult {
        let event = if agent.is_main() { HookEvent::Stop } else { HookEvent::SubagentStop };
        self.event(agent, event, members([("stop_hook_active", Value::from(again))]))
    }

    /// Raises an event with its data.
    pub fn event(&self, agent: &AgentId, event: HookEvent, data: Map<String, Value>) -> EventResult {
        self.fire(agent, &HookInput::new(event, data)).into()
    }

    /// An agent that the host began has ended: what it invoked, its hooks and its scope are forgotten.
    pub fn end_agent(&self, agent: &AgentId) {
        self.conversation().end_agent(agent);
    }

    /// Takes a skill out of use: its hooks, what it took away, its model and its effort go, and its text does not come back when
    /// the conversation is compacted. Gives the line that the model is to be told; `None` when the agent has no such skill.
    ///
    /// The skill is named as it was called, or as `source:name`.
    pub fn unload(&self, agent: &AgentId, name: &str) -> Option<String> {
        let mut conversation = self.conversation();
        let name = plain(name);
        let of_agent = conversation.invoked.of(agent);
        let skill = of_agent.iter().find(|invoked| is_named(&invoked.skill, name))?.skill.clone();
        let mark = conversation.invoked.unload(agent, &skill, UnloadReason::Asked);
        conversation.scopes.leave(agent, &skill);
        let scope = conversation.scope_of(agent);
        conversation.hooks.unload(&scope, &skill);
        conversation.grounds.remove(&(scope, skill));
        mark
    }

    /// Takes a skill back from every agent: what runs for it ends, a call that was decided and has not run is refused, and what
    /// somebody agreed to for it is forgotten. Gives the lines that the agents are to be told; a later call is decided anew.
    pub fn revoke(&self, name: &str) -> Vec<(AgentId, String)> {
        let name = plain(name);
        let (skills, marks) = {
            let mut conversation = self.conversation();
            let agents: Vec<AgentId> = conversation.invoked.agents().into_iter().cloned().collect();
            let mut skills: BTreeSet<SkillId> =
                conversation.running_skills().into_iter().filter(|it| is_named(it, name)).collect();
            let mut marks = Vec::new();
            for agent in agents {
                let of_agent: Vec<SkillId> =
                    conversation.invoked.of(&agent).iter().map(|invoked| invoked.skill.clone()).collect();
                for skill in of_agent.into_iter().filter(|skill| is_named(skill, name)) {
                    let mark = conversation.invoked.unload(&agent, &skill, UnloadReason::Revoked);
                    marks.extend(mark.map(|mark| (agent.clone(), mark)));
                    conversation.scopes.leave(&agent, &skill);
                    skills.insert(skill);
                }
            }
            // A call that was decided and does not run yet is of none of these.
            if let skillgate_registry::Lookup::Found(entry) = self.catalogue().lookup(name) {
                skills.insert(entry.skill().id.clone());
            }
            for skill in &skills {
                conversation.hooks.revoke(skill);
                conversation.grounds.retain(|(_, of), _| of != skill);
                conversation.revoke(skill);
            }
            (skills, marks)
        };
        for skill in &skills {
            self.consent.forget(skill);
            self.stop_running(skill);
        }
        marks
    }

    /// Begins a new conversation: what was invoked, the skills in use, hooks and forks of all agents but these are forgotten. What
    /// the host trusts and the catalogue stay.
    pub fn clear(&self, preserve: &[AgentId]) {
        let mut conversation = self.conversation();
        let scopes: Vec<AgentScope> = preserve.iter().map(|agent| conversation.scope_of(agent)).collect();
        conversation.invoked.clear(preserve);
        conversation.scopes.clear(preserve);
        conversation.hooks.clear(&scopes);
        conversation.grounds.retain(|(scope, _), _| scopes.contains(scope));
        // What they had is forgotten already. Those below them that are preserved keep theirs, so none of them ends as a whole.
        for fork in conversation.forks.clear(preserve) {
            conversation.forked.remove(&fork.agent);
        }
    }

    /// What the conversation of an agent is given again when it was compacted: the skills that were invoked in it, as far as they
    /// fit, what was cut or left out, and the listing. Nothing is run for it.
    ///
    /// # Errors
    /// [`CompactHeld`] when a `PreCompact` hook says no.
    pub fn compact(
        &self,
        agent: &AgentId,
        budget: CompactBudget,
        listing: &ListingOptions,
    ) -> Result<Compacted, CompactHeld> {
        let before = self.event(agent, HookEvent::PreCompact, members([("trigger", Value::from("auto"))]));
        if let Some(reason) = before.held {
            return Err(CompactHeld { reason });
        }
        let listing = self.listing(listing).text;
        let compacted = self.conversation().invoked.compact(agent, budget, listing);
        let _observed = self.event(agent, HookEvent::PostCompact, members([("trigger", Value::from("auto"))]));
        Ok(compacted)
    }

    /// What the model is told of the skills that it may call.
    #[must_use]
    pub fn listing(&self, options: &ListingOptions) -> Listing {
        if self.skills_off().is_some() {
            return Listing::default();
        }
        self.catalogue().listing(options)
    }

    /// The listing's options that the policy gives: what is pinned.
    #[must_use]
    pub fn listing_options(&self, budget_chars: usize) -> ListingOptions {
        let pinned = self.policy().pin.iter().map(|pin| NamePattern::new(&pin.value)).collect();
        let mut used = self.runtime.used_before();
        for (name, count) in &self.conversation().usage {
            // Where uses are counted, those of this conversation are among them.
            let before = used.entry(name.clone()).or_default();
            *before = (*before).max(*count);
        }
        ListingOptions { budget_chars, pinned, used, ..ListingOptions::default() }
    }

    /// The conversation in the form that is kept: what was said and taken away, never what was granted.
    ///
    /// # Errors
    /// [`SaveError`] when it cannot be written as JSON.
    pub fn save(&self) -> Result<Save, SaveError> {
        let touched = self.recently_touched();
        let conversation = self.conversation();
        let saved = SavedConversation {
            session_id: self.id.clone(),
            invoked: conversation.invoked.clone(),
            scopes: conversation.scopes.clone(),
            activation: Activation { touched, ..conversation.activation.clone() },
            usage: conversation.usage.clone(),
            spent_hooks: conversation.hooks.spent(),
            carried: conversation.carried.clone(),
        };
        drop(conversation);
        saved.save(self.runtime.clock.now_ms())
    }

    /// Takes the place of this conversation by one that was saved, as far as it may come back under the host as it is now. The
    /// hooks of its skills wait for their events again; a skill whose hooks cannot is not loaded.
    pub fn restore(&self, save: &Save) -> RestoreReport {
        // First what was found while it went on, so that its skills are there.
        self.conversation().activation = save.activation();
        self.reactivate();
        let (saved, mut report) = save.restore(&|skill| self.standing(skill));
        let invoked: Vec<(AgentId, SkillId)> = saved
            .invoked
            .agents()
            .into_iter()
            .flat_map(|agent| saved.invoked.of(agent).into_iter().map(|it| (agent.clone(), it.skill.clone())))
            .collect();
        {
            let mut conversation = self.conversation();
            let stopped = conversation.forks.clear(&[]);
            for fork in &stopped {
                conversation.end_agent(&fork.agent);
            }
            conversation.hooks.clear(&[]);
            conversation.hooks.set_spent(&saved.spent_hooks);
            conversation.grounds.clear();
            conversation
                .forks
                .leave_out(saved.invoked.agents().into_iter().chain(saved.scopes.agents().map(|it| it.0)));
            conversation.invoked = saved.invoked;
            conversation.scopes = saved.scopes;
            conversation.usage = saved.usage;
            conversation.carried = saved.carried;
        }
        for (agent, skill) in invoked {
            let Some(because) = self.restore_hooks(&agent, &skill) else { continue };
            report.restored.retain(|it| it.agent != agent.as_str() || it.skill != skill.to_string());
            report.refused.push(RefusedSkill {
                agent: agent.to_string(),
                skill: skill.to_string(),
                because: because.clone(),
            });
            // What it took away stays taken away until the turn ends, as for every skill that does not come back.
            let reason = UnloadReason::Refused { because };
            let _mark = self.conversation().invoked.unload(&agent, &skill, reason);
        }
        report
    }

    /// Registers the hooks of a skill again. Gives why it cannot be loaded, when they cannot run.
    fn restore_hooks(&self, agent: &AgentId, skill: &SkillId) -> Option<String> {
        let skill = self.skill_of(skill)?;
        let request = InvokeRequest::new(skill.id.to_string(), invoker_of(&skill)).agent(agent.clone());
        let ready = self.plan_of(&skill, &request).and_then(|plan| match self.prepare_hooks(&plan)? {
            // A save is no agreement: whoever wrote it could have written any skill into it.
            Some(hooks) => self.agreed(&plan).map(|()| Some(hooks)),
            None => Ok(None),
        });
        match ready {
            Ok(hooks) => {
                hooks.map(|hooks| hooks.register(&mut self.conversation(), agent));
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// What a skill that was saved is now.
    fn standing(&self, id: &SkillId) -> Standing {
        let Some(skill) = self.skill_of(id) else { return Standing::Gone };
        let request = InvokeRequest::new(id.to_string(), invoker_of(&skill));
        let plan = self.usable(&skill).and_then(|()| self.plan_of(&skill, &request));
        match plan {
            Err(error) => Standing::Refused(error.to_string()),
            Ok(plan) => match plan.decision {
                // The conversation has its text because a model called it, or somebody agreed.
                Ok(_) | Err(SkillRefusal::Unanswered { .. }) => {
                    Standing::Present(PresentSkill { digest: plan.digest, caveats: plan.caveats })
                }
                Err(refusal) => Standing::Refused(refusal.to_string()),
            },
        }
    }

    /// The skill of this id.
    pub(crate) fn skill_of(&self, id: &SkillId) -> Option<Arc<Skill>> {
        let catalogue = self.catalogue();
        let named = catalogue.named(id.command.as_str());
        named.iter().find(|entry| entry.skill().id == *id).map(|entry| Arc::clone(entry.skill()))
    }
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Somebody who may call the skill as its author says.
fn invoker_of(skill: &Skill) -> Invoker {
    if skill.user_invocable() { Invoker::User } else { Invoker::Model }
}

fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('/').unwrap_or(name)
}

fn is_named(skill: &SkillId, name: &str) -> bool {
    skill.command.as_str() == name || skill.to_string() == name
}
