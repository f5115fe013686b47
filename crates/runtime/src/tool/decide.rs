use super::ruling::{ToolRules, ToolRuling};
use crate::Session;
use crate::answer::{Always, Answer, Question};
use crate::hook::{HookEvent, HookInput, HookOutcome, HookReport, HookText, HookVerdict};
use crate::invoked::AgentId;
use crate::telemetry;
use serde_json::Value;
use skillgate_core::SkillId;
use skillgate_exec::{Asked, AuditError, AuditEvent};
use skillgate_policy::{Effect, Invoker, SkillRequest, decide_skill};
use skillgate_registry::Lookup;

/// The use of a tool, as a model asks for it.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// The agent that asks.
    pub agent: AgentId,
    /// The id of the call in the conversation, when the host has one.
    pub tool_use_id: Option<String>,
}

impl ToolCall {
    /// A call of the main agent.
    #[must_use]
    pub fn new(tool: impl Into<String>, input: Value) -> Self {
        Self { tool: tool.into(), input, agent: AgentId::MAIN, tool_use_id: None }
    }

    /// The same by another agent.
    #[must_use]
    pub fn by(mut self, agent: AgentId) -> Self {
        self.agent = agent;
        self
    }

    fn event(&self, event: HookEvent, input: &Value) -> HookInput {
        let event = HookInput::tool(event, &self.tool, input.clone());
        match &self.tool_use_id {
            Some(id) => event.with("tool_use_id", id.as_str()),
            None => event,
        }
    }
}

/// What is decided on the use of a tool of the host.
#[derive(Clone, PartialEq, Debug)]
#[must_use = "the host has to keep the tool from running when it is not allowed"]
pub struct ToolDecision {
    /// Whether it may run. [`Effect::Ask`] is left only where the session has nobody to ask: the host asks its user, or refuses.
    pub effect: Effect,
    /// Why, in a sentence.
    pub because: String,
    /// The rule that decided, with its place.
    pub rule: Option<String>,
    /// A pattern that would allow it, when a rule of the host's would.
    pub remedy: Option<String>,
    /// The input to run it with, when a hook gave another one. The rules were asked about this one too.
    pub rewritten_input: Option<Value>,
    /// Texts of hooks for the model.
    pub context: Vec<HookText>,
    /// Texts of hooks for the user.
    pub messages: Vec<HookText>,
    /// That the agent is to end, and why.
    pub stop: Option<HookText>,
    /// One for each hook that was called.
    pub hooks: Vec<HookReport>,
}

/// What hooks make of the output of a tool.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolAfter {
    /// What takes the place of the output.
    pub rewritten_output: Option<Value>,
    /// Texts of hooks for the model, such as what it is to do about the output.
    pub context: Vec<HookText>,
    /// Texts of hooks for the user.
    pub messages: Vec<HookText>,
    /// That the agent is to end, and why.
    pub stop: Option<HookText>,
    /// One for each hook that was called.
    pub hooks: Vec<HookReport>,
}

impl Session {
    /// Decides on the use of a tool of the host: its rules, what the skills in use take away, and the `PreToolUse` hooks. The host
    /// calls it before each of its tools runs, and runs none that is not allowed; without that call, what Skillgate promises
    /// covers only what it runs itself.
    ///
    /// # Errors
    /// [`AuditError`] when the decision cannot be recorded and the host wants nothing without a record.
    pub fn before_tool(&self, call: &ToolCall) -> Result<ToolDecision, AuditError> {
        let mut ruling = self.rule_on(call, &call.input);
        let mut outcome = HookOutcome::default();
        // Hooks only take away: what is denied already is not told to them.
        if ruling.effect != Effect::Deny {
            outcome = self.fire(&call.agent, &call.event(HookEvent::PreToolUse, &call.input));
            if let Some(rewritten) = &outcome.rewritten_input {
                // The first decision was about another input; only what both allow is allowed.
                let again = self.rule_on(call, rewritten);
                if again.effect >= ruling.effect {
                    ruling = again;
                }
            }
            apply(&mut ruling, &outcome.verdict);
        }
        let input = outcome.rewritten_input.as_ref().unwrap_or(&call.input);
        if ruling.effect == Effect::Ask && self.awaits(&call.agent, HookEvent::PermissionRequest) {
            let request = self.fire(&call.agent, &call.event(HookEvent::PermissionRequest, input));
            if request.verdict.is_denied() {
                apply(&mut ruling, &request.verdict);
            }
            outcome.reports.extend(request.reports);
            outcome.messages.extend(request.messages);
        }
        if ruling.effect == Effect::Ask && self.consent.is_attended() {
            self.ask_about(call, input, &mut ruling)?;
        }
        let shown = input.to_string();
        let trail = self.trail(None, None, Invoker::Model);
        trail.record(&AuditEvent::Tool {
            tool: call.tool.clone(),
            input: shown.clone(),
            decision: ruling.effect,
            rule: ruling.rule.clone().unwrap_or_else(|| ruling.because.clone()),
        })?;
        if ruling.effect == Effect::Deny && self.awaits(&call.agent, HookEvent::PermissionDenied) {
            let denied = self.fire(
                &call.agent,
                &call.event(HookEvent::PermissionDenied, input).with("reason", ruling.because.as_str()),
            );
            outcome.reports.extend(denied.reports);
        }
        let rewritten_input = outcome.rewritten_input.filter(|_| ruling.effect != Effect::Deny);
        let decision = ToolDecision {
            effect: ruling.effect,
            because: ruling.because,
            rule: ruling.rule,
            remedy: ruling.remedy,
            rewritten_input,
            context: outcome.context,
            messages: outcome.messages,
            stop: outcome.stop,
            hooks: outcome.reports,
        };
        let told = self.runtime.telemetry.content(Some(&shown));
        telemetry::tool_decided(&call.tool, call.agent.as_str(), &decision, told);
        Ok(decision)
    }

