//! Hooks of the conversation: registered when a skill is invoked, called when their event comes.

use crate::Session;
use crate::cancel::CancelToken;
use crate::conversation::{Conversation, HookGround};
use crate::error::InvokeError;
use crate::hook::{
    Activation, HookEvent, HookGrant, HookInput, HookKey, HookOutcome, HookRunner, HookSurvey, PreparedHooks,
    RegisteredHook, with_hook_environment,
};
use crate::invoked::AgentId;
use crate::plan::InvocationPlan;
use crate::telemetry;
use serde_json::{Map, Value};
use skillgate_core::{Diagnostic, Guarded, Right, Skill, SkillId};
use skillgate_exec::Run;
use skillgate_policy::{Answers, Authority, Caveat, Gate, Revocation};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The hooks of a skill that is about to be activated, and what they will run under.
#[derive(Debug)]
pub(crate) struct ReadyHooks {
    prepared: PreparedHooks,
    ground: HookGround,
}

impl ReadyHooks {
    /// What was found.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.prepared.diagnostics
    }

    /// Registers them with an agent, for as long as it has the skill. Gives each that is new, as `EVENT: what is run`.
    pub(crate) fn register(self, conversation: &mut Conversation, agent: &AgentId) -> Vec<String> {
        let Self { prepared, mut ground } = self;
        ground.agent = agent.clone();
        let scope = conversation.scope_of(agent);
        conversation.grounds.insert((scope.clone(), ground.skill.id.clone()), ground);
        let added = conversation.hooks.register(&scope, &prepared);
        added.iter().map(|hook| format!("{}: {}", hook.key().event, hook.spec().handler)).collect()
    }
}

impl Session {
    /// Looks at the hooks of a skill that is about to be activated. `None` when it has none, or may only be text.
    pub(crate) fn prepare_hooks(&self, plan: &InvocationPlan) -> Result<Option<ReadyHooks>, InvokeError> {
        let rights = self.held_rights(&plan.skill);
        if !self.ceiling(&plan.skill, &rights).permits_injections() {
            // A text in which nothing runs has no hooks either.
            return Ok(None);
        }
        let prepared = self.with_activation(plan, |activation, caveats| {
            let prepared = activation.prepare_all().map_err(|refusal| InvokeError::Hooks(Box::new(refusal)))?;
            let ground = HookGround { agent: plan.agent.clone(), skill: Arc::clone(&plan.skill), caveats };
            Ok(ReadyHooks { prepared, ground })
        })?;
        prepared.transpose()
    }

    /// Looks at every hook of a planned skill, also at those that cannot or must not run. `None` when it has none.
    ///
    /// # Errors
    /// [`InvokeError`] when what the hooks would be shown cannot be opened.
    pub fn survey_hooks(&self, plan: &InvocationPlan) -> Result<Option<HookSurvey>, InvokeError> {
        self.with_activation(plan, |activation, _| activation.survey())
    }

    /// Registers the hooks of a planned skill with the main agent as its invocation would, and nothing else of it, so that they
    /// can be tried ([`Session::try_hooks`]).
    ///
    /// # Errors
    /// [`InvokeError::Hooks`] when one that can block cannot run.
    pub fn load_hooks(&self, plan: &InvocationPlan) -> Result<Vec<String>, InvokeError> {
        let ready = self.prepare_hooks(plan)?;
        Ok(ready.map(|ready| ready.register(&mut self.conversation(), &AgentId::MAIN)).unwrap_or_default())
    }

    /// Calls the hooks that wait for an event in the main agent and gives all that they say. Nothing happens because of it.
    pub fn try_hooks(&self, input: &HookInput) -> HookOutcome {
        self.fire(&AgentId::MAIN, input)
    }

