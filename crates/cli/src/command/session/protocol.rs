//! The lines of the protocol as types. Their schemas are `docs/schemas/session-request.json` and `session-response.json`.

use crate::output::{ErrorOutput, SessionReply, SkillsChangedOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillgate_runtime::ForkProgress;
use std::fmt;

/// The version of the protocol. What a client has to know to read an answer only changes with it.
pub(super) const VERSION: u64 = 1;

/// Characters of an id that is a text.
const MAX_ID_CHARS: usize = 128;

/// What the ids of asks begin with; those of requests do not.
const ASK: &str = "ask-";

/// Names a request among those that are not answered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Id {
    /// A number.
    Number(u64),
    /// A text of 1 to 128 characters that does not begin with `ask-`.
    Text(String),
}

impl Id {
    /// Why it can be no id of a request.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Id::Number(_) => None,
            Id::Text(text) if text.is_empty() => Some("an `id` has a character at least"),
            Id::Text(text) if text.chars().count() > MAX_ID_CHARS => Some("an `id` has at most 128 characters"),
            Id::Text(text) if text.starts_with(ASK) => Some("ids that begin with `ask-` are those of asks"),
            Id::Text(_) => None,
        }
    }

    /// The id of an ask.
    pub(super) fn of_ask(number: u64) -> Self {
        Id::Text(format!("{ASK}{number}"))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => number.fmt(f),
            Id::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// Who calls a skill.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Caller {
    /// A person who typed its name.
    User,
    /// A model through the Skill tool.
    Model,
}

/// What somebody says to an ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    /// It may happen, this time.
    Once,
    /// It may happen as far as the ask's `always` says, to the end of the session.
    Always,
    /// It may not.
    No,
}

/// A tool of the host, for `ToolSearch`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegisteredTool {
    /// The name the model calls it by; `mcp__SERVER__TOOL` for one of a server.
    pub(crate) name: String,
    /// What it does.
    #[serde(default)]
    pub(crate) description: String,
    /// JSON Schema of its input, given back with a match.
    #[serde(default)]
    pub(crate) schema: Value,
    /// Words for the search alone.
    pub(crate) search_hint: Option<String>,
    /// Whether a server offers it.
    #[serde(default)]
    pub(crate) is_mcp: bool,
    /// Whether its schema is always given.
    #[serde(default)]
    pub(crate) always_load: bool,
    /// Whether its schema is given on request only.
    #[serde(default)]
    pub(crate) should_defer: bool,
}

