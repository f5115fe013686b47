//! What names mean, for tables of skills written one a line.

mod skills;

use proptest::prelude::*;
use skillgate_core::{Profile, Severity, Source};
use skillgate_registry::{Catalogue, CatalogueOptions, Lookup, Loser, NamePattern};
use skills::{parse, trusted};
use std::path::PathBuf;

fn build(lines: &[&str], options: &CatalogueOptions) -> Catalogue {
    let (mut skills, mut failures) = (Vec::new(), Vec::new());
    for line in lines {
        match parse(line) {
            Ok(skill) => skills.push(skill),
            Err(failure) => failures.push(*failure),
        }
    }
    Catalogue::build(skills, failures, options)
}

#[track_caller]
fn check(lines: &[&str], options: &CatalogueOptions, expected: &[&str]) -> Catalogue {
    let catalogue = build(lines, options);
    let found: Vec<_> = catalogue
        .entries()
        .iter()
        .map(|entry| {
            let model = if entry.is_offered_to_model() { " +model" } else { "" };
            let user = if entry.is_open_to_user() { " +user" } else { "" };
            format!("{} {}{user}{model}", entry.qualified_name(), entry.state())
        })
        .collect();
    assert_eq!(found, expected);
    catalogue
}

const FIVE: &[&str] =
    &["mcp /m/x", "user /u/x", "managed /a/x", "project /p/x", "bundled /b/x", "user /u/commands/x.md command"];

#[test]
fn the_profile_orders_the_sources_and_every_loser_has_its_reason() {
    check(
        FIVE,
        &trusted(),
        &[
            "managed:x active +user +model",
            "project:x shadowed by `managed:x`: managed goes before project +user",
            "user:x shadowed by `managed:x`: managed goes before user +user",
            "user:x#2 shadowed by `managed:x`: managed goes before user +user",
            "bundled:x shadowed by `managed:x`: managed goes before bundled +user",
            "mcp:x shadowed by `managed:x`: managed goes before mcp +user",
        ],
    );
    let two = ["user /u/x", "project /p/x"];
    check(
        &two,
        &trusted(),
        &["project:x active +user +model", "user:x shadowed by `project:x`: project goes before user +user"],
    );
    check(
        &two,
        &CatalogueOptions { profile: Profile::Claude, ..trusted() },
        &["user:x active +user +model", "project:x shadowed by `user:x`: user goes before project +user"],
    );
}

#[test]
fn in_one_source_a_skill_beats_a_command_and_the_nearer_root_the_farther() {
    let root_order = ["/r/pkg/skills", "/r/skills", "/r/other"].map(PathBuf::from).into();
    check(
        &[
            "project /r/other/x",
            "project /r/skills/x",
            "project /r/pkg/skills/x",
            "project /r/pkg/commands/x.md command",
            "project /elsewhere/x",
        ],
        &CatalogueOptions { root_order, ..trusted() },
        &[
            "project:x active +user +model",
            "project:x#2 shadowed by `project:x`: its directory is nearer +user",
            "project:x#3 shadowed by `project:x`: its directory is nearer +user",
            "project:x#4 shadowed by `project:x`: its directory is nearer +user",
            "project:x#5 shadowed by `project:x`: a skill goes before a command +user",
        ],
    );
    check(
        &["user /b/x", "user /a/x"],
        &trusted(),
        &["user:x active +user +model", "user:x#2 shadowed by `user:x`: its path sorts first +user"],
    );
}

#[test]
fn what_is_untrusted_disabled_or_broken_hides_nothing_and_is_not_offered() {
    let lines = [
        "project /p/x",
        "user /u/x",
        "project /p/only",
        "managed /m/lost lost",
        "user /u/lost",
        "managed /m/old-tool",
        "user /u/old-tool",
        "managed /m/pipe broken",
        "user /u/pipe",
    ];
    let disabled = vec![NamePattern::new("managed:old-*")];
    let options = CatalogueOptions { disabled, ..CatalogueOptions::default() };
    let catalogue = check(
        &lines,
        &options,
        &[
            "user:lost active +user +model",
            "managed:lost broken: its header cannot be read",
            "user:old-tool active +user +model",
            "managed:old-tool disabled by the policy: `managed:old-*`",
            "project:only untrusted: the project is not trusted",
            "user:pipe active +user +model",
            "user:x active +user +model",
            "project:x untrusted: the project is not trusted",
        ],
    );
    assert_eq!(catalogue.broken().len(), 1);
    let offered: Vec<_> = catalogue.offered_to_model().map(|entry| entry.qualified_name()).collect();
    assert_eq!(offered, ["user:lost", "user:old-tool", "user:pipe", "user:x"]);
}

