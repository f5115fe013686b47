//! Policies of several levels: what is put below another can only take away, whatever it says.

use proptest::prelude::*;
use proptest::sample::select;
use skillgate_core::{Profile, Source};
use skillgate_policy::file::{Layers, Level, OnFailure, Options, Policy, PolicyFile, Setting};
use skillgate_policy::{Action, Authority, Effect, Host, Place, Provider, Rule};

const PATTERNS: [&str; 8] = [
    "Bash",
    "Bash(git:*)",
    "Bash(git push:*)",
    "Bash(ls)",
    "Read(.env)",
    "Write(out)",
    "Skill(review:*)",
    "mcp__notes__*",
];

fn actions() -> Vec<Action> {
    let command = |words: &[&str], provider| Action::command(words.iter().copied(), provider);
    let mut actions = Vec::new();
    for provider in [Provider::Shipped, Provider::Native, Provider::ThirdParty] {
        actions.extend([
            command(&["git", "push"], provider),
            command(&["git", "log"], provider),
            command(&["ls"], provider),
        ]);
    }
    actions.extend([Action::of_tool("Read", Some(".env")), Action::of_tool("Read", Some("a.txt"))]);
    actions.extend([Action::of_tool("Write", Some("out/x")), Action::of_tool("mcp__notes__list", None)]);
    actions.push(Action::Skill { source: Source::Project, name: "review-pr".to_owned() });
    actions
}

/// The rules of a file as its text; a project's has none that allow.
fn text(level: Level) -> impl Strategy<Value = String> {
    let list = || proptest::collection::btree_set(select(&PATTERNS[..]), 0..4);
    let lists = (proptest::option::of(list()), list(), list());
    let bound = || proptest::option::of(1_u64..=64);
    let settings = ((bound(), bound(), bound()), any::<Option<bool>>(), any::<Option<bool>>(), any::<Option<bool>>());
    (lists, settings).prop_map(move |((allow, ask, deny), ((depth, connect, request), enabled, shell, sandbox))| {
        let mut text = "[permissions]\n".to_owned();
        if let (Some(allow), false) = (allow, level == Level::Project) {
            text.push_str(&format!("allow = {allow:?}\n").replace('{', "[").replace('}', "]"));
        }
        text.push_str(&format!("ask = {ask:?}\ndeny = {deny:?}\n").replace('{', "[").replace('}', "]"));
        if let Some(depth) = depth {
            text.push_str(&format!("[limits]\ndepth = {depth}\n"));
        }
        text.push_str("[mcp]\n");
        for (key, bound) in [("connect_ms", connect), ("request_ms", request)] {
            text.push_str(&bound.map(|bound| format!("{key} = {bound}\n")).unwrap_or_default());
        }
        if level != Level::Project {
            let line = |key: &str, on: Option<bool>| on.map(|on| format!("{key} = {on}\n")).unwrap_or_default();
            text.push_str(&line("sandbox", sandbox));
            text.push_str(&format!("[skills]\n{}[profile]\n{}", line("enabled", enabled), line("shell", shell)));
        }
        text
    })
}

fn file(level: Level) -> impl Strategy<Value = PolicyFile> {
    text(level).prop_map(move |text| {
        PolicyFile::parse(&text, level, format!("{level}.toml"))
            .unwrap_or_else(|errors| unreachable!("{errors:?}\n{text}"))
    })
}

fn effects(host: &Host) -> Vec<Effect> {
    let authority = Authority::of(host.clone());
    actions().iter().map(|action| authority.decide(action).effect).collect()
}

