//! Policy files: each key right and wrong, and the place of every mistake.

use skillgate_core::{Profile, Source};
use skillgate_policy::file::{
    Kind, Level, MAX_POLICY_BYTES, OnFailure, PolicyFile, PolicySkills, ProgramLimits, SECTIONS, Section, Setter, Shape,
};
use skillgate_policy::{Effect, Place};

fn parse(text: &str, level: Level) -> Result<PolicyFile, Vec<String>> {
    PolicyFile::parse(text, level, "policy.toml")
        .map_err(|errors| errors.iter().map(|error| format!("{} {}", error.position, error.message)).collect())
}

fn good(text: &str) -> PolicyFile {
    parse(text, Level::User).unwrap_or_else(|errors| unreachable!("{errors:#?}\n{text}"))
}

/// Every mistake of the text, in order: its place and a part of its message.
fn check(level: Level, text: &str, expected: &[&str]) {
    let errors = parse(text, level).expect_err(text);
    let right = errors.len() == expected.len()
        && errors.iter().zip(expected).all(|(error, expected)| {
            let (place, words) = expected.split_once(' ').expect("a place and words");
            error.split_once(' ').is_some_and(|(at, message)| at == place && message.contains(words))
        });
    assert!(right, "{level}\n{text}\nexpected {expected:#?}\nfound {errors:#?}");
}

const EVERYTHING: &str = r#"
[skills]
enabled = true
disable = ["old-*"]
pin = ["review"]
sets = { review = ["review", "review-*"] }
store = "~/.local/share/skillgate"

[permissions]
allow = ["Bash(git status:*)", "Skill(review:*)"]
ask = [
  "Bash(git push:*)",
]
deny = ["Read(.env)"]

[profile]
name = "claude"
shell = false
on_failure = "inline"

[pre_approve]
sources = ["managed"]
tools = ["Bash(git:*)"]

[programs.gh]
path = "/usr/bin/gh"
env = ["GH_HOST"]
write = ["build/", "out/gh"]
memory_bytes = 4_294_967_296
native_processes = 8
wall_ms = 2_000

[components.mytool]
path = "/opt/tools/mytool.wasm"
sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

[[keys]]
id = "acme"
public = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
allow = ["Bash(git:*)"]
expires = 2027-12-31

[[keys]]
id = "other"
public = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

[limits]
wall_ms_injection = 1_000
depth = 0x10

[hooks]
timeout_ms = 30_000

[mcp]
connect_ms = 2_000
sandbox = true
show = ["/opt/servers/", "/srv/models"]
memory_bytes = 4_294_967_296

[audit]
log = "/var/log/skillgate.jsonl"
required = true
"#;