#[test]
fn where_lists_name_the_only_skills_one_has_to_be_in_each() {
    let only = |lists: &[&[&str]]| CatalogueOptions {
        only: lists.iter().map(|list| list.iter().map(|name| NamePattern::new(name)).collect()).collect(),
        disabled: vec![NamePattern::new("off")],
        ..trusted()
    };
    let lines = ["user /u/a", "user /u/b", "project /p/a", "user /u/off"];
    let left_out = "disabled by the policy, which names the only skills that are not";
    let off = "user:off disabled by the policy: `off`".to_owned();
    for (lists, a, project, b) in [
        (only(&[]), "shadowed by `project:a`: project goes before user", "active", "active"),
        (only(&[&["user:*"]]), "active", left_out, "active"),
        (only(&[&["a", "off"], &["user:*"]]), "active", left_out, left_out),
        (only(&[&[]]), left_out, left_out, left_out),
        (only(&[&["set:none"]]), left_out, left_out, left_out),
    ] {
        let catalogue = build(&lines, &lists);
        let state = |name: &str| catalogue.qualified(name).map(|entry| entry.state().to_string()).expect("an entry");
        assert_eq!([state("user:a"), state("project:a"), state("user:b")], [a, project, b], "{:?}", lists.only);
        assert_eq!(format!("user:off {}", state("user:off")), off, "{:?}", lists.only);
    }
}

#[test]
fn authors_choices_decide_who_is_told() {
    check(
        &[
            "user /u/a hidden",
            "user /u/b user-only",
            "user /u/c paths=src/**",
            "user /u/d paths=**",
            "plugin /q/e bare",
            "plugin /q/f",
            "mcp /q/g bare",
            "user /u/h bare",
        ],
        &trusted(),
        &[
            "user:a hidden: its author keeps it out of the user's list +model",
            "user:b active +user",
            "user:c conditional: becomes active when a file that its `paths` name is touched +user",
            "user:d active +user +model",
            "plugin:e active +user",
            "plugin:f active +user +model",
            "mcp:g active +user",
            "user:h active +user +model",
        ],
    );
}

#[test]
fn names_are_found_bare_with_a_slash_and_qualified() {
    let lines = [
        "user /u/review",
        "project /p/review",
        "project /p/deploy",
        "project /p/user:review",
        "user /u/x#2",
        "user /u/x",
        "user /v/x",
        "user /u/pipe broken",
    ];
    let found = |catalogue: &Catalogue, name: &str| match catalogue.lookup(name) {
        Lookup::Found(entry) => entry.skill().path.display().to_string(),
        Lookup::Broken(failure) => format!("broken {}", failure.path.display()),
        Lookup::Unknown { nearest } => format!("unknown, near {}", nearest.join(" ")),
        other => format!("{other:?}"),
    };
    let catalogue = build(&lines, &trusted());
    for (name, expected) in [
        ("review", "/p/review"),
        (" /review ", "/p/review"),
        ("project:review", "/p/review"),
        ("user:review", "/u/review"),
        ("/user:review", "/u/review"),
        ("project:user:review", "/p/user:review"),
        ("x", "/u/x"),
        ("user:x", "/u/x"),
        ("x#2", "/u/x#2"),
        ("user:x#2", "/u/x#2"),
        ("user:x#3", "/v/x"),
        ("pipe", "broken /u/pipe"),
        ("user:pipe", "broken /u/pipe"),
        ("project:pipe", "unknown, near "),
        ("//review", "unknown, near review"),
        ("reveiw", "unknown, near review"),
        ("dep", "unknown, near deploy"),
        ("", "unknown, near x"),
        ("Review", "unknown, near review"),
    ] {
        assert_eq!(found(&catalogue, name), expected, "{name:?}");
    }
    // Without trust the user's own is found, and the project's alone answers for itself.
    let catalogue = build(&lines, &CatalogueOptions::default());
    assert_eq!(found(&catalogue, "review"), "/u/review");
    assert_eq!(found(&catalogue, "deploy"), "/p/deploy");
    assert_eq!(found(&catalogue, "depoly"), "unknown, near ", "an untrusted name is not suggested");
}

