//! A conversation as a state machine: skills come and go, the host changes its mind, histories are saved, changed by somebody
//! and restored. After every step no action is allowed that the host does not allow now.
//!
//! `SKILLGATE_LONG` makes it a million steps, `SKILLGATE_SEED` repeats a run.

#![expect(clippy::print_stdout, reason = "a long run ends with what it did")]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_policy::{
    Action, Authority, Caveat, CaveatKind, Ceiling, CommandRequest, Defaults, Effect, Gate, History, Host, Place,
    PresentSkill, Provider, Restriction, Rule, ToolPattern,
};
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};

const STEPS: usize = 20;

const PATTERNS: [&str; 14] = [
    "Bash",
    "Bash(git:*)",
    "Bash(git log:*)",
    "Bash(git log)",
    "Bash(ls:*)",
    "Bash(l*)",
    "Bash(gh pr:*)",
    "Bash(env ls)",
    "Read",
    "Read(src/**)",
    "Write(out/**)",
    "WebFetch(domain:example.com)",
    "mcp__notes__*",
    "Skill(review:*)",
];

#[derive(Clone, Debug)]
struct SkillState {
    id: SkillId,
    revision: u8,
    kinds: Vec<CaveatKind>,
}

impl SkillState {
    fn digest(&self) -> Digest {
        Digest::of_parts([self.id.command.as_str().as_bytes(), &[self.revision]])
    }

    fn caveats(&self) -> Vec<Caveat> {
        let caveat = |kind: &CaveatKind| Caveat { skill: self.id.clone(), digest: self.digest(), kind: kind.clone() };
        self.kinds.iter().map(caveat).collect()
    }
}

#[derive(Clone, Debug)]
struct HostState {
    own: Vec<Rule>,
    builtin: bool,
    ceilings: Vec<Ceiling>,
    restrictions: Vec<Restriction>,
}

impl HostState {
    fn host(&self) -> Host {
        let defaults = if self.builtin { Defaults::BuiltIn } else { Defaults::Nothing };
        let host = self.ceilings.iter().cloned().fold(Host::new(self.own.clone(), defaults), Host::under);
        host.restricted(self.restrictions.clone())
    }
}

/// What is done to a saved text before it comes back.
#[derive(Clone, Debug)]
enum Tampering {
    None,
    DropCaveat(Index),
    DoubleCaveat(Index),
    Reverse,
    Truncate(Index),
    OtherDigest(Index),
    WidenPatterns(Index),
    EmptyRemovals,
    AddApproval,
    OtherVersion,
    OtherByte(Index, u8),
}

#[derive(Clone, Debug)]
enum Step {
    Activate(Index),
    Deactivate(Index),
    RevokeRule(Index),
    DefaultsOff,
    Deny(ToolPattern),
    Ask(ToolPattern),
    Ceiling(Vec<ToolPattern>),
    Fork(Vec<CaveatKind>),
    Compact,
    SaveAndRestore(Tampering),
    Edit(Index, Vec<CaveatKind>),
}

fn pattern() -> impl Strategy<Value = ToolPattern> + Clone {
    select(&PATTERNS[..]).prop_map(|text| ToolPattern::parse(text).expect("a pattern"))
}

fn kinds() -> impl Strategy<Value = Vec<CaveatKind>> + Clone {
    let patterns = || prop::collection::vec(pattern(), 0..4);
    let kind = prop_oneof![
        6 => patterns().prop_map(|patterns| CaveatKind::Only { patterns, unreadable: Vec::new() }),
        3 => patterns().prop_map(CaveatKind::Without),
        1 => Just(CaveatKind::Nothing { reason: "it cannot be read".to_owned() }),
    ];
    prop::collection::vec(kind, 0..3)
}

fn step() -> impl Strategy<Value = Step> {
    let tampering = prop_oneof![
        4 => Just(Tampering::None),
        1 => any::<Index>().prop_map(Tampering::DropCaveat),
        1 => any::<Index>().prop_map(Tampering::DoubleCaveat),
        1 => Just(Tampering::Reverse),
        1 => any::<Index>().prop_map(Tampering::Truncate),
        1 => any::<Index>().prop_map(Tampering::OtherDigest),
        1 => any::<Index>().prop_map(Tampering::WidenPatterns),
        1 => Just(Tampering::EmptyRemovals),
        1 => Just(Tampering::AddApproval),
        1 => Just(Tampering::OtherVersion),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Tampering::OtherByte(at, byte)),
    ];
    prop_oneof![
        4 => any::<Index>().prop_map(Step::Activate),
        2 => any::<Index>().prop_map(Step::Deactivate),
        1 => any::<Index>().prop_map(Step::RevokeRule),
        1 => Just(Step::DefaultsOff),
        1 => pattern().prop_map(Step::Deny),
        1 => pattern().prop_map(Step::Ask),
        1 => prop::collection::vec(pattern(), 1..5).prop_map(Step::Ceiling),
        2 => kinds().prop_map(Step::Fork),
        1 => Just(Step::Compact),
        4 => tampering.prop_map(Step::SaveAndRestore),
        1 => (any::<Index>(), kinds()).prop_map(|(at, kinds)| Step::Edit(at, kinds)),
    ]
}

