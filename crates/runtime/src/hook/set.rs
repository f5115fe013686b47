use super::activate::{Prepared, PreparedHooks};
use super::event::HookEvent;
use super::input::HookInput;
use super::spec::{HandlerId, HookSpec};
use crate::invoked::AgentId;
use crate::save::SpentHook;
use serde::Serialize;
use skillgate_core::{Digest, SkillId};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// An agent and those above it. Hooks of an agent hold for the agents below it, and never for one beside or above it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct AgentScope(Vec<String>);

impl AgentScope {
    /// The agent that the user talks to.
    #[must_use]
    pub const fn main() -> Self {
        Self(Vec::new())
    }

    /// An agent that this one began.
    #[must_use]
    pub fn child(&self, id: impl Into<String>) -> Self {
        Self(self.0.iter().cloned().chain([id.into()]).collect())
    }

    /// Whether it is the agent that the user talks to.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `other` is this agent or one below it.
    #[must_use]
    pub fn covers(&self, other: &AgentScope) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// `main`, or the ids from the first agent below it on.
impl fmt::Display for AgentScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_main() { f.write_str("main") } else { f.write_str(&self.0.join("/")) }
    }
}

/// What tells one registered hook from another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct HookKey {
    /// The agent that invoked the skill.
    pub scope: AgentScope,
    /// The skill.
    pub skill: SkillId,
    /// What it waits for.
    pub event: HookEvent,
    /// The handler.
    pub id: HandlerId,
}

/// A hook that waits for its event.
#[derive(Debug)]
pub struct RegisteredHook {
    pub(super) key: HookKey,
    pub(super) digest: Digest,
    pub(super) spec: HookSpec,
    pub(super) prepared: Prepared,
}

impl RegisteredHook {
    /// What tells it from the others.
    #[must_use]
    pub fn key(&self) -> &HookKey {
        &self.key
    }

    /// Digest of the skill's text when it was registered, which its authority is decided for.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// As its author wrote it.
    #[must_use]
    pub fn spec(&self) -> &HookSpec {
        &self.spec
    }

    /// Whether the event is one that it waits for, apart from its `if`, which depends on what a rewrite may change.
    #[must_use]
    pub fn waits_for(&self, scope: &AgentScope, input: &HookInput) -> bool {
        self.key.event == input.event() && self.key.scope.covers(scope) && self.spec.matcher.matches(input)
    }
}

/// The hooks of one conversation. It only remembers: handlers are run without it, so that nobody waits for one that holds it.
#[derive(Clone, Debug, Default)]
pub struct HookSet {
    hooks: Vec<Arc<RegisteredHook>>,
    /// `once` hooks that had their success: to invoke the skill again does not bring them back.
    spent: BTreeSet<HookKey>,
    /// The same from before the conversation was restored.
    restored: Vec<SpentHook>,
}

impl HookSet {
    /// Registers the hooks of a skill that an agent invoked. Those that are registered stay what they are, and those of another
    /// content of the skill are gone. Gives what is new.
    pub fn register(&mut self, scope: &AgentScope, hooks: &PreparedHooks) -> Vec<Arc<RegisteredHook>> {
        let (skill, digest) = (&hooks.skill, hooks.digest);
        self.hooks.retain(|hook| hook.digest == digest || hook.key.skill != *skill || hook.key.scope != *scope);
        let mut added = Vec::new();
        for (spec, prepared) in &hooks.hooks {
            let event = if scope.is_main() { spec.event } else { spec.event.in_agent_below() };
            let key = HookKey { scope: scope.clone(), skill: skill.clone(), event, id: spec.id() };
            if (spec.once && self.is_spent(&key)) || self.hooks.iter().any(|hook| hook.key == key) {
                continue;
            }
            let hook = Arc::new(RegisteredHook { key, digest, spec: spec.clone(), prepared: prepared.clone() });
            self.hooks.push(Arc::clone(&hook));
            added.push(hook);
        }
        added
    }

    /// The hooks that wait for an event in an agent, in the order in which they were registered.
    #[must_use]
    pub fn matching(&self, scope: &AgentScope, input: &HookInput) -> Vec<Arc<RegisteredHook>> {
        self.hooks.iter().filter(|hook| hook.waits_for(scope, input)).cloned().collect()
    }

    /// Whether any hook of an event waits in an agent: without one, no input need be put together.
    #[must_use]
    pub fn has(&self, scope: &AgentScope, event: HookEvent) -> bool {
        self.hooks.iter().any(|hook| hook.key.event == event && hook.key.scope.covers(scope))
    }

    /// Takes out the `once` hooks that had their success. To be called with every outcome of [`HookRunner::run`](super::HookRunner::run).
    pub fn settle(&mut self, outcome: &super::HookOutcome) {
        for key in outcome.succeeded() {
            let is_once = |hook: &Arc<RegisteredHook>| hook.key == *key && hook.spec.once;
            if self.hooks.iter().any(is_once) {
                self.hooks.retain(|hook| !is_once(hook));
                self.spent.insert(key.clone());
            }
        }
    }

    /// Takes out the hooks of a skill that an agent unloads.
    pub fn unload(&mut self, scope: &AgentScope, skill: &SkillId) {
        self.retain(|key| key.scope != *scope || key.skill != *skill);
    }

    /// Takes out the hooks of a skill in every agent.
    pub fn revoke(&mut self, skill: &SkillId) {
        self.retain(|key| key.skill != *skill);
    }

    /// Takes out what an agent that ended and those below it registered.
    pub fn end_agent(&mut self, scope: &AgentScope) {
        self.retain(|key| !scope.covers(&key.scope));
    }

    /// Takes out everything but what these agents registered: a new conversation.
    pub fn clear(&mut self, preserve: &[AgentScope]) {
        self.retain(|key| preserve.contains(&key.scope));
        if !preserve.iter().any(AgentScope::is_main) {
            self.restored.clear();
        }
    }

    /// The `once` hooks of the main agent that had their success. Other agents do not outlive a conversation that is saved.
    #[must_use]
    pub fn spent(&self) -> BTreeSet<SpentHook> {
        let main = self.spent.iter().filter(|key| key.scope.is_main());
        let now = main.map(|key| SpentHook {
            agent: AgentId::MAIN,
            skill: key.skill.to_string(),
            event: key.event.name().to_owned(),
            handler: key.id.digest(),
        });
        now.chain(self.restored.iter().cloned()).collect()
    }

    /// Takes these for `once` hooks that had their success before.
    pub fn set_spent(&mut self, spent: &BTreeSet<SpentHook>) {
        self.restored = spent.iter().filter(|hook| hook.agent.is_main()).cloned().collect();
    }

    fn is_spent(&self, key: &HookKey) -> bool {
        let restored = |hook: &SpentHook| {
            hook.skill == key.skill.to_string() && hook.event == key.event.name() && hook.handler == key.id.digest()
        };
        self.spent.contains(key) || (key.scope.is_main() && self.restored.iter().any(restored))
    }

    /// Every registered hook.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<RegisteredHook>> {
        self.hooks.iter()
    }

    fn retain(&mut self, keep: impl Fn(&HookKey) -> bool) {
        self.hooks.retain(|hook| keep(&hook.key));
        self.spent.retain(|key| keep(key));
    }
}
