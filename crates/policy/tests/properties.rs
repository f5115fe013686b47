//! The algebra of authority, for every host, every list of caveats and every vector: what is added can only take away.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use skillgate_core::{CommandName, Digest, SkillId, Source, Span};
use skillgate_policy::{
    Authority, Caveat, CaveatKind, CommandRequest, Defaults, Effect, Gate, Host, Known, Match, Place, Provenance,
    Provider, RefusalReason, Rule, Sight, Sketch, ToolPattern, Word, is_pure_filter,
};

/// Every property is asked this often; `cargo xtask test --long` sets the variable. A case that failed is written down in
/// this file as a test of its own.
fn config() -> ProptestConfig {
    let long = std::env::var_os("SKILLGATE_LONG").is_some();
    let cases = if long { 1_000_000 } else { 10_000 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Few words, so that patterns and vectors meet. The providers are those that [`provider_of`] gives.
const COMMANDS: [&str; 14] =
    ["awk", "cat", "echo", "env", "find", "gh", "git", "grep", "ls", "mytool", "sed", "sort", "test", "xargs"];
const ARGUMENTS: [&str; 20] = [
    "",
    "-",
    "--",
    "-c",
    "-e",
    "-exec",
    "-f",
    "-n",
    "-o",
    "--output=x",
    "1p",
    "a",
    "b*",
    "log",
    "s/a/b/",
    "s/a/b/e",
    "status",
    "statusx",
    "x y",
    "{print}",
];

fn provider_of(command: &str) -> Provider {
    match command {
        "echo" | "test" => Provider::BuiltIn,
        "gh" => Provider::Native,
        "mytool" => Provider::ThirdParty,
        _ => Provider::Shipped,
    }
}

fn vector() -> impl Strategy<Value = Vec<String>> {
    (select(&COMMANDS[..]), prop::collection::vec(select(&ARGUMENTS[..]), 0..4))
        .prop_map(|(command, arguments)| std::iter::once(command).chain(arguments).map(str::to_owned).collect())
}

fn pattern_text() -> impl Strategy<Value = String> {
    let command = || select(&COMMANDS[..]);
    let argument = || select(vec!["-c", "-n", "a", "log", "status", "s/a/b/", "'x y'"]);
    prop_oneof![
        2 => Just("Bash".to_owned()),
        6 => command().prop_map(|command| format!("Bash({command}:*)")),
        2 => command().prop_map(|command| format!("Bash({command})")),
        2 => command().prop_map(|command| format!("Bash({}*)", &command[..2])),
        4 => (command(), argument()).prop_map(|(command, argument)| format!("Bash({command} {argument} *)")),
        4 => (command(), argument()).prop_map(|(command, argument)| format!("Bash({command} {argument})")),
        2 => command().prop_map(|command| format!("Bash({command} s*)")),
        1 => select(vec!["Read", "Read(.env)", "Write(out/**)", "Skill(a:*)", "WebFetch"]).prop_map(str::to_owned),
    ]
}

fn pattern() -> impl Strategy<Value = ToolPattern> {
    pattern_text().prop_map(|text| ToolPattern::parse(&text).expect("every text above is a pattern"))
}

fn rule_with(effect: impl Strategy<Value = Effect>) -> impl Strategy<Value = Rule> {
    (effect, pattern_text(), select(vec![Place::Host, Place::flag("--allow")]))
        .prop_map(|(effect, text, place)| Rule::parse(effect, &text, place).expect("every text above is a pattern"))
}

fn rule() -> impl Strategy<Value = Rule> {
    rule_with(prop_oneof![6 => Just(Effect::Allow), 1 => Just(Effect::Ask), 1 => Just(Effect::Deny)])
}

fn host() -> impl Strategy<Value = Host> {
    (prop::collection::vec(rule(), 0..6), select(vec![Defaults::Nothing, Defaults::BuiltIn]))
        .prop_map(|(rules, defaults)| Host::new(rules, defaults))
}

fn caveat() -> impl Strategy<Value = Caveat> {
    let unreadable = select(vec![Vec::new(), vec!["Bash(git".to_owned()]]);
    let kind = prop_oneof![
        6 => (prop::collection::vec(pattern(), 0..5), unreadable)
            .prop_map(|(patterns, unreadable)| CaveatKind::Only { patterns, unreadable }),
        3 => prop::collection::vec(pattern(), 0..3).prop_map(CaveatKind::Without),
        1 => Just(CaveatKind::Nothing { reason: "it cannot be read".to_owned() }),
    ];
    (select(vec!["a", "b"]), kind).prop_map(|(name, kind)| Caveat {
        skill: SkillId::new(Source::Project, CommandName::new(name).expect("a name")),
        digest: Digest::of(name.as_bytes()),
        kind,
    })
}

fn authority() -> impl Strategy<Value = Authority> {
    (host(), prop::collection::vec(caveat(), 0..3)).prop_map(|(host, caveats)| under(host, caveats))
}

fn under(host: Host, caveats: impl IntoIterator<Item = Caveat>) -> Authority {
    caveats.into_iter().fold(Authority::of(host), Authority::with)
}

/// A vector whose words somebody wrote, but for some that were produced.
fn request() -> impl Strategy<Value = CommandRequest> {
    let provenance = prop_oneof![
        6 => Just(Provenance::Author),
        1 => Just(Provenance::Argument),
        1 => Just(Provenance::Expansion)
    ];
    (vector(), prop::collection::vec(provenance, 5)).prop_map(|(vector, provenances)| {
        let provider = provider_of(&vector[0]);
        let words = vector.into_iter().zip(provenances).map(|(text, provenance)| Word { text, provenance }).collect();
        CommandRequest { words, provider }
    })
}

/// How much a command may do. Ordered: an authority that only takes away never raises it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Refused,
    StreamsOnly,
    Granted,
}

fn level_at(gate: &Gate, request: &CommandRequest) -> Level {
    match gate.approve(request.clone()).map(|approved| approved.sight()) {
        Err(_) => Level::Refused,
        Ok(Sight::StreamsOnly) => Level::StreamsOnly,
        Ok(Sight::Granted) => Level::Granted,
    }
}

fn level(authority: &Authority, request: &CommandRequest) -> Level {
    level_at(&Gate::new(authority.clone()), request)
}

fn texts(request: &CommandRequest) -> Vec<Known<'_>> {
    request.words.iter().map(|word| Known::Text(&word.text)).collect()
}

