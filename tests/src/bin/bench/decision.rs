//! The gate's decision beside a search through every pattern.

use crate::measure::{Measured, in_turns};
use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_policy::{
    Authority, Caveat, CaveatKind, CommandPattern, CommandRequest, Effect, Gate, Host, Known, Match, Place, Provider,
    Rule, ToolPattern,
};
use std::hint::black_box;

const RULES: usize = 1_000;
const CAVEATS: usize = 50;
/// Patterns of each caveat.
const LISTED: usize = 20;
/// Decisions of one sample, so that the clock's grain does not count.
const REPEATS: usize = 50;

fn authority() -> Result<Authority, String> {
    let text = |at: usize| format!("Bash(tool{at} run:*)");
    let rule = |at| {
        let effect = if at % 10 == 0 { Effect::Deny } else { Effect::Allow };
        Rule::parse(effect, &text(at), Place::Host).map_err(|error| error.to_string())
    };
    let rules: Vec<Rule> = (0..RULES).map(rule).collect::<Result<_, _>>()?;
    let command = CommandName::new("bench").map_err(|error| error.to_string())?;
    let skill = SkillId::new(Source::User, command);
    (0..CAVEATS).try_fold(Authority::of(Host::granting(rules)), |authority, caveat| {
        // Each names the command that is asked about, and others.
        let texts = (0..LISTED).map(|at| if at == LISTED / 2 { text(501) } else { text(caveat * LISTED + at) });
        let patterns = texts.map(|text| ToolPattern::parse(&text)).collect::<Result<_, _>>();
        let kind = CaveatKind::Only { patterns: patterns.map_err(|error| error.to_string())?, unreadable: Vec::new() };
        let digest = Digest::of(caveat.to_string().as_bytes());
        Ok(authority.with(Caveat { skill: skill.clone(), digest, kind }))
    })
}

/// The decision without an index: every rule, and every pattern of every caveat.
fn by_every_pattern(authority: &Authority, vector: &[Known<'_>]) -> bool {
    let permits = |pattern: &CommandPattern| pattern.permits(vector) == Match::Yes;
    let strictest = authority
        .host()
        .rules()
        .iter()
        .filter(|rule| {
            rule.pattern().command().is_some_and(|pattern| {
                if rule.effect() == Effect::Allow { permits(pattern) } else { pattern.matches(vector) == Match::Yes }
            })
        })
        .map(Rule::effect)
        .max();
    // No entry is left out, as an index must not leave one out either.
    let listed = |caveat: &Caveat| {
        let named = caveat.patterns().iter().filter_map(ToolPattern::command).filter(|pattern| permits(pattern));
        named.count() > 0
    };
    strictest == Some(Effect::Allow) && authority.caveats().iter().filter(|caveat| listed(caveat)).count() == CAVEATS
}

pub(crate) fn decide(samples: usize) -> Result<Measured, String> {
    let authority = authority()?;
    let gate = Gate::new(authority.clone());
    let words = ["tool501", "run", "--all", "src"];
    let vector = words.map(Known::Text);
    let subject = || {
        for _ in 0..REPEATS {
            let request = CommandRequest::from_author(black_box(&words), Provider::Native);
            gate.approve(request).map_err(|refusal| refusal.to_string())?;
        }
        Ok(())
    };
    let floor = || {
        let granted = (0..REPEATS).all(|_| by_every_pattern(black_box(&authority), black_box(&vector)));
        if granted { Ok(()) } else { Err("the search does not grant what the gate grants".to_owned()) }
    };
    in_turns(samples, subject, floor)
}
