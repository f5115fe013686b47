use super::host_command::HostCommandKind;
use super::typed;
use crate::Session;
use crate::answer::{Always, Answer, Question};
use crate::cancel::CancelToken;
use crate::error::InvokeError;
use crate::fire::ReadyHooks;
use crate::fork::{ForkProgress, ForkRequest, WaitReason};
use crate::hook::{HookEvent, HookInput, HookOutcome, HookReport, HookText, HookVerdict};
use crate::invocation::{AuthorityReport, InjectionReport, Message, MessageKind, Role};
use crate::invoke::{Expanded, InvokeRequest};
use crate::invoked::{AgentId, InvokedSkill, Recorded};
use crate::plan::{InvocationPlan, Positions};
use crate::scope::{ActiveSkill, ActiveSkills};
use serde::Serialize;
use serde_json::{Map, Value};
use skillgate_core::{Context, Diagnostic, Effort, SkillId};
use skillgate_exec::Asked;
use skillgate_policy::Invoker;
use skillgate_registry::Lookup;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Characters of a call's arguments.
pub const MAX_ARGUMENT_CHARS: usize = 100_000;

/// Characters of the text that one call puts into a conversation; what is longer is cut, which is said.
pub const MAX_PROMPT_CHARS: usize = 100_000;

/// A call of a skill: by a model through the Skill tool, or by a person who typed its name.
#[derive(Clone)]
pub struct SkillCall {
    /// The skill's name; blanks around it and one slash before it do not count.
    pub skill: String,
    /// The arguments as typed.
    pub args: Option<String>,
    /// Who calls.
    pub caller: Invoker,
    /// The agent it is called in.
    pub agent: AgentId,
    /// The id of the tool's call in the conversation; every message of the result carries it.
    pub tool_use_id: Option<String>,
    /// Takes the call back while it runs.
    pub cancel: CancelToken,
    progress: Option<Arc<dyn Fn(ForkProgress) + Send + Sync>>,
}

impl SkillCall {
    /// A call in the main agent.
    #[must_use]
    pub fn new(skill: impl Into<String>, caller: Invoker) -> Self {
        Self {
            skill: skill.into(),
            args: None,
            caller,
            agent: AgentId::MAIN,
            tool_use_id: None,
            cancel: CancelToken::new(),
            progress: None,
        }
    }

    /// The same with arguments.
    #[must_use]
    pub fn args(mut self, text: impl Into<String>) -> Self {
        self.args = Some(text.into());
        self
    }

    /// The same in another agent.
    #[must_use]
    pub fn agent(mut self, agent: AgentId) -> Self {
        self.agent = agent;
        self
    }

    /// The same with the id of the tool's call.
    #[must_use]
    pub fn tool_use_id(mut self, id: impl Into<String>) -> Self {
        self.tool_use_id = Some(id.into());
        self
    }

    /// The same with what takes it back.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    /// Who is told what the skill's own agent does, when it has one. It is called from the thread that runs the agent.
    #[must_use]
    pub fn on_progress(mut self, told: impl Fn(ForkProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(told));
        self
    }

    pub(super) fn progress(&self) -> Option<Arc<dyn Fn(ForkProgress) + Send + Sync>> {
        self.progress.clone()
    }
}

impl fmt::Debug for SkillCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillCall")
            .field("skill", &self.skill)
            .field("args", &self.args)
            .field("caller", &self.caller)
            .field("agent", &self.agent)
            .field("tool_use_id", &self.tool_use_id)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SkillStatus {
    /// The skill's text is in the messages.
    Inline,
    /// The conversation holds the same text already; there are no messages.
    Unchanged,
    /// The skill ran in an agent of its own, and the result is the tool's.
    Forked,
    /// The skill runs in an agent of its own; the result comes later.
    Background,
    /// The host itself runs the skill's agent, and delivers its result.
    HostFork,
    /// The prompt of a command of the host's own.
    HostCommand,
}

/// What a skill asks for and leaves to the tools of the turn; for hosts that show it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CommandPermissions {
    /// The host's patterns that survive.
    pub allowed_tools: Vec<String>,
    /// The model for the turn.
    pub model: Option<String>,
    /// The effort for the turn.
    pub effort: Option<Effort>,
}

