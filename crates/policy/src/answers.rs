use crate::command::Match;
use crate::pattern::ToolPattern;
use crate::request::Known;
use crate::rule::Rule;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The asks of a host that somebody agreed to. A [`Gate`](crate::Gate) that is given them takes an agreed ask for an allow, and
/// nothing else: what a rule denies, what no rule grants and what a skill takes away stays as it is.
///
/// Clones share what was agreed to, so that an agreement given while a program runs holds for the commands that follow.
#[derive(Clone, Debug, Default)]
pub struct Answers(Arc<Mutex<Agreed>>);

#[derive(Debug, Default)]
struct Agreed {
    vectors: BTreeSet<(String, Vec<Option<String>>)>,
    patterns: Vec<(String, ToolPattern)>,
}

impl Answers {
    /// Agrees to what `rule` asks about exactly these words. A word that is not known yet is `None`: that lets the command be
    /// planned, and its vector is asked about when it exists.
    pub fn agree(&self, rule: &Rule, words: impl IntoIterator<Item = Option<String>>) {
        self.agreed().vectors.insert((rule.to_string(), words.into_iter().collect()));
    }

    /// Agrees to what `rule` asks about every vector that `pattern` would permit if it were allowed.
    pub fn agree_to_all(&self, rule: &Rule, pattern: ToolPattern) {
        self.agreed().patterns.push((rule.to_string(), pattern));
    }

    /// Whether somebody agreed to what `rule` asks about this vector.
    pub(crate) fn cover(&self, rule: &Rule, vector: &[Known<'_>]) -> bool {
        let agreed = self.agreed();
        if agreed.vectors.is_empty() && agreed.patterns.is_empty() {
            return false;
        }
        let words: Vec<Option<String>> = vector
            .iter()
            .map(|word| match word {
                Known::Text(text) => Some((*text).to_owned()),
                Known::Unknown => None,
            })
            .collect();
        let rule = rule.to_string();
        let permits = |pattern: &ToolPattern| {
            // An agreement to some of the values an unknown word may have says nothing about the others.
            pattern.command().is_some_and(|pattern| pattern.permits(vector) == Match::Yes)
        };
        agreed.patterns.iter().any(|(asked, pattern)| *asked == rule && permits(pattern))
            || agreed.vectors.contains(&(rule, words))
    }

    fn agreed(&self) -> std::sync::MutexGuard<'_, Agreed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authority, Caveat, CaveatKind, CommandRequest, Defaults, Effect, Gate, Host, Place, Provider};
    use skillgate_core::{CommandName, Digest, SkillId, Source};

    fn rule(effect: Effect, text: &str) -> Rule {
        Rule::parse(effect, text, Place::Host).expect("a rule")
    }

    fn authority(rules: &[Rule]) -> Authority {
        Authority::of(Host::new(rules.iter().cloned(), Defaults::BuiltIn))
    }

    fn words(text: &str) -> Vec<Option<String>> {
        text.split(' ').map(|word| Some(word.to_owned())).collect()
    }

    fn runs(gate: &Gate, text: &str) -> bool {
        let words: Vec<&str> = text.split(' ').collect();
        gate.approve(CommandRequest::from_author(&words, Provider::Shipped)).is_ok()
    }

    #[test]
    fn an_agreement_holds_for_exactly_what_was_asked() {
        let ask = rule(Effect::Ask, "Bash(touch:*)");
        let answers = Answers::default();
        let gate = Gate::new(authority(std::slice::from_ref(&ask))).with_answers(answers.clone());
        assert!(!runs(&gate, "touch a"));
        answers.agree(&ask, words("touch a"));
        assert!(runs(&gate, "touch a"));
        for other in ["touch b", "touch a b", "touch"] {
            assert!(!runs(&gate, other), "{other}");
        }
        let elsewhere = Rule::parse(Effect::Ask, "Bash(touch:*)", Place::flag("--ask")).expect("a rule");
        let gate = Gate::new(authority(&[elsewhere])).with_answers(answers);
        assert!(!runs(&gate, "touch a"), "another rule asks again");
    }

    #[test]
    fn an_agreement_to_a_pattern_is_no_wider_than_an_allow_rule() {
        let ask = rule(Effect::Ask, "Bash");
        let answers = Answers::default();
        answers.agree_to_all(&ask, ToolPattern::parse("Bash(env:*)").expect("a pattern"));
        answers.agree_to_all(&ask, ToolPattern::parse("Bash(ls:*)").expect("a pattern"));
        let gate = Gate::new(authority(&[ask])).with_answers(answers);
        assert!(runs(&gate, "ls -l"));
        assert!(!runs(&gate, "env ls"), "a carrier needs its exact vector");
    }

    #[test]
    fn nothing_but_an_ask_is_answered() {
        let ask = rule(Effect::Ask, "Bash(ls:*)");
        let answers = Answers::default();
        let vector = || words("ls -l");
        answers.agree(&ask, vector());
        answers.agree(&rule(Effect::Deny, "Bash(ls -l)"), vector());
        answers.agree_to_all(&ask, ToolPattern::parse("Bash").expect("a pattern"));
        let asking = authority(std::slice::from_ref(&ask));
        assert!(runs(&Gate::new(asking.clone()).with_answers(answers.clone()), "ls -l"));
        let denied = authority(&[ask, rule(Effect::Deny, "Bash(ls -l)")]);
        assert!(!runs(&Gate::new(denied).with_answers(answers.clone()), "ls -l"));
        let skill = SkillId::new(Source::User, CommandName::new("x").expect("a name"));
        let kind =
            CaveatKind::Only { patterns: vec![ToolPattern::parse("Bash(pwd)").expect("ok")], unreadable: vec![] };
        let narrowed = asking.with(Caveat { skill, digest: Digest::of(b""), kind });
        assert!(!runs(&Gate::new(narrowed).with_answers(answers), "ls -l"));
    }

    #[test]
    fn every_rule_that_asks_needs_its_own_agreement() {
        let asks = [rule(Effect::Ask, "Bash(touch:*)"), rule(Effect::Ask, "Bash(touch a)")];
        let answers = Answers::default();
        let gate = Gate::new(authority(&asks)).with_answers(answers.clone());
        let asking = |gate: &Gate| {
            let request = CommandRequest::from_author(&["touch", "a"], Provider::Shipped);
            gate.approve(request).err().and_then(|refusal| refusal.asking().cloned())
        };
        for _ in 0..2 {
            let asking = asking(&gate).expect("one still asks");
            answers.agree(&asking, words("touch a"));
        }
        assert_eq!(asking(&gate), None);
        assert!(runs(&gate, "touch a"));
    }

    #[test]
    fn an_agreement_to_a_plan_is_none_to_its_vector() {
        let ask = rule(Effect::Ask, "Bash(touch:*)");
        let answers = Answers::default();
        answers.agree(&ask, [Some("touch".to_owned()), None]);
        let gate = Gate::new(authority(&[ask])).with_answers(answers);
        let span = skillgate_core::Span::new(0, 1);
        let sketch = |words| crate::Sketch { words, provider: Some(Provider::Shipped), span };
        assert!(gate.check(&sketch(vec![Ok("touch".to_owned()), Err(span)])).is_ok());
        assert!(gate.check(&sketch(vec![Ok("touch".to_owned()), Ok("a".to_owned())])).is_err());
        assert!(!runs(&gate, "touch a"));
    }
}
