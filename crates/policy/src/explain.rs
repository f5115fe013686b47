//! The account of a decision that a person reads: what each member says, which of its rules matched, and which were near.

use crate::action::Action;
use crate::authority::Authority;
use crate::carrier::carrier;
use crate::caveat::CaveatKind;
use crate::command::CommandPattern;
use crate::decision::{Conjunct, conjunct_of};
use crate::level::Level;
use crate::paths::PathBase;
use crate::pattern::{ToolPattern, ToolSpec};
use crate::request::Known;
use crate::rule::{Effect, Place, Rule};
use serde::Serialize;
use std::fmt;

/// Rules beside the point that one member names at most.
const MAX_NEAR: usize = 5;

/// What every member of an authority says about an action, in the order in which they are asked.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The action, as a person would write it.
    pub action: String,
    /// What becomes of it.
    pub effect: Effect,
    /// Why, as a sentence.
    pub because: String,
    /// A pattern that would allow it, when one of the host would.
    pub remedy: Option<String>,
    /// What each member says. Empty for a program of several commands.
    pub accounts: Vec<Account>,
    /// The commands of a program, each by itself.
    pub parts: Vec<Explanation>,
}

/// What one member says.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Account {
    /// The member.
    pub conjunct: Conjunct,
    /// What it makes of the action; `None` when it says nothing.
    pub says: Option<Effect>,
    /// The same as a sentence.
    pub because: String,
    /// Its rules that are about the action.
    pub matched: Vec<MatchedRule>,
    /// Its rules that are not, and look as if they could be.
    pub near: Vec<NearRule>,
}

/// A rule that is about the action.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchedRule {
    /// What it says.
    pub effect: Effect,
    /// Its pattern.
    pub pattern: String,
    /// Where it stands; `None` for an entry of a skill's list.
    pub place: Option<Place>,
}

/// A rule that is not about the action.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NearRule {
    /// The rule.
    pub rule: MatchedRule,
    /// Why it does not match, as the rest of a sentence.
    pub why: String,
}

impl Explanation {
    /// The account of a program: it may run when each of its commands may, so the strictest of them decides.
    #[must_use]
    pub fn of_parts(program: &str, parts: Vec<Explanation>) -> Self {
        let strictest = parts.iter().enumerate().rev().max_by_key(|(_, part)| part.effect);
        let effect = strictest.map_or(Effect::Allow, |(_, part)| part.effect);
        let because = match strictest {
            None => "it runs no command".to_owned(),
            Some((_, part)) if effect == Effect::Allow && parts.len() == 1 => part.because.clone(),
            Some(_) if effect == Effect::Allow => format!("each of its {} commands is allowed", parts.len()),
            Some((at, part)) => format!("command {} of {}, `{}`: {}", at + 1, parts.len(), part.action, part.because),
        };
        let remedy = strictest.and_then(|(_, part)| part.remedy.clone());
        Self { action: program.to_owned(), effect, because, remedy, accounts: Vec::new(), parts }
    }
}

impl Authority {
    /// What every member says about an action, with the rules that matched and those that were near.
    #[must_use]
    pub fn explain(&self, action: &Action) -> Explanation {
        self.explain_in(action, &PathBase::default())
    }

    /// As [`Authority::explain`], for a project whose place is known.
    #[must_use]
    pub fn explain_in(&self, action: &Action, base: &PathBase) -> Explanation {
        let decision = self.decide_in(action, base);
        let because = decision.reasons.iter().map(|reason| reason.says.clone()).collect::<Vec<_>>().join("; ");
        let mut accounts = Vec::new();
        for (ceiling, managed) in self.host().ceilings().iter().enumerate() {
            let mut account = account_of(Level::Managed { ceiling }, managed.rules().iter(), action, base);
            let listed = account.matched.iter().any(|rule| rule.effect == Effect::Allow);
            match account.says {
                Some(Effect::Deny | Effect::Ask) if listed || !managed.is_closed() => {}
                Some(Effect::Deny) => {}
                _ if managed.is_closed() && !listed => {
                    account.says = Some(Effect::Deny);
                    account.because = "it has a list of what can be allowed, and this is not in it".to_owned();
                }
                _ => {
                    account.says = None;
                    account.because = "it leaves the decision to those below".to_owned();
                }
            }
            accounts.push(account);
        }
        let restrictions = self.host().restrictions();
        if !restrictions.is_empty() {
            let rules = restrictions.iter().map(crate::Restriction::rule);
            accounts.push(account_of(Level::Project, rules, action, base));
        }
        let own = account_of(Level::Host, self.host().rules().iter(), action, base);
        let decided = own.says.is_some();
        accounts.push(own);
        let default = self.default_of(action);
        accounts.push(Account {
            conjunct: Conjunct::Default,
            says: (!decided).then_some(default),
            because: match (decided, default) {
                (true, _) => "not asked, because a rule decides".to_owned(),
                (false, Effect::Deny) => "nothing is granted without a rule".to_owned(),
                (false, effect) => format!("without a rule it says {effect}"),
            },
            matched: Vec::new(),
            near: Vec::new(),
        });
        accounts.extend(self.caveats().iter().map(|caveat| {
            let takes = matches!(caveat.kind, CaveatKind::Without(_));
            let effect = if takes { Effect::Deny } else { Effect::Allow };
            let entries = caveat.patterns().iter().map(|pattern| (effect, pattern, None));
            let (matched, near) = sorted(entries, action, base);
            let lets = match caveat.kind {
                CaveatKind::Nothing { .. } => false,
                CaveatKind::Only { .. } => !matched.is_empty(),
                CaveatKind::Without(_) => matched.is_empty(),
            };
            Account {
                conjunct: Conjunct::Skill { skill: caveat.skill.clone(), digest: caveat.digest },
                says: (!lets).then_some(Effect::Deny),
                because: if lets { "it does not take this away".to_owned() } else { caveat.says() },
                matched,
                near,
            }
        }));
        Explanation {
            action: action.to_string(),
            effect: decision.effect,
            because,
            remedy: decision.remedy,
            accounts,
            parts: Vec::new(),
        }
    }
}

