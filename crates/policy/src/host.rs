use crate::level::{Ceiling, Level, PreApproval, Restriction};
use crate::pattern::{ToolPattern, ToolSpec};
use crate::request::Provider;
use crate::rule::{Effect, Place, Rule};

/// What holds for actions that no rule is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defaults {
    /// Nothing is permitted but what a rule allows.
    Nothing,
    /// The built-in default policy: shipped commands may run (they see the project read-only and no network); everything else
    /// asks.
    BuiltIn,
}

/// A decision together with what made it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) effect: Effect,
    pub(crate) by: By<'a>,
    /// Whether an answer or a pre-approval made an allow of an ask.
    pub(crate) agreed: bool,
}

/// What made a decision of the host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum By<'a> {
    /// A rule.
    Rule(Level, &'a Rule),
    /// No rule; the built-in default.
    Default,
    /// A closed managed policy that does not list it.
    Outside(&'a Ceiling),
    /// No rule, and no default.
    Nothing,
}

/// What the host grants, and what stands above and below it: its own rules and defaults, under the ceilings of managed
/// policies, narrowed by the restrictions of the project's.
///
/// Only the host's own rules and defaults grant. A denying rule of any level goes before every asking one, and an asking one
/// before every allowing one.
#[derive(Clone, PartialEq, Debug)]
pub struct Host {
    rules: Vec<Rule>,
    defaults: Defaults,
    ceilings: Vec<Ceiling>,
    restrictions: Vec<Restriction>,
    pre_approval: Option<PreApproval>,
}

impl Host {
    /// A host with these rules and defaults. The defaults hold for what no rule is about.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = Rule>, defaults: Defaults) -> Self {
        Self {
            rules: rules.into_iter().collect(),
            defaults,
            ceilings: Vec::new(),
            restrictions: Vec::new(),
            pre_approval: None,
        }
    }

    /// A host that grants what these rules allow and nothing else.
    #[must_use]
    pub fn granting(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::new(rules, Defaults::Nothing)
    }

    /// The host with further rules of its own; ceilings and restrictions stay.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// The host under a managed policy. Several ceilings hold together.
    #[must_use]
    pub fn under(mut self, ceiling: Ceiling) -> Self {
        self.ceilings.push(ceiling);
        self
    }

    /// The host narrowed by the project's policy.
    #[must_use]
    pub fn restricted(mut self, restrictions: impl IntoIterator<Item = Restriction>) -> Self {
        self.restrictions.extend(restrictions);
        self
    }

    /// The host that lets the lists of some skills answer what asks; see [`crate::Authority::pre_approved_by`]. The last one
    /// counts.
    #[must_use]
    pub fn pre_approve(mut self, pre_approval: PreApproval) -> Self {
        self.pre_approval = Some(pre_approval);
        self
    }

    /// The host's own rules, in the order they were given. Order decides nothing: the strictest matching rule wins.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What holds for what no rule is about.
    #[must_use]
    pub fn defaults(&self) -> Defaults {
        self.defaults
    }

    /// The managed policies.
    #[must_use]
    pub fn ceilings(&self) -> &[Ceiling] {
        &self.ceilings
    }

    /// What the project's policy takes away.
    #[must_use]
    pub fn restrictions(&self) -> &[Restriction] {
        &self.restrictions
    }

    /// What the lists of skills may answer.
    #[must_use]
    pub fn pre_approval(&self) -> Option<&PreApproval> {
        self.pre_approval.as_ref()
    }

    /// Every rule of every level: the host's, the project's, then the managed ones.
    pub fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.leveled().map(|(_, rule)| rule)
    }

    /// Every rule with its level. Ceilings come last, so that of equally strict rules theirs is the one that is named.
    pub(crate) fn leveled(&self) -> impl Iterator<Item = (Level, &Rule)> {
        let own = self.rules.iter().map(|rule| (Level::Host, rule));
        let project = self.restrictions.iter().map(|restriction| (Level::Project, restriction.rule()));
        let managed =
            self.ceilings.iter().enumerate().flat_map(|(ceiling, managed)| {
                managed.rules().iter().map(move |rule| (Level::Managed { ceiling }, rule))
            });
        own.chain(project).chain(managed)
    }

    /// The ceilings outside whose lists nothing can be allowed.
    pub(crate) fn closed(&self) -> impl Iterator<Item = &Ceiling> {
        self.ceilings.iter().filter(|ceiling| ceiling.is_closed())
    }

    /// Decides what the rules of all levels say together about one action.
    ///
    /// `matching` are the rules that match it, in the order of [`Host::leveled`]: an allowing one as favourably as unknown words
    /// leave open, a denying or asking one for certain. An allowing rule of a ceiling says only that the ceiling lists it.
    /// `default` is the built-in policy's word, for what no rule is about; `answered` says whether an ask was answered.
    pub(crate) fn decide<'a>(
        &'a self,
        matching: impl Iterator<Item = (Level, &'a Rule)>,
        default: Effect,
        answered: impl Fn(Level, &Rule) -> bool,
    ) -> Decided<'a> {
        let (mut denying, mut asking, mut allowing, mut answered_ask) = (None, None, None, None);
        // An ask of the project or of a ceiling takes away from a grant; with its answer it is none.
        let mut granted = default != Effect::Deny;
        let mut listed = vec![false; self.ceilings.len()];
        for (level, rule) in matching {
            granted |= level == Level::Host && rule.effect() != Effect::Deny;
            match (level, rule.effect()) {
                (Level::Managed { ceiling }, Effect::Allow) => listed[ceiling] = true,
                (Level::Host | Level::Project, Effect::Allow) => allowing = Some((level, rule)),
                (_, Effect::Ask) if answered(level, rule) => answered_ask = Some((level, rule)),
                (_, Effect::Ask) => asking = Some((level, rule)),
                (_, Effect::Deny) => denying = Some((level, rule)),
            }
        }
        let decided = |effect, by, agreed| Decided { effect, by, agreed };
        if let Some((level, rule)) = denying {
            return decided(Effect::Deny, By::Rule(level, rule), false);
        }
        let mut outside = self.ceilings.iter().zip(listed).filter(|(ceiling, listed)| ceiling.is_closed() && !listed);
        if let Some((ceiling, _)) = outside.next() {
            return decided(Effect::Deny, By::Outside(ceiling), false);
        }
        if !granted {
            return decided(Effect::Deny, By::Nothing, false);
        }
        if let Some((level, rule)) = asking {
            return decided(Effect::Ask, By::Rule(level, rule), false);
        }
        // Without a rule of the host its default stands beside the asks that were answered.
        let by_default_only = allowing.is_none() && !matches!(answered_ask, Some((Level::Host, _)));
        if by_default_only && default == Effect::Ask {
            let agreed = answered(Level::Host, &builtin_rule(Effect::Ask));
            return decided(if agreed { Effect::Allow } else { Effect::Ask }, By::Default, agreed);
        }
        match answered_ask.or(allowing) {
            Some((level, rule)) => decided(Effect::Allow, By::Rule(level, rule), answered_ask.is_some()),
            None => decided(Effect::Allow, By::Default, false),
        }
    }

    /// The built-in policy's word about a command.
    pub(crate) fn default_for(&self, provider: Option<Provider>) -> Effect {
        match (self.defaults, provider) {
            (Defaults::Nothing, _) => Effect::Deny,
            (Defaults::BuiltIn, Some(Provider::Shipped | Provider::BuiltIn) | None) => Effect::Allow,
            (Defaults::BuiltIn, Some(_)) => Effect::Ask,
        }
    }

    /// Whether some shell command may run at all, by the host's own rules that grant.
    pub(crate) fn permits_some_command(&self, grants: impl Fn(&&Rule) -> bool) -> bool {
        let own = self.rules.iter().filter(grants).map(Rule::pattern);
        (self.defaults == Defaults::BuiltIn || names_a_command(own))
            && self.closed().all(|ceiling| names_a_command(ceiling.allowed()))
    }

    /// Path patterns of one tool family that the rules of some levels state with one effect.
    pub(crate) fn path_patterns(&self, tools: &[&str], effect: Effect, of: impl Fn(Level) -> bool) -> Vec<String> {
        let rules = self.leveled().filter(|(level, rule)| rule.effect() == effect && of(*level));
        path_patterns(rules.map(|(_, rule)| rule.pattern()), tools)
    }
}

