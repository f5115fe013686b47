//! What a command hook says by its status and its output. Nothing that it can say allows anything.

use super::event::{HookEvent, Power};
use super::verdict::HookVerdict;
use serde_json::{Map, Value};
use skillgate_core::{Code, Diagnostic};
use skillgate_exec::{HookReply, cut, sanitise};

/// Characters of one text of a hook.
pub const MAX_TEXT_CHARS: u64 = 10_000;

/// What one handler said, read.
#[derive(Clone, PartialEq, Debug, Default)]
#[must_use]
pub struct HookAnswer {
    /// Its verdict; a failure of a gate's is a refusal.
    pub verdict: HookVerdict,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Text for the user.
    pub message: Option<String>,
    /// That everything is to end, and why.
    pub stop: Option<String>,
    /// Another input for the tool.
    pub rewritten_input: Option<Value>,
    /// Another output of the tool.
    pub rewritten_output: Option<Value>,
    /// How it failed.
    pub failure: Option<String>,
    /// Findings about its output.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a command hook ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandEnd<'a> {
    /// Its status.
    pub status: u8,
    /// What it wrote to its standard output, as far as it was kept.
    pub stdout: &'a [u8],
    /// Bytes of standard output that were not kept.
    pub lost: u64,
    /// What it wrote to its standard error, as far as it was kept.
    pub stderr: &'a [u8],
}

/// The status that blocks.
const BLOCK: u8 = 2;

impl HookAnswer {
    /// A handler that failed: it denies where it could have denied.
    pub fn failed(power: Power, reason: impl Into<String>) -> Self {
        let reason = clean(&reason.into());
        let verdict = match power {
            Power::Gate => HookVerdict::Deny(format!("a hook that could have denied it failed: {reason}")),
            Power::Hold | Power::Observe => HookVerdict::Pass,
        };
        let diagnostics = vec![Diagnostic::new(Code::HookFailed, reason.clone())];
        Self { verdict, failure: Some(reason), diagnostics, ..Self::default() }
    }

    /// Reads what a command hook said.
    pub fn of_command(event: HookEvent, power: Power, end: &CommandEnd<'_>) -> Self {
        let said = || {
            let text = clean(&sanitise(end.stderr));
            if text.trim().is_empty() { None } else { Some(text.trim().to_owned()) }
        };
        match end.status {
            0 => Self::of_output(event, power, end),
            BLOCK if power != Power::Observe => {
                let reason = said().unwrap_or_else(|| standard_reason(event));
                Self { verdict: HookVerdict::Deny(reason), ..Self::default() }
            }
            // The tool was used already; its model is told what the hook says about it.
            BLOCK if matches!(event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure) => {
                Self { context: said().into_iter().collect(), ..Self::default() }
            }
            status => {
                let text = said().map(|text| format!(": {text}")).unwrap_or_default();
                Self::failed(power, format!("it ended with status {status}{text}"))
            }
        }
    }

    fn of_output(event: HookEvent, power: Power, end: &CommandEnd<'_>) -> Self {
        let text = end.stdout.trim_ascii();
        if !text.starts_with(b"{") {
            let mut answer = Self::default();
            if tells_its_output(event) && !text.is_empty() {
                let text = answer.text(&sanitise(text), end.lost);
                answer.context.push(text);
            }
            return answer;
        }
        if end.lost > 0 {
            return Self::failed(power, format!("its output is {} bytes longer than what is read", end.lost));
        }
        match serde_json::from_slice(text) {
            Ok(Value::Object(members)) => Reading { event, power, answer: Self::default() }.read(&members),
            // It begins as an object.
            Ok(_) => Self::failed(power, "its output is no JSON object"),
            Err(error) => Self::failed(power, format!("its output begins as JSON and is none: {error}")),
        }
    }

    /// What a wasm handler said.
    pub fn of_reply(event: HookEvent, power: Power, reply: HookReply) -> Self {
        let mut answer = Self::default();
        let reason = |text: String| {
            let text = clean(&text);
            if text.trim().is_empty() { standard_reason(event) } else { text }
        };
        match reply {
            HookReply::Pass => {}
            HookReply::Deny(text) if matches!(event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure) => {
                let text = answer.text(&reason(text), 0);
                answer.context.push(text);
            }
            HookReply::Deny(_) | HookReply::Ask(_) if power == Power::Observe => {
                answer.ignored("deny", &format!("{event} cannot be blocked"));
            }
            HookReply::Deny(text) => answer.verdict = HookVerdict::Deny(reason(text)),
            HookReply::Ask(text) if event == HookEvent::PreToolUse => {
                answer.verdict = HookVerdict::Ask(vec![reason(text)]);
            }
            HookReply::Ask(text) => {
                // Nobody is asked about it, so it is not let through either.
                answer.verdict = HookVerdict::Deny(reason(text));
            }
            HookReply::Context(text) => {
                let text = answer.text(&text, 0);
                answer.context.push(text);
            }
            HookReply::Rewrite(bytes) => match serde_json::from_slice(&bytes) {
                Ok(input @ Value::Object(_)) if event == HookEvent::PreToolUse => answer.rewritten_input = Some(input),
                Ok(_) if event != HookEvent::PreToolUse => {
                    answer.ignored("rewrite", &format!("{event} has no input to rewrite"));
                }
                Ok(_) => return Self::failed(power, "the input that it gives is no JSON object"),
                Err(error) => return Self::failed(power, format!("the input that it gives is no JSON: {error}")),
            },
        }
        answer
    }