fn account_of<'a>(level: Level, rules: impl Iterator<Item = &'a Rule>, action: &Action, base: &PathBase) -> Account {
    let entries = rules.map(|rule| (rule.effect(), rule.pattern(), Some(rule.place())));
    let (matched, near) = sorted(entries, action, base);
    let strictest = matched.iter().max_by_key(|rule| rule.effect);
    Account {
        conjunct: conjunct_of(level),
        says: strictest.map(|rule| rule.effect),
        because: strictest.map_or_else(|| "no rule is about it".to_owned(), |rule| format!("the rule `{rule}`")),
        matched,
        near,
    }
}

fn sorted<'a>(
    entries: impl Iterator<Item = (Effect, &'a ToolPattern, Option<&'a Place>)>,
    action: &Action,
    base: &PathBase,
) -> (Vec<MatchedRule>, Vec<NearRule>) {
    let (mut matched, mut near) = (Vec::new(), Vec::new());
    for (effect, pattern, place) in entries {
        let takes = effect != Effect::Allow;
        let rule = || MatchedRule { effect, pattern: pattern.text().to_owned(), place: place.cloned() };
        if action.is_named_by(pattern, base, takes) {
            matched.push(rule());
        } else if near.len() < MAX_NEAR && action.is_near(pattern) {
            near.push(NearRule { rule: rule(), why: why_not(pattern, action) });
        }
    }
    (matched, near)
}

/// Why a pattern does not match, as the rest of a sentence that begins with it.
fn why_not(pattern: &ToolPattern, action: &Action) -> String {
    match (action, pattern.spec()) {
        (Action::Command { words, .. }, ToolSpec::Command(command)) => why_not_command(command, words),
        (Action::Tool { name, .. }, _) if pattern.tool() != name => format!("is about the tool `{}`", pattern.tool()),
        (_, ToolSpec::Path(path)) => format!("is about other paths: `{path}`"),
        (_, ToolSpec::Exact(wanted)) => format!("is about exactly `{wanted}`"),
        (_, ToolSpec::Skill(_)) => "is about other skills".to_owned(),
        _ => "is about something else".to_owned(),
    }
}

fn why_not_command(pattern: &CommandPattern, words: &[String]) -> String {
    let (wanted, start, exact) = match pattern {
        CommandPattern::Any => return "covers every command".to_owned(),
        CommandPattern::Exact(wanted) => (wanted, None, true),
        CommandPattern::Prefix(wanted) => (wanted, None, false),
        CommandPattern::PrefixOfWord(wanted, start) => (wanted, Some(start), false),
    };
    for (at, wanted) in wanted.iter().enumerate() {
        match words.get(at) {
            None => return format!("wants the word `{wanted}`, where the command ends"),
            Some(word) if word != wanted => return format!("wants `{wanted}` as word {}, not `{word}`", at + 1),
            Some(_) => {}
        }
    }
    if let Some(start) = start {
        match words.get(wanted.len()) {
            Some(word) if word.starts_with(start.as_str()) => {}
            Some(word) => {
                return format!("wants word {} to begin with `{start}`, and it is `{word}`", wanted.len() + 1);
            }
            None => return format!("wants a word that begins with `{start}`, where the command ends"),
        }
    }
    if exact && words.len() > wanted.len() {
        return format!("is exactly {} words long, and the command has {}", wanted.len(), words.len());
    }
    let vector: Vec<Known<'_>> = words.iter().map(|word| Known::Text(word)).collect();
    match carrier(&vector) {
        Some(carrier) => format!("is a prefix, which does not cover it, because it {}", carrier.does),
        None => "is about something else".to_owned(),
    }
}

impl fmt::Display for MatchedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.effect, self.pattern)?;
        self.place.iter().try_for_each(|place| write!(f, " ({place})"))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  {}", self.action, self.effect, self.because)?;
        for account in &self.accounts {
            let says = account.says.map_or_else(|| "-".to_owned(), |effect| effect.to_string());
            write!(f, "\n  {}: {says}: {}", account.conjunct, account.because)?;
            for rule in &account.matched {
                write!(f, "\n    matches: {rule}")?;
            }
            for NearRule { rule, why } in &account.near {
                write!(f, "\n    near: {rule} {why}")?;
            }
        }
        if let (Some(remedy), true) = (&self.remedy, self.effect != Effect::Allow) {
            write!(f, "\n  would allow it: {remedy}")?;
        }
        for part in &self.parts {
            for line in part.to_string().lines() {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
