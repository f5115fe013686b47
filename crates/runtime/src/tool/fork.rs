use super::skill::{SkillCall, SkillResult, SkillStatus, active};
use crate::Session;
use crate::cancel::CancelToken;
use crate::conversation::Forked;
use crate::error::InvokeError;
use crate::fire::ReadyHooks;
use crate::fork::{
    AgentError, AgentOutput, AgentRunner, DeliveryError, ForkMode, ForkPlace, ForkProgress, ForkRequest, check_kind,
    fork_mode, result_text,
};
use crate::hook::{HookEvent, HookInput, HookReport};
use crate::invocation::AuthorityReport;
use crate::invoked::{AgentId, InvokedSkill};
use crate::plan::InvocationPlan;
use serde_json::Map;
use skillgate_core::SkillId;
use std::sync::Arc;

/// How an agent of a skill's own ended.
#[derive(Debug)]
pub struct ForkEnd {
    /// The fork.
    pub fork: String,
    /// The skill.
    pub skill: SkillId,
    /// Its result, or why there is none.
    pub result: Result<String, AgentError>,
    /// One for each hook that was told that it ended.
    pub hooks: Vec<HookReport>,
}

impl Session {
    /// Runs a skill in an agent of its own, which can do at most what this one can.
    pub(super) fn fork_skill(
        &self,
        call: &SkillCall,
        plan: InvocationPlan,
        hooks: Option<ReadyHooks>,
    ) -> Result<SkillResult, InvokeError> {
        let skill = plan.skill.id.clone();
        let name = || skill.called().to_owned();
        let runner = self.runtime.agents.clone();
        if runner.is_none() && !self.host_runs_forks {
            return Err(InvokeError::NoAgents { name: name() });
        }
        let header = plan.text.document.frontmatter();
        let kind = header.agent.as_ref().map(|agent| agent.value.clone());
        let background = header.background.as_ref().map(|background| background.value);
        if let Some(runner) = &runner {
            check_kind(&**runner, kind.as_deref()).map_err(|error| InvokeError::Agent { name: name(), error })?;
        }
        let chain = self.conversation().chain_of(&call.agent).enter(&skill)?;
        let place = ForkPlace::take(&self.forks_running, &self.runtime.forks_running)
            .map_err(|error| InvokeError::TooManyForks { name: name(), error })?;
        let active = active(&plan);
        let (path, digest) = (plan.skill.path.to_string_lossy().into_owned(), plan.digest);
        let positions = plan.positions();
        let revocations = plan.revocations;
        let invocation = self.run(plan)?;
        let cancel = call.cancel.child();
        let (request, mode) = {
            let mut conversation = self.conversation();
            if conversation.revocations(&skill) != revocations {
                return Err(InvokeError::Revoked { name: name() });
            }
            let (id, agent) = conversation.forks.next_id();
            let scope = conversation.scope_of(&call.agent).child(agent.as_str());
            let forked = Forked { scope, chain: chain.clone(), _place: Arc::clone(&place) };
            conversation.forked.insert(agent.clone(), forked);
            conversation.scopes.fork(&call.agent, agent.clone());
            conversation.scopes.enter(&agent, active.clone());
            let authority = conversation.scopes.authority(&agent, self.runtime.host.clone());
            let request = ForkRequest {
                id,
                agent: agent.clone(),
                skill: skill.clone(),
                chain,
                prompt: invocation.text(),
                authority: AuthorityReport::of(&authority),
                model: active.model.clone(),
                effort: active.effort.clone(),
                kind,
            };
            let delivers = runner.as_ref().is_some_and(|runner| runner.delivers_later()) && self.on_fork_end.is_some();
            let mode = fork_mode(background, delivers, conversation.forks.runs(&skill));
            let invoked =
                InvokedSkill::new(skill.clone(), path, request.prompt.clone(), digest, self.runtime.clock.now_ms())
                    .by(agent)
                    .with_caveats(active.caveats)
                    .with_arguments(call.args.clone());
            let _new_to_the_agent = conversation.invoked.record(invoked);
            conversation.forks.begin(request.clone(), cancel.clone());
            (request, mode)
        };
        let registered = hooks.map(|hooks| hooks.register(&mut self.conversation(), &request.agent));
        let started = self.fire(&request.agent, &subagent(HookEvent::SubagentStart, &request));
        let mut result = self.result(call, &skill, SkillStatus::Forked);
        result.fork = Some(request.id.clone());
        result.injections = invocation.injections;
        result.diagnostics = invocation.diagnostics;
        result.positions = Some(positions);
        result.hooks = started.reports;
        result.registered = registered.unwrap_or_default();
        match (runner, mode) {
            // The host runs it, and delivers what comes of it.
            (None, _) => {
                result.status = SkillStatus::HostFork;
                result.tool_result = format!("The skill `{}` runs in an agent of its own ({}).", name(), request.id);
                result.fork_request = Some(Box::new(request));
            }
            (Some(runner), ForkMode::Background) => {
                result.status = SkillStatus::Background;
                result.tool_result = format!(
                    "The skill `{}` runs in an agent of its own ({}); its result comes when it is there.",
                    name(),
                    request.id
                );
                let fork = request.id.clone();
                if let Err(error) = self.run_later(runner, request, cancel, call.progress(), place) {
                    let error = AgentError::Unavailable { reason: format!("no thread can be started: {error}") };
                    // It may have been stopped meanwhile, which changes nothing.
                    let _ended =
                        self.conversation().forks.deliver(&fork).map(|it| self.conversation().end_agent(&it.agent));
                    return Err(InvokeError::Agent { name: name(), error });
                }
            }
            (Some(runner), ForkMode::Wait { because }) => {
                result.waited = Some(because);
                let output = run_agent(&*runner, &request, call.progress().as_deref(), &cancel);
                let end = self.end_fork(&request.id, output.map(|output| result_text(&output)));
                let end = end.map_err(|_stopped| InvokeError::Agent { name: name(), error: AgentError::Cancelled })?;
                result.hooks.extend(end.hooks);
                result.tool_result = end.result.map_err(|error| InvokeError::Agent { name: name(), error })?;
            }
        }
        Ok(result)
    }

