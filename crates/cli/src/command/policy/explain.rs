//! `skillgate policy explain ACTION`

use crate::args::{Format, Global, PolicyExplainVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{ExplainedOutput, PolicyExplainOutput, RuleOutput};
use crate::{policy, text};
use skillgate_core::{Skill, Span};
use skillgate_exec::{Executor as _, PlannedCommand, Program};
use skillgate_policy::file::Policy;
use skillgate_policy::{
    Action, Authority, Effect, Gate, Invoker, PathBase, Place, Provider, Refusal, RefusalReason, Rule, SkillDecision,
    SkillRefusal, ToolPattern,
};
use skillgate_runtime::{InvokeError, InvokeRequest, Session};
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) fn run(global: &Global, verb: &PolicyExplainVerb) -> Result<Status, Failure> {
    let action = Form::parse(&verb.action)?;
    let policy = policy::in_force(global)?.policy;
    let session = context::session(global)?;
    let authority = match &verb.skill {
        None => Authority::of(policy.host()),
        Some(name) => {
            let skill = find(&session, name)?;
            let plan = session.plan_of(&skill, &InvokeRequest::new(name, Invoker::User))?;
            plan.authority_in_force().clone()
        }
    };
    let parts = match action {
        Form { tool: "Bash", spec: Some(program) } => commands(global, &policy, &authority, program)?,
        Form { tool: "Skill", spec: Some(name) } => vec![skill(&session, name)?],
        Form { tool, spec } => vec![other(&authority, &base(global, &session), tool, spec)],
    };
    let decision = parts.iter().map(|part| part.effect).max().unwrap_or(Effect::Allow);
    let output = PolicyExplainOutput {
        action: verb.action.clone(),
        skill: verb.skill.clone(),
        decision: decision.to_string(),
        parts: parts.into_iter().map(Explained::output).collect(),
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human(&output));
    }
    Ok(Status::Done)
}

/// Where the project and the home are, for patterns of paths.
fn base(global: &Global, session: &Session) -> PathBase {
    let mut base = PathBase::default();
    if let Some(project) = session.project() {
        base = base.root(project.root.to_string_lossy());
    }
    if let Some(home) = global.home() {
        base = base.home(home.to_string_lossy());
    }
    base
}

/// An action in the form of a tool pattern: `Tool` or `Tool(input)`.
struct Form<'a> {
    tool: &'a str,
    spec: Option<&'a str>,
}

impl<'a> Form<'a> {
    fn parse(text: &'a str) -> Result<Self, Failure> {
        let text = text.trim();
        let wrong = || Failure::Action { text: text.to_owned() };
        let (tool, spec) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?.trim())),
        };
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        // What a bare `Bash` or `Skill` would do is not known.
        let open = spec.is_none() && matches!(tool, "Bash" | "Skill");
        if tool.is_empty() || !tool.chars().all(plain) || spec.is_some_and(str::is_empty) || open {
            return Err(wrong());
        }
        Ok(Self { tool, spec })
    }
}

/// The decision on one part.
struct Explained {
    action: String,
    effect: Effect,
    rule: Option<Rule>,
    reason: String,
    remedy: Option<String>,
}

impl Explained {
    fn output(self) -> ExplainedOutput {
        let written = self.rule.as_ref().is_some_and(|rule| *rule.place() != Place::BuiltIn);
        let asks_by_rule = self.effect == Effect::Ask && written;
        ExplainedOutput {
            action: self.action,
            decision: self.effect.to_string(),
            rule: self.rule.as_ref().map(RuleOutput::of),
            reason: self.reason,
            // No allowing rule stands over one that asks.
            remedy: self.remedy.filter(|_| !asks_by_rule),
        }
    }

    fn refused(action: String, refusal: &Refusal) -> Self {
        let rule = match &refusal.reason {
            RefusalReason::Denied(rule) | RefusalReason::Unanswered(rule) => Some(rule.clone()),
            _ => None,
        };
        Self {
            action,
            effect: refusal.reason.effect(),
            rule,
            reason: refusal.reason.to_string(),
            remedy: refusal.remedy.clone(),
        }
    }
}

/// Each command of a shell program, as far as its words are known from the text.
fn commands(global: &Global, policy: &Policy, authority: &Authority, source: &str) -> Result<Vec<Explained>, Failure> {
    let program = Program::from_text(source, &policy.limits()).map_err(|error| Failure::Program {
        reason: error.reason,
        source_text: source.to_owned(),
        offset: error.span.start,
    })?;
    let shell = context::shell(global, policy)?;
    let planned = shell.plan(&program, &Gate::new(authority.clone()));
    Ok(planned.iter().map(|command| of_command(command, authority, source)).collect())
}