impl Decided<'_> {
    /// The rule that decided, in the form `effect pattern (place)`; empty when there is none.
    pub(crate) fn rule(&self) -> Option<Rule> {
        match self.by {
            By::Rule(_, rule) => Some(rule.clone()),
            By::Default => Some(builtin_rule(if self.agreed { Effect::Ask } else { self.effect })),
            By::Outside(_) | By::Nothing => None,
        }
    }
}

fn names_a_command<'a>(mut patterns: impl Iterator<Item = &'a ToolPattern>) -> bool {
    patterns.any(|pattern| pattern.command().is_some())
}

/// The gitignore patterns of those tool patterns that are about one of `tools`; a bare tool is `**`.
pub(crate) fn path_patterns<'a>(patterns: impl Iterator<Item = &'a ToolPattern>, tools: &[&str]) -> Vec<String> {
    patterns
        .filter(|pattern| tools.contains(&pattern.tool()))
        .filter_map(|pattern| match pattern.spec() {
            ToolSpec::Path(path) => Some(path.clone()),
            ToolSpec::Any => Some("**".to_owned()),
            _ => None,
        })
        .collect()
}

/// What the built-in default says, in the form of a rule.
pub(crate) fn builtin_rule(effect: Effect) -> Rule {
    Rule::new(effect, ToolPattern::any_command(), Place::BuiltIn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(effect: Effect, text: &str) -> Rule {
        Rule::parse(effect, text, Place::Host).expect("a rule")
    }

    #[test]
    fn deny_beats_ask_beats_allow_in_any_order() {
        let rules = [rule(Effect::Allow, "Bash"), rule(Effect::Deny, "Bash(rm:*)"), rule(Effect::Ask, "Bash(rm -r:*)")];
        for rotation in 0..3 {
            let mut rules = rules.clone();
            rules.rotate_left(rotation);
            let host = Host::granting(rules);
            for (length, effect) in [(3, Effect::Deny), (1, Effect::Allow)] {
                let matching = host.leveled().filter(|(_, rule)| length == 3 || rule.effect() == Effect::Allow);
                assert_eq!(host.decide(matching, Effect::Deny, |_, _| false).effect, effect);
            }
        }
    }

    #[test]
    fn a_ceiling_lists_and_grants_nothing() {
        let under = |host: Host, closed| host.under(Ceiling::new(vec![rule(Effect::Allow, "Bash(ls:*)")], closed));
        let decide = |host: &Host, default| host.decide(host.leveled(), default, |_, _| false).effect;
        assert_eq!(decide(&under(Host::granting([]), true), Effect::Deny), Effect::Deny);
        assert_eq!(decide(&under(Host::granting([rule(Effect::Allow, "Bash")]), true), Effect::Deny), Effect::Allow);
        let outside = Host::granting([rule(Effect::Allow, "Bash")]);
        for (closed, effect) in [(true, Effect::Deny), (false, Effect::Allow)] {
            let host = under(outside.clone(), closed);
            let own = host.leveled().filter(|(level, _)| *level == Level::Host);
            assert_eq!(host.decide(own, Effect::Deny, |_, _| false).effect, effect);
            assert_eq!(host.decide(std::iter::empty(), Effect::Allow, |_, _| true).effect, effect);
        }
    }

    #[test]
    fn every_ask_needs_its_answer_and_a_denial_has_none() {
        let ask = [rule(Effect::Ask, "Bash"), rule(Effect::Ask, "Bash(ls:*)")];
        let host = Host::granting([ask[0].clone()]).under(Ceiling::new(vec![ask[1].clone()], false));
        let own = host.decide(host.leveled(), Effect::Deny, |level, _| level == Level::Host);
        assert_eq!((own.effect, own.by), (Effect::Ask, By::Rule(Level::Managed { ceiling: 0 }, &ask[1])));
        let all = host.decide(host.leveled(), Effect::Deny, |_, _| true);
        assert_eq!((all.effect, all.agreed), (Effect::Allow, true));
        let outer = [Level::Project, Level::Managed { ceiling: 0 }].map(|level| (level, &ask[1]));
        let alone = host.decide(outer.into_iter(), Effect::Deny, |_, _| true);
        assert_eq!(
            (alone.effect, alone.by),
            (Effect::Deny, By::Nothing),
            "an answer to who grants nothing is no grant"
        );
        let unanswered_default = host.decide(outer.into_iter(), Effect::Ask, |level, _| level != Level::Host);
        assert_eq!((unanswered_default.effect, unanswered_default.by), (Effect::Ask, By::Default));
        let denied = host.clone().restricted([Restriction::deny(ToolPattern::any_command(), Place::Host)]);
        assert_eq!(denied.decide(denied.leveled(), Effect::Allow, |_, _| true).effect, Effect::Deny);
    }

    #[test]
    fn defaults_depend_on_who_would_run_the_command() {
        for (provider, effect) in
            [(Provider::Shipped, Effect::Allow), (Provider::Native, Effect::Ask), (Provider::ThirdParty, Effect::Ask)]
        {
            assert_eq!(Host::new([], Defaults::BuiltIn).default_for(Some(provider)), effect);
            assert_eq!(Host::granting([]).default_for(Some(provider)), Effect::Deny);
        }
    }
}
