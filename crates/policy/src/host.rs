use crate::command::Match;
use crate::pattern::{ToolPattern, ToolSpec};
use crate::request::{Known, Provider};
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

/// What the host grants: its rules, and what holds without one.
#[derive(Clone, PartialEq, Debug)]
pub struct Host {
    rules: Vec<Rule>,
    defaults: Defaults,
}

/// A decision together with the rule that made it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Decided {
    pub(crate) effect: Effect,
    pub(crate) rule: Option<Rule>,
}

impl Host {
    /// A host with these rules and defaults.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = Rule>, defaults: Defaults) -> Self {
        Self { rules: rules.into_iter().collect(), defaults }
    }

    /// A host that grants what these rules allow and nothing else.
    #[must_use]
    pub fn granting(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::new(rules, Defaults::Nothing)
    }

    /// The rules, in the order they were given. Order decides nothing: the strictest matching rule wins.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What holds without a rule.
    #[must_use]
    pub fn defaults(&self) -> Defaults {
        self.defaults
    }

    /// Decides a vector as favourably as its unknown words leave open; for a vector that is known whole, decides it.
    pub(crate) fn decide_command(&self, vector: &[Known<'_>], provider: Option<Provider>) -> Decided {
        let strictest = self
            .rules
            .iter()
            .filter(|rule| match (rule.effect(), rule.pattern().command()) {
                (_, None) => false,
                (Effect::Allow, Some(pattern)) => pattern.permits(vector) != Match::No,
                (Effect::Ask | Effect::Deny, Some(pattern)) => pattern.matches(vector) == Match::Yes,
            })
            .max_by_key(|rule| rule.effect());
        match strictest {
            Some(rule) => Decided { effect: rule.effect(), rule: Some(rule.clone()) },
            None => self.default_for(provider),
        }
    }

    fn default_for(&self, provider: Option<Provider>) -> Decided {
        match (self.defaults, provider) {
            (Defaults::Nothing, _) => Decided { effect: Effect::Deny, rule: None },
            (Defaults::BuiltIn, Some(Provider::Shipped | Provider::BuiltIn) | None) => {
                Decided { effect: Effect::Allow, rule: builtin_rule(Effect::Allow) }
            }
            (Defaults::BuiltIn, Some(_)) => Decided { effect: Effect::Ask, rule: builtin_rule(Effect::Ask) },
        }
    }

    /// Whether some shell command may run at all.
    pub(crate) fn permits_some_command(&self) -> bool {
        self.defaults == Defaults::BuiltIn
            || self.rules.iter().any(|rule| rule.effect() == Effect::Allow && rule.pattern().command().is_some())
    }

    /// Path patterns of the rules of one tool family with one effect.
    pub(crate) fn path_patterns(&self, tools: &[&str], effect: Effect) -> Vec<String> {
        path_patterns(self.rules.iter().filter(|rule| rule.effect() == effect).map(Rule::pattern), tools)
    }
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

fn builtin_rule(effect: Effect) -> Option<Rule> {
    // The text is what the built-in default says in the form of a rule; it parses by construction.
    Rule::parse(effect, "Bash", Place::BuiltIn).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(rules: &[(Effect, &str)], defaults: Defaults) -> Host {
        let rule = |(effect, text): &(Effect, &str)| Rule::parse(*effect, text, Place::Host).expect("a rule");
        Host::new(rules.iter().map(rule), defaults)
    }

    #[test]
    fn deny_beats_ask_beats_allow_in_any_order() {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Bash(rm:*)"), (Effect::Ask, "Bash(rm -r:*)")];
        for rotation in 0..3 {
            let mut rules = rules;
            rules.rotate_left(rotation);
            let host = host(&rules, Defaults::Nothing);
            for (words, effect) in [(vec!["rm", "-r", "x"], Effect::Deny), (vec!["ls"], Effect::Allow)] {
                let vector: Vec<_> = words.iter().map(|word| Known::Text(word)).collect();
                assert_eq!(host.decide_command(&vector, Some(Provider::Shipped)).effect, effect, "{words:?}");
            }
        }
    }

    #[test]
    fn defaults_depend_on_who_would_run_the_command() {
        let vector = [Known::Text("x")];
        for (provider, effect) in
            [(Provider::Shipped, Effect::Allow), (Provider::Native, Effect::Ask), (Provider::ThirdParty, Effect::Ask)]
        {
            assert_eq!(host(&[], Defaults::BuiltIn).decide_command(&vector, Some(provider)).effect, effect);
            assert_eq!(host(&[], Defaults::Nothing).decide_command(&vector, Some(provider)).effect, Effect::Deny);
        }
    }
}
