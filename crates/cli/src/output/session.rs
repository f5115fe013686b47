//! What `session` answers.

use super::reload::ReloadOutput;
use super::{AuthorityOutput, DiagnosticOutput, InjectionOutput, ListOutput, ListingOutput, MessageOutput};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skillgate_core::Effort;
use skillgate_loader::PathDiagnostic;
use skillgate_runtime::hook::{HookReport, HookText};
use skillgate_runtime::{
    Compacted, DiscoveredSkills, EventResult, ForkEnd, ForkRequest, FoundTools, RestoreReport, SkillResult, ToolAfter,
    ToolDecision, ToolDefinition, TouchOutcome, TypedResult,
};

/// The result of a request; which of them, the request's `op` says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SessionReply {
    /// Of `list`.
    List(ListOutput),
    /// Of `listing`.
    Listing(ListingOutput),
    /// Of `search`.
    Search(DiscoveredSkills),
    /// Of `tool_search`.
    ToolSearch(FoundTools),
    /// Of `invoke`.
    Invoke(Box<InvokeOutput>),
    /// Of `typed`.
    Typed(TypedOutput),
    /// Of `touch`.
    Touch(TouchOutput),
    /// Of `reload`.
    Reload(ReloadOutput),
    /// Of `before_tool`.
    BeforeTool(ToolDecisionOutput),
    /// Of `after_tool`.
    AfterTool(ToolAfterOutput),
    /// Of `user_message`, `stop` and `event`.
    Event(EventOutput),
    /// Of `fork_result`.
    ForkResult(ForkResultOutput),
    /// Of `unload`.
    Unload(UnloadOutput),
    /// Of `revoke`.
    Revoke(RevokeOutput),
    /// Of `compact`.
    Compact(Compacted),
    /// Of `save`.
    Save(SaveOutput),
    /// Of `restore`.
    Restore(RestoreReport),
    /// Of `tools`.
    Tools(ToolsOutput),
    /// Of `answer`, `clear`, `register_tools` and `bye`.
    Nothing(NothingOutput),
}

/// No result beyond that it was done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NothingOutput {}

/// A skill that was called.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvokeOutput {
    /// The name of the command.
    pub(crate) command: String,
    /// The skill, as `source:name`; null for a command of the host's own.
    pub(crate) skill: Option<String>,
    /// `inline` or `fork`.
    pub(crate) mode: &'static str,
    /// `inline`, `unchanged` (the conversation holds the text already), `forked`, `background`, `host-fork` (the host runs it, and
    /// delivers with `fork_result`) or `host-command`.
    pub(crate) status: String,
    /// The text of the tool's result.
    pub(crate) tool_result: String,
    /// Messages to put into the conversation.
    pub(crate) messages: Vec<MessageOutput>,
    /// What the agent may do from now on, in this turn.
    pub(crate) authority: AuthorityOutput,
    /// The model for the turn.
    pub(crate) model: Option<String>,
    /// The effort for the turn.
    pub(crate) effort: Option<String>,
    /// Handlers that wait for their events from now on, as `EVENT: what is run`.
    pub(crate) hooks: Vec<String>,
    /// What the host begins an agent with, for `host-fork`.
    pub(crate) fork: Option<ForkOutput>,
    /// Texts of hooks for the model.
    pub(crate) context: Vec<HookTextOutput>,
    /// Texts of hooks for the user.
    pub(crate) hook_messages: Vec<HookTextOutput>,
    /// What ran.
    pub(crate) audit: InvokeAudit,
    /// Findings on the way.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}

/// What a typed line means.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "typed", rename_all = "kebab-case")]
pub(crate) enum TypedOutput {
    /// It names no skill or command at its beginning: it is for the model as it stands.
    Text,
    /// A command that the host carries out itself.
    Action {
        /// Its name.
        command: String,
        /// What was typed behind it.
        args: String,
    },
    /// The skills that were called, in order.
    Skills {
        /// What each gives, as `invoke` does.
        results: Vec<InvokeOutput>,
    },
}

impl From<TypedResult> for TypedOutput {
    fn from(result: TypedResult) -> Self {
        match result {
            TypedResult::Text => TypedOutput::Text,
            TypedResult::Action { command, args } => TypedOutput::Action { command, args },
            TypedResult::Skills(results) => {
                TypedOutput::Skills { results: results.into_iter().map(InvokeOutput::from).collect() }
            }
        }
    }
}

/// What ran for a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvokeAudit {
    /// The injections in order, each with its commands and what decided on them.
    pub(crate) injections: Vec<InjectionOutput>,
    /// The hooks that were called.
    pub(crate) hooks: Vec<HookReportOutput>,
}

/// What an agent of a skill's own is begun with.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForkOutput {
    /// Names it in `fork_result`.
    pub(crate) fork: String,
    /// Names the agent in other requests.
    pub(crate) agent: String,
    /// The kind of agent that the skill asks for.
    pub(crate) kind: Option<String>,
    /// Its prompt.
    pub(crate) prompt: String,
    /// The skills whose agents stand in each other, itself the last.
    pub(crate) chain: Vec<String>,
    /// What it may do at most.
    pub(crate) authority: AuthorityOutput,
    /// The model that the skill asks for.
    pub(crate) model: Option<String>,
    /// The effort that the skill asks for.
    pub(crate) effort: Option<String>,
}