    /// A text of the hook, cut to what is taken of one.
    fn text(&mut self, text: &str, lost: u64) -> String {
        let text = sanitise(text.as_bytes());
        let whole = text.chars().count() as u64;
        if whole > MAX_TEXT_CHARS || lost > 0 {
            let message = format!("of a text of {whole} characters {MAX_TEXT_CHARS} were taken");
            self.diagnostics.push(Diagnostic::new(Code::HookTextCut, message));
        }
        cut(&text, MAX_TEXT_CHARS, lost)
    }

    fn ignored(&mut self, key: &str, why: &str) {
        let message = format!("`{key}` of the hook's output changes nothing: {why}");
        self.diagnostics.push(Diagnostic::new(Code::HookOutputIgnored(key.to_owned()), message));
    }

    fn allow_ignored(&mut self, key: &str) {
        let message = format!("`{key}` says that it is allowed, which no hook can say; it counts as no opinion");
        let found = Diagnostic::new(Code::HookAllowIgnored, message);
        self.diagnostics.push(found.help("only the host's rules allow: `skillgate policy explain` shows them"));
    }
}

/// Events whose plain output is told to whoever the event is about.
const fn tells_its_output(event: HookEvent) -> bool {
    matches!(
        event,
        HookEvent::SessionStart
            | HookEvent::UserPromptSubmit
            | HookEvent::UserPromptExpansion
            | HookEvent::SubagentStart
            | HookEvent::WorktreeCreate
    )
}

fn standard_reason(event: HookEvent) -> String {
    match event.power() {
        Power::Hold => format!("a hook on {event} says to go on, without a reason"),
        Power::Gate | Power::Observe => format!("a hook on {event} denies it, without a reason"),
    }
}

/// A text of a hook without what deceives a reader, as much of it as is taken.
fn clean(text: &str) -> String {
    cut(&sanitise(text.as_bytes()), MAX_TEXT_CHARS, 0)
}

/// Reads the members of a hook's JSON. One that is known and has the wrong type makes all of it a failure: what it was meant to
/// say cannot be told.
struct Reading {
    event: HookEvent,
    power: Power,
    answer: HookAnswer,
}

impl Reading {
    fn read(mut self, members: &Map<String, Value>) -> HookAnswer {
        match self.members(members) {
            Ok(()) => self.answer,
            Err(reason) => HookAnswer::failed(self.power, reason),
        }
    }

    fn members(&mut self, members: &Map<String, Value>) -> Result<(), String> {
        let reason = text_of(members, "reason")?;
        let mut stops = false;
        for (key, value) in members {
            match key.as_str() {
                "continue" => stops = !boolean(key, value)?,
                "stopReason" | "reason" | "suppressOutput" => {}
                "systemMessage" => {
                    let text = string(key, value)?;
                    self.answer.message = Some(self.answer.text(text, 0)).filter(|text| !text.is_empty());
                }
                "decision" => self.decision(string(key, value)?, reason)?,
                "hookSpecificOutput" => match value {
                    Value::Object(members) => self.specific(members)?,
                    _ => return Err("`hookSpecificOutput` is no object".to_owned()),
                },
                "terminalSequence" => self.answer.ignored(key, "a hook has no terminal"),
                _ => self.answer.ignored(key, "it is not known"),
            }
        }
        if stops {
            let reason = text_of(members, "stopReason")?.map(clean).filter(|text| !text.trim().is_empty());
            let reason = reason.unwrap_or_else(|| format!("a hook on {} ends it", self.event));
            if self.power == Power::Gate {
                self.deny(reason.clone());
            }
            if matches!(self.event, HookEvent::Stop | HookEvent::SubagentStop) {
                // To end and to go on at once: the end is what was said about everything.
                self.answer.verdict = HookVerdict::Pass;
            }
            self.answer.stop = Some(reason);
        }
        Ok(())
    }

