//! Skills in the project of a case, and conversations that use them over a backend that only records.

use crate::record::RecordingBackend;
use crate::trial::{Trial, Trouble};
use serde_json::{Value, json};
use skillgate_core::Limits;
use skillgate_exec::CapabilityShell;
use skillgate_policy::{Effect, Host, Invoker, Place, Rule};
use skillgate_runtime::{
    AgentId, InvokeError, Runtime, RuntimeBuilder, Session, SessionOptions, SkillCall, SkillResult, ToolCall,
};
use std::path::PathBuf;
use std::sync::Arc;

/// What a host's tools are asked to do, so that a decision on each can be compared with another one.
const USES: &[(&str, &str, &str)] = &[
    ("Bash", "command", "args x"),
    ("Bash", "command", "canary"),
    ("Bash", "command", "git push origin"),
    ("Read", "file_path", "README.md"),
    ("Write", "file_path", "out/x"),
    ("WebFetch", "url", "https://example.com/"),
    ("mcp__notes__add", "text", "x"),
];

/// The place of a case's skills, and what ran for them.
#[derive(Debug)]
pub(crate) struct Skills {
    project: PathBuf,
    limits: Limits,
    recorder: Arc<RecordingBackend>,
}

impl Trial<'_> {
    /// The skills of the case's project; there are none yet.
    pub(crate) fn skills(&self) -> Skills {
        Skills { project: self.field.project(), limits: self.ground.limits.clone(), recorder: Arc::default() }
    }

    /// Writes a skill of the project; `header` holds whole lines beside its description.
    pub(crate) fn write_skill(&self, name: &str, header: &str, body: &str) -> Result<(), Trouble> {
        let text = format!("---\ndescription: About {name}.\n{header}---\n{body}\n");
        Ok(self.field.write(&format!("project/.claude/skills/{name}/SKILL.md"), text)?)
    }
}

impl Skills {
    /// A runtime of a host that grants what these rules allow, and nothing else, to a project that it trusts as it is.
    pub(crate) fn runtime(&self, rules: &[(Effect, &str)]) -> Result<RuntimeBuilder, Trouble> {
        let rule = |(effect, pattern): &(Effect, &str)| {
            Rule::parse(*effect, pattern, Place::Host).map_err(|error| Trouble::Broken(format!("`{pattern}`: {error}")))
        };
        let rules: Vec<Rule> = rules.iter().map(rule).collect::<Result<_, _>>()?;
        let shell = CapabilityShell::new(vec![self.recorder.clone()]);
        Ok(Runtime::builder(Host::granting(rules), Arc::new(shell))
            .limits(self.limits.clone())
            .project(&self.project)
            .trust_project(true))
    }

    /// A conversation of such a runtime.
    pub(crate) fn session(&self, rules: &[(Effect, &str)]) -> Result<Arc<Session>, Trouble> {
        begin(self.runtime(rules)?)
    }

    /// The names of the commands that have run so far, in order.
    pub(crate) fn ran(&self) -> String {
        let ran = self.recorder.ran();
        ran.iter().filter_map(|vector| vector.first()).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// A conversation that nobody answers in and whose host runs the agents of skills.
pub(crate) fn begin(runtime: RuntimeBuilder) -> Result<Arc<Session>, Trouble> {
    let runtime = runtime.open().map_err(|error| Trouble::Broken(format!("the runtime: {error}")))?;
    Ok(runtime.session(SessionOptions::default().id("audit").host_runs_forks(true)))
}

/// Has a model call a skill.
pub(crate) fn call(session: &Session, skill: &str, agent: &AgentId) -> Result<SkillResult, InvokeError> {
    session.call_skill(&SkillCall::new(skill, Invoker::Model).agent(agent.clone()))
}

/// How a call ended: `called`, or the rule that refused a command, or the short name of the error.
pub(crate) fn shown<T>(result: &Result<T, InvokeError>) -> String {
    match result {
        Ok(_) => "called".to_owned(),
        Err(InvokeError::Refused(refusal)) => format!("refused: {}", refusal.reason.rule()),
        Err(error) => error.code().to_owned(),
    }
}

/// Has a model call a skill in the main agent, and says how that ended.
pub(crate) fn called(session: &Session, skill: &str) -> String {
    shown(&call(session, skill, &AgentId::MAIN))
}

fn decide(session: &Session, agent: &AgentId, tool: &str, input: Value) -> Effect {
    // Nothing is recorded, so nothing can be lost; if it were, the tool would not run.
    session.before_tool(&ToolCall::new(tool, input).by(agent.clone())).map_or(Effect::Deny, |decision| decision.effect)
}

/// The decision on one command of the host's shell.
pub(crate) fn bash(session: &Session, agent: &AgentId, command: &str) -> Effect {
    decide(session, agent, "Bash", json!({"command": command}))
}

/// The decisions on the tools of the host, for one agent.
pub(crate) fn decisions(session: &Session, agent: &AgentId) -> Vec<Effect> {
    USES.iter().map(|(tool, key, value)| decide(session, agent, tool, json!({*key: value}))).collect()
}

/// Decisions as text.
pub(crate) fn words(decisions: &[Effect]) -> String {
    decisions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether no decision is further than the host's own now: the strictest is the greatest.
pub(crate) fn within(decisions: &[Effect], host: &[Effect]) -> bool {
    decisions.len() == host.len() && decisions.iter().zip(host).all(|(decided, host)| decided >= host)
}