/// What a call of a skill gives.
#[derive(Clone, PartialEq, Debug)]
pub struct SkillResult {
    /// The name of the command that was called.
    pub command: String,
    /// The skill; `None` for a command of the host's own.
    pub skill: Option<SkillId>,
    /// How the call ended.
    pub status: SkillStatus,
    /// The text of the tool's result.
    pub tool_result: String,
    /// Messages to put into the conversation, in order.
    pub messages: Vec<Message>,
    /// What the tools of the turn are left with. The same as text is no message: it is the host's to show.
    pub permissions: CommandPermissions,
    /// What the agent may do from now on, in this turn.
    pub authority: AuthorityReport,
    /// The fork, when the skill has an agent of its own.
    pub fork: Option<String>,
    /// What the host begins the agent with, when it runs it itself.
    pub fork_request: Option<Box<ForkRequest>>,
    /// Why the call waited for the agent.
    pub waited: Option<WaitReason>,
    /// The injections that ran.
    pub injections: Vec<InjectionReport>,
    /// Texts of hooks for the model.
    pub context: Vec<HookText>,
    /// Texts of hooks for the user.
    pub hook_messages: Vec<HookText>,
    /// One for each hook that was called.
    pub hooks: Vec<HookReport>,
    /// Handlers that wait for their events from now on, as `EVENT: what is run`.
    pub registered: Vec<String>,
    /// Findings on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// Line and column for the offsets in the findings.
    pub positions: Option<Positions>,
}

/// What a typed line means.
#[derive(Clone, PartialEq, Debug)]
pub enum TypedResult {
    /// It begins with no `/name`, or with one that nobody knows and that may be text: it is for the model as it stands.
    Text,
    /// A command that the host carries out itself.
    Action {
        /// Its name, whatever alias was typed.
        command: String,
        /// What was typed behind it.
        args: String,
    },
    /// The skills that were called, in order. All but the first are inline skills.
    Skills(Vec<SkillResult>),
}

impl Session {
    /// Calls a skill: finds it, decides, asks what needs an answer, calls the hooks that may hold it back, runs its injections
    /// or its agent, registers its hooks, and keeps what it said and takes away.
    ///
    /// # Errors
    /// [`InvokeError`], with the numbers of the Skill tool ([`InvokeError::number`]); nothing of the skill enters the
    /// conversation then.
    pub fn call_skill(&self, call: &SkillCall) -> Result<SkillResult, InvokeError> {
        let caller = match call.caller {
            Invoker::User => "user",
            Invoker::Model => "model",
        };
        let arguments = self.runtime.telemetry.content(call.args.as_deref());
        let span = tracing::info_span!("skillgate.skill.call", skill = %call.skill.trim(), caller, agent = %call.agent, arguments);
        let _entered = span.enter();
        let chars = call.args.as_deref().map_or(0, |args| args.chars().count());
        if chars > MAX_ARGUMENT_CHARS {
            return Err(InvokeError::ArgumentsTooLong { chars, limit: MAX_ARGUMENT_CHARS });
        }
        let name = call.skill.trim();
        let name = name.strip_prefix('/').unwrap_or(name);
        if let Some(command) = self.runtime.host_commands.iter().find(|command| command.is_named(name)) {
            return match &command.kind {
                HostCommandKind::Action => Err(InvokeError::HostAction { name: command.name.to_string() }),
                HostCommandKind::Prompt(prompt) => {
                    let text = prompt(call.args.as_deref().unwrap_or_default());
                    Ok(self.host_prompt(call, command.name.as_str(), text))
                }
            };
        }
        let gate = self.hooks_before(call, name)?;
        if call.caller == Invoker::Model
            && let Lookup::Found(entry) = self.catalogue().lookup(name)
            && let Some(reason) = self.narrowed_away(&call.agent, &entry.skill().id)
        {
            return Err(InvokeError::HeldBack { name: name.to_owned(), reason });
        }
        let mut request = InvokeRequest::new(name, call.caller).agent(call.agent.clone()).cancel(call.cancel.child());
        if let Some(args) = &call.args {
            request = request.arguments(args);
        }
        let mut plan = self.prepare(&request)?;
        let hooks = plan.hooks.take();
        let mode = plan.text.document.frontmatter().context.as_ref().map_or(Context::Inline, |context| context.value);
        let mut result = match mode {
            Context::Inline => {
                let active = active(&plan);
                let positions = plan.positions();
                let invoked = Invoked::of(&plan);
                let Expanded { plan, text, injections } = self.expand(plan)?;
                let (recorded, registered) = self.keep(call, invoked, &text, active, hooks)?;
                let mut result = self.result(call, &plan.skill.id, SkillStatus::Inline);
                result.registered = registered;
                match recorded {
                    Recorded::New => {
                        let (text, cut) = bounded(text);
                        result.messages = messages(call, &result.command, text);
                        result.diagnostics.extend(cut);
                    }
                    Recorded::Unchanged { note } => {
                        result.status = SkillStatus::Unchanged;
                        result.tool_result = note;
                    }
                }
                result.injections = injections;
                result.diagnostics.extend(plan.diagnostics);
                result.positions = Some(positions);
                result
            }
            Context::Fork => self.fork_skill(call, plan, hooks)?,
        };
        result.context.extend(gate.context);
        result.hook_messages.extend(gate.messages);
        result.hooks.extend(gate.reports);
        self.used(result.skill.as_ref());
        Ok(result)
    }