    fn decision(&mut self, decision: &str, reason: Option<&str>) -> Result<(), String> {
        match decision {
            "block" | "deny" => match self.power {
                Power::Gate | Power::Hold => self.deny_for(reason),
                Power::Observe if matches!(self.event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure) => {
                    let text = self.answer.text(reason.unwrap_or("a hook objects to what the tool did"), 0);
                    self.answer.context.push(text);
                }
                Power::Observe => self.answer.ignored("decision", &format!("{} cannot be blocked", self.event)),
            },
            "approve" | "allow" => self.answer.allow_ignored("decision"),
            other => return Err(format!("`decision` is `{other}`; there is `block`")),
        }
        Ok(())
    }

    fn specific(&mut self, members: &Map<String, Value>) -> Result<(), String> {
        if let Some(name) = text_of(members, "hookEventName")?
            && name != self.event.name()
        {
            return Err(format!("`hookEventName` is `{name}`, and it was called for {}", self.event));
        }
        let reason = text_of(members, "permissionDecisionReason")?;
        let event = self.event;
        for (key, value) in members {
            match (key.as_str(), event) {
                ("hookEventName" | "permissionDecisionReason", _) => {}
                ("permissionDecision", HookEvent::PreToolUse) => match string(key, value)? {
                    "allow" => self.answer.allow_ignored(key),
                    "deny" => self.deny_for(reason),
                    // To put it off is to leave it to somebody.
                    "ask" | "defer" => {
                        let reason = reason.map(clean).filter(|reason| !reason.trim().is_empty());
                        let reason = reason.unwrap_or_else(|| "a hook wants it to be asked about".to_owned());
                        self.meet(HookVerdict::Ask(vec![reason]));
                    }
                    other => return Err(format!("`permissionDecision` is `{other}`; there are `deny` and `ask`")),
                },
                ("updatedInput", HookEvent::PreToolUse) => match value {
                    Value::Object(_) => self.answer.rewritten_input = Some(value.clone()),
                    _ => return Err("`updatedInput` is no object".to_owned()),
                },
                ("updatedToolOutput" | "updatedMCPToolOutput", HookEvent::PostToolUse) => {
                    self.answer.rewritten_output = Some(value.clone());
                }
                ("additionalContext", _) => {
                    let text = self.answer.text(string(key, value)?, 0);
                    if !text.is_empty() {
                        self.answer.context.push(text);
                    }
                }
                ("decision", HookEvent::PermissionRequest) => match value {
                    Value::Object(decision) => self.permission(decision)?,
                    _ => return Err("`decision` is no object".to_owned()),
                },
                ("action", HookEvent::Elicitation | HookEvent::ElicitationResult) => match string(key, value)? {
                    "accept" => self.answer.allow_ignored(key),
                    "decline" | "cancel" => self.deny_for(None),
                    other => return Err(format!("`action` is `{other}`; there are `decline` and `cancel`")),
                },
                ("worktreePath", HookEvent::WorktreeCreate) => {
                    let text = self.answer.text(string(key, value)?, 0);
                    self.answer.context.push(text);
                }
                _ => self.answer.ignored(key, &format!("it means nothing for {event}")),
            }
        }
        Ok(())
    }

    /// A decision on a permission: it can be taken away.
    fn permission(&mut self, decision: &Map<String, Value>) -> Result<(), String> {
        let message = text_of(decision, "message")?;
        match text_of(decision, "behavior")? {
            Some("deny") => {
                self.deny_for(message);
                if decision.get("interrupt") == Some(&Value::Bool(true)) {
                    self.answer.stop = Some(message.map_or_else(|| standard_reason(self.event), clean));
                }
            }
            Some("allow") => self.answer.allow_ignored("decision.behavior"),
            Some(other) => return Err(format!("`decision.behavior` is `{other}`; there is `deny`")),
            None => return Err("`decision` has no `behavior`".to_owned()),
        }
        for key in decision.keys().filter(|key| !matches!(key.as_str(), "behavior" | "message" | "interrupt")) {
            self.answer.ignored(key, "such a hook can only deny");
        }
        Ok(())
    }

    fn deny_for(&mut self, reason: Option<&str>) {
        let reason = reason.map(clean).filter(|reason| !reason.trim().is_empty());
        self.deny(reason.unwrap_or_else(|| standard_reason(self.event)));
    }

    fn deny(&mut self, reason: String) {
        self.meet(HookVerdict::Deny(reason));
    }

    fn meet(&mut self, verdict: HookVerdict) {
        // Nobody waits for a hook that only watches.
        if self.power != Power::Observe {
            self.answer.verdict = std::mem::take(&mut self.answer.verdict).meet(verdict);
        }
    }
}

fn string<'v>(key: &str, value: &'v Value) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("`{key}` is no text"))
}

fn boolean(key: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{key}` is neither `true` nor `false`"))
}

fn text_of<'m>(members: &'m Map<String, Value>, key: &str) -> Result<Option<&'m str>, String> {
    members.get(key).filter(|value| !value.is_null()).map(|value| string(key, value)).transpose()
}

#[cfg(test)]
mod tests;