fn actions() -> Vec<Action> {
    let command = |line: &str, provider| Action::command(line.split(' '), provider);
    vec![
        command("git log", Provider::Shipped),
        command("git log -p", Provider::Shipped),
        command("git -c a=b log", Provider::Shipped),
        command("ls -l", Provider::Shipped),
        command("env ls", Provider::Shipped),
        command("gh pr list", Provider::Native),
        Action::of_tool("Read", Some("src/a")),
        Action::of_tool("Write", Some("out/a")),
        Action::Network { host: "example.com".to_owned(), url: None },
        Action::of_tool("mcp__notes__list", None),
        Action::Skill { source: Source::User, name: "review-pr".to_owned() },
    ]
}

/// The actions that are allowed, as what a command sees too.
fn allowed(authority: &Authority) -> Vec<Effect> {
    actions().iter().map(|action| authority.decide(action).effect).collect()
}

/// No action may more than before.
fn check_narrower(after: &[Effect], before: &[Effect], what: &str) {
    for ((after, before), action) in after.iter().zip(before).zip(actions()) {
        assert!(after >= before, "{what}: {action} went from {before} to {after}");
    }
}

fn on_host(host: &Host) -> Vec<Effect> {
    allowed(&Authority::of(host.clone()))
}

fn check_vectors(authority: &Authority) {
    let gate = Gate::new(authority.clone());
    for action in actions() {
        let Action::Command { words, provider, .. } = &action else { continue };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let approved = gate.approve(CommandRequest::from_author(&words, *provider));
        assert_eq!(approved.is_ok(), authority.decide(&action).effect == Effect::Allow, "{action}");
        if let Ok(approved) = approved {
            assert_eq!(approved.redeem().expect("nothing was revoked"), words, "the vector that was checked");
        }
    }
}

/// Changes the saved text. `None` when the result is no history any more.
fn tampered(history: &History, tampering: &Tampering) -> Option<History> {
    let mut saved = serde_json::to_value(history).expect("plain data");
    let caveats = saved["caveats"].as_array_mut().expect("a list");
    let at = |index: &Index, length: usize| (length > 0).then(|| index.index(length));
    match tampering {
        Tampering::None => {}
        Tampering::DropCaveat(index) => drop(at(index, caveats.len()).map(|at| caveats.remove(at))),
        Tampering::DoubleCaveat(index) => {
            if let Some(at) = at(index, caveats.len()) {
                caveats.push(caveats[at].clone());
            }
        }
        Tampering::Reverse => caveats.reverse(),
        Tampering::Truncate(index) => caveats.truncate(at(index, caveats.len()).unwrap_or(0)),
        Tampering::OtherDigest(index) => {
            if let Some(at) = at(index, caveats.len()) {
                caveats[at]["digest"] = Digest::of(b"forged").to_string().into();
            }
        }
        Tampering::WidenPatterns(index) => {
            if let Some(at) = at(index, caveats.len()) {
                caveats[at]["kind"] = serde_json::json!({ "only": { "patterns": PATTERNS, "unreadable": [] } });
            }
        }
        Tampering::EmptyRemovals => {
            for caveat in caveats {
                caveat["kind"] = serde_json::json!({ "without": { "patterns": [] } });
            }
        }
        Tampering::AddApproval => saved["approved"] = serde_json::json!([["rm", "-r", "/"]]),
        Tampering::OtherVersion => saved["version"] = 2.into(),
        Tampering::OtherByte(index, byte) => {
            let mut bytes = saved.to_string().into_bytes();
            let at = index.index(bytes.len());
            bytes[at] = *byte;
            return serde_json::from_slice(&bytes).ok();
        }
    }
    let read = serde_json::from_value(saved).ok();
    let refused = matches!(tampering, Tampering::AddApproval | Tampering::OtherVersion);
    assert_eq!(read.is_none(), refused, "{tampering:?}");
    read
}

struct Conversation {
    host: HostState,
    skills: Vec<SkillState>,
    stack: Vec<SkillState>,
    /// Caveats that a restored history or a fork brought, which no skill of the stack accounts for.
    kept: Vec<Caveat>,
}

impl Conversation {
    fn authority(&self) -> Authority {
        let own = self.stack.iter().flat_map(SkillState::caveats);
        self.kept.iter().cloned().chain(own).fold(Authority::of(self.host.host()), Authority::with)
    }