    /// Takes a line that a person typed: `/name arguments`, or `/a /b text`, which calls up to six inline skills, each with the
    /// text. An explicit call is final: nothing in the arguments leads to another skill.
    ///
    /// # Errors
    /// As [`Session::call_skill`], of the first skill that cannot be called. Those before it were called, and are taken out of use
    /// again: nothing of the line enters the conversation. One that was in use before the line stays as it was.
    pub fn call_typed(&self, line: &str, template: &SkillCall) -> Result<TypedResult, InvokeError> {
        let catalogue = self.catalogue();
        let stackable = |name: &str| match catalogue.lookup(name) {
            Lookup::Found(entry) => {
                let inline = entry.skill().frontmatter.context.as_ref().is_none_or(|it| it.value == Context::Inline);
                inline && entry.is_open_to_user() && !self.is_host_command(name)
            }
            _ => false,
        };
        let Some((names, rest)) = typed::split(line, stackable) else { return Ok(TypedResult::Text) };
        if let Some(command) = self.runtime.host_commands.iter().find(|command| command.is_named(names[0]))
            && matches!(command.kind, HostCommandKind::Action)
        {
            return Ok(TypedResult::Action { command: command.name.to_string(), args: rest.to_owned() });
        }
        let before = (names.len() > 1).then(|| self.kept_for(&template.agent));
        let mut results: Vec<SkillResult> = Vec::new();
        for name in names {
            let mut call = SkillCall { skill: name.to_owned(), caller: Invoker::User, ..template.clone() };
            call.args = (!rest.is_empty()).then(|| rest.to_owned());
            match self.call_skill(&call) {
                Ok(result) => results.push(result),
                Err(error) => {
                    let called = results.iter().filter_map(|result| result.skill.as_ref());
                    self.take_out_again(&template.agent, called, before.unwrap_or_default());
                    return Err(error);
                }
            }
        }
        Ok(TypedResult::Skills(results))
    }

    /// What an agent's conversation holds, and whether it is in use.
    fn kept_for(&self, agent: &AgentId) -> BTreeMap<SkillId, (InvokedSkill, bool)> {
        let conversation = self.conversation();
        let scope = conversation.scopes.get(agent);
        let invoked = conversation.invoked.of(agent).into_iter();
        let held = |skill: &SkillId| scope.is_some_and(|scope| scope.holds(skill));
        invoked.map(|invoked| (invoked.skill.clone(), (invoked.clone(), held(&invoked.skill)))).collect()
    }