/// Whether nothing is allowed by `less` that `more` does not allow, in rules and in settings.
fn takes_away_only(more: &Policy, less: &Policy) -> bool {
    let hosts = [(more.host(), less.host()), (more.host_of_run([]), less.host_of_run([]))];
    let rules =
        hosts.iter().all(|(more, less)| effects(more).iter().zip(effects(less)).all(|(more, less)| less >= *more));
    let limits = more.limits().entries().into_iter().zip(less.limits().entries()).all(|(more, less)| less.1 <= more.1);
    let sources = Source::ALL.into_iter();
    let injections =
        sources.clone().all(|source| more.injections_off(source).is_none() || less.injections_off(source).is_some());
    let times = |policy: &Policy| [policy.mcp.connect_ms.value, policy.mcp.request_ms.value];
    let servers = times(more).iter().zip(times(less)).all(|(more, less)| less <= *more)
        && (!more.mcp.sandbox.value || less.mcp.sandbox.value);
    rules && limits && servers && injections && (more.skills_enabled.value || !less.skills_enabled.value)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_managed_policy_only_takes_away(user in file(Level::User), managed in file(Level::Managed)) {
        let free = Layers { user: Some(user), ..Layers::default() };
        let under = Layers { managed: Some(managed), ..free.clone() };
        prop_assert!(takes_away_only(&Policy::of(free), &Policy::of(under)));
    }

    #[test]
    fn a_project_only_takes_away(
        managed in proptest::option::of(file(Level::Managed)),
        user in file(Level::User),
        project in file(Level::Project),
    ) {
        let without = Layers { managed, user: Some(user), ..Layers::default() };
        let with = Layers { project: Some(project), ..without.clone() };
        prop_assert!(takes_away_only(&Policy::of(without), &Policy::of(with)));
    }

    /// Whatever the user, the run and the project say, nothing is allowed that the managed policy keeps back from everybody.
    #[test]
    fn nobody_goes_over_the_managed_policy(
        managed in file(Level::Managed),
        user in file(Level::User),
        run in file(Level::User),
        project in file(Level::Project),
    ) {
        let everything = PATTERNS.iter().map(|pattern| Rule::parse(Effect::Allow, pattern, Place::Host).expect("a rule"));
        let rules: Vec<Rule> = everything.chain(["Read", "Write", "Skill"].map(|tool| Rule::parse(Effect::Allow, tool, Place::Host).expect("a rule"))).collect();
        let most = Layers { managed: Some(managed), options: Options { rules: rules.clone(), ..Options::default() }, ..Layers::default() };
        let all = Layers { user: Some(user), run: Some(run), project: Some(project), ..most.clone() };
        let (most, all) = (effects(&Policy::of(most).host()), effects(&Policy::of(all).host()));
        for ((most, all), action) in most.iter().zip(&all).zip(actions()) {
            prop_assert!(all >= most, "{action}: {all} over {most}");
        }
    }
}

fn parsed(level: Level, text: &str) -> Option<PolicyFile> {
    Some(PolicyFile::parse(text, level, format!("{level}.toml")).expect(text))
}

#[test]
fn each_setting_comes_from_the_level_that_decides_it() {
    let user = parsed(
        Level::User,
        "[profile]\nname = \"claude\"\non_failure = \"inline\"\n[programs.gh]\npath = \"/user/gh\"\n[skills]\ndisable = [\"a\"]",
    );
    let run = parsed(
        Level::User,
        "[skills]\nstore = \"/run\"\ndisable = [\"b\"]\n[hooks]\ntimeout_ms = 5\n[mcp]\nconnect_ms = 70\nsandbox = false\nshow = [\"/run\"]",
    );
    let managed = parsed(
        Level::Managed,
        "[programs.gh]\npath = \"/managed/gh\"\n[audit]\nrequired = true\n[mcp]\nconnect_ms = 80\nsandbox = true\nshow = []",
    );
    let project = parsed(Level::Project, "[skills]\ndisable = [\"c\"]\n[mcp]\nrequest_ms = 9");
    let layers = Layers { user, run, project, ..Layers::default() };
    let policy = Policy::of(layers.clone());
    assert_eq!((policy.profile.value, policy.on_failure.value), (Profile::Claude, OnFailure::Inline));
    assert_eq!(policy.store.as_ref().map(|path| path.value.as_str()), Some("/run"));
    assert_eq!(policy.disable.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((policy.hook_timeout_ms.value, policy.programs["gh"].value.path.as_str()), (5, "/user/gh"));
    let times = (policy.mcp.connect_ms.value, policy.mcp.request_ms.value);
    assert_eq!((times, policy.mcp.sandbox.value), ((70, 9), false));
    assert_eq!(policy.mcp.show.as_ref().map(|show| show.value.len()), Some(1));
    assert_eq!(policy.skills_enabled, Setting::new(true, Place::BuiltIn));

    let flag = Setting::new(Profile::Strict, Place::flag("--profile"));
    let options = Options { profile: Some(flag.clone()), ..Options::default() };
    let under = Policy::of(Layers { managed, options, ..layers });
    assert_eq!(under.profile, flag);
    assert_eq!((under.mcp.connect_ms.value, under.mcp.sandbox.value), (70, true));
    assert_eq!(under.mcp.show.map(|show| show.value.len()), Some(0));
    assert_eq!(under.programs["gh"].value.path, "/managed/gh");
    assert_eq!(under.audit_required.place, Place::File { path: "managed.toml".into(), line: 4 });
}