    fn with_activation<T>(
        &self,
        plan: &InvocationPlan,
        act: impl FnOnce(&Activation<'_>, Vec<Caveat>) -> T,
    ) -> Result<Option<T>, InvokeError> {
        let skill = &plan.skill;
        if matches!(plan.text.document.frontmatter().hooks, Guarded::Absent) {
            return Ok(None);
        }
        let rights = self.held_rights(skill);
        let ceiling = self.ceiling(skill, &rights);
        let right = if ceiling.permits(Right::Hooks) {
            Ok(())
        } else if !ceiling.permits_use() {
            Err("the place that the skill comes from is not trusted".to_owned())
        } else if !ceiling.permits_injections() {
            Err("skills of its source are text only".to_owned())
        } else if rights.lapsed.contains(Right::Hooks) {
            Err("the right `hooks` was granted for another content of the skill".to_owned())
        } else if rights.signers.is_some() {
            Err("no key that signed its pack has `hooks = true` in the policy".to_owned())
        } else {
            let folder = self.folder_of(skill).unwrap_or(Path::new(".")).display();
            let name = skill.id.called();
            Err(format!(
                "trust in a folder covers reading; the right `hooks` was not granted: `skillgate trust add {folder} --rights hooks \
                 --skill {name}` does it, for what the skill is now"
            ))
        };
        let caveats: Vec<Caveat> =
            plan.caveats.iter().cloned().chain(ceiling.caveats(&skill.id, plan.digest)).collect();
        let grant = HookGrant { gate: self.gate_of(&plan.agent, &caveats), scene: self.hook_scene(skill, plan)? };
        let activation = Activation {
            skill,
            digest: plan.digest,
            header: plan.text.document.frontmatter(),
            grant: &grant,
            right,
            executor: &*self.runtime.executor,
            loader: self.runtime.hook_loader.as_deref(),
            limits: &self.runtime.limits,
        };
        Ok(Some(act(&activation, caveats)))
    }

    /// The hooks that a planned skill would have, as `EVENT: what is run`.
    ///
    /// # Errors
    /// [`InvokeError::Hooks`] when one that can block cannot run: the skill would not be activated.
    pub fn hooks_of(&self, plan: &InvocationPlan) -> Result<Vec<String>, InvokeError> {
        let of_plan;
        let ready = match &plan.hooks {
            None => {
                of_plan = self.prepare_hooks(plan)?;
                &of_plan
            }
            ready => ready,
        };
        let specs = ready.iter().flat_map(|ready| ready.prepared.specs());
        Ok(specs.map(|spec| format!("{}: {}", spec.event, spec.handler)).collect())
    }

    /// Calls the hooks that wait for an event in an agent.
    pub(crate) fn fire(&self, agent: &AgentId, input: &HookInput) -> HookOutcome {
        let hooks = {
            let conversation = self.conversation();
            conversation.hooks.matching(&conversation.scope_of(agent), input)
        };
        if hooks.is_empty() {
            return HookOutcome::default();
        }
        // One token for each skill, so that a skill that is taken back takes no hook of another along.
        let tokens: BTreeMap<SkillId, (Revocation, CancelToken)> =
            hooks.iter().map(|hook| (hook.key().skill.clone(), Default::default())).collect();
        let _listed: Vec<_> = tokens
            .iter()
            .map(|(skill, (revocation, token))| self.on_its_way(skill, revocation.clone(), token.clone()))
            .collect();
        let started = |key: &HookKey, run: &Arc<Run>| {
            if let Some((_, token)) = tokens.get(&key.skill) {
                let run = Arc::downgrade(run);
                token.on_cancel(move || run.upgrade().iter().for_each(|run| run.cancel()));
            }
        };
        let grant = |hook: &RegisteredHook| match tokens.get(&hook.key().skill) {
            Some((revocation, _)) if revocation.is_revoked() => Err("the skill was revoked".to_owned()),
            _ => self.grant_of(hook),
        };
        let runner = HookRunner {
            executor: &*self.runtime.executor,
            limits: &self.runtime.limits,
            timeout_ms: self.runtime.policy.hook_timeout_ms.value,
            base: self.runtime.path_base().clone(),
            common: self.common_members(agent),
            grant: &grant,
            started: Some(&started),
        };
        let outcome = runner.run(&hooks, input);
        telemetry::hooks_called(&outcome.reports);
        self.conversation().hooks.settle(&outcome);
        outcome
    }

    /// Whether a hook waits for an event in an agent.
    pub(crate) fn awaits(&self, agent: &AgentId, event: HookEvent) -> bool {
        let conversation = self.conversation();
        conversation.hooks.has(&conversation.scope_of(agent), event)
    }

    /// What a registered hook runs under now.
    fn grant_of(&self, hook: &RegisteredHook) -> Result<HookGrant, String> {
        let key = (hook.key().scope.clone(), hook.key().skill.clone());
        let ground = self.conversation().grounds.get(&key).cloned();
        let Some(ground) = ground else { return Err("its skill is not loaded any more".to_owned()) };
        let rights = self.held_rights(&ground.skill);
        if !self.ceiling(&ground.skill, &rights).permits(Right::Hooks) {
            return Err("the right `hooks` does not hold for what the skill is now".to_owned());
        }
        let trail = self.trail(Some(&ground.skill), Some(hook.digest()), skillgate_policy::Invoker::Model);
        let scene = self.scene_of(&ground.skill, trail, &Answers::default()).map_err(|error| error.to_string())?;
        let project = self.runtime.project.as_ref().map(|project| project.root.as_path());
        let scene = with_hook_environment(scene, &ground.skill, project);
        Ok(HookGrant { gate: self.gate_of(&ground.agent, &ground.caveats), scene })
    }

    fn hook_scene(&self, skill: &Skill, plan: &InvocationPlan) -> Result<skillgate_exec::Scene, InvokeError> {
        let scene = self.scene_of(skill, plan.trail.clone(), &plan.own)?;
        Ok(with_hook_environment(scene, skill, self.runtime.project.as_ref().map(|project| project.root.as_path())))
    }

    /// The host's rules less what the agent's skills in use and these caveats take away.
    fn gate_of(&self, agent: &AgentId, caveats: &[Caveat]) -> Gate {
        let scope = self.conversation().scopes.authority(agent, self.runtime.host.clone());
        let authority = caveats.iter().cloned().fold(scope, Authority::with);
        Gate::within(authority, self.runtime.path_base()).with_answers(self.consent.commands().clone())
    }

    /// What every event tells beside its own data.
    fn common_members(&self, agent: &AgentId) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("session_id".to_owned(), Value::from(self.id.clone().unwrap_or_default()));
        let cwd = self.runtime.project.as_ref().map(|project| project.path.to_string_lossy().into_owned());
        members.insert("cwd".to_owned(), Value::from(cwd.unwrap_or_default()));
        members.insert("permission_mode".to_owned(), Value::from("default"));
        if !agent.is_main() {
            members.insert("agent_id".to_owned(), Value::from(agent.as_str()));
        }
        members
    }
}