    /// Takes the skills of a line that failed out of use. One that was there before the line stays, with its hooks and what it takes
    /// away: a line that fails permits nothing.
    fn take_out_again<'s>(
        &self,
        agent: &AgentId,
        called: impl Iterator<Item = &'s SkillId>,
        mut before: BTreeMap<SkillId, (InvokedSkill, bool)>,
    ) {
        for skill in called {
            let Some((invoked, was_in_use)) = before.remove(skill) else {
                let _mark = self.unload(agent, &skill.to_string());
                continue;
            };
            let mut conversation = self.conversation();
            // Revoked or cleared meanwhile: there is nothing to go back to.
            if conversation.invoked.get(agent, skill).is_none() {
                continue;
            }
            // What the line read of a file that was edited since approves nothing in advance.
            conversation.scopes.withdraw(skill, Some(invoked.digest));
            let _recorded = conversation.invoked.record(invoked);
            if !was_in_use {
                conversation.scopes.leave(agent, skill);
            }
        }
    }

    fn is_host_command(&self, name: &str) -> bool {
        self.runtime.host_commands.iter().any(|command| command.is_named(name))
    }

    /// The hooks that may hold a call back: for a model's call those of the Skill tool, for a typed one those of its expansion.
    fn hooks_before(&self, call: &SkillCall, name: &str) -> Result<HookOutcome, InvokeError> {
        let event = match call.caller {
            Invoker::Model => HookEvent::PreToolUse,
            Invoker::User => HookEvent::UserPromptExpansion,
        };
        if !self.awaits(&call.agent, event) {
            return Ok(HookOutcome::default());
        }
        let input = match call.caller {
            Invoker::Model => {
                let mut members = Map::new();
                members.insert("skill".to_owned(), Value::from(name));
                members.extend(call.args.as_deref().map(|args| ("args".to_owned(), Value::from(args))));
                let input = HookInput::tool(event, "Skill", Value::Object(members));
                call.tool_use_id.iter().fold(input, |input, id| input.with("tool_use_id", id.as_str()))
            }
            Invoker::User => HookInput::new(event, Map::new())
                .with("command_name", name)
                .with("command_args", call.args.as_deref().unwrap_or_default()),
        };
        let outcome = self.fire(&call.agent, &input);
        let held = |reason: String| InvokeError::HeldBack { name: name.to_owned(), reason };
        match &outcome.verdict {
            HookVerdict::Deny(reason) => Err(held(reason.clone())),
            // The call that was asked about is another one then, and the model can make that itself.
            _ if outcome.rewritten_input.is_some() => {
                Err(held("a hook gave another input for the Skill tool, which a call does not take".to_owned()))
            }
            HookVerdict::Ask(reasons) => {
                let because = reasons.join("; ");
                let question = Question {
                    skill: None,
                    asked: Asked::Tool {
                        tool: "Skill".to_owned(),
                        input: Value::Object(input.fields().clone()).to_string(),
                    },
                    open: false,
                    because: because.clone(),
                    always: Always::Never,
                };
                self.consent.announce(std::slice::from_ref(&question));
                match self.consent.ask(&question, &self.trail(None, None, call.caller))? {
                    Answer::No => Err(held(because)),
                    Answer::Once | Answer::Always => Ok(outcome),
                }
            }
            HookVerdict::Pass => Ok(outcome),
        }
    }

    /// Keeps what was said and what is taken away from now on.
    ///
    /// # Errors
    /// [`InvokeError::Revoked`] when the skill was taken back while it ran: nothing of it is kept then, nor given.
    fn keep(
        &self,
        call: &SkillCall,
        invoked: Invoked,
        text: &str,
        active: ActiveSkill,
        hooks: Option<ReadyHooks>,
    ) -> Result<(Recorded, Vec<String>), InvokeError> {
        let now = self.runtime.clock.now_ms();
        let Invoked { skill, path, digest, revocations } = invoked;
        let entry = InvokedSkill::new(skill, path, text, digest, now)
            .by(call.agent.clone())
            .with_caveats(active.caveats.clone())
            .with_arguments(call.args.clone());
        let mut conversation = self.conversation();
        if conversation.revocations(&entry.skill) != revocations {
            return Err(InvokeError::Revoked { name: entry.skill.called().to_owned() });
        }
        let registered = hooks.map(|hooks| hooks.register(&mut conversation, &call.agent)).unwrap_or_default();
        conversation.scopes.enter(&call.agent, active);
        Ok((conversation.invoked.record(entry), registered))
    }

    fn used(&self, skill: Option<&SkillId>) {
        if let Some(skill) = skill {
            self.count_use(skill);
        }
    }

    /// Counts a use of a skill in this conversation, and where uses are counted from run to run. [`Session::call_skill`] does it
    /// by itself.
    pub fn count_use(&self, skill: &SkillId) {
        let catalogue = self.catalogue();
        let entries = catalogue.named(skill.command.as_str());
        let name =
            entries.iter().find(|entry| entry.skill().id == *skill).map(|entry| entry.qualified_name().to_owned());
        if let Some(name) = name {
            self.runtime.count_use(&name);
            *self.conversation().usage.entry(name).or_default() += 1;
        }
    }

    /// A result without messages.
    pub(super) fn result(&self, call: &SkillCall, skill: &SkillId, status: SkillStatus) -> SkillResult {
        let (authority, model, effort) = {
            let conversation = self.conversation();
            let scope = conversation.scopes.get(&call.agent);
            let authority = conversation.scopes.authority(&call.agent, self.runtime.host.clone());
            let (model, effort) = (scope.and_then(ActiveSkills::model), scope.and_then(ActiveSkills::effort));
            (AuthorityReport::of(&authority), model.map(str::to_owned), effort.cloned())
        };
        let command = skill.command.to_string();
        SkillResult {
            tool_result: format!("Launching skill: {command}"),
            command,
            skill: Some(skill.clone()),
            status,
            messages: Vec::new(),
            permissions: CommandPermissions {
                allowed_tools: authority.effective.iter().map(|entry| entry.pattern.clone()).collect(),
                model,
                effort,
            },
            authority,
            fork: None,
            fork_request: None,
            waited: None,
            injections: Vec::new(),
            context: Vec::new(),
            hook_messages: Vec::new(),
            hooks: Vec::new(),
            registered: Vec::new(),
            diagnostics: Vec::new(),
            positions: None,
        }
    }

    fn host_prompt(&self, call: &SkillCall, command: &str, text: String) -> SkillResult {
        let authority = {
            let conversation = self.conversation();
            AuthorityReport::of(&conversation.scopes.authority(&call.agent, self.runtime.host.clone()))
        };
        let (text, cut) = bounded(text);
        SkillResult {
            command: command.to_owned(),
            skill: None,
            status: SkillStatus::HostCommand,
            tool_result: format!("Launching skill: {command}"),
            messages: messages(call, command, text),
            permissions: CommandPermissions {
                allowed_tools: authority.effective.iter().map(|entry| entry.pattern.clone()).collect(),
                model: None,
                effort: None,
            },
            authority,
            fork: None,
            fork_request: None,
            waited: None,
            injections: Vec::new(),
            context: Vec::new(),
            hook_messages: Vec::new(),
            hooks: Vec::new(),
            registered: Vec::new(),
            diagnostics: cut.into_iter().collect(),
            positions: None,
        }
    }
}