#[test]
fn names_that_look_alike_are_reported_across_all_sources_and_all_work() {
    let lines = [
        "user /u/Review",
        "project /p/review",
        "user /u/other",
        "managed /m/caf\u{e9}",
        "bundled /b/cafe\u{301}",
        "user /u/a-b",
        "plugin /q/\u{ff41}\u{2011}b",
        "user /u/same",
        "project /p/same",
    ];
    let catalogue = build(&lines, &trusted());
    let messages: Vec<_> = catalogue.diagnostics().iter().map(|found| found.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "names that differ only in how they are written: `user:a-b`, `plugin:\u{ff41}\u{2011}b`",
            "names that differ only in how they are written: `bundled:cafe\u{301}`, `managed:caf\u{e9}`",
            "names that differ in case only: `user:Review`, `project:review`",
        ]
    );
    assert!(catalogue.entries().iter().filter(|entry| entry.state().as_str() != "active").count() == 1, "`user:same`");
}

#[test]
fn complaint_41_a_skill_with_the_name_of_the_hosts_command_is_called_in_full_and_says_so() {
    let options = CatalogueOptions { reserved: ["help".to_owned()].into(), ..trusted() };
    let mut catalogue = build(&["project /p/help", "user /u/help", "user /u/other"], &options);
    let called = |catalogue: &Catalogue| -> Vec<String> {
        catalogue.offered_to_model().map(|entry| entry.called().to_owned()).collect()
    };
    assert_eq!(called(&catalogue), ["project:help", "other"]);
    let messages: Vec<_> = catalogue.diagnostics().iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages, ["`help` is a command of the host's own, so the skill of this name is called `project:help`"]);
    let nested = parse("project /p/a/.claude/skills/help").unwrap_or_else(|failure| unreachable!("{}", failure.name));
    catalogue.add_nested(vec![nested], Vec::new(), "a", &options);
    assert!(called(&catalogue).iter().all(|name| name != "help"), "{:?}", called(&catalogue));
    // The control: nothing is reserved.
    let plain = build(&["project /p/help"], &trusted());
    assert_eq!((called(&plain), plain.diagnostics().len()), (vec!["help".to_owned()], 0));
}

#[test]
fn a_name_in_letters_of_another_alphabet_is_reported_beside_the_one_it_looks_like() {
    let lines = [
        "user /u/paypal",
        "pack /k/p\u{430}yp\u{430}l",
        "project /p/scope",
        "user /u/\u{455}\u{441}\u{43e}\u{440}\u{435}",
        "bundled /b/BOX",
        "user /u/\u{412}\u{41e}\u{425}",
        // The controls: words of one alphabet that look like no other name, and a twin that nobody can call.
        "user /u/отчет",
        "user /u/plan",
        "project /p/old-tool",
        "user /u/\u{43e}ld-tool",
    ];
    let disabled = vec![NamePattern::new("user:\u{43e}ld-*")];
    let catalogue = build(&lines, &CatalogueOptions { disabled, ..trusted() });
    let messages: Vec<_> = catalogue.diagnostics().iter().map(|found| found.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "names that look alike: `BOX`, `\u{412}\u{41e}\u{425}` (U+0412 for `B`)",
            "names that look alike: `paypal`, `p\u{430}yp\u{430}l` (U+0430 for `a`)",
            "names that look alike: `scope`, `\u{455}\u{441}\u{43e}\u{440}\u{435}` (U+0455 for `s`)",
        ]
    );
    assert!(catalogue.diagnostics().iter().all(|found| found.severity == Severity::Error && found.help.is_some()));
}

#[test]
fn complaint_40_a_plugins_skill_has_the_plugins_name_before_its_own() {
    let found = |catalogue: &Catalogue, name: &str| match catalogue.lookup(name) {
        Lookup::Found(entry) => entry.skill().path.display().to_string(),
        Lookup::Unknown { nearest } => format!("unknown, near {}", nearest.join(" ")),
        other => format!("{other:?}"),
    };
    let lines = [
        "plugin /q/one/x of=p1",
        "plugin /q/two/x of=p2",
        "plugin /q/one/only of=p1",
        "plugin /q/p1/p1 of=p1",
        "user /u/taken",
        "plugin /q/one/taken of=p1",
        "user /u/p1:x",
    ];
    let catalogue = build(&lines, &trusted());
    for (name, expected) in [
        ("p1:x", "/q/one/x"),
        ("/p2:x", "/q/two/x"),
        ("user:p1:x", "/u/p1:x"),
        ("only", "/q/one/only"),
        ("p1", "/q/p1/p1"),
        ("p1:p1", "/q/p1/p1"),
        ("taken", "/u/taken"),
        ("p1:taken", "/q/one/taken"),
        ("x", "unknown, near p1:x p2:x"),
        ("p3:x", "unknown, near p1:x p2:x"),
    ] {
        assert_eq!(found(&catalogue, name), expected, "{name}");
    }
    let untrusted = build(&["plugin /q/one/x of=p1", "plugin /q/two/x of=p2"], &CatalogueOptions::default());
    assert_eq!(found(&untrusted, "x"), "unknown, near ", "without trust they take no name and are not suggested");
    assert_eq!(untrusted.entries()[0].state().to_string(), "untrusted: the plugin is not trusted");
    assert!(!untrusted.entries().iter().any(|entry| entry.is_open_to_user() || entry.is_offered_to_model()));
    let off = CatalogueOptions { disabled: vec![NamePattern::new("p2:*")], ..trusted() };
    assert_eq!(found(&build(&lines, &off), "x"), "/q/one/x", "what is switched off takes no name");
}