    fn run_later(
        &self,
        runner: Arc<dyn AgentRunner>,
        request: ForkRequest,
        cancel: CancelToken,
        progress: Option<Arc<dyn Fn(ForkProgress) + Send + Sync>>,
        place: Arc<ForkPlace>,
    ) -> std::io::Result<()> {
        let session = self.me.clone();
        let work = move || {
            let output = run_agent(&*runner, &request, progress.as_deref(), &cancel);
            drop(place);
            // A conversation that is over has nobody to deliver to.
            let Some(session) = session.upgrade() else { return };
            if let Ok(end) = session.end_fork(&request.id, output.map(|output| result_text(&output)))
                && let Some(deliver) = &session.on_fork_end
            {
                deliver(end);
            }
        };
        std::thread::Builder::new().name("skillgate-fork".to_owned()).spawn(work).map(drop)
    }

    /// Delivers the result of a fork that the host runs itself ([`SkillStatus::HostFork`]). Gives the text for the conversation.
    ///
    /// # Errors
    /// [`DeliveryError`] when there is no such fork, or it has ended: a result is delivered once.
    pub fn deliver_fork(&self, fork: &str, text: &str) -> Result<ForkEnd, DeliveryError> {
        let output = AgentOutput { messages: vec![text.to_owned()] };
        self.end_fork(fork, Ok(result_text(&output)))
    }

    /// Ends a fork: its hooks are told, then everything of its agent is forgotten.
    fn end_fork(&self, fork: &str, result: Result<String, AgentError>) -> Result<ForkEnd, DeliveryError> {
        let request = self.conversation().forks.deliver(fork)?;
        let stopped = self.fire(&request.agent, &subagent(HookEvent::SubagentStop, &request));
        self.conversation().end_agent(&request.agent);
        Ok(ForkEnd { fork: request.id, skill: request.skill, result, hooks: stopped.reports })
    }

    /// The agents of skills that run now.
    #[must_use]
    pub fn forks(&self) -> Vec<AgentId> {
        self.conversation().forked.keys().cloned().collect()
    }
}

fn run_agent(
    runner: &dyn AgentRunner,
    request: &ForkRequest,
    progress: Option<&(dyn Fn(ForkProgress) + Send + Sync)>,
    cancel: &CancelToken,
) -> Result<AgentOutput, AgentError> {
    let _span = tracing::info_span!("skillgate.skill.fork", skill = %request.skill, fork = %request.id).entered();
    let told = |event: ForkProgress| progress.iter().for_each(|progress| progress(event.clone()));
    runner.run(request, &told, cancel)
}

fn subagent(event: HookEvent, request: &ForkRequest) -> HookInput {
    HookInput::new(event, Map::new())
        .with("agent_id", request.agent.as_str())
        .with("agent_type", request.kind.as_deref().unwrap_or("skill"))
}