fn sketch_of(request: &CommandRequest) -> Sketch {
    Sketch {
        words: request.words.iter().map(|word| Ok(word.text.clone())).collect(),
        provider: Some(request.provider),
        span: Span::default(),
    }
}

fn rotated<T: Clone>(items: &[T], by: Index, doubled: bool) -> Vec<T> {
    let mut items = items.to_vec();
    if !items.is_empty() {
        let at = by.index(items.len());
        if doubled {
            items.push(items[at].clone());
        }
        items.rotate_left(at);
        let last = items.len() - 1;
        items.swap(0, last);
    }
    items
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_caveat_never_allows_more(authority in authority(), caveat in caveat(), request in request()) {
        let before = level(&authority, &request);
        prop_assert!(level(&authority.with(caveat), &request) <= before);
    }

    #[test]
    fn a_denying_or_asking_rule_never_allows_more(
        authority in authority(),
        rule in rule_with(select(vec![Effect::Ask, Effect::Deny])),
        request in request(),
    ) {
        let rules = authority.host().rules().iter().cloned().chain([rule]);
        let stricter = under(Host::new(rules, authority.host().defaults()), authority.caveats().to_vec());
        prop_assert!(level(&stricter, &request) <= level(&authority, &request));
    }

    #[test]
    fn without_an_allowing_rule_no_more_is_allowed(authority in authority(), at in any::<Index>(), request in request()) {
        let mut rules = authority.host().rules().to_vec();
        let allowing: Vec<usize> =
            rules.iter().enumerate().filter(|(_, rule)| rule.effect() == Effect::Allow).map(|(at, _)| at).collect();
        if !allowing.is_empty() {
            rules.remove(allowing[at.index(allowing.len())]);
        }
        let narrower = under(Host::new(rules, authority.host().defaults()), authority.caveats().to_vec());
        prop_assert!(level(&narrower, &request) <= level(&authority, &request));
    }

    #[test]
    fn defaults_that_grant_nothing_never_allow_more(authority in authority(), request in request()) {
        let rules = authority.host().rules().to_vec();
        let narrower = under(Host::new(rules, Defaults::Nothing), authority.caveats().to_vec());
        prop_assert!(level(&narrower, &request) <= level(&authority, &request));
    }

    #[test]
    fn order_and_repetition_change_nothing(
        authority in authority(),
        rules_by in any::<Index>(),
        caveats_by in any::<Index>(),
        doubled in any::<bool>(),
        request in request(),
    ) {
        let rules = rotated(authority.host().rules(), rules_by, doubled);
        let caveats = rotated(authority.caveats(), caveats_by, doubled);
        let other = under(Host::new(rules, authority.host().defaults()), caveats);
        prop_assert_eq!(level(&other, &request), level(&authority, &request));
        let sight = |authority: &Authority| {
            Gate::new(authority.clone()).check(&sketch_of(&request)).map(|verdict| verdict.sight).ok()
        };
        prop_assert_eq!(sight(&other), sight(&authority));
    }

    #[test]
    fn what_a_skill_may_do_the_host_alone_allows(authority in authority(), request in request()) {
        let narrowed = level(&authority, &request);
        let host = level(&Authority::of(authority.host().clone()), &request);
        if narrowed == Level::Granted && request.provider != Provider::BuiltIn {
            prop_assert_eq!(host, Level::Granted);
        } else {
            prop_assert!(narrowed <= host);
        }
    }

    /// Said once more from the patterns alone: no member of the authority is passed over.
    #[test]
    fn a_granted_command_is_named_by_every_member(authority in authority(), request in request()) {
        if level(&authority, &request) != Level::Granted || request.provider == Provider::BuiltIn {
            return Ok(());
        }
        let vector = texts(&request);
        let named = |pattern: &ToolPattern| pattern.command().is_some_and(|it| it.permits(&vector) == Match::Yes);
        let touched = |pattern: &ToolPattern| pattern.command().is_some_and(|it| it.matches(&vector) == Match::Yes);
        let host = authority.host();
        let by_rule = host.rules().iter().any(|rule| rule.effect() == Effect::Allow && named(rule.pattern()));
        let by_default = host.defaults() == Defaults::BuiltIn && request.provider == Provider::Shipped;
        prop_assert!(by_rule || by_default);
        let against = |rule: &Rule| rule.effect() != Effect::Allow && touched(rule.pattern());
        prop_assert!(!host.rules().iter().any(against));
        for caveat in authority.caveats() {
            let lets_through = match &caveat.kind {
                CaveatKind::Only { patterns, .. } => patterns.iter().any(named),
                CaveatKind::Without(patterns) => !patterns.iter().any(touched),
                CaveatKind::Nothing { .. } => false,
            };
            prop_assert!(lets_through, "{caveat:?}");
        }
    }

    #[test]
    fn what_runs_on_streams_alone_is_a_pure_filter(authority in authority(), request in request()) {
        let gate = Gate::new(authority);
        if level_at(&gate, &request) == Level::StreamsOnly {
            prop_assert!(request.provider == Provider::BuiltIn || is_pure_filter(&texts(&request)));
            prop_assert!(gate.authority().permits_some_command());
        }
        if !gate.authority().permits_some_command() {
            prop_assert_eq!(level_at(&gate, &request), Level::Refused);
        }
    }

    #[test]
    fn the_strictest_rule_that_matches_decides(rules in prop::collection::vec(rule(), 0..6), vector in vector()) {
        let request = CommandRequest {
            provider: provider_of(&vector[0]),
            words: vector.iter().map(|text| Word { text: text.clone(), provenance: Provenance::Author }).collect(),
        };
        let known = texts(&request);
        let matching = |effect| {
            rules.iter().any(|rule| {
                rule.effect() == effect && rule.pattern().command().is_some_and(|it| it.matches(&known) == Match::Yes)
            })
        };
        let answer = Gate::new(Authority::of(Host::granting(rules.clone()))).approve(request.clone());
        match answer.map_err(|refusal| refusal.reason) {
            Err(RefusalReason::Denied(rule)) => prop_assert_eq!(rule.effect(), Effect::Deny),
            Err(RefusalReason::Unanswered(rule)) => {
                prop_assert_eq!(rule.effect(), Effect::Ask);
                prop_assert!(!matching(Effect::Deny));
            }
            Err(_) => {}
            Ok(_) => prop_assert!(!matching(Effect::Deny) && !matching(Effect::Ask)),
        }
    }

    /// The first check may let through what the second refuses, never the other way round: it would refuse a run that is
    /// allowed.
    #[test]
    fn the_check_before_is_never_stricter_than_the_check_at_use(
        authority in authority(),
        request in request(),
        unknown in prop::collection::vec(prop::option::weighted(0.3, prop::collection::vec(select(&ARGUMENTS[..]), 0..3)), 5),
        leading in prop::option::weighted(0.1, select(&COMMANDS[..])),
    ) {
        let mut sketch = Sketch { provider: Some(request.provider), ..sketch_of(&request) };
        let mut completed = Vec::new();
        for (at, (word, unknown)) in request.words.iter().zip(unknown).enumerate() {
            let produced = |text: &str| Word { text: text.to_owned(), provenance: Provenance::Expansion };
            match (at, unknown, leading) {
                (0, _, Some(command)) => {
                    sketch.words[0] = Err(Span::default());
                    sketch.provider = None;
                    completed.push(produced(command));
                }
                (0, _, None) | (_, None, _) => completed.push(word.clone()),
                (_, Some(texts), _) => {
                    sketch.words[at] = Err(Span::default());
                    completed.extend(texts.into_iter().map(produced));
                }
            }
        }
        let completion = CommandRequest { provider: provider_of(&completed[0].text), words: completed };
        let gate = Gate::new(authority);
        match gate.check(&sketch) {
            Ok(verdict) => prop_assert_eq!(verdict.certain, sketch.words.iter().all(Result::is_ok)),
            Err(refusal) => {
                let approved = gate.approve(completion.clone());
                prop_assert!(approved.is_err(), "refused before: {refusal}; approved at use: {:?}", texts(&completion));
            }
        }
    }

    #[test]
    fn a_command_that_is_known_whole_is_decided_once(authority in authority(), request in request()) {
        let gate = Gate::new(authority);
        let before = gate.check(&sketch_of(&request));
        let at_use = gate.approve(request.clone());
        match (before, at_use) {
            (Ok(verdict), Ok(approved)) => {
                prop_assert!(verdict.certain);
                prop_assert_eq!((verdict.sight, verdict.rule.as_str()), (approved.sight(), approved.rule()));
                let vector: Vec<&str> = request.words.iter().map(|word| word.text.as_str()).collect();
                prop_assert_eq!(approved.vector(), vector.as_slice());
            }
            (Err(before), Err(at_use)) => prop_assert_eq!(before.reason, at_use.reason),
            // Where a word came from is known at use only.
            (Ok(_), Err(refusal)) => {
                let by_origin = matches!(refusal.reason, RefusalReason::ProducedOption { .. });
                prop_assert!(by_origin, "approved before, and refused at use: {refusal}");
            }
            (Err(refusal), Ok(_)) => prop_assert!(false, "refused before and approved at use: {refusal}"),
        }
    }

    #[test]
    fn a_revoked_gate_approves_nothing(authority in authority(), request in request()) {
        let gate = Gate::new(authority);
        let earlier = gate.approve(request.clone());
        gate.revocation().revoke();
        prop_assert_eq!(level_at(&gate, &request), Level::Refused);
        if let Ok(approved) = earlier {
            let reason = approved.redeem().map_err(|refusal| refusal.reason);
            prop_assert_eq!(reason, Err(RefusalReason::Revoked));
        }
    }

    #[test]
    fn a_caveat_never_shows_or_opens_more_paths(
        host in host(),
        caveats in prop::collection::vec(caveat(), 0..3),
        caveat in caveat(),
        path in "(/|\\./)?(\\.env|out|a|x)(/(\\.env|out|\\.\\.|b))?/?",
        is_directory in any::<bool>(),
    ) {
        let before = under(host.clone(), caveats.clone()).path_rules();
        let after = under(host, caveats.into_iter().chain([caveat])).path_rules();
        prop_assert!(before.may_read(&path, is_directory) || !after.may_read(&path, is_directory));
        prop_assert!(before.may_write(&path) || !after.may_write(&path));
        prop_assert!(before.grants_writing() || !after.grants_writing());
        prop_assert!(!after.may_write(&path) || after.may_read(&path, false));
    }

    #[test]
    fn a_pattern_covers_only_what_it_permits(one in pattern(), other in pattern(), vector in vector()) {
        let words: Vec<Known<'_>> = vector.iter().map(|word| Known::Text(word)).collect();
        let permits = |pattern: &ToolPattern| pattern.command().map(|command| command.permits(&words)) == Some(Match::Yes);
        prop_assert!(!one.covers(&other) || !permits(&other) || permits(&one), "{} and {} on {:?}", one, other, vector);
        prop_assert!(one.covers(&one));
    }

    #[test]
    fn every_text_is_a_pattern_or_an_error(text in "(Bash|Read|Skill|mcp__)?\\PC{0,24}") {
        if let Ok(pattern) = ToolPattern::parse(&text) {
            prop_assert_eq!(pattern.text(), text.trim());
            let again = ToolPattern::parse(pattern.text());
            prop_assert_eq!(again.as_ref(), Ok(&pattern));
        }
    }
}