#[test]
fn every_section_gives_its_settings_with_their_lines() {
    let file = good(EVERYTHING);
    let place = |line| Place::File { path: "policy.toml".into(), line };
    assert_eq!(file.skills.enabled.as_ref().map(|on| (on.value, &on.place)), Some((true, &place(3))));
    assert_eq!((file.skills.disable[0].value.as_str(), &file.skills.disable[0].place), ("old-*", &place(4)));
    assert_eq!(file.skills.sets["review"].value, ["review", "review-*"]);
    assert_eq!(file.skills.store.as_ref().map(|path| path.value.as_str()), Some("~/.local/share/skillgate"));
    let rules: Vec<_> = file.permissions.rules.iter().map(ToString::to_string).collect();
    assert_eq!(
        rules,
        [
            "allow Bash(git status:*) (policy.toml:10)",
            "allow Skill(review:*) (policy.toml:10)",
            "ask Bash(git push:*) (policy.toml:12)",
            "deny Read(.env) (policy.toml:14)",
        ]
    );
    assert_eq!(file.profile.name.map(|name| name.value), Some(Profile::Claude));
    assert_eq!(file.profile.shell.map(|on| on.value), Some(false));
    assert_eq!(file.profile.on_failure.map(|what| what.value), Some(OnFailure::Inline));
    let approved = file.pre_approve.expect("pre_approve");
    assert_eq!((approved.value.sources, approved.place), (vec![Source::Managed], place(21)));
    assert_eq!(approved.value.tools[0].text(), "Bash(git:*)");
    let gh = &file.programs["gh"];
    assert_eq!((gh.value.path.as_str(), &gh.place), ("/usr/bin/gh", &place(25)));
    assert_eq!(gh.value.env, ["GH_HOST"]);
    assert_eq!(gh.value.write.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["build", "out/gh"]);
    let limits = ProgramLimits {
        memory_bytes: Some(4_294_967_296),
        native_processes: Some(8),
        native_file_bytes: None,
        wall_ms: Some(2_000),
    };
    assert_eq!(gh.value.limits, limits);
    let tool = &file.components["mytool"];
    let line = |place: &Place| match place {
        Place::File { line, .. } => *line,
        other => unreachable!("{other:?}"),
    };
    assert!(tool.value.sha256.value.to_string().starts_with("e3b0c442") && !tool.value.replace);
    let lines = [&tool.place, &tool.value.path.place, &tool.value.sha256.place].map(line);
    assert_eq!(lines, [lines[0], lines[0] + 1, lines[0] + 2]);
    let expires = file.keys[0].value.expires.expect("a day");
    assert_eq!((file.keys[0].value.id.as_str(), expires.to_string().as_str()), ("acme", "2027-12-31"));
    assert_eq!(file.keys[0].value.public, file.keys[1].value.public, "the same key in both forms");
    let limits: Vec<_> = file.limits.iter().map(|(name, setting)| (*name, setting.value)).collect();
    assert_eq!(limits, [("wall_ms_injection", 1_000), ("depth", 16)]);
    assert_eq!(file.hook_timeout_ms.map(|bound| bound.value), Some(30_000));
    let mcp = file.mcp;
    assert_eq!((mcp.connect_ms.map(|bound| bound.value), mcp.request_ms), (Some(2_000), None));
    assert_eq!(mcp.sandbox.map(|on| on.value), Some(true));
    assert_eq!(mcp.show.map(|paths| paths.value), Some(vec!["/opt/servers".to_owned(), "/srv/models".to_owned()]));
    assert_eq!(mcp.memory_bytes.map(|bound| bound.value), Some(4 << 30));
    assert_eq!(file.audit.required.map(|on| on.value), Some(true));
}

#[test]
fn an_empty_file_sets_nothing_and_an_empty_allow_is_said() {
    for text in ["", "\n# a comment\n", "\u{feff}", "[limits]\n[keys-of-nobody]\n"] {
        let parsed = parse(text, Level::User);
        assert_eq!(parsed.is_ok(), !text.contains("nobody"), "{text:?} {parsed:?}");
    }
    assert_eq!(good("").permissions.allow, None);
    assert!(good("[permissions]\nallow = []").permissions.allow.is_some());
    let managed = parse("[skills]\npolicy_skills = \"required\"", Level::Managed).expect("a managed policy");
    assert_eq!(managed.skills.policy_skills.map(|word| word.value), Some(PolicySkills::Required));
}

/// A value of a wrong type for each key, as TOML.
fn wrong_value(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Switch => ("\"true\"", "is `true` or `false`, and this is a text"),
        Kind::Word(_) => ("\"fast\"", "has no value \"fast\""),
        Kind::Words(_) => ("[\"moon\"]", "has no value \"moon\""),
        Kind::Patterns => ("[\"Bash(git\"]", "no closing parenthesis"),
        Kind::SkillNames => ("[\"\"]", "\"\" names no skill"),
        Kind::SkillSets => ("{ a = 1 }", "is a list of texts, and this is a number"),
        Kind::Path => ("\"log\"", "is not an absolute path"),
        Kind::AbsolutePath => ("\"~/gh\"", "is not an absolute path"),
        Kind::AbsolutePaths => ("[\"bin\"]", "is not an absolute path"),
        Kind::ProjectPaths => ("[\"../out\"]", "`..` component"),
        Kind::Variables => ("[\"A=b\"]", "is not the name of an environment variable"),
        Kind::Digest => ("\"abc\"", "is not a SHA-256 digest"),
        Kind::PublicKey => ("\"abc\"", "is not an Ed25519 public key"),
        Kind::Name => ("\"a b\"", "is not a name"),
        Kind::Date => ("\"2027-12-31\"", "is a day, without quotes, and this is a text"),
        Kind::Number(_) => ("0", "is above 0, and this is 0"),
    }
}

