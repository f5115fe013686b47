use crate::pattern::ToolPattern;
use crate::rule::{Effect, Place, Rule};
use skillgate_core::Source;

/// Which part of a host's policy a rule belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// The host's own policy: the built-in default, the user's policy, and what the command line adds. Only this one grants.
    Host,
    /// The project's policy, which only takes away.
    Project,
    /// A managed policy, by its number.
    Managed {
        /// Its place in the host's list.
        ceiling: usize,
    },
}

/// The managed policy: what the administrator of the machine leaves to everybody below.
///
/// It grants nothing. Its denying and asking rules hold over everything; nothing below turns one of its asks into an allow,
/// only an answer does.
#[derive(Clone, PartialEq, Debug)]
pub struct Ceiling {
    rules: Vec<Rule>,
    closed: bool,
}

impl Ceiling {
    /// A ceiling of these rules. When it is `closed`, nothing outside what its allowing rules permit can be allowed by
    /// anybody; when it is not, its allowing rules say nothing.
    #[must_use]
    pub fn new(rules: Vec<Rule>, closed: bool) -> Self {
        Self { rules, closed }
    }

    /// The rules, in the order they were given.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether nothing outside its allowing rules can be allowed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The patterns of its allowing rules.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = &ToolPattern> + Clone {
        self.rules.iter().filter(|rule| rule.effect() == Effect::Allow).map(Rule::pattern)
    }
}

/// A rule that only takes away: it denies or asks. Project policy is made of these.
#[derive(Clone, PartialEq, Debug)]
pub struct Restriction(Rule);

/// An allowing rule stands where only denying and asking ones can.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("`{rule}` allows, and a project's policy can only deny or ask; put it into your own policy to grant it")]
pub struct NotARestriction {
    /// The rule.
    pub rule: Rule,
}

impl Restriction {
    /// What the pattern matches may not run.
    #[must_use]
    pub fn deny(pattern: ToolPattern, place: Place) -> Self {
        Self(Rule::new(Effect::Deny, pattern, place))
    }

    /// What the pattern matches needs an answer.
    #[must_use]
    pub fn ask(pattern: ToolPattern, place: Place) -> Self {
        Self(Rule::new(Effect::Ask, pattern, place))
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &Rule {
        &self.0
    }
}

impl TryFrom<Rule> for Restriction {
    type Error = NotARestriction;

    fn try_from(rule: Rule) -> Result<Self, NotARestriction> {
        if rule.effect() == Effect::Allow { Err(NotARestriction { rule }) } else { Ok(Self(rule)) }
    }
}

/// The host's consent that what a skill's `allowed-tools` lists needs no answer: for skills of these sources, and only for
/// what these patterns permit. It never reaches over a denying rule or a managed ask, and never lets a tool answer for the
/// user.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PreApproval {
    /// Sources whose skills may be pre-approved.
    pub sources: Vec<Source>,
    /// What may be pre-approved at most.
    pub tools: Vec<ToolPattern>,
}

/// Tools whose whole purpose is an answer of the user; an approval in advance would answer for them.
pub(crate) const INTERACTIVE_TOOLS: &[&str] = &["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restriction_cannot_allow() {
        let rule = |effect| Rule::parse(effect, "Bash(ls:*)", Place::Host).expect("a rule");
        for effect in [Effect::Deny, Effect::Ask] {
            assert_eq!(Restriction::try_from(rule(effect)).expect("takes away").rule().effect(), effect);
        }
        let error = Restriction::try_from(rule(Effect::Allow)).expect_err("grants");
        assert!(error.to_string().contains("can only deny or ask"), "{error}");
    }
}