/// What touched files led to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TouchOutput {
    /// Skills that waited for one of the files, by the names that always lead to them.
    pub(crate) activated: Vec<String>,
    /// Skills that were found in directories inside the project.
    pub(crate) nested: Vec<String>,
    /// Whether a model is offered other skills than before.
    pub(crate) changed: bool,
    /// Findings about directories and files of ignore rules.
    pub(crate) diagnostics: Vec<PathFindingOutput>,
}

/// A finding about a place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PathFindingOutput {
    /// The place.
    pub(crate) path: String,
    /// What was found.
    pub(crate) diagnostic: DiagnosticOutput,
}

/// What is decided on the use of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolDecisionOutput {
    /// `allow`, `ask` (nobody could be asked; the host asks its user, or refuses) or `deny`.
    pub(crate) decision: String,
    /// Why, in a sentence.
    pub(crate) because: String,
    /// The rule that decided.
    pub(crate) rule: Option<String>,
    /// A pattern that would allow it.
    pub(crate) remedy: Option<String>,
    /// The input to run it with, when a hook gave another one.
    pub(crate) rewritten_input: Option<Value>,
    /// Texts of hooks for the model.
    pub(crate) context: Vec<HookTextOutput>,
    /// Texts of hooks for the user.
    pub(crate) messages: Vec<HookTextOutput>,
    /// That the agent is to end, and why.
    pub(crate) stop: Option<HookTextOutput>,
    /// The hooks that were called.
    pub(crate) hooks: Vec<HookReportOutput>,
}

/// What hooks make of a tool's output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolAfterOutput {
    /// What takes the place of the output.
    pub(crate) rewritten_output: Option<Value>,
    /// Texts of hooks for the model.
    pub(crate) context: Vec<HookTextOutput>,
    /// Texts of hooks for the user.
    pub(crate) messages: Vec<HookTextOutput>,
    /// That the agent is to end, and why.
    pub(crate) stop: Option<HookTextOutput>,
    /// The hooks that were called.
    pub(crate) hooks: Vec<HookReportOutput>,
    /// What the files brought that the tool's input names.
    pub(crate) touched: TouchOutput,
}

/// What the hooks of an event came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventOutput {
    /// That it must not happen, or that the agent goes on, and why.
    pub(crate) held: Option<String>,
    /// Texts for the model.
    pub(crate) context: Vec<HookTextOutput>,
    /// Texts for the user.
    pub(crate) messages: Vec<HookTextOutput>,
    /// That the agent is to end, and why.
    pub(crate) stop: Option<HookTextOutput>,
    /// The hooks that were called.
    pub(crate) hooks: Vec<HookReportOutput>,
}

/// A text of a hook.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HookTextOutput {
    /// The skill whose hook it is.
    pub(crate) skill: String,
    /// The text.
    pub(crate) text: String,
}

/// One hook that was called.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HookReportOutput {
    /// The skill.
    pub(crate) skill: String,
    /// The agent that invoked it.
    pub(crate) scope: String,
    /// The event that it waits for.
    pub(crate) event: String,
    /// The event that it was called for.
    pub(crate) called_for: String,
    /// What was run.
    pub(crate) handler: String,
    /// `passed`, `asked`, `denied`, `failed-and-denied` or `failed`.
    pub(crate) outcome: String,
    /// The reason or the failure.
    pub(crate) detail: Option<String>,
    /// Wall time, microseconds.
    pub(crate) duration_us: u64,
    /// Findings about its output.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}

/// What a fork gave.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForkResultOutput {
    /// The skill.
    pub(crate) skill: String,
    /// The text of the tool's result.
    pub(crate) tool_result: String,
    /// The hooks that were told.
    pub(crate) hooks: Vec<HookReportOutput>,
}

/// A skill that was taken out of use.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UnloadOutput {
    /// The line that the model is to be told.
    pub(crate) mark: String,
}

/// A skill that was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevokeOutput {
    /// The lines that the agents are to be told.
    pub(crate) marks: Vec<AgentMark>,
}

/// A line that an agent is to be told.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentMark {
    /// The agent.
    pub(crate) agent: String,
    /// The line.
    pub(crate) mark: String,
}

/// A conversation that was saved.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SaveOutput {
    /// Digest of all that it says.
    pub(crate) digest: String,
    /// The file that was written.
    pub(crate) path: Option<String>,
    /// The save, when no file was named.
    pub(crate) data: Option<Value>,
}

/// The tools of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolsOutput {
    /// The tools.
    pub(crate) tools: Vec<ToolOutput>,
}

/// One tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolOutput {
    /// Its name.
    pub(crate) name: String,
    /// What it does.
    pub(crate) description: String,
    /// JSON Schema of its input.
    pub(crate) input_schema: Value,
}