/// A line of the client. The first is `hello`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Begins; answered with the versions of the protocol and of Skillgate.
    Hello {
        /// The version of the protocol that the client knows.
        version: u64,
    },
    /// The skills, as `skillgate list` gives them.
    List {
        /// The request.
        id: Id,
        /// Only those in this state.
        state: Option<String>,
        /// Only those of this source.
        source: Option<String>,
        /// Only those of this set of the policy.
        set: Option<String>,
    },
    /// What a model is told of the skills.
    Listing {
        /// The request.
        id: Id,
        /// The most characters of the text; 8,000 unless set.
        budget_chars: Option<usize>,
    },
    /// The skills that answer a query.
    Search {
        /// The request.
        id: Id,
        /// What is to be done.
        query: String,
        /// How many at most, 1 to 50; 5 unless set.
        limit: Option<usize>,
    },
    /// The registered tools that answer a query.
    ToolSearch {
        /// The request.
        id: Id,
        /// `select:A,B`, a name, or words.
        query: String,
        /// How many at most, 1 to 50; 5 unless set.
        limit: Option<usize>,
    },
    /// Calls a skill.
    Invoke {
        /// The request.
        id: Id,
        /// Its name.
        skill: String,
        /// Its arguments as typed.
        args: Option<String>,
        /// Who calls.
        caller: Caller,
        /// The agent it is called in; the main one unless set.
        agent: Option<String>,
        /// The id of the tool's call in the conversation; every message carries it.
        tool_use_id: Option<String>,
    },
    /// Takes a line that a person typed: `/name arguments`, or `/a /b text`, which calls up to six inline skills, each with the
    /// text.
    Typed {
        /// The request.
        id: Id,
        /// The line.
        line: String,
        /// The agent it is typed in; the main one unless set.
        agent: Option<String>,
    },
    /// Answers an ask. The `id` is that of the ask.
    Answer {
        /// The ask.
        id: Id,
        /// What is said to it.
        decision: Decision,
    },
    /// Tells of files that a tool of the host touched.
    Touch {
        /// The request.
        id: Id,
        /// The files; relative ones are taken from the project's directory.
        paths: Vec<String>,
    },
    /// Loads the skills again: those that came, changed or went since are taken in.
    Reload {
        /// The request.
        id: Id,
    },
    /// Decides on the use of a tool of the host, before it runs.
    BeforeTool {
        /// The request.
        id: Id,
        /// The tool.
        tool: String,
        /// Its input.
        input: Value,
        /// The agent that uses it; the main one unless set.
        agent: Option<String>,
        /// The id of the tool's call in the conversation.
        tool_use_id: Option<String>,
    },
    /// Tells the hooks of what a tool gave.
    AfterTool {
        /// The request.
        id: Id,
        /// The tool.
        tool: String,
        /// Its input.
        input: Value,
        /// Its output, or what it failed with.
        output: Value,
        /// Whether it failed.
        #[serde(default)]
        failed: bool,
        /// The agent that used it; the main one unless set.
        agent: Option<String>,
        /// The id of the tool's call in the conversation.
        tool_use_id: Option<String>,
    },
    /// The user says something: the turn of the main agent ends.
    UserMessage {
        /// The request.
        id: Id,
        /// What is said.
        text: String,
    },
    /// An agent wants to end.
    Stop {
        /// The request.
        id: Id,
        /// The agent; the main one unless set.
        agent: Option<String>,
        /// Whether it went on because a hook held it already.
        #[serde(default)]
        again: bool,
    },
    /// Raises an event for the hooks.
    Event {
        /// The request.
        id: Id,
        /// Its name, such as `Notification`.
        event: String,
        /// Its data.
        #[serde(default)]
        input: Map<String, Value>,
        /// The agent it happens to; the main one unless set.
        agent: Option<String>,
    },
    /// Delivers what a fork gave that the host ran itself.
    ForkResult {
        /// The request.
        id: Id,
        /// The fork.
        fork: String,
        /// The text.
        text: String,
    },
    /// Takes a skill out of use.
    Unload {
        /// The request.
        id: Id,
        /// Its name, or `source:name`.
        skill: String,
        /// The agent; the main one unless set.
        agent: Option<String>,
    },
    /// Takes a skill back from every agent, and ends what runs for it.
    Revoke {
        /// The request.
        id: Id,
        /// Its name, or `source:name`.
        skill: String,
    },
    /// Begins a new conversation.
    Clear {
        /// The request.
        id: Id,
        /// The agents whose skills, hooks and scope stay.
        #[serde(default)]
        preserve: Vec<String>,
    },
    /// What a compacted conversation is given again.
    Compact {
        /// The request.
        id: Id,
        /// Tokens of all skills' texts; 25,000 unless set.
        budget_tokens: Option<usize>,
        /// Tokens of one skill's text; 5,000 unless set.
        per_skill_tokens: Option<usize>,
        /// Characters of the listing; 8,000 unless set.
        budget_chars: Option<usize>,
        /// The agent; the main one unless set.
        agent: Option<String>,
    },
    /// The conversation in the form that is kept.
    Save {
        /// The request.
        id: Id,
        /// The file to write; without one the save is in the answer.
        path: Option<String>,
    },
    /// Takes the place of the conversation by one that was saved.
    Restore {
        /// The request.
        id: Id,
        /// The file to read.
        path: Option<String>,
        /// The save itself.
        data: Option<Value>,
    },
    /// The tools that a model is offered, with the schemas of their inputs.
    Tools {
        /// The request.
        id: Id,
        /// Whether the schema of `Skill` lists the names there are now.
        #[serde(default)]
        names: bool,
    },
    /// Takes the host's tools, for `tool_search`.
    RegisterTools {
        /// The request.
        id: Id,
        /// All of them.
        tools: Vec<RegisteredTool>,
    },
    /// Stops a request. Its own answer says that it was stopped, and this has no other.
    Cancel {
        /// The request that is stopped.
        id: Id,
    },
    /// Stops what runs and ends.
    Bye {
        /// The request.
        id: Id,
    },
}

