//! Each operation as calls of the session.

use super::client::Client;
use super::protocol::{Caller, Event, RegisteredTool, Request, fault};
use crate::command::{list, listing};
use crate::exit::Failure;
use crate::output::{
    AgentMark, ErrorOutput, EventOutput, ForkResultOutput, InvokeOutput, NothingOutput, ReloadOutput, RevokeOutput,
    SaveOutput, SessionReply, ToolAfterOutput, ToolDecisionOutput, ToolsOutput, TouchOutput, TypedOutput, UnloadOutput,
};
use serde_json::Value;
use skillgate_policy::Invoker;
use skillgate_registry::DEFAULT_LISTING_CHARS;
use skillgate_runtime::hook::HookEvent;
use skillgate_runtime::{
    AgentId, CancelToken, CompactBudget, DiscoverSkills, InvokeError, Save, SaveError, Session, SkillCall, ToolCall,
};
use skillgate_search::ToolInfo;
use std::path::Path;
use std::sync::Arc;

type Outcome = Result<SessionReply, ErrorOutput>;

/// Does what a request wants. The client is told what happens meanwhile.
pub(super) fn perform(session: &Session, client: &Arc<Client>, request: Request, cancel: &CancelToken) -> Outcome {
    match request {
        Request::List { state, source, set, .. } => list(session, state.as_deref(), source.as_deref(), set.as_deref()),
        Request::Listing { budget_chars, .. } => {
            let budget = budget_chars.unwrap_or(DEFAULT_LISTING_CHARS);
            let listing = session.listing(&session.listing_options(budget));
            Ok(SessionReply::Listing(listing::output(listing, budget)))
        }
        Request::Search { query, limit, .. } => {
            let request = DiscoverSkills { description: query, limit };
            Ok(SessionReply::Search(session.discover_skills(&request)))
        }
        Request::ToolSearch { query, limit, .. } => Ok(SessionReply::ToolSearch(session.search_tools(&query, limit))),
        Request::Invoke { id, skill, args, caller, agent, tool_use_id } => {
            let caller = match caller {
                Caller::User => Invoker::User,
                Caller::Model => Invoker::Model,
            };
            let mut call = SkillCall::new(skill, caller).agent(self::agent(agent)?).cancel(cancel.clone());
            call.args = args;
            call.tool_use_id = tool_use_id;
            let client = Arc::clone(client);
            invoke(
                session,
                &call.on_progress(move |progress| client.event(Some(id.clone()), Event::Progress { progress })),
            )
        }
        Request::Typed { id, line, agent, .. } => {
            let template = SkillCall::new("", Invoker::User).agent(self::agent(agent)?).cancel(cancel.clone());
            let client = Arc::clone(client);
            let told = move |progress| client.event(Some(id.clone()), Event::Progress { progress });
            match session.call_typed(&line, &template.on_progress(told)) {
                Ok(result) => Ok(SessionReply::Typed(TypedOutput::from(result))),
                Err(error) => Err(not_invoked(error, cancel)),
            }
        }
        Request::Touch { paths, .. } => Ok(SessionReply::Touch(TouchOutput::from(session.touch(paths)))),
        Request::Reload { .. } => match session.runtime().reload() {
            Ok(reloaded) => Ok(SessionReply::Reload(ReloadOutput::from(&reloaded))),
            Err(error) => Err(failed(&Failure::from(error))),
        },
        Request::BeforeTool { tool, input, agent, tool_use_id, .. } => {
            let call = tool_call(tool, input, agent, tool_use_id)?;
            let decision =
                session.before_tool(&call).map_err(|error| failed(&Failure::from(InvokeError::from(error))))?;
            Ok(SessionReply::BeforeTool(ToolDecisionOutput::from(decision)))
        }
        Request::AfterTool { tool, input, output, failed, agent, tool_use_id, .. } => {
            let call = tool_call(tool, input, agent, tool_use_id)?;
            let after = session.after_tool(&call, &output, failed);
            let touched = session.touch(session.touched_by(&call));
            Ok(SessionReply::AfterTool(ToolAfterOutput::new(after, touched)))
        }
        Request::UserMessage { text, .. } => Ok(SessionReply::Event(EventOutput::from(session.user_message(&text)))),
        Request::Stop { agent, again, .. } => {
            Ok(SessionReply::Event(EventOutput::from(session.stop(&self::agent(agent)?, again))))
        }
        Request::Event { event, input, agent, .. } => {
            let agent = self::agent(agent)?;
            let event = HookEvent::parse(&event)
                .map_err(|error| fault("bad-request", error.to_string(), "write its name as in a skill's `hooks`"))?;
            Ok(SessionReply::Event(EventOutput::from(session.event(&agent, event, input))))
        }
        Request::ForkResult { fork, text, .. } => {
            let end = session.deliver_fork(&fork, &text).map_err(|error| {
                fault("no-such-fork", error.to_string(), "a result is delivered once, by its `fork`")
            })?;
            match &end.result {
                Ok(text) => {
                    let text = text.clone();
                    Ok(SessionReply::ForkResult(ForkResultOutput::new(end, text)))
                }
                Err(error) => Err(fault(error.code(), error.to_string(), "call the skill again")),
            }
        }
        Request::Unload { skill, agent, .. } => match session.unload(&self::agent(agent)?, &skill) {
            Some(mark) => Ok(SessionReply::Unload(UnloadOutput { mark })),
            None => {
                let message = format!("the agent has no skill `{skill}` in use");
                Err(fault("not-found", message, "it was not called, or was unloaded"))
            }
        },
        Request::Revoke { skill, .. } => {
            let mark = |(agent, mark): (AgentId, String)| AgentMark { agent: agent.to_string(), mark };
            let marks = session.revoke(&skill).into_iter().map(mark).collect();
            Ok(SessionReply::Revoke(RevokeOutput { marks }))
        }
        Request::Clear { preserve, .. } => {
            let preserve = preserve.into_iter().map(|name| agent(Some(name))).collect::<Result<Vec<_>, _>>()?;
            session.clear(&preserve);
            Ok(nothing())
        }
        Request::Compact { budget_tokens, per_skill_tokens, budget_chars, agent, .. } => {
            let usual = CompactBudget::default();
            let budget = CompactBudget {
                tokens: budget_tokens.unwrap_or(usual.tokens),
                per_skill_tokens: per_skill_tokens.unwrap_or(usual.per_skill_tokens),
            };
            let listing = session.listing_options(budget_chars.unwrap_or(DEFAULT_LISTING_CHARS));
            match session.compact(&self::agent(agent)?, budget, &listing) {
                Ok(compacted) => Ok(SessionReply::Compact(compacted)),
                Err(held) => Err(fault("held", held.to_string(), "unload the skill whose hook holds it")),
            }
        }
        Request::Save { path, .. } => save(session, path.as_deref()),
        Request::Restore { path, data, .. } => restore(session, path.as_deref(), data),
        Request::Tools { names, .. } => Ok(SessionReply::Tools(ToolsOutput::from(session.tools(names)))),
        Request::RegisterTools { tools, .. } => {
            session.register_tools(tools.into_iter().map(ToolInfo::from).collect());
            Ok(nothing())
        }
        // The loop answers these itself.
        Request::Hello { .. } | Request::Answer { .. } | Request::Cancel { .. } | Request::Bye { .. } => Ok(nothing()),
    }
}