#[test]
fn complaint_86_what_is_required_and_missing_makes_a_skill_unavailable_and_it_keeps_its_name() {
    let options = CatalogueOptions {
        missing_programs: ["jq".to_owned()].into(),
        version: skillgate_core::Version([0, 2, 0]),
        ..trusted()
    };
    check(
        &[
            "user /u/a needs=b",
            "user /u/b needs=c program=ls",
            "user /u/c program=jq",
            "project /p/d version=0.3",
            "user /u/d",
            "user /u/e needs=gone",
            "user /u/f needs=user:d version=0.2",
            "user /u/g needs=old",
            "managed /m/k",
            "user /u/k needs=gone",
            "user /u/l needs=user:k",
            "user /u/old lost",
            "plugin /q/h of=p needs=p:i",
            "plugin /q/i of=p",
        ],
        &options,
        &[
            "user:a unavailable: it needs the skill `b`, which is unavailable",
            "user:b unavailable: it needs the skill `c`, which is unavailable",
            "user:c unavailable: it needs the program `jq`, which is not there",
            "project:d unavailable: it needs Skillgate 0.3.0 or newer",
            "user:d shadowed by `project:d`: project goes before user +user",
            "user:e unavailable: it needs the skill `gone`, which is not there",
            "user:f active +user +model",
            "user:g unavailable: it needs the skill `old`, which is broken",
            "managed:k active +user +model",
            "user:k shadowed by `managed:k`: managed goes before user",
            "user:l unavailable: it needs the skill `user:k`, which is unavailable",
            "user:old broken: its header cannot be read",
            "p:h active +user +model",
            "p:i active +user +model",
        ],
    );
}

#[test]
fn complaint_86_skills_that_require_each_other_are_named() {
    check(
        &[
            "user /u/a needs=b",
            "user /u/b needs=c",
            "user /u/c needs=b",
            "user /u/d needs=d",
            "user /u/e needs=f",
            "user /u/f",
        ],
        &trusted(),
        &[
            "user:a unavailable: it needs the skill `b`, which is unavailable",
            "user:b unavailable: it needs itself: b needs c needs b",
            "user:c unavailable: it needs itself: c needs b needs c",
            "user:d unavailable: it needs itself: d needs d",
            "user:e active +user +model",
            "user:f active +user +model",
        ],
    );
    // A chain longer than any stack is no deeper than a list.
    let lines: Vec<String> =
        (0..5_000).map(|number| format!("user /u/s{number} needs=s{}", (number + 1) % 5_000)).collect();
    let catalogue = build(&refs(&lines), &trusted());
    assert!(catalogue.entries().iter().all(|entry| entry.state().as_str() == "unavailable"));
}

#[test]
fn complaint_39_a_clash_of_five_is_explained() {
    let lines = [
        "user /u/x",
        "managed /m/x",
        "project /p/x",
        "user /u/commands/x.md command",
        "managed /n/x lost",
        "plugin /q/x of=p",
        "mcp /s/x broken",
    ];
    let catalogue = build(&lines, &trusted());
    let explain = |name: &str| match catalogue.explain(name) {
        Err(nearest) => vec![format!("none, near {}", nearest.join(" "))],
        Ok(explained) => {
            let because = explained.because.map(|reason| format!(": {reason}")).unwrap_or_default();
            let winner = explained.winner.map_or("nobody", |entry| entry.qualified_name());
            let losers = explained.losers.iter().map(|loser| match loser {
                Loser::Skill(entry) => format!("{} {}", entry.qualified_name(), entry.state()),
                Loser::OfPlugin(entry) => format!("{} of a plugin", entry.qualified_name()),
                Loser::Unreadable(failure) => format!("{} unreadable", failure.path.display()),
            });
            std::iter::once(format!("{winner}{because}")).chain(losers).collect()
        }
    };
    assert_eq!(
        explain("/x"),
        [
            "managed:x: managed goes before project",
            "project:x shadowed by `managed:x`: managed goes before project",
            "user:x shadowed by `managed:x`: managed goes before user",
            "user:x#2 shadowed by `managed:x`: managed goes before user",
            "managed:x#2 broken: its header cannot be read",
            "p:x of a plugin",
            "/s/x unreadable",
        ]
    );
    assert_eq!(explain("user:x"), ["user:x"]);
    assert_eq!(explain("managed:x#2"), ["nobody", "managed:x#2 broken: its header cannot be read"]);
    assert_eq!(explain("p:x"), ["p:x"]);
    assert_eq!(explain("xx"), ["none, near x p:x"]);
    let alone = build(&["project /p/x"], &CatalogueOptions::default());
    let explained = alone.explain("x").expect("it is there");
    assert_eq!((explained.winner, explained.losers.len()), (None, 1), "an untrusted project's takes no name");
    let short = build(&["plugin /q/x of=p"], &trusted());
    assert_eq!(short.explain("x").expect("it is there").winner.map(|entry| entry.qualified_name()), Some("p:x"));
}

