//! The decision on one command: what the members of an authority say together, and what needs no grant.

use crate::answers::Answers;
use crate::authority::{Authority, Considered};
use crate::carrier::carrier;
use crate::caveat::Caveat;
use crate::command::Match;
use crate::filter::is_pure_filter;
use crate::gate::{Sight, Withheld};
use crate::host::By;
use crate::level::{Ceiling, Level};
use crate::pattern::ToolPattern;
use crate::refusal::{Refusal, RefusalReason};
use crate::request::{Known, Provider};
use crate::rule::{Effect, Place, Rule};

/// Why a command may run, and what it then sees.
#[derive(Debug)]
pub(crate) struct Ruling {
    pub(crate) rule: String,
    pub(crate) sight: Sight,
    pub(crate) withheld: Withheld,
}

impl Authority {
    /// Decides a command as favourably as its unknown words leave open.
    pub(crate) fn rule_on(
        &self,
        vector: &[Known<'_>],
        provider: Option<Provider>,
        answers: &[Answers],
        action: &dyn Fn() -> String,
    ) -> Result<Ruling, Refusal> {
        let answered = |rule: &Rule| answers.iter().any(|answers| answers.cover(rule, vector));
        self.rule_considered(&self.consider(vector, provider, &answered), vector, provider, action)
    }

    /// Decides a command by what the members say about it.
    pub(crate) fn rule_considered(
        &self,
        considered: &Considered<'_>,
        vector: &[Known<'_>],
        provider: Option<Provider>,
        action: &dyn Fn() -> String,
    ) -> Result<Ruling, Refusal> {
        let refuse = |reason, remedy| Err(Refusal::new(action(), reason, remedy));
        let remedy = || suggestion(&known_texts(vector));
        let Considered { host, narrowing, forbidding, pre_approved_by } = *considered;
        // An answer to a rule is a grant of its own.
        let answered = host.agreed && narrowing.is_none();
        if !self.permits_some_command() && !answered {
            // Each member by itself may permit something, and have nothing in common with the others; then it is the host that
            // does not grant this command, or the list that does not have it.
            let nothing = self.caveats().iter().find(|caveat| !caveat.permits_some_command());
            return match (nothing.or(narrowing.filter(|_| host.effect == Effect::Allow)), host.by) {
                (Some(caveat), _) => refuse(narrowed(caveat), None),
                (None, By::Outside(ceiling)) => refuse(outside(ceiling), None),
                (None, By::Rule(_, rule)) if host.effect == Effect::Ask && narrowing.is_none() => {
                    refuse(RefusalReason::Unanswered(rule.clone()), remedy())
                }
                (None, _) => refuse(RefusalReason::NotGranted, remedy()),
            };
        }
        match (host.effect, host.by) {
            (Effect::Deny, By::Rule(_, rule)) => return refuse(RefusalReason::Denied(rule.clone()), None),
            // No answer gives back what a skill took away.
            (Effect::Ask, By::Rule(..)) if narrowing.is_some() => {}
            (Effect::Ask, By::Rule(_, rule)) => return refuse(RefusalReason::Unanswered(rule.clone()), remedy()),
            _ => {}
        }
        if let Some(caveat) = forbidding {
            return refuse(narrowed(caveat), None);
        }
        match (host.effect, narrowing) {
            (Effect::Allow, None) => {
                let rule = host.rule().as_ref().map(Rule::to_string).unwrap_or_default();
                let rule = match pre_approved_by {
                    _ if !host.agreed => rule,
                    Some(skill) => format!("{rule}, pre-approved for {skill}"),
                    None => format!("{rule}, agreed to"),
                };
                return Ok(Ruling { rule, sight: Sight::Granted, withheld: Withheld::default() });
            }
            (Effect::Ask, Some(caveat)) if matches!(host.by, By::Rule(..)) => return refuse(narrowed(caveat), None),
            _ => {}
        }
        let without_grant = |rule: &str, sight| {
            let narrowed_by = narrowing.filter(|_| host.effect == Effect::Allow).map(|caveat| caveat.skill.clone());
            Ok(Ruling { rule: rule.to_owned(), sight, withheld: Withheld { narrowed_by } })
        };
        if provider == Some(Provider::BuiltIn) {
            let sight = if self.shell_may_read() { Sight::Granted } else { Sight::StreamsOnly };
            return without_grant("shell built-ins need no grant of their own", sight);
        }
        if is_pure_filter(vector) {
            return without_grant("stream filters need no grant of their own", Sight::StreamsOnly);
        }
        match (narrowing, host.effect, host.by) {
            (Some(caveat), Effect::Allow | Effect::Ask, _) => refuse(narrowed(caveat), None),
            (_, _, By::Outside(ceiling)) => refuse(outside(ceiling), None),
            (_, Effect::Ask, _) => {
                let rule =
                    host.rule().unwrap_or_else(|| Rule::new(Effect::Ask, ToolPattern::any_command(), Place::Host));
                refuse(RefusalReason::Unanswered(rule), remedy())
            }
            _ => match self.carrier_under_prefix(vector) {
                Some(does) => refuse(RefusalReason::Carrier { does }, exact_suggestion(vector)),
                None => refuse(RefusalReason::NotGranted, remedy()),
            },
        }
    }

    /// What the command does, when a prefix pattern of the host would match were it not a carrier.
    fn carrier_under_prefix(&self, vector: &[Known<'_>]) -> Option<&'static str> {
        let matched = self.host().leveled().any(|(level, rule)| {
            level == Level::Host
                && rule.effect() == Effect::Allow
                && rule.pattern().command().is_some_and(|pattern| pattern.matches(vector) != Match::No)
        });
        if matched { carrier(vector).map(|carrier| carrier.does) } else { None }
    }
}

pub(crate) fn narrowed(caveat: &Caveat) -> RefusalReason {
    RefusalReason::Narrowed { skill: caveat.skill.clone(), says: caveat.says() }
}

pub(crate) fn outside(ceiling: &Ceiling) -> RefusalReason {
    RefusalReason::OutsideCeiling { listed: ceiling.allowed().map(|pattern| pattern.text().to_owned()).collect() }
}

/// The words before the first that is not known.
fn known_texts(vector: &[Known<'_>]) -> Vec<String> {
    let known = vector.iter().map_while(|word| match word {
        Known::Text(text) => Some((*text).to_owned()),
        Known::Unknown => None,
    });
    known.collect()
}

/// A pattern that would grant the vector: its name and, for commands that have subcommands, the second word.
///
/// `None` when a pattern cannot be shown that says it: control characters are shown escaped, and a pattern has no escapes.
pub(crate) fn suggestion(vector: &[String]) -> Option<String> {
    const WITH_SUBCOMMANDS: [&str; 8] = ["cargo", "docker", "gh", "git", "go", "kubectl", "npm", "pnpm"];
    let words = match vector {
        [] => return Some("Bash".to_owned()),
        [name, subcommand, ..] if WITH_SUBCOMMANDS.contains(&name.as_str()) && !subcommand.starts_with('-') => {
            &vector[..2]
        }
        [..] => &vector[..1],
    };
    can_be_shown(words).then(|| format!("Bash({}:*)", show(words)))
}

fn can_be_shown<T: AsRef<str>>(words: &[T]) -> bool {
    !words.iter().any(|word| word.as_ref().contains(char::is_control))
}

/// The exact vector as a pattern; `None` while a word is unknown, and where [`suggestion`] has none.
pub(crate) fn exact_suggestion(vector: &[Known<'_>]) -> Option<String> {
    let words: Option<Vec<&str>> = vector
        .iter()
        .map(|word| match word {
            Known::Text(text) => Some(*text),
            Known::Unknown => None,
        })
        .collect();
    let words = words?;
    can_be_shown(&words).then(|| format!("Bash({})", show(&words)))
}

/// A vector as a person would type it, with nothing in it that a terminal would act on.
pub(crate) fn show<T: AsRef<str>>(words: &[T]) -> String {
    let quoted = |word: &T| {
        let word = word.as_ref();
        let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%…".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else if word.chars().any(char::is_control) {
            let escape = |c: char| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
                c => c.to_string(),
            };
            format!("$'{}'", word.chars().map(escape).collect::<String>())
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