#[derive(Clone, Debug)]
enum Narrowing {
    Caveat(Caveat),
    Rule(Rule),
    Drop(Index),
    DefaultsOff,
    Shuffle(Index, bool),
}

fn narrowing() -> impl Strategy<Value = Narrowing> {
    prop_oneof![
        caveat().prop_map(Narrowing::Caveat),
        rule_with(select(vec![Effect::Ask, Effect::Deny])).prop_map(Narrowing::Rule),
        any::<Index>().prop_map(Narrowing::Drop),
        Just(Narrowing::DefaultsOff),
        (any::<Index>(), any::<bool>()).prop_map(|(by, doubled)| Narrowing::Shuffle(by, doubled)),
    ]
}

fn narrow(authority: &Authority, step: Narrowing) -> Authority {
    let (mut rules, mut defaults) = (authority.host().rules().to_vec(), authority.host().defaults());
    let mut caveats = authority.caveats().to_vec();
    match step {
        Narrowing::Caveat(caveat) => caveats.push(caveat),
        Narrowing::Rule(rule) => rules.push(rule),
        Narrowing::Drop(at) => {
            let allowing: Vec<usize> =
                rules.iter().enumerate().filter(|(_, rule)| rule.effect() == Effect::Allow).map(|(at, _)| at).collect();
            if !allowing.is_empty() {
                rules.remove(allowing[at.index(allowing.len())]);
            }
        }
        Narrowing::DefaultsOff => defaults = Defaults::Nothing,
        Narrowing::Shuffle(by, doubled) => {
            rules = rotated(&rules, by, doubled);
            caveats = rotated(&caveats, by, doubled);
        }
    }
    under(Host::new(rules, defaults), caveats)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 10, ..config() })]

    /// Ten steps for each case: whatever is taken away, and in whatever order, no vector comes back.
    #[test]
    fn a_walk_that_only_takes_away_never_gives_back(
        authority in authority(),
        steps in prop::collection::vec(narrowing(), 10),
        requests in prop::collection::vec(request(), 4),
    ) {
        let mut authority = authority;
        let levels = |authority: &Authority| {
            let gate = Gate::new(authority.clone());
            requests.iter().map(|request| level_at(&gate, request)).collect::<Vec<_>>()
        };
        let mut before = levels(&authority);
        for step in steps {
            let shown = format!("{step:?}");
            authority = narrow(&authority, step);
            let after = levels(&authority);
            for ((request, before), after) in requests.iter().zip(&before).zip(&after) {
                prop_assert!(after <= before, "{shown}: {:?} went from {before:?} to {after:?}", texts(request));
            }
            before = after;
        }
    }
}