fn of_command(command: &PlannedCommand, authority: &Authority, source: &str) -> Explained {
    let word = |word: &Result<String, Span>| match word {
        Ok(word) => word.clone(),
        Err(span) => span.slice(source).unwrap_or("…").to_owned(),
    };
    let words: Vec<String> = command.words.iter().map(word).collect();
    let action = format!("Bash({})", words.join(" "));
    if command.backend == Some("none") && command.words.iter().all(Result::is_ok) {
        // The rules say what would be decided were it a program of the machine; the shell itself would answer 127.
        let mut explained = decided(authority, &PathBase::default(), &Action::command(words, Provider::Native));
        explained.action = action;
        explained.reason.push_str("; no backend offers the command here");
        return explained;
    }
    match &command.verdict {
        Ok(verdict) => {
            let decided = |rule: &&Rule| rule.to_string() == verdict.rule;
            let rule = authority.host().all_rules().find(decided).cloned();
            let unknown = command.words.iter().any(Result::is_err);
            let later = if unknown { "; it is decided again when every word is known" } else { "" };
            let backend = command.backend.map(|backend| format!("; it would run in {backend}")).unwrap_or_default();
            let reason = format!("{}{later}{backend}", verdict.rule);
            Explained { action, effect: Effect::Allow, rule, reason, remedy: None }
        }
        Err(refusal) => Explained::refused(action, refusal),
    }
}

/// The use of any other tool.
fn other(authority: &Authority, base: &PathBase, tool: &str, input: Option<&str>) -> Explained {
    decided(authority, base, &Action::of_tool(tool, input))
}

fn decided(authority: &Authority, base: &PathBase, action: &Action) -> Explained {
    let decision = authority.decide_in(action, base);
    let reason = decision.reasons.iter().map(|reason| reason.says.as_str()).collect::<Vec<_>>().join("; ");
    let rule = decision.reasons.iter().find_map(|reason| {
        let pattern = ToolPattern::parse(reason.pattern.as_ref()?).ok()?;
        Some(Rule::new(reason.effect, pattern, reason.place.clone()?)).filter(|rule| *rule.place() != Place::BuiltIn)
    });
    let remedy = if decision.effect == Effect::Allow { None } else { decision.remedy };
    Explained { action: action.to_string(), effect: decision.effect, rule, reason, remedy }
}

/// The invocation of a skill by its user.
fn skill(session: &Session, name: &str) -> Result<Explained, Failure> {
    let found = find(session, name)?;
    let plan = session.plan_of(&found, &InvokeRequest::new(name, Invoker::User))?;
    let action = format!("Skill({name})");
    let explained = |effect, rule: Option<&Rule>, reason: String, remedy: Option<String>| Explained {
        action: action.clone(),
        effect,
        rule: rule.cloned(),
        reason,
        remedy,
    };
    Ok(match &plan.decision {
        Ok(SkillDecision::ByRule(rule)) => explained(Effect::Allow, Some(rule), rule.to_string(), None),
        Ok(SkillDecision::OnlySafeProperties) => {
            explained(Effect::Allow, None, "it has only properties that are safe without a rule".to_owned(), None)
        }
        Ok(SkillDecision::Agreed { because }) => explained(Effect::Allow, None, format!("{because}, agreed to"), None),
        Err(refusal) => {
            let (effect, rule) = match refusal {
                SkillRefusal::Denied { rule, .. } => (Effect::Deny, Some(rule)),
                SkillRefusal::Unanswered { rule, .. } => (Effect::Ask, rule.as_ref()),
                _ => (Effect::Deny, None),
            };
            explained(effect, rule, refusal.to_string(), refusal.suggestions().first().cloned())
        }
    })
}

fn find(session: &Session, name: &str) -> Result<Arc<Skill>, Failure> {
    use skillgate_registry::Lookup;
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    match session.catalogue().lookup(name) {
        Lookup::Found(entry) => Ok(Arc::clone(entry.skill())),
        Lookup::Broken(failure) => Err(InvokeError::Unreadable(Box::new(failure.clone())).into()),
        Lookup::Unknown { nearest } => {
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            Err(InvokeError::Unknown { name: name.to_owned(), nearest }.into())
        }
        _ => Err(InvokeError::Unknown { name: name.to_owned(), nearest: Vec::new() }.into()),
    }
}

fn human(output: &PolicyExplainOutput) -> String {
    let mut out = String::new();
    for part in &output.parts {
        let _infallible = writeln!(out, "{:<5} {}", part.decision, text::shown(&part.action));
        let _infallible = writeln!(out, "      {}", text::shown(&part.reason));
        if let Some(remedy) = &part.remedy {
            let _infallible = writeln!(out, "      the host can allow it: --allow '{}'", text::shown(remedy));
        }
    }
    if output.parts.is_empty() {
        let _infallible = writeln!(out, "{:<5} nothing would run", output.decision);
    } else if output.parts.len() > 1 {
        let _infallible = writeln!(out, "{:<5} all of it", output.decision);
    }
    out
}