/// The keys that have to be in a section, with good values, but for one of them.
fn others(section: &Section, besides: &str) -> String {
    let values = [
        ("programs", "path = \"/usr/bin/gh\""),
        ("components", "path = \"/opt/tool.wasm\""),
        ("components", "sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\""),
        ("keys", "id = \"acme\""),
        ("keys", "public = \"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\""),
        ("pre_approve", "sources = []"),
        ("pre_approve", "tools = []"),
    ];
    let needed = values.iter().filter(|(name, line)| *name == section.name && !line.starts_with(besides));
    needed.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn every_key_refuses_a_wrong_value_at_its_place_and_nothing_else() {
    for section in SECTIONS {
        for key in section.keys {
            let header = match section.shape {
                Shape::Table => format!("[{}]", section.name),
                Shape::Named => format!("[{}.x]", section.name),
                Shape::List => format!("[[{}]]", section.name),
            };
            let level = if key.setter == Setter::Managed { Level::Managed } else { Level::User };
            let (value, message) = wrong_value(key.kind);
            let text = format!("{header}\n{} = {value}\n{}", key.name, others(section, key.name));
            // Inside a list the place is the entry's.
            let inside = if value.starts_with('[') {
                1
            } else if value.starts_with('{') {
                6
            } else {
                0
            };
            let place = format!("2:{}", key.name.len() + 4 + inside);
            check(level, &text, &[&format!("{place} {message}")]);

            let typed = format!("{header}\n{} = 1.5\n{}", key.name, others(section, key.name));
            let place = format!("2:{}", key.name.len() + 4);
            check(level, &typed, &[&format!("{place} and this is a number with a point")]);
        }
    }
}

#[test]
fn every_key_is_refused_where_its_level_may_not_set_it() {
    for section in SECTIONS {
        for key in section.keys {
            let (value, _) = wrong_value(key.kind);
            let header = match section.shape {
                Shape::Table => format!("[{}]", section.name),
                Shape::Named => format!("[{}.x]", section.name),
                Shape::List => format!("[[{}]]", section.name),
            };
            let text = format!("{header}\n{} = {value}\n", key.name);
            for level in [Level::Managed, Level::User, Level::Project] {
                let errors = parse(&text, level).expect_err("a wrong value");
                let about_level = errors.iter().any(|error| {
                    error.starts_with("2:1 ")
                        && (error.contains("not for a project to set") || error.contains("only for the managed policy"))
                });
                assert_eq!(about_level, !key.setter.includes(level), "{level} {text}\n{errors:?}");
            }
        }
    }
    let allowed = "[permissions]\nask = [\"Bash\"]\ndeny = [\"Read(.env)\"]\n[skills]\ndisable = [\"x\"]\n[limits]\ncommands = 5\n[mcp]\nrequest_ms = 5";
    assert!(parse(allowed, Level::Project).is_ok(), "{:?}", parse(allowed, Level::Project));
}

#[test]
fn mistakes_of_every_kind_have_their_place() {
    for (text, expected) in [
        ("[skill]\n", &["1:2 there is no `skill` in a policy"][..]),
        ("allow = []\n", &["1:1 there is no `allow` in a policy"]),
        ("skills = 1\n", &["1:10 `skills` is a table, and this is a number"]),
        ("programs = { gh = 1 }", &["1:19 `programs.gh` is a table, and this is a number"]),
        ("keys = { id = \"x\" }", &["1:8 `keys` is a table, and this is a table"]),
        ("[skills]\nenable = true", &["2:1 there is no `enable` in [skills]"]),
        ("[skills]\nenabled = true\nenabled = false", &["3:1 this is already set above"]),
        ("[skills]\n[limits]\n[skills]\n", &["3:2 this is already set above"]),
        ("[skills]\nenabled = \n", &["2:11 this is not TOML"]),
        ("[skills]\ndisable = [\"a\", \"b\", \"a\"]", &["2:22 \"a\" is in this list already"]),
        ("[skills]\ndisable = \"a\"", &["2:11 `skills.disable` is a list of texts, and this is a text"]),
        ("[skills]\ndisable = [1, true]", &["2:12 each entry", "2:15 each entry"]),
        ("[skills]\ndepth = 9", &["2:9 `skills.depth` is at most 8, and this is 9"]),
        ("[skills]\ndepth = 0", &["2:9 `skills.depth` is above 0, and this is 0"]),
        ("[skills]\ndepth = \"2\"", &["2:9 `skills.depth` is a whole number, and this is a text"]),
        ("[skills]\nsets = [\"a\"]", &["2:8 is a table of lists, and this is a list"]),
        (
            "[permissions]\nallow = [\n  \"Bash(a * b)\",\n  \"Read(.env)\",\n  \"Raed(x)x\",\n]",
            &["3:3 `*` inside", "5:3 goes on after"],
        ),
        ("[programs.gh]\nenv = []", &["1:11 [programs.gh] has no `path`"]),
        ("[programs.\"a/b\"]\npath = \"/bin/x\"", &["1:11 \"a/b\" is not the name of a command"]),
        ("[programs.gh]\npath = \"/usr/../bin/gh\"", &["2:8 holds `..`"]),
        (
            "[programs.gh]\npath = \"/usr/bin/gh\"\nwall_ms = 30_001\nmemory_bytes = 0",
            &["3:11 `programs.wall_ms` would be raised from 30000 to 30001", "4:16 `programs.memory_bytes` is above 0"],
        ),
        ("[components.t]\npath = \"/t\"\nsha256 = \"E3\"", &["3:10 is not a SHA-256 digest"]),
        ("[[keys]]\nid = \"a\"\n", &["1:1 [keys] has no `public`"]),
        (
            "[limits]\ncommands = -1\ndepth = 65\nopen_files = 99999999999999999999999\n",
            &[
                "2:12 is above 0, and this is -1",
                "3:9 `limits.depth` would be raised from 64 to 65",
                "4:14 would be raised from 64 to 99999999999999999999999",
            ],
        ),
        (
            "[mcp]\nconnect_ms = 5_001\nrequest_ms = 0\nshow = [\"/\", \"/a/../b\"]",
            &[
                "2:14 would be raised from 5000 to 5001",
                "3:14 is above 0",
                "4:9 `mcp.show` would be the whole machine",
                "4:14 holds `..`",
            ],
        ),
        ("[hooks]\ntimeout_ms = 60_001", &["2:14 would be raised from 60000 to 60001"]),
        (
            "[[keys]]\nid = \"a\"\npublic = \"x\"\nexpires = 2027-12-31T00:00:00Z",
            &["3:10 Ed25519", "4:11 is a day, and this has a time"],
        ),
        ("ü = 1", &["1:1 this is not TOML"]),
        ("[profile]\nname = \"ünsafe\"\nshell = 1", &["2:8 has no value", "3:9 is `true` or `false`"]),
        // Columns count characters.
        ("[skills]\ndisable = [\"ü ü\", \"b c\"]", &["2:12 names no skill", "2:19 names no skill"]),
    ] {
        check(Level::User, text, expected);
    }
    let twice =
        format!("{EVERYTHING}\n[[keys]]\nid = \"acme\"\npublic = \"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"");
    check(Level::User, &twice, &["65:6 there is a key `acme` already"]);
}

#[test]
fn an_error_shows_its_line_and_the_way_out() {
    for (level, text, expected) in [
        (
            Level::User,
            "[skills]\n\tenable = true # x",
            "policy.toml:2:2: there is no `enable` in [skills]\n  2 | \tenable = true # x\n    | \t^\n  help: did you mean `enabled`?",
        ),
        (
            Level::Project,
            "[permissions]\nallow = [\"Bash\"]",
            "policy.toml:2:1: `permissions.allow` is not for a project to set: a project only takes away\n  2 | allow = [\"Bash\"]\n    | ^\n  \
             help: it belongs in the user policy, ~/.config/skillgate/policy.toml; a project's holds `permissions.deny`, \
             `permissions.ask`, `skills.disable`, `skills.only`, `[limits]` and the times of `[mcp]`",
        ),
        (
            Level::User,
            "[skills]\npolicy_skills = \"required\"",
            "policy.toml:2:1: `skills.policy_skills` is only for the managed policy\n  2 | policy_skills = \"required\"\n    | ^\n  \
             help: it belongs in the managed policy, /etc/skillgate/policy.toml",
        ),
        (
            Level::User,
            "[profile]\nname = \"cluade\"",
            "policy.toml:2:8: `profile.name` has no value \"cluade\"\n  2 | name = \"cluade\"\n    |        ^\n  \
             help: did you mean \"claude\"? It is one of \"safe\", \"claude\", \"strict\"",
        ),
        (
            Level::User,
            "deny = []",
            "policy.toml:1:1: there is no `deny` in a policy\n  1 | deny = []\n    | ^\n  help: `deny` belongs in [permissions]",
        ),
        (
            Level::User,
            "[limits]\ndepth = 1000",
            "policy.toml:2:9: `limits.depth` would be raised from 64 to 1000; a policy can only lower it\n  2 | depth = 1000\n    |         ^\n  \
             help: write a number from 1 to 64, or leave the line out",
        ),
    ] {
        let errors = PolicyFile::parse(text, level, "policy.toml").expect_err(text);
        assert_eq!(errors[0].excerpt().to_string(), expected);
    }
}

#[test]
fn hostile_texts_are_bounded() {
    let long = "x".repeat(MAX_POLICY_BYTES + 1);
    check(Level::User, &long, &["1:1 a policy has at most"]);
    let deep = format!("{} = 1", vec!["a"; 100_000].join("."));
    check(Level::User, &deep, &["1:1 too many parts"]);
    let header = format!("[{}]", vec!["a"; 100_000].join(" . "));
    check(Level::User, &header, &["1:2 too many parts"]);
    for nested in ["[".repeat(200_000), format!("a = {}", "{a=".repeat(100_000)), "[[a]]\n".repeat(100_000)] {
        let errors = parse(&nested, Level::User).expect_err("not a policy");
        assert!(errors.len() <= 200, "{}", errors.len());
    }
    let many = "x = 1\n".repeat(5_000);
    let errors = parse(&many, Level::User).expect_err("not a policy");
    assert!(errors.len() == 200 && errors[199].contains("and 4800 more mistakes"), "{} {}", errors.len(), errors[199]);
}

#[test]
fn rules_of_one_file_are_of_three_effects() {
    let file = good("[permissions]\nallow = [\"Bash(ls)\"]\nask = [\"Bash(cat)\"]\ndeny = [\"Bash(rm)\"]");
    let effects: Vec<_> = file.permissions.rules.iter().map(|rule| rule.effect()).collect();
    assert_eq!(effects, [Effect::Allow, Effect::Ask, Effect::Deny]);
}

mod never_panics {
    use super::*;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = String> {
        let words: Vec<String> = SECTIONS
            .iter()
            .flat_map(|section| section.keys.iter().map(|key| key.name.to_owned()).chain([section.name.to_owned()]))
            .chain(
                [
                    "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\"", "'", "\"\"\"", "#", " ", "1", "0x", "-",
                    "true",
                ]
                .map(str::to_owned),
            )
            .chain(
                ["\r\n", "\u{feff}", "ü", "\\u", "\"Bash(\"", "2027-12-31", "1e5", "x.y", "[a]", "[[a]]", "a={}"]
                    .map(str::to_owned),
            )
            .collect();
        prop_oneof![proptest::sample::select(words), any::<String>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn on_any_text(parts in proptest::collection::vec(piece(), 0..40), level in 0..3_usize) {
            let text = parts.concat();
            let level = [Level::Managed, Level::User, Level::Project][level];
            if let Err(errors) = PolicyFile::parse(&text, level, "p.toml") {
                prop_assert!(!errors.is_empty());
                for pair in errors.windows(2) {
                    prop_assert!(pair[0].span.start <= pair[1].span.start);
                }
                for error in &errors {
                    prop_assert!(!error.excerpt().to_string().is_empty());
                }
            }
        }
    }
}