/// Lines with few names and paths, so that most of them clash.
fn any_line() -> impl Strategy<Value = String> {
    let source = prop::sample::select(Source::ALL.to_vec());
    let flags = prop::sample::select(vec![
        "",
        "command",
        "lost",
        "hidden",
        "paths=a",
        "broken",
        "command hidden",
        "needs=a",
        "needs=b needs=user:a",
    ]);
    (source, 0..3, prop::sample::select(vec!["a", "b", "B", "user:a", "a#2"]), flags)
        .prop_map(|(source, root, name, flags)| format!("{source} /r{root}/{name} {flags}"))
}

fn any_options() -> impl Strategy<Value = CatalogueOptions> {
    let profile = prop::sample::select(vec![Profile::Safe, Profile::Claude, Profile::Strict]);
    let disabled = prop::sample::select(vec![vec![], vec!["b"], vec!["user:*"], vec!["*"]]);
    let only = prop::sample::select(vec![vec![], vec![vec!["a", "b"]], vec![vec!["user:*", "a"], vec!["*"]]]);
    (profile, any::<bool>(), (disabled, only), Just(vec!["/r0", "/r1", "/r2"]).prop_shuffle(), 0..4_usize).prop_map(
        |(profile, trusted_project, (disabled, only), roots, known)| CatalogueOptions {
            profile,
            trusted_project,
            disabled: disabled.into_iter().map(NamePattern::new).collect(),
            only: only.into_iter().map(|only| only.into_iter().map(NamePattern::new).collect()).collect(),
            root_order: roots.into_iter().take(known).map(PathBuf::from).collect(),
            ..CatalogueOptions::default()
        },
    )
}

fn lines_and_shuffle() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    prop::collection::vec(any_line(), 0..24).prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_order_gives_the_same_catalogue((lines, shuffled) in lines_and_shuffle(), options in any_options()) {
        prop_assert_eq!(build(&refs(&lines), &options), build(&refs(&shuffled), &options));
    }

    #[test]
    fn every_qualified_name_leads_to_its_skill_and_one_skill_has_the_name(
        lines in prop::collection::vec(any_line(), 0..24),
        options in any_options(),
    ) {
        let catalogue = build(&refs(&lines), &options);
        for entry in catalogue.entries() {
            prop_assert_eq!(catalogue.lookup(entry.qualified_name()), Lookup::Found(entry));
            let same = catalogue.named(entry.skill().id.command.as_str());
            let holders = same.iter().filter(|entry| {
                matches!(entry.state().as_str(), "active" | "conditional" | "hidden" | "unavailable")
            });
            prop_assert!(holders.count() <= 1);
        }
    }

    /// The project's files, while it is not trusted, change nothing for the skills of everybody else.
    #[test]
    fn an_untrusted_project_changes_nothing_for_others(
        lines in prop::collection::vec(any_line(), 0..24),
        options in any_options(),
    ) {
        let options = CatalogueOptions { trusted_project: false, ..options };
        let with = build(&refs(&lines), &options);
        let without: Vec<_> = refs(&lines).into_iter().filter(|line| !line.starts_with("project")).collect();
        let without = build(&without, &options);
        let others = |catalogue: &Catalogue| -> Vec<_> {
            let entries = catalogue.entries().iter().filter(|entry| entry.skill().id.source != Source::Project);
            entries.cloned().collect()
        };
        prop_assert_eq!(others(&with), others(&without));
        prop_assert!(with.offered_to_model().all(|entry| entry.skill().id.source != Source::Project));
    }
}
