//! What a conversation keeps between two calls.

use crate::Session;
use crate::cancel::CancelToken;
use crate::fork::{ForkPlace, PendingForks, SkillChain};
use crate::hook::{AgentScope, HookSet};
use crate::invoked::{AgentId, InvokedSkills};
use crate::save::Activation;
use crate::scope::TurnScopes;
use serde_json::{Map, Value};
use skillgate_core::{Skill, SkillId};
use skillgate_policy::{Caveat, Revocation};
use skillgate_search::ToolSearch;
use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

/// The state of one conversation. It is never locked while something runs or somebody is asked.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) invoked: InvokedSkills,
    pub(crate) scopes: TurnScopes,
    pub(crate) hooks: HookSet,
    /// What the hooks of a skill run under, by the agent that invoked it.
    pub(crate) grounds: BTreeMap<(AgentScope, SkillId), HookGround>,
    pub(crate) forks: PendingForks,
    /// Agents that were forked and have not ended.
    pub(crate) forked: BTreeMap<AgentId, Forked>,
    /// The tools of the host, once it registered some.
    pub(crate) tools: Option<ToolSearch<Value>>,
    pub(crate) activation: Activation,
    /// How often each skill was used, by its qualified name.
    pub(crate) usage: BTreeMap<String, u64>,
    /// Keys of the save it was restored from that this version does not know.
    pub(crate) carried: Map<String, Value>,
    running: BTreeMap<u64, Running>,
    next: u64,
    /// How often each skill was taken back.
    revocations: BTreeMap<SkillId, u64>,
}

/// Where an agent stands that was forked.
#[derive(Debug)]
pub(crate) struct Forked {
    /// Itself with the agents above it.
    pub(crate) scope: AgentScope,
    /// The skills whose forks it stands in.
    pub(crate) chain: SkillChain,
    /// Its place among those that may run at once.
    pub(crate) _place: Arc<ForkPlace>,
}

/// What the hooks of one skill run under: the skill as it was when they were registered.
#[derive(Clone, Debug)]
pub(crate) struct HookGround {
    pub(crate) agent: AgentId,
    pub(crate) skill: Arc<Skill>,
    /// What the skill takes away, its ceiling included.
    pub(crate) caveats: Vec<Caveat>,
}

/// Something of a skill that is on its way.
#[derive(Debug)]
struct Running {
    skill: SkillId,
    revocation: Revocation,
    cancel: CancelToken,
}

/// Takes it off the list when it ends, however it ends.
#[derive(Debug)]
pub(crate) struct OnItsWay<'s> {
    session: &'s Session,
    number: u64,
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        self.session.conversation().running.remove(&self.number);
    }
}

impl Conversation {
    /// The agent with those above it. One that the host began stands below the main one.
    pub(crate) fn scope_of(&self, agent: &AgentId) -> AgentScope {
        match self.forked.get(agent) {
            Some(forked) => forked.scope.clone(),
            None if agent.is_main() => AgentScope::main(),
            None => AgentScope::main().child(agent.as_str()),
        }
    }

    /// The skills whose forks the agent stands in.
    pub(crate) fn chain_of(&self, agent: &AgentId) -> SkillChain {
        self.forked.get(agent).map(|forked| forked.chain.clone()).unwrap_or_default()
    }

    /// The skills that something runs for.
    pub(crate) fn running_skills(&self) -> Vec<SkillId> {
        self.running.values().map(|running| running.skill.clone()).collect()
    }

    /// Counts that a skill was taken back: what was decided before is not to run any more.
    pub(crate) fn revoke(&mut self, skill: &SkillId) {
        *self.revocations.entry(skill.clone()).or_default() += 1;
    }

    /// How often a skill was taken back.
    pub(crate) fn revocations(&self, skill: &SkillId) -> u64 {
        self.revocations.get(skill).copied().unwrap_or_default()
    }

    /// Forgets an agent that has ended.
    pub(crate) fn end_agent(&mut self, agent: &AgentId) {
        let scope = self.scope_of(agent);
        if !scope.is_main() {
            self.hooks.end_agent(&scope);
            self.grounds.retain(|(of, _), _| !scope.covers(of));
        }
        self.invoked.end_agent(agent);
        self.scopes.end_agent(agent);
        self.forked.remove(agent);
    }
}

impl Session {
    pub(crate) fn conversation(&self) -> MutexGuard<'_, Conversation> {
        // Every change of it is one call that leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists something that runs for a skill, so that [`Session::revoke`] reaches it.
    pub(crate) fn on_its_way(&self, skill: &SkillId, revocation: Revocation, cancel: CancelToken) -> OnItsWay<'_> {
        let mut conversation = self.conversation();
        let number = conversation.next;
        conversation.next += 1;
        conversation.running.insert(number, Running { skill: skill.clone(), revocation, cancel });
        OnItsWay { session: self, number }
    }

    /// Takes back everything that runs for a skill. Gives how much that was.
    pub(crate) fn stop_running(&self, skill: &SkillId) -> usize {
        let mut conversation = self.conversation();
        let running = conversation.running.values().filter(|running| running.skill == *skill);
        let tokens: Vec<CancelToken> = running
            .map(|running| {
                running.revocation.revoke();
                running.cancel.clone()
            })
            .collect();
        let forks = conversation.forks.stop(skill);
        for fork in &forks {
            conversation.end_agent(&fork.agent);
        }
        drop(conversation);
        // What is told may call the session again.
        tokens.iter().for_each(CancelToken::cancel);
        tokens.len() + forks.len()
    }
}