    fn take(&mut self, step: &Step) {
        let before = self.authority();
        let before_allowed = allowed(&before);
        let mut only_narrows = true;
        match step {
            Step::Activate(index) => {
                let skill = self.skills[index.index(self.skills.len())].clone();
                self.stack.push(skill);
            }
            Step::Deactivate(index) => {
                only_narrows = false;
                if !self.stack.is_empty() {
                    self.stack.remove(index.index(self.stack.len()));
                }
            }
            Step::RevokeRule(index) => {
                let allowing: Vec<usize> =
                    (0..self.host.own.len()).filter(|at| self.host.own[*at].effect() == Effect::Allow).collect();
                if !allowing.is_empty() {
                    self.host.own.remove(allowing[index.index(allowing.len())]);
                }
            }
            Step::DefaultsOff => self.host.builtin = false,
            Step::Deny(pattern) => self.host.own.push(Rule::new(Effect::Deny, pattern.clone(), Place::Host)),
            Step::Ask(pattern) => self.host.restrictions.push(Restriction::ask(pattern.clone(), Place::Host)),
            Step::Ceiling(patterns) => {
                let rules = patterns.iter().map(|it| Rule::new(Effect::Allow, it.clone(), Place::Host)).collect();
                self.host.ceilings.push(Ceiling::new(rules, true));
            }
            Step::Fork(kinds) => {
                let id = SkillId::new(Source::Project, CommandName::new("fork").expect("a name"));
                let child = SkillState { id, revision: 0, kinds: kinds.clone() };
                let child = child.caveats().into_iter().fold(before.clone(), Authority::with);
                check_narrower(&allowed(&child), &before_allowed, "a fork");
            }
            // What is compacted loses text, and keeps every caveat.
            Step::Compact => self.kept = before.caveats().to_vec(),
            Step::SaveAndRestore(tampering) => {
                let Some(history) = tampered(&History::of(&before), tampering) else { return };
                let skills = self.skills.clone();
                let restored = history.restore(self.host.host(), |id| {
                    let skill = skills.iter().find(|skill| skill.id == *id)?;
                    Some(PresentSkill { digest: skill.digest(), caveats: skill.caveats() })
                });
                let after = allowed(&restored.authority);
                check_narrower(&after, &on_host(&self.host.host()), "a restored history");
                if matches!(tampering, Tampering::None | Tampering::Reverse | Tampering::DoubleCaveat(_)) {
                    check_narrower(&after, &before_allowed, "restore(save(x))");
                }
                return;
            }
            Step::Edit(index, kinds) => {
                let at = index.index(self.skills.len());
                self.skills[at].revision = self.skills[at].revision.wrapping_add(1);
                self.skills[at].kinds = kinds.clone();
            }
        }
        let after = self.authority();
        let after_allowed = allowed(&after);
        if only_narrows {
            check_narrower(&after_allowed, &before_allowed, &format!("{step:?}"));
        }
        check_narrower(&after_allowed, &on_host(&self.host.host()), "the host now");
        let shuffled = after.caveats().iter().rev().chain(after.caveats()).cloned();
        let shuffled = shuffled.fold(Authority::of(self.host.host()), Authority::with);
        assert_eq!(allowed(&shuffled), after_allowed, "order and repetition");
        check_vectors(&after);
    }
}

fn conversation() -> impl Strategy<Value = (HostState, Vec<Vec<CaveatKind>>, Vec<Step>)> {
    let effect = prop_oneof![6 => Just(Effect::Allow), 1 => Just(Effect::Ask), 1 => Just(Effect::Deny)];
    let rule = (effect, pattern()).prop_map(|(effect, pattern)| Rule::new(effect, pattern, Place::Host));
    let host = (prop::collection::vec(rule, 1..6), any::<bool>()).prop_map(|(own, builtin)| HostState {
        own,
        builtin,
        ceilings: Vec::new(),
        restrictions: Vec::new(),
    });
    (host, prop::collection::vec(kinds(), 3), prop::collection::vec(step(), STEPS))
}

/// Writes what was done where the caller wants it.
#[expect(clippy::disallowed_methods, reason = "the file is the one that the caller of the test names")]
fn report(done: &str) {
    if let Some(report) = std::env::var_os("SKILLGATE_LONG_REPORT") {
        std::fs::write(&report, done).expect("the file that the caller names can be written");
    }
}

#[test]
fn no_conversation_does_more_than_the_host_allows_now() {
    let long = std::env::var_os("SKILLGATE_LONG").is_some();
    let cases: u32 = if long { 50_000 } else { 500 };
    let seed = std::env::var("SKILLGATE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| std::collections::hash_map::RandomState::new().build_hasher().finish());
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let steps = Cell::new(0_u64);
    let outcome = runner.run(&conversation(), |(host, kinds, taken)| {
        let skills = kinds.into_iter().zip(["a", "bb", "ccc"]).map(|(kinds, name)| SkillState {
            id: SkillId::new(Source::User, CommandName::new(name).expect("a name")),
            revision: 0,
            kinds,
        });
        let mut conversation = Conversation { host, skills: skills.collect(), stack: Vec::new(), kept: Vec::new() };
        for step in &taken {
            conversation.take(step);
            steps.set(steps.get() + 1);
        }
        Ok(())
    });
    let done = format!("state machine: {} steps, SKILLGATE_SEED={seed}", steps.get());
    println!("{done}");
    report(&done);
    assert!(outcome.is_ok(), "SKILLGATE_SEED={seed}: {}", outcome.err().map_or_else(String::new, |e| e.to_string()));
    assert!(steps.get() >= u64::from(cases) * STEPS as u64);
}
