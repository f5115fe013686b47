//! What names mean, for tables of skills written one a line.

use proptest::prelude::*;
use skillgate_core::{
    Code, CommandName, Diagnostic, Digest, Field, Frontmatter, Guarded, HeaderState, LoadFailure, LoadedFrom, Profile,
    Skill, SkillId, Source, Span,
};
use skillgate_registry::{Catalogue, CatalogueOptions, Lookup, NamePattern};
use std::path::PathBuf;

/// `SOURCE PATH [FLAG…]`; the name is the last directory, or the stem of a `.md` file. Flags: `command`, `lost`, `hidden`,
/// `user-only`, `paths=P`, `bare` (no description of its own), `broken` (cannot be read at all).
fn parse(line: &str) -> Result<Skill, Box<LoadFailure>> {
    let mut words = line.split_whitespace();
    let source = words.next().expect("a source");
    let source = Source::ALL.into_iter().find(|known| known.as_str() == source).expect("a known source");
    let path = words.next().expect("a path");
    let flags: Vec<&str> = words.collect();
    let has = |flag: &str| flags.contains(&flag);
    let name = path.rsplit('/').next().expect("a name").trim_end_matches(".md");
    if has("broken") {
        let diagnostic = Diagnostic::new(Code::FileNotRegular, "it is a fifo");
        return Err(Box::new(LoadFailure { source, name: name.into(), path: path.into(), diagnostic }));
    }
    let field = |text: &str| Field::new(text.to_owned(), Span::default());
    let flag = |on: bool, value: bool| {
        if on { Guarded::Present(Field::new(value, Span::default())) } else { Guarded::Absent }
    };
    let paths: Vec<_> = flags.iter().filter_map(|flag| flag.strip_prefix("paths=")).map(field).collect();
    let frontmatter = Frontmatter {
        description: (!has("bare")).then(|| field("Does something.")),
        user_invocable: flag(has("hidden"), false),
        disable_model_invocation: flag(has("user-only"), true),
        paths: if paths.is_empty() { Guarded::Absent } else { Guarded::Present(Field::new(paths, Span::default())) },
        ..Frontmatter::default()
    };
    Ok(Skill {
        id: SkillId { source, command: CommandName::new(name).expect("a name") },
        loaded_from: if has("command") { LoadedFrom::Commands } else { LoadedFrom::Skills },
        path: path.into(),
        directory: None,
        frontmatter,
        header: if has("lost") { HeaderState::Unclosed } else { HeaderState::Parsed },
        label: name.into(),
        description: Some("Does something.".into()),
        digest: Digest::of(line.as_bytes()),
        bytes: 0,
        diagnostics: Vec::new(),
    })
}

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

fn trusted() -> CatalogueOptions {
    CatalogueOptions { trusted_project: true, ..CatalogueOptions::default() }
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
fn names_that_differ_in_case_are_reported_and_both_work() {
    let catalogue = build(&["user /u/Review", "project /p/review", "user /u/other"], &trusted());
    let messages: Vec<_> = catalogue.diagnostics().iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages, ["names that differ in case only: `user:Review`, `project:review`"]);
    assert!(catalogue.entries().iter().all(|entry| entry.state().as_str() == "active"));
}

/// Lines with few names and paths, so that most of them clash.
fn any_line() -> impl Strategy<Value = String> {
    let source = prop::sample::select(Source::ALL.to_vec());
    let flags = prop::sample::select(vec!["", "command", "lost", "hidden", "paths=a", "broken", "command hidden"]);
    (source, 0..3, prop::sample::select(vec!["a", "b", "B", "user:a", "a#2"]), flags)
        .prop_map(|(source, root, name, flags)| format!("{source} /r{root}/{name} {flags}"))
}

fn any_options() -> impl Strategy<Value = CatalogueOptions> {
    let profile = prop::sample::select(vec![Profile::Safe, Profile::Claude, Profile::Strict]);
    let disabled = prop::sample::select(vec![vec![], vec!["b"], vec!["user:*"], vec!["*"]]);
    (profile, any::<bool>(), disabled, Just(vec!["/r0", "/r1", "/r2"]).prop_shuffle(), 0..4_usize).prop_map(
        |(profile, trusted_project, disabled, roots, known)| CatalogueOptions {
            profile,
            trusted_project,
            disabled: disabled.into_iter().map(NamePattern::new).collect(),
            root_order: roots.into_iter().take(known).map(PathBuf::from).collect(),
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
            let holders = same.iter().filter(|entry| matches!(entry.state().as_str(), "active" | "conditional" | "hidden"));
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
