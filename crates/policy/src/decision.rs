//! One decision for every kind of action.

use crate::action::Action;
use crate::authority::Authority;
use crate::caveat::{Caveat, CaveatKind};
use crate::gate::Sight;
use crate::host::{By, Decided, Defaults};
use crate::level::{INTERACTIVE_TOOLS, Level};
use crate::paths::{PathBase, is_protected};
use crate::pattern::ToolPattern;
use crate::request::Known;
use crate::rule::{Effect, Place, Rule};
use serde::Serialize;
use skillgate_core::{Digest, SkillId};
use std::fmt;

/// One member of an authority.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Conjunct {
    /// A managed policy.
    Managed,
    /// The project's policy.
    Project,
    /// The host's own rules.
    Host,
    /// What holds without a rule.
    Default,
    /// What one skill takes away.
    Skill {
        /// The skill.
        skill: SkillId,
        /// The content it was read from.
        digest: Digest,
    },
    /// What holds whatever anybody grants.
    Always,
}

impl fmt::Display for Conjunct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conjunct::Managed => f.write_str("managed policy"),
            Conjunct::Project => f.write_str("project policy"),
            Conjunct::Host => f.write_str("host"),
            Conjunct::Default => f.write_str("default"),
            Conjunct::Skill { skill, .. } => write!(f, "skill {skill}"),
            Conjunct::Always => f.write_str("always"),
        }
    }
}

/// What decided, and what it says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reason {
    /// Which member.
    pub conjunct: Conjunct,
    /// What it makes of the action.
    pub effect: Effect,
    /// The rule's text, when a rule says it.
    pub pattern: Option<String>,
    /// Where the rule stands.
    pub place: Option<Place>,
    /// The whole of it, as a sentence.
    pub says: String,
}

/// What becomes of an action, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// Whether it may happen.
    pub effect: Effect,
    /// Whether the command, if it is one, sees standard streams only.
    pub streams_only: bool,
    /// What decided.
    pub reasons: Vec<Reason>,
    /// A pattern that would allow it, when one of the host would.
    pub remedy: Option<String>,
}

impl Authority {
    /// Decides an action. A command that is allowed here is approved by the gate, and by nothing else.
    #[must_use]
    pub fn decide(&self, action: &Action) -> Decision {
        self.decide_in(action, &PathBase::default())
    }

    /// As [`Authority::decide`], for a project whose place is known.
    #[must_use]
    pub fn decide_in(&self, action: &Action, base: &PathBase) -> Decision {
        match action {
            Action::Command { words, provider, .. } => {
                let vector: Vec<Known<'_>> = words.iter().map(|word| Known::Text(word)).collect();
                let considered = self.consider(&vector, Some(*provider), &|_| false);
                match self.rule_considered(&considered, &vector, Some(*provider), &|| action.to_string()) {
                    Ok(ruling) => {
                        let by_host = reason_of(&considered.host, ruling.rule.clone());
                        let streams_only = ruling.sight == Sight::StreamsOnly;
                        let granted = considered.host.effect == Effect::Allow && considered.narrowing.is_none();
                        let reason = if granted { by_host } else { always(Effect::Allow, ruling.rule) };
                        Decision { effect: Effect::Allow, streams_only, reasons: vec![reason], remedy: None }
                    }
                    Err(refusal) => {
                        use crate::refusal::RefusalReason::{Denied, Narrowed, OutsideCeiling, Unanswered};
                        let effect = refusal.reason.effect();
                        let says = refusal.reason.to_string();
                        let reason = match &refusal.reason {
                            Narrowed { .. } => {
                                let caveat = considered.narrowing.or_else(|| self.caveats().first());
                                caveat.map_or_else(|| always(effect, says.clone()), by_caveat)
                            }
                            Denied(_) | Unanswered(_) | OutsideCeiling { .. } => reason_of(&considered.host, says),
                            _ => Reason { effect, ..reason_of(&considered.host, says) },
                        };
                        Decision { effect, streams_only: false, reasons: vec![reason], remedy: refusal.remedy }
                    }
                }
            }
            _ => self.decide_other(action, base),
        }
    }