/// What a line of the client is: a request, or why it is none, with the id it has as far as one can be read.
pub(super) fn read(line: &[u8]) -> Result<Request, (Option<Id>, ErrorOutput)> {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return Err((None, fault("bad-json", format!("the line is no JSON: {error}"), "write one object a line")));
        }
    };
    let id = value.get("id").and_then(|id| Id::deserialize(id).ok()).filter(|id| id.fault().is_none());
    let Some(op) = value.get("op").and_then(Value::as_str).map(str::to_owned) else {
        return Err((
            id,
            fault("bad-request", "the line has no text `op`".to_owned(), "write an object with `op` and `id`"),
        ));
    };
    match Request::deserialize(value) {
        Ok(request) => match request.id().and_then(Id::fault) {
            Some(message) if !matches!(request, Request::Answer { .. }) => {
                Err((None, fault("bad-request", message.to_owned(), "number the requests")))
            }
            _ => Ok(request),
        },
        Err(error) => {
            let message = error.to_string();
            if message.starts_with(&format!("unknown variant `{op}`")) {
                let known = message.split_once("expected ").map_or("", |(_, known)| known);
                let help = format!("there is {}", known.replace("one of ", ""));
                return Err((id, fault("unknown-op", format!("there is no `op` {op:?}"), help)));
            }
            Err((id, fault("bad-request", format!("`{op}`: {message}"), "docs/session.md has the fields of each op")))
        }
    }
}

/// An error of the protocol itself.
pub(super) fn fault(code: &str, message: String, help: impl Into<String>) -> ErrorOutput {
    ErrorOutput { code: code.to_owned(), number: None, message, rule: None, help: vec![help.into()] }
}

impl Request {
    /// The names of the skills that it may call.
    pub(super) fn skills(&self) -> Vec<&str> {
        match self {
            Request::Invoke { skill, .. } => vec![skill],
            Request::Typed { line, .. } => line.split_whitespace().take_while(|word| word.starts_with('/')).collect(),
            _ => Vec::new(),
        }
    }

    /// The request's id; `hello` has none.
    pub(super) fn id(&self) -> Option<&Id> {
        match self {
            Request::Hello { .. } => None,
            Request::List { id, .. }
            | Request::Listing { id, .. }
            | Request::Search { id, .. }
            | Request::ToolSearch { id, .. }
            | Request::Invoke { id, .. }
            | Request::Typed { id, .. }
            | Request::Answer { id, .. }
            | Request::Touch { id, .. }
            | Request::Reload { id }
            | Request::BeforeTool { id, .. }
            | Request::AfterTool { id, .. }
            | Request::UserMessage { id, .. }
            | Request::Stop { id, .. }
            | Request::Event { id, .. }
            | Request::ForkResult { id, .. }
            | Request::Unload { id, .. }
            | Request::Revoke { id, .. }
            | Request::Clear { id, .. }
            | Request::Compact { id, .. }
            | Request::Save { id, .. }
            | Request::Restore { id, .. }
            | Request::Tools { id, .. }
            | Request::RegisterTools { id, .. }
            | Request::Cancel { id }
            | Request::Bye { id } => Some(id),
        }
    }
}

/// A line of Skillgate.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line {
    /// The answer to `hello`.
    Hello {
        /// True.
        ok: bool,
        /// The version of the protocol.
        version: u64,
        /// The version of Skillgate.
        skillgate: &'static str,
    },
    /// Something that happens before a request is answered.
    Event {
        /// The request; null where it is not known which of several it is for.
        id: Option<Id>,
        /// What happens.
        event: Event,
    },
    /// The answer to a request.
    Done {
        /// The request.
        id: Id,
        /// True.
        ok: bool,
        /// What it gives.
        result: Box<SessionReply>,
    },
    /// Why a request gives nothing.
    Failed {
        /// The request; null for a line that is none.
        id: Option<Id>,
        /// False.
        ok: bool,
        /// What happened, and the ways out.
        error: ErrorOutput,
    },
}