/// A unit variant's name, as it is written in JSON.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn effort(effort: &Effort) -> String {
    match effort {
        Effort::Number(number) => number.to_string(),
        named => word(named),
    }
}

fn texts(texts: Vec<HookText>) -> Vec<HookTextOutput> {
    texts.into_iter().map(HookTextOutput::from).collect()
}

fn reports(reports: Vec<HookReport>) -> Vec<HookReportOutput> {
    reports.into_iter().map(HookReportOutput::from).collect()
}

impl From<HookText> for HookTextOutput {
    fn from(text: HookText) -> Self {
        Self { skill: text.skill.to_string(), text: text.text }
    }
}

impl From<HookReport> for HookReportOutput {
    fn from(report: HookReport) -> Self {
        Self {
            skill: report.key.skill.to_string(),
            scope: report.key.scope.to_string(),
            event: report.key.event.name().to_owned(),
            called_for: report.called_for.name().to_owned(),
            handler: report.handler,
            outcome: report.outcome.name().to_owned(),
            detail: report.detail,
            duration_us: report.duration_us,
            diagnostics: report.diagnostics.iter().map(|found| DiagnosticOutput::new(found, |_| None)).collect(),
        }
    }
}

impl From<&ForkRequest> for ForkOutput {
    fn from(request: &ForkRequest) -> Self {
        Self {
            fork: request.id.clone(),
            agent: request.agent.to_string(),
            kind: request.kind.clone(),
            prompt: request.prompt.clone(),
            chain: request.chain.skills().iter().map(ToString::to_string).collect(),
            authority: AuthorityOutput::of(&request.authority),
            model: request.model.clone(),
            effort: request.effort.as_ref().map(effort),
        }
    }
}

impl From<SkillResult> for InvokeOutput {
    fn from(result: SkillResult) -> Self {
        let position = |at| result.positions.as_ref().and_then(|positions| positions.at(at));
        let status = word(result.status);
        Self {
            mode: if result.fork.is_some() { "fork" } else { "inline" },
            status,
            messages: result.messages.iter().map(MessageOutput::of).collect(),
            authority: AuthorityOutput::of(&result.authority),
            effort: result.permissions.effort.as_ref().map(effort),
            fork: result.fork_request.as_deref().map(ForkOutput::from),
            diagnostics: result.diagnostics.iter().map(|found| DiagnosticOutput::new(found, position)).collect(),
            audit: InvokeAudit {
                injections: result.injections.iter().map(InjectionOutput::ran).collect(),
                hooks: reports(result.hooks),
            },
            command: result.command,
            skill: result.skill.as_ref().map(ToString::to_string),
            tool_result: result.tool_result,
            model: result.permissions.model,
            hooks: result.registered,
            context: texts(result.context),
            hook_messages: texts(result.hook_messages),
        }
    }
}

impl From<&PathDiagnostic> for PathFindingOutput {
    fn from(found: &PathDiagnostic) -> Self {
        Self { path: found.path.display().to_string(), diagnostic: DiagnosticOutput::new(&found.diagnostic, |_| None) }
    }
}

impl From<TouchOutcome> for TouchOutput {
    fn from(outcome: TouchOutcome) -> Self {
        Self {
            activated: outcome.activated,
            nested: outcome.nested,
            changed: outcome.changed,
            diagnostics: outcome.diagnostics.iter().map(PathFindingOutput::from).collect(),
        }
    }
}

impl From<ToolDecision> for ToolDecisionOutput {
    fn from(decision: ToolDecision) -> Self {
        Self {
            decision: decision.effect.to_string(),
            because: decision.because,
            rule: decision.rule,
            remedy: decision.remedy,
            rewritten_input: decision.rewritten_input,
            context: texts(decision.context),
            messages: texts(decision.messages),
            stop: decision.stop.map(HookTextOutput::from),
            hooks: reports(decision.hooks),
        }
    }
}

impl ToolAfterOutput {
    pub(crate) fn new(after: ToolAfter, touched: TouchOutcome) -> Self {
        Self {
            rewritten_output: after.rewritten_output,
            context: texts(after.context),
            messages: texts(after.messages),
            stop: after.stop.map(HookTextOutput::from),
            hooks: reports(after.hooks),
            touched: TouchOutput::from(touched),
        }
    }
}

impl From<EventResult> for EventOutput {
    fn from(result: EventResult) -> Self {
        Self {
            held: result.held,
            context: texts(result.context),
            messages: texts(result.messages),
            stop: result.stop.map(HookTextOutput::from),
            hooks: reports(result.hooks),
        }
    }
}

impl ForkResultOutput {
    pub(crate) fn new(end: ForkEnd, text: String) -> Self {
        Self { skill: end.skill.to_string(), tool_result: text, hooks: reports(end.hooks) }
    }
}

impl From<Vec<ToolDefinition>> for ToolsOutput {
    fn from(tools: Vec<ToolDefinition>) -> Self {
        let tool = |tool: ToolDefinition| ToolOutput {
            name: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
        };
        Self { tools: tools.into_iter().map(tool).collect() }
    }
}