    /// Tells the hooks of a tool's output: `PostToolUse`, or `PostToolUseFailure` when it failed.
    pub fn after_tool(&self, call: &ToolCall, output: &Value, failed: bool) -> ToolAfter {
        let (event, key) =
            if failed { (HookEvent::PostToolUseFailure, "error") } else { (HookEvent::PostToolUse, "tool_response") };
        let outcome = if self.awaits(&call.agent, event) {
            self.fire(&call.agent, &call.event(event, &call.input).with(key, output.clone()))
        } else {
            HookOutcome::default()
        };
        ToolAfter {
            rewritten_output: outcome.rewritten_output,
            context: outcome.context,
            messages: outcome.messages,
            stop: outcome.stop,
            hooks: outcome.reports,
        }
    }

    /// What the rules and the skills in use say, without hooks.
    fn rule_on(&self, call: &ToolCall, input: &Value) -> ToolRuling {
        match call.tool.as_str() {
            // They read nothing but the catalogue.
            "DiscoverSkills" | "ToolSearch" => ToolRuling::new(Effect::Allow, "it changes and runs nothing"),
            "Skill" => self.rule_on_skill(&call.agent, input),
            _ => {
                let authority = self.conversation().scopes.authority(&call.agent, self.runtime.host.clone());
                let (base, limits) = (self.runtime.path_base(), &self.runtime.limits);
                ToolRules { authority: &authority, base, limits }.rule_on(&call.tool, input)
            }
        }
    }

    /// The decision on a call of the Skill tool as far as its name tells. The call itself decides again, over all that the skill
    /// would run.
    fn rule_on_skill(&self, agent: &AgentId, input: &Value) -> ToolRuling {
        let Some(name) = input.get("skill").and_then(Value::as_str) else {
            return ToolRuling::new(Effect::Deny, "the input of `Skill` has no text `skill`");
        };
        let catalogue = self.catalogue();
        let Lookup::Found(entry) = catalogue.lookup(name) else {
            // Nothing runs: the tool answers that there is none.
            return ToolRuling::new(Effect::Allow, "no skill has the name, so nothing would run");
        };
        let skill = entry.skill();
        if let Some(narrowed) = self.narrowed_away(agent, &skill.id) {
            return ToolRuling::new(Effect::Deny, narrowed);
        }
        let request = SkillRequest { skill, invoker: Invoker::Model, injections_allowed: true };
        match decide_skill(&self.runtime.host, request) {
            Ok(_) => ToolRuling::new(Effect::Allow, format!("the skill `{}` may be invoked", skill.id)),
            Err(refusal) => ToolRuling {
                effect: refusal.effect(),
                because: refusal.to_string(),
                rule: Some(refusal.rule()),
                remedy: refusal.suggestions().first().cloned(),
            },
        }
    }

    /// Why a model may not call a skill now, when a skill in use takes that away.
    pub(super) fn narrowed_away(&self, agent: &AgentId, skill: &SkillId) -> Option<String> {
        let authority = self.conversation().scopes.authority(agent, self.runtime.host.clone());
        let caveat = authority.narrows_skill(skill)?;
        Some(format!("the skill {} narrows it away: {}", caveat.skill, caveat.says()))
    }

    fn ask_about(&self, call: &ToolCall, input: &Value, ruling: &mut ToolRuling) -> Result<(), AuditError> {
        let question = Question {
            skill: None,
            asked: Asked::Tool { tool: call.tool.clone(), input: input.to_string() },
            open: false,
            because: ruling.rule.clone().unwrap_or_else(|| ruling.because.clone()),
            always: match (&ruling.rule, &ruling.remedy) {
                (None, Some(pattern)) => Always::Rule(pattern.clone()),
                // What a rule or a hook asks about is asked each time.
                _ => Always::Never,
            },
        };
        if let Always::Rule(pattern) = &question.always
            && self.consent.agreed_tool(pattern)
        {
            *ruling = ToolRuling::new(Effect::Allow, format!("{}; somebody agreed to `{pattern}`", ruling.because));
            return Ok(());
        }
        self.consent.announce(std::slice::from_ref(&question));
        match self.consent.ask(&question, &self.trail(None, None, Invoker::Model))? {
            Answer::No => {
                ruling.effect = Effect::Deny;
                ruling.because = format!("{}; somebody was asked and declined", ruling.because);
            }
            answer => {
                if let (Answer::Always, Always::Rule(pattern)) = (answer, &question.always) {
                    self.consent.agree_to_tool(pattern);
                }
                ruling.effect = Effect::Allow;
                ruling.because = format!("{}; somebody was asked and agreed", ruling.because);
            }
        }
        Ok(())
    }
}

/// Lets hooks take away.
fn apply(ruling: &mut ToolRuling, verdict: &HookVerdict) {
    match verdict {
        HookVerdict::Pass => {}
        // Without a remedy: what a hook wants asked is asked each time, whatever somebody agreed to for always.
        HookVerdict::Ask(reasons) if ruling.effect == Effect::Allow => {
            *ruling = ToolRuling::new(Effect::Ask, reasons.join("; "));
        }
        HookVerdict::Ask(reasons) => {
            *ruling = ToolRuling::new(ruling.effect, format!("{}; {}", ruling.because, reasons.join("; ")));
        }
        HookVerdict::Deny(reason) => *ruling = ToolRuling::new(Effect::Deny, reason.clone()),
    }
}
