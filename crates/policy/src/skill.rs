use crate::authority::Authority;
use crate::caveat::{Caveat, CaveatKind};
use crate::host::{By, Host};
use crate::pattern::{ToolPattern, ToolSpec};
use crate::refusal::SkillRefusal;
use crate::rule::{Effect, Rule};
use skillgate_core::{Frontmatter, Guarded, Skill, SkillId};

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
    let pre_approved = host.pre_approval().is_some_and(|it| it.sources.contains(&skill.id.source));
    let mut unsafe_parts = unsafe_properties(&skill.frontmatter, pre_approved);
    if !request.injections_allowed {
        unsafe_parts.push("injections that are not allowed throughout");
    }
    let named = |pattern: &ToolPattern| match pattern.spec() {
        ToolSpec::Skill(pattern) => pattern.matches(skill.id.source.as_str(), &name),
        _ => false,
    };
    let default = if unsafe_parts.is_empty() { Effect::Allow } else { Effect::Ask };
    let matching = host.leveled().filter(|(_, rule)| named(rule.pattern()));
    let decided = host.decide(matching, default, |_, _| false);
    match (decided.effect, decided.by) {
        (Effect::Deny, By::Rule(_, rule)) => Err(SkillRefusal::Denied { name, rule: rule.clone() }),
        (Effect::Allow, By::Rule(_, rule)) => Ok(SkillDecision::ByRule(rule.clone())),
        (Effect::Ask, By::Rule(_, rule)) => {
            let because = format!("the rule `{rule}`");
            Err(unanswered(name, because, Some(rule.clone())))
        }
        // A list that names no skill is about tools: a skill that is only text is none.
        (_, By::Outside(_)) if unsafe_parts.is_empty() && !lists_skills(host) => Ok(SkillDecision::OnlySafeProperties),
        (_, By::Outside(ceiling)) => {
            let listed = ceiling.allowed().filter(|it| it.tool() == "Skill").map(|it| it.text().to_owned()).collect();
            Err(SkillRefusal::OutsideCeiling { name, listed })
        }
        (Effect::Allow, _) => Ok(SkillDecision::OnlySafeProperties),
        (Effect::Ask | Effect::Deny, _) => Err(unanswered(name, unsafe_parts.join(", "), None)),
    }
}

impl Authority {
    /// The first caveat that keeps a model from calling a skill: one that removes it by name, or that permits nothing at all. A
    /// list that names no skill is about other tools; one that names some permits no others.
    #[must_use]
    pub fn narrows_skill(&self, skill: &SkillId) -> Option<&Caveat> {
        let names_it = |pattern: &ToolPattern| match pattern.spec() {
            ToolSpec::Skill(pattern) => pattern.matches(skill.source.as_str(), skill.command.as_str()),
            _ => false,
        };
        let is_of_skills = |pattern: &ToolPattern| matches!(pattern.spec(), ToolSpec::Skill(_));
        self.caveats().iter().find(|caveat| match &caveat.kind {
            CaveatKind::Nothing { .. } => true,
            CaveatKind::Without(patterns) => patterns.iter().any(names_it),
            CaveatKind::Only { patterns, .. } => {
                let about_skills = patterns.is_empty() || patterns.iter().any(is_of_skills);
                about_skills && !patterns.iter().any(names_it)
            }
        })
    }
}

/// Whether a closed managed policy says which skills there can be.
fn lists_skills(host: &Host) -> bool {
    host.closed().any(|ceiling| ceiling.allowed().any(|pattern| matches!(pattern.spec(), ToolSpec::Skill(_))))
}

fn unanswered(name: String, because: String, rule: Option<Rule>) -> SkillRefusal {
    let suggestions = vec![format!("Skill({name})"), format!("Skill({name}:*)")];
    SkillRefusal::Unanswered { name, because, rule, suggestions }
}

/// The header keys that need a rule or an agreement. Every field is named here: a new one does not compile until somebody
/// decides what it is.
///
/// `allowed-tools` only narrows, and is safe, until the host's [`PreApproval`](crate::PreApproval) is for the skill's source
/// (`pre_approved`): then it decides what nobody is asked about.
#[must_use]
pub fn unsafe_properties(header: &Frontmatter, pre_approved: bool) -> Vec<&'static str> {
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
        // Narrows, and may answer what asks.
        allowed_tools,
        // Only take away.
        disallowed_tools: _,
        disable_model_invocation: _,
        user_invocable: _,
        paths: _,
        requires: _,
        deferred: _,
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
    if pre_approved && !matches!(allowed_tools, Guarded::Absent) {
        parts.push("`allowed-tools`, which nobody is asked about here");
    }
    if !matches!(hooks, Guarded::Absent) {
        parts.push("`hooks`");
    }
    if !matches!(shell, Guarded::Absent) {
        parts.push("`shell`");
    }
    parts
}
