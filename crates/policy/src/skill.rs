use crate::host::Host;
use crate::pattern::ToolSpec;
use crate::refusal::SkillRefusal;
use crate::rule::{Effect, Rule};
use skillgate_core::{Frontmatter, Guarded, Skill};

/// Who wants to invoke a skill.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Invoker {
    /// A person who typed its name.
    User,
    /// A model through the Skill tool.
    Model,
}

/// A wish to invoke a skill.
#[derive(Clone, Copy, Debug)]
pub struct SkillRequest<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Who wants it.
    pub invoker: Invoker,
    /// Whether every command of its injections is allowed by the gate already.
    pub injections_allowed: bool,
}

/// Why a skill may be invoked.
#[derive(Clone, PartialEq, Debug)]
pub enum SkillDecision {
    /// A rule allows it.
    ByRule(Rule),
    /// It has only properties that are safe without a rule.
    OnlySafeProperties,
    /// Somebody was asked and agreed.
    Agreed {
        /// What made it need an agreement.
        because: String,
    },
}

/// Decides whether a skill may be invoked: deny rule, allow rule, only safe properties, else ask. One gate for a typed name
/// and a model's call.
///
/// # Errors
/// A [`SkillRefusal`] with the number of the Skill tool's error.
pub fn decide_skill(host: &Host, request: SkillRequest<'_>) -> Result<SkillDecision, SkillRefusal> {
    let skill = request.skill;
    let name = skill.id.command.to_string();
    if skill.frontmatter.hooks.is_unreadable() {
        // The hook may be a guard.
        return Err(SkillRefusal::Broken { name, because: "its `hooks` cannot be read".to_owned() });
    }
    match request.invoker {
        Invoker::Model if !skill.model_invocable() => return Err(SkillRefusal::NotForModels { name }),
        Invoker::User if !skill.user_invocable() => return Err(SkillRefusal::NotForUsers { name }),
        _ => {}
    }
    let strictest = host
        .rules()
        .iter()
        .filter(|rule| match rule.pattern().spec() {
            ToolSpec::Skill(pattern) => pattern.matches(skill.id.source.as_str(), &name),
            _ => false,
        })
        .max_by_key(|rule| rule.effect());
    match strictest.map(|rule| (rule.effect(), rule)) {
        Some((Effect::Deny, rule)) => return Err(SkillRefusal::Denied { name, rule: rule.clone() }),
        Some((Effect::Allow, rule)) => return Ok(SkillDecision::ByRule(rule.clone())),
        Some((Effect::Ask, rule)) => {
            return Err(unanswered(name, format!("the rule `{rule}`"), Some(rule.clone())));
        }
        None => {}
    }
    let mut unsafe_parts = unsafe_properties(&skill.frontmatter);
    if !request.injections_allowed {
        unsafe_parts.push("injections that are not allowed throughout");
    }
    if unsafe_parts.is_empty() {
        return Ok(SkillDecision::OnlySafeProperties);
    }
    let because = unsafe_parts.join(", ");
    Err(unanswered(name, because, None))
}

fn unanswered(name: String, because: String, rule: Option<Rule>) -> SkillRefusal {
    let suggestions = vec![format!("Skill({name})"), format!("Skill({name}:*)")];
    SkillRefusal::Unanswered { name, because, rule, suggestions }
}

/// The header keys that need a rule or an agreement. Every field is named here: a new one does not compile until somebody
/// decides what it is.
#[must_use]
pub fn unsafe_properties(header: &Frontmatter) -> Vec<&'static str> {
    let Frontmatter {
        // Text for people and models.
        name: _,
        description: _,
        when_to_use: _,
        argument_hint: _,
        arguments: _,
        version: _,
        license: _,
        compatibility: _,
        metadata: _,
        // Only take away.
        allowed_tools: _,
        disallowed_tools: _,
        disable_model_invocation: _,
        user_invocable: _,
        paths: _,
        // How the prompt is run, within what the host offers.
        model: _,
        context: _,
        agent: _,
        background: _,
        effort: _,
        // Run something, or decide how it is run.
        hooks,
        shell,
        // Kept, never acted on.
        other: _,
    } = header;
    let mut parts = Vec::new();
    if !matches!(hooks, Guarded::Absent) {
        parts.push("`hooks`");
    }
    if !matches!(shell, Guarded::Absent) {
        parts.push("`shell`");
    }
    parts
}
