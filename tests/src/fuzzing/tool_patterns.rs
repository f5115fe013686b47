//! Tool patterns and the gate over them: a pattern is its text, a caveat only takes away, and a remedy helps.
//!
//! The first line of the input is a pattern, the second another; each line after them is a word of a vector.

use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_policy::{
    Authority, Caveat, CaveatKind, CommandPattern, CommandRequest, Effect, Gate, Host, Known, Match, PathRules, Place,
    Provider, RefusalReason, Rule, Sight, ToolPattern,
};

/// Asks the gate about the vector in `data` under the two patterns.
pub fn tool_patterns(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let patterns: Vec<ToolPattern> = lines.by_ref().take(2).filter_map(parsed).collect();
    let mut vector: Vec<&str> = lines.take(32).collect();
    if vector.is_empty() {
        vector.push("git");
    }
    for pattern in &patterns {
        matching_is_monotone(pattern, &vector);
        paths_can_be_asked(pattern, &vector);
        a_rule_helps(pattern, &vector);
    }
    if let [one, other] = patterns.as_slice() {
        a_meet_is_both(one, other, &vector);
        more_patterns_narrow(one, other, &vector);
    }
}

/// A text and its pattern are the same thing, as a rule too.
fn parsed(text: &str) -> Option<ToolPattern> {
    let rule = Rule::parse(Effect::Allow, text, Place::Host);
    match ToolPattern::parse(text) {
        Ok(pattern) => {
            assert_eq!(pattern.text(), text.trim());
            assert_eq!(ToolPattern::parse(&pattern.to_string()).as_ref(), Ok(&pattern));
            assert!(rule.is_ok_and(|rule| *rule.pattern() == pattern));
            Some(pattern)
        }
        Err(error) => {
            assert!(rule.is_err() && !error.to_string().is_empty());
            None
        }
    }
}

fn known<'a>(vector: &[&'a str]) -> Vec<Known<'a>> {
    vector.iter().map(|word| Known::Text(word)).collect()
}

/// What a pattern permits it matches; a longer vector still matches all but an exact pattern; a word that is not known yet
/// never turns a match that there will be into none.
fn matching_is_monotone(pattern: &ToolPattern, vector: &[&str]) {
    let Some(command) = pattern.command() else { return };
    let words = known(vector);
    let matched = command.matches(&words);
    assert_ne!(matched, Match::Maybe, "every word is known");
    if command.permits(&words) == Match::Yes {
        assert_eq!(matched, Match::Yes, "{pattern} on {vector:?}");
    }
    let exact = matches!(command, CommandPattern::Exact(_));
    if matched == Match::Yes && !exact {
        let longer = [words.as_slice(), &[Known::Text("more")]].concat();
        assert_eq!(command.matches(&longer), Match::Yes, "{pattern} on {vector:?} and one word more");
    }
    for at in 0..words.len() {
        let mut early = words.clone();
        early[at] = Known::Unknown;
        if matched == Match::Yes {
            assert_ne!(command.matches(&early), Match::No, "{pattern} on {vector:?} before word {at} is known");
        }
        if command.permits(&words) == Match::Yes {
            assert_ne!(command.permits(&early), Match::No, "{pattern} on {vector:?} before word {at} is known");
        }
    }
}

fn paths_can_be_asked(pattern: &ToolPattern, vector: &[&str]) {
    let Ok(rule) = Rule::parse(Effect::Allow, pattern.text(), Place::Host) else { return };
    let rules: PathRules = Authority::of(Host::granting([rule])).path_rules();
    for word in vector {
        let _either_answer = (rules.may_read(word, false), rules.may_read(word, true));
        assert!(!rules.may_write(word) || rules.grants_writing(), "{pattern} on {word:?}");
    }
}

fn sight(authority: &Authority, vector: &[&str]) -> Result<Sight, Box<(RefusalReason, Option<String>)>> {
    match Gate::new(authority.clone()).approve(CommandRequest::from_author(vector, Provider::Shipped)) {
        Ok(approved) => {
            assert_eq!(approved.vector(), vector, "the vector that is approved is the one that was asked for");
            Ok(approved.sight())
        }
        Err(refusal) => Err(Box::new((refusal.reason, refusal.remedy))),
    }
}

/// How much a command may do, ordered.
fn level(authority: &Authority, vector: &[&str]) -> u8 {
    match sight(authority, vector) {
        Err(_) => 0,
        Ok(Sight::StreamsOnly) => 1,
        Ok(Sight::Granted) => 2,
    }
}

fn granting<'a>(patterns: impl IntoIterator<Item = &'a ToolPattern>) -> Authority {
    let rules = patterns.into_iter().filter_map(|it| Rule::parse(Effect::Allow, it.text(), Place::Host).ok());
    Authority::of(Host::granting(rules))
}

/// What is refused for want of a grant is granted by the remedy, or is a command that runs others and then by its remedy.
fn a_rule_helps(pattern: &ToolPattern, vector: &[&str]) {
    let Err(refused) = sight(&granting([pattern]), vector) else { return };
    let (RefusalReason::NotGranted | RefusalReason::Carrier { .. }, Some(remedy)) = *refused else { return };
    let helping = ToolPattern::parse(&remedy);
    let Ok(helping) = helping else { unreachable!("the remedy {remedy:?} for {vector:?} is no pattern: {helping:?}") };
    match sight(&granting([pattern, &helping]), vector) {
        Ok(sight) => assert_eq!(sight, Sight::Granted, "{remedy} for {vector:?}"),
        Err(refused) => {
            assert!(matches!(refused.0, RefusalReason::Carrier { .. }), "{remedy} for {vector:?}: {:?}", refused.0);
            assert_ne!(refused.1.as_deref(), Some(remedy.as_str()), "the same remedy again");
        }
    }
}

/// The meet of two patterns matches what both match.
fn a_meet_is_both(one: &ToolPattern, other: &ToolPattern, vector: &[&str]) {
    let (Some(a), Some(b)) = (one.command(), other.command()) else { return };
    let words = known(vector);
    let both = a.matches(&words) == Match::Yes && b.matches(&words) == Match::Yes;
    let meet = a.meet(b).is_some_and(|meet| meet.matches(&words) == Match::Yes);
    assert_eq!(meet, both, "{one} and {other} on {vector:?}");
}

/// A caveat never allows more, nor does a denying rule; an allowing rule never allows less.
fn more_patterns_narrow(one: &ToolPattern, other: &ToolPattern, vector: &[&str]) {
    let authority = granting([one]);
    let before = level(&authority, vector);
    assert!(level(&granting([one, other]), vector) >= before, "{one} and {other} on {vector:?}");
    let Ok(command) = CommandName::new("a") else { return };
    let skill = SkillId::new(Source::Project, command);
    let only = CaveatKind::Only { patterns: vec![other.clone()], unreadable: Vec::new() };
    for kind in [only, CaveatKind::Without(vec![other.clone()])] {
        let caveat = Caveat { skill: skill.clone(), digest: Digest::of(b"a"), kind };
        let narrowed = level(&authority.clone().with(caveat), vector);
        assert!(narrowed <= before, "{one} narrowed by {other} on {vector:?}");
    }
    let denying = [(Effect::Allow, one), (Effect::Deny, other)];
    let rules = denying.iter().filter_map(|(effect, it)| Rule::parse(*effect, it.text(), Place::Host).ok());
    assert!(level(&Authority::of(Host::granting(rules)), vector) <= before, "{other} denied on {vector:?}");
}