/// What is kept of a plan that is used up.
struct Invoked {
    skill: SkillId,
    path: String,
    digest: skillgate_core::Digest,
    /// How often the skill was taken back when it was decided on.
    revocations: u64,
}

impl Invoked {
    fn of(plan: &InvocationPlan) -> Self {
        let path = plan.skill.path.to_string_lossy().into_owned();
        Self { skill: plan.skill.id.clone(), path, digest: plan.digest, revocations: plan.revocations }
    }
}

/// The skill as it is in use from now on.
pub(super) fn active(plan: &InvocationPlan) -> ActiveSkill {
    let header = plan.text.document.frontmatter();
    ActiveSkill {
        caveats: plan.caveats.clone(),
        model: header.model.as_ref().map(|model| model.value.0.clone()).filter(|model| model != "inherit"),
        effort: header.effort.as_ref().map(|effort| effort.value.clone()),
        pre_approval: plan.pre_approval.clone(),
        ..ActiveSkill::new(plan.skill.id.clone(), plan.digest)
    }
}

/// The message that says which command this is, and the text.
fn messages(call: &SkillCall, command: &str, text: String) -> Vec<Message> {
    let message = |kind, is_meta, content| Message {
        role: Role::User,
        kind,
        is_meta,
        content,
        tool_use_id: call.tool_use_id.clone(),
    };
    let mut tags = ["<command-name>/", &escaped(command), "</command-name>"].concat();
    if let Some(args) = call.args.as_deref().filter(|args| !args.is_empty()) {
        tags.push_str(&["\n<command-args>", &escaped(args), "</command-args>"].concat());
    }
    vec![message(MessageKind::Command, false, tags), message(MessageKind::Prompt, true, text)]
}

/// A text in which nothing ends the element it stands in.
fn escaped(text: &str) -> Cow<'_, str> {
    if text.contains(['&', '<', '>']) {
        Cow::Owned(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text as far as it may be, and a finding when it was cut.
pub(super) fn bounded(text: String) -> (String, Option<Diagnostic>) {
    let chars = if text.len() <= MAX_PROMPT_CHARS { 0 } else { text.chars().count() };
    if chars <= MAX_PROMPT_CHARS {
        return (text, None);
    }
    let said = format!("a prompt has at most {MAX_PROMPT_CHARS} characters, and this one has {chars}");
    let mark = format!("\n\n[Cut here: {said}.]");
    let kept: String = text.chars().take(MAX_PROMPT_CHARS - mark.chars().count()).collect();
    (kept + &mark, Some(Diagnostic::new(skillgate_core::Code::PromptCut, said)))
}