/// Something that happens before a request is answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// Somebody has to agree. Nothing goes on for the request before `answer` names this ask.
    Ask {
        /// Names the ask.
        ask: Id,
        /// The skill it is about, or on whose behalf it would happen.
        skill: Option<String>,
        /// What would happen.
        #[serde(flatten)]
        asked: AskedOutput,
        /// Whether words of the command are known only later, when it is asked again.
        open: bool,
        /// The rule that asks, with its place, or what makes the skill need an agreement.
        rule: String,
        /// How far `always` goes.
        always: AlwaysOutput,
        /// Lines that would allow it without an ask.
        suggestions: Vec<String>,
    },
    /// The skills were loaded again and are others now; of no request.
    SkillsChanged(SkillsChangedOutput),
    /// An agent of a skill did something.
    Progress {
        /// What it did.
        progress: ForkProgress,
    },
}

/// What would happen.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "about", rename_all = "lowercase")]
pub(crate) enum AskedOutput {
    /// The skill is invoked.
    Skill,
    /// A command runs.
    Command {
        /// Its vector, as far as it is known.
        argv: Vec<String>,
    },
    /// A tool of the host is used.
    Tool {
        /// The tool.
        tool: String,
        /// Its input, as JSON.
        input: String,
    },
}

/// How far `always` goes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlwaysOutput {
    /// No further than `once`.
    Never,
    /// To the end of the session.
    Session,
    /// To the end of the session; the host keeps it for longer with a line of `suggestions` among its rules.
    Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Option<Id>, String) {
        let (id, error) = read(line.as_bytes()).expect_err(line);
        assert!(!error.message.is_empty() && !error.help[0].is_empty(), "{error:?}");
        (id, error.code)
    }

    #[test]
    fn what_is_no_request_is_told_apart_and_carries_its_id_where_it_has_one() {
        let one = Some(Id::Number(1));
        for (line, expected) in [
            ("", (None, "bad-json")),
            ("{", (None, "bad-json")),
            ("[]", (None, "bad-request")),
            ("{\"id\":1}", (one.clone(), "bad-request")),
            ("{\"id\":1,\"op\":\"fly\"}", (one.clone(), "unknown-op")),
            ("{\"id\":1,\"op\":7}", (one.clone(), "bad-request")),
            ("{\"op\":\"list\"}", (None, "bad-request")),
            ("{\"id\":-1,\"op\":\"list\"}", (None, "bad-request")),
            ("{\"id\":\"\",\"op\":\"list\"}", (None, "bad-request")),
            ("{\"id\":\"ask-1\",\"op\":\"list\"}", (None, "bad-request")),
            ("{\"id\":1,\"op\":\"list\",\"colour\":\"red\"}", (one.clone(), "bad-request")),
            ("{\"id\":1,\"op\":\"invoke\",\"skill\":\"a\"}", (one.clone(), "bad-request")),
            ("{\"id\":1,\"op\":\"invoke\",\"skill\":\"a\",\"caller\":\"cat\"}", (one.clone(), "bad-request")),
            ("{\"id\":1,\"op\":\"register_tools\",\"tools\":[{\"name\":\"a\",\"price\":1}]}", (one, "bad-request")),
        ] {
            assert_eq!(code(line), (expected.0, expected.1.to_owned()), "{line}");
        }
        assert_eq!(code(&format!("{{\"id\":\"{}\",\"op\":\"list\"}}", "x".repeat(129))).1, "bad-request");
    }

    #[test]
    fn requests_are_read_with_what_may_be_left_out() {
        let read = |line: &str| read(line.as_bytes()).expect("a request");
        assert_eq!(read("{\"op\":\"hello\",\"version\":1}"), Request::Hello { version: 1 });
        assert_eq!(
            read("{\"op\":\"answer\",\"id\":\"ask-1\",\"decision\":\"once\"}"),
            Request::Answer { id: Id::of_ask(1), decision: Decision::Once }
        );
        let Request::Invoke { id, args, agent, .. } =
            read("{\"id\":\"a\",\"op\":\"invoke\",\"skill\":\"s\",\"caller\":\"user\"}")
        else {
            unreachable!("it is an invocation");
        };
        assert_eq!((id, args, agent), (Id::Text("a".to_owned()), None, None));
    }
}