    fn decide_other(&self, action: &Action, base: &PathBase) -> Decision {
        let decision = |effect, reasons: Vec<Reason>, remedy| Decision { effect, streams_only: false, reasons, remedy };
        if let Some(refusal) = impossible(action, base) {
            return decision(Effect::Deny, vec![always(Effect::Deny, refusal)], None);
        }
        let takes = |pattern: &ToolPattern| action.is_named_by(pattern, base, true);
        let permits = |pattern: &ToolPattern| action.is_named_by(pattern, base, false);
        let matching = self.host().leveled().filter(|(_, rule)| {
            if rule.effect() == Effect::Allow { permits(rule.pattern()) } else { takes(rule.pattern()) }
        });
        let interactive = matches!(action, Action::Tool { name, .. } if INTERACTIVE_TOOLS.contains(&name.as_str()));
        let pre_approved = !interactive && self.pre_approval(&permits).is_some();
        let answered = |level, _: &Rule| pre_approved && !matches!(level, Level::Managed { .. });
        let host = self.host().decide(matching, self.default_of(action), answered);
        let remedy = remedy_of(action);
        let narrowing = self.caveats().iter().find(|caveat| match &caveat.kind {
            CaveatKind::Nothing { .. } => true,
            CaveatKind::Only { patterns, .. } => !patterns.iter().any(permits),
            CaveatKind::Without(patterns) => patterns.iter().any(takes),
        });
        match (host.effect, narrowing) {
            (Effect::Deny, _) => {
                let remedy = if matches!(host.by, By::Nothing) { remedy } else { None };
                decision(Effect::Deny, vec![reason_of(&host, says(&host))], remedy)
            }
            (_, Some(caveat)) => decision(Effect::Deny, vec![by_caveat(caveat)], None),
            (Effect::Ask | Effect::Allow, None) if self.hides(action, base) => {
                let says = "what cannot be seen is not changed either".to_owned();
                decision(Effect::Deny, vec![always(Effect::Deny, says)], None)
            }
            (Effect::Ask, None) => decision(Effect::Ask, vec![reason_of(&host, says(&host))], remedy),
            (Effect::Allow, None) if !self.paths_agree(action, base) => {
                let says = "the rules about the file system do not let it be seen or changed".to_owned();
                decision(Effect::Deny, vec![always(Effect::Deny, says)], None)
            }
            (Effect::Allow, None) => decision(Effect::Allow, vec![reason_of(&host, says(&host))], None),
        }
    }

    /// Whether the action would change a path that some member does not show.
    fn hides(&self, action: &Action, base: &PathBase) -> bool {
        match (action, action.path_below(base)) {
            (Action::Write { .. } | Action::Edit { .. }, Some(Ok(path))) => {
                !self.path_rules_in(base).may_read(&path, false)
            }
            _ => false,
        }
    }

    /// Whether commands could do to the path what the action does.
    fn paths_agree(&self, action: &Action, base: &PathBase) -> bool {
        let Some(Ok(path)) = action.path_below(base) else { return true };
        let rules = self.path_rules_in(base);
        if matches!(action, Action::Read { .. }) { rules.may_read(&path, false) } else { rules.may_write(&path) }
    }

    /// What holds for an action that no rule is about.
    pub(crate) fn default_of(&self, action: &Action) -> Effect {
        match (self.host().defaults(), action) {
            (_, Action::Skill { .. }) => Effect::Ask,
            (_, Action::Command { provider, .. }) => self.host().default_for(Some(*provider)),
            (Defaults::Nothing, _) => Effect::Deny,
            (Defaults::BuiltIn, Action::Read { .. }) => Effect::Allow,
            (Defaults::BuiltIn, _) => Effect::Ask,
        }
    }
}

/// Why an action is denied whatever anybody grants.
pub(crate) fn impossible(action: &Action, base: &PathBase) -> Option<String> {
    match (action, action.path_below(base)) {
        (Action::Tool { name, .. }, _) if name == "Bash" || name == "PowerShell" => {
            Some("the commands of a program are decided one by one, by their vectors".to_owned())
        }
        (_, Some(Err(path))) => Some(format!("`{path}` is outside the project, where no rule reaches")),
        (Action::Write { .. } | Action::Edit { .. }, Some(Ok(path))) if is_protected(&path) => {
            Some(format!("`{path}` is never written, because other programs act on it"))
        }
        _ => None,
    }
}

fn remedy_of(action: &Action) -> Option<String> {
    let text = match action {
        Action::Network { host, .. } => format!("WebFetch(domain:{host})"),
        Action::Tool { name, .. } => name.clone(),
        Action::Skill { name, .. } => format!("Skill({name})"),
        other => other.to_string(),
    };
    ToolPattern::parse(&text).is_ok().then_some(text)
}

fn always(effect: Effect, says: String) -> Reason {
    Reason { conjunct: Conjunct::Always, effect, pattern: None, place: None, says }
}

pub(crate) fn conjunct_of(level: Level) -> Conjunct {
    match level {
        Level::Host => Conjunct::Host,
        Level::Project => Conjunct::Project,
        Level::Managed { .. } => Conjunct::Managed,
    }
}

fn by_caveat(caveat: &Caveat) -> Reason {
    Reason {
        conjunct: Conjunct::Skill { skill: caveat.skill.clone(), digest: caveat.digest },
        effect: Effect::Deny,
        pattern: None,
        place: None,
        says: caveat.says(),
    }
}

fn says(host: &Decided<'_>) -> String {
    match host.by {
        By::Rule(_, rule) if host.agreed => format!("the rule `{rule}`, pre-approved"),
        By::Rule(_, rule) => format!("the rule `{rule}`"),
        By::Default => format!("the built-in default says {}", host.effect),
        By::Outside(ceiling) => crate::ruling::outside(ceiling).to_string(),
        By::Nothing => "no rule grants it".to_owned(),
    }
}

fn reason_of(host: &Decided<'_>, says: String) -> Reason {
    let (conjunct, rule) = match host.by {
        By::Rule(level, rule) => (conjunct_of(level), Some(rule)),
        By::Default | By::Nothing => (Conjunct::Default, None),
        By::Outside(_) => (Conjunct::Managed, None),
    };
    Reason {
        conjunct,
        effect: host.effect,
        pattern: rule.map(|rule| rule.pattern().text().to_owned()),
        place: rule.map(|rule| rule.place().clone()),
        says,
    }
}