fn nothing() -> SessionReply {
    SessionReply::Nothing(NothingOutput {})
}

fn failed(failure: &Failure) -> ErrorOutput {
    failure.output()
}

fn agent(name: Option<String>) -> Result<AgentId, ErrorOutput> {
    name.map_or(Ok(AgentId::MAIN), AgentId::new)
        .map_err(|error| fault("bad-request", error.to_string(), "`main`, or the `agent` of a fork"))
}

fn tool_call(
    tool: String,
    input: Value,
    agent: Option<String>,
    tool_use_id: Option<String>,
) -> Result<ToolCall, ErrorOutput> {
    Ok(ToolCall { tool_use_id, ..ToolCall::new(tool, input).by(self::agent(agent)?) })
}

fn list(session: &Session, state: Option<&str>, source: Option<&str>, set: Option<&str>) -> Outcome {
    let mut listed = list::output(session, set, &[]).map_err(|failure| failed(&failure))?;
    listed.skills.retain(|skill| {
        state.is_none_or(|state| skill.state == state) && source.is_none_or(|source| skill.source == source)
    });
    Ok(SessionReply::List(listed))
}

fn invoke(session: &Session, call: &SkillCall) -> Outcome {
    match session.call_skill(call) {
        Ok(result) => Ok(SessionReply::Invoke(Box::new(InvokeOutput::from(result)))),
        Err(error) => Err(not_invoked(error, &call.cancel)),
    }
}

fn not_invoked(error: InvokeError, cancel: &CancelToken) -> ErrorOutput {
    if cancel.is_cancelled() {
        let help = "nothing of the skill enters the conversation";
        return fault("cancelled", "the request was stopped".to_owned(), help);
    }
    failed(&Failure::from(error))
}

fn save(session: &Session, path: Option<&str>) -> Outcome {
    let save = session.save().map_err(|error| save_failed(&error))?;
    let digest = save.digest().to_string();
    Ok(SessionReply::Save(match path {
        Some(path) => {
            save.write_ambient(Path::new(path)).map_err(|error| save_failed(&error))?;
            SaveOutput { digest, path: Some(path.to_owned()), data: None }
        }
        None => SaveOutput { digest, path: None, data: Some(save.value().clone()) },
    }))
}

fn restore(session: &Session, path: Option<&str>, data: Option<Value>) -> Outcome {
    let save = match (path, data) {
        (Some(path), None) => match Save::read_ambient(Path::new(path)).map_err(|error| save_failed(&error))? {
            Some(save) => save,
            None => return Err(save_failed(&SaveError::Missing { path: path.into() })),
        },
        (None, Some(data)) => Save::from_value(data).map_err(|error| save_failed(&error))?,
        _ => {
            let message = "one of `path` and `data` says what is restored".to_owned();
            return Err(fault("bad-request", message, "give one of them"));
        }
    };
    Ok(SessionReply::Restore(session.restore(&save)))
}

fn save_failed(error: &SaveError) -> ErrorOutput {
    ErrorOutput {
        code: error.code().to_owned(),
        number: None,
        message: error.to_string(),
        rule: None,
        help: error.help().into_iter().collect(),
    }
}

impl From<RegisteredTool> for ToolInfo<Value> {
    fn from(tool: RegisteredTool) -> Self {
        Self {
            name: tool.name,
            description: tool.description,
            schema: tool.schema,
            search_hint: tool.search_hint,
            is_mcp: tool.is_mcp,
            always_load: tool.always_load,
            should_defer: tool.should_defer,
        }
    }
}
