//! `policy show`, `explain`, `check` and `import`.

use crate::fixture::{World, schema};
use serde_json::Value;
use std::io::Write as _;
use std::process::Stdio;

const USER: &str = "home/.config/skillgate/policy.toml";

const TREE: &str = "\
@ project/.claude/skills/review/SKILL.md
---
description: Reviews.
allowed-tools: Bash(git diff:*)
---
text
@ project/.claude/settings.json
{
  \"permissions\": {
    \"allow\": [
      \"Bash(git diff:*)\",
      \"Bash(npm * test)\",
      \"Bash(xargs wc:*)\",
      \"Read(~/notes/**)\"
    ],
    \"deny\": [\"Read(.env)\", 7],
    \"defaultMode\": \"acceptEdits\"
  }
}
";

#[test]
fn show_names_the_origin_of_every_line() {
    let world = World::new("");
    world.write("managed/policy.toml", "[permissions]\ndeny = [\"Read(.env)\"]");
    world.write(
        USER,
        "[permissions]\nallow = [\"Bash(git:*)\"]\n[programs.gh]\npath = \"/usr/bin/gh\"\nenv = [\"GH_HOST\"]",
    );
    let ran = world.run(&["--deny", "Bash(rm:*)", "policy", "show"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let line = |start: &str| {
        ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| unreachable!("{start}"))
    };
    for (start, origin) in [
        ("deny  Read(.env)", "managed/policy.toml:2"),
        ("allow Bash(git:*)", "skillgate/policy.toml:2"),
        ("deny  Bash(rm:*)", "# run: --deny"),
        ("path = \"/usr/bin/gh\"", "skillgate/policy.toml:3"),
        ("env = [\"GH_HOST\"]", "skillgate/policy.toml:3"),
        ("depth = 64", "# built-in default"),
        ("store = ", "# --store"),
        ("# project: ", "(none)"),
    ] {
        assert!(line(start).contains(origin), "{}", line(start));
    }
    let (_, value) = world.json("policy-show", &["policy", "show"]);
    assert_eq!((&value["closed"], &value["rules"][0]["level"]), (&Value::from(false), &Value::from("managed")));
}

#[test]
fn explain_names_the_rule_that_decides_with_its_line() {
    let world = World::new(TREE);
    world.write(USER, "[permissions]\nallow = [\"Bash(git diff:*)\"]\nask = [\"Bash(git push:*)\", \"mcp__notes__*\"]\ndeny = [\"Read(.env)\", \"Bash(rm:*)\"]");
    for (action, decision, says) in [
        ("Bash(git diff main)", "allow", "policy.toml:2"),
        ("Bash(git push origin)", "ask", "policy.toml:3"),
        ("Bash(rm -rf x)", "deny", "policy.toml:4"),
        ("Bash(ls | wc -l)", "allow", "built-in default"),
        ("Bash(git diff; rm x)", "deny", "policy.toml:4"),
        ("Read(.env)", "deny", "policy.toml:4"),
        ("Read(a.txt)", "allow", ""),
        ("Write(out.txt)", "ask", "built-in default"),
        ("mcp__notes__list", "ask", "policy.toml:3"),
        ("Skill(review)", "allow", "safe"),
    ] {
        let (status, value) = world.json("policy-explain", &["--trust", "policy", "explain", action]);
        assert_eq!((status, value["decision"].as_str()), (0, Some(decision)), "{action} {value:#}");
        let human = world.run(&["--trust", "policy", "explain", action]).stdout;
        assert!(human.contains(says) && human.contains(decision), "{action}: {human}");
    }
    let (_, parts) = world.json("policy-explain", &["policy", "explain", "Bash(git diff; rm $x)"]);
    let parts = parts["parts"].as_array().expect("parts");
    let actions: Vec<_> = parts.iter().map(|part| (part["action"].as_str(), part["decision"].as_str())).collect();
    assert_eq!(actions, [(Some("Bash(git diff)"), Some("allow")), (Some("Bash(rm $x)"), Some("deny"))]);
    assert_eq!(parts[1]["rule"]["origin"]["line"], 4);
    // The skill's own list narrows.
    let (_, value) = world.json("policy-explain", &["--trust", "policy", "explain", "Bash(ls)", "--skill", "review"]);
    assert_eq!(value["decision"], "deny", "{value:#}");
    for wrong in ["git push", "Bash(", "()", "Bash()"] {
        let ran = world.run(&["policy", "explain", wrong]);
        assert!(ran.status == 2 && ran.stderr.contains("is not an action"), "{wrong}: {}", ran.stderr);
    }
}

#[test]
fn check_reports_every_mistake_and_exits_1() {
    let world = World::new("");
    world.write("project/good.toml", "[limits]\ndepth = 3");
    world.write("project/bad.toml", "[skills]\nenable = true\n[limits]\ndepth = 0");
    let good = world.run(&["policy", "check", "good.toml"]);
    assert_eq!((good.status, good.stdout.as_str()), (0, ""));
    let bad = world.run(&["policy", "check", "bad.toml"]);
    assert_eq!(bad.status, 1);
    assert_eq!(
        bad.stdout,
        "bad.toml:2:1: there is no `enable` in [skills]\n  2 | enable = true\n    | ^\n  help: did you mean `enabled`?\n\n\
         bad.toml:4:9: `limits.depth` is above 0, and this is 0\n  4 | depth = 0\n    |         ^\n  \
         help: write a number from 1 to 64, or leave the line out\n\n"
    );
    let (status, value) = world.json("policy-check", &["policy", "check", "bad.toml", "--level", "project"]);
    assert_eq!(
        (status, value["errors"].as_array().map(Vec::len), &value["level"]),
        (1, Some(2), &Value::from("project"))
    );
    assert_eq!((&value["errors"][0]["line"], &value["errors"][0]["column"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(world.run(&["policy", "check", "nope.toml"]).status, 3);
}

#[test]
fn import_prints_rules_and_writes_them_when_agreed() {
    let world = World::new(TREE);
    let ran = world.run(&["policy", "import"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "# from .claude/settings.json\n[permissions]\nallow = [\n    \"Bash(git diff:*)\",\n    \"Bash(xargs wc:*)\",\n    \
         \"Read(~/notes/**)\",\n]\ndeny = [\n    \"Read(.env)\",\n]\n"
    );
    for note in [
        "settings.json:5:7: `Bash(npm * test)`",
        "settings.json:6:7",
        "settings.json:7:7",
        "settings.json:9:28: `7`",
        "settings.json:10:5: `defaultMode`",
    ] {
        assert!(ran.stderr.contains(note), "{note}\n{}", ran.stderr);
    }
    // Nothing holds by being imported, and nobody agreed.
    assert!(!world.path(USER).exists());
    let ran = world.run(&["policy", "import", "--write"]);
    assert!(ran.status == 1 && ran.stderr.contains("nobody to ask") && !world.path(USER).exists(), "{}", ran.stderr);
    world.write(USER, "# mine\n[limits]\ndepth = 3");
    let ran = world.run(&["policy", "import", "--write", "--yes"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let written = std::fs::read_to_string(world.path(USER)).expect("the policy");
    assert!(written.starts_with("# mine\n[limits]\ndepth = 3\n\n[permissions]\nallow = [\n"), "{written}");
    assert_eq!(world.run(&["policy", "check", &world.path(USER).display().to_string()]).status, 0);
    let again = world.run(&["policy", "import", "--write", "--yes"]);
    assert!(again.status == 0 && again.stderr.contains("has these rules already"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(world.path(USER)).expect("the policy"), written);
    let (status, value) = world.json("policy-import", &["policy", "import"]);
    assert_eq!(
        (status, value["rules"].as_array().map(Vec::len), value["rules"][0]["line"].as_u64()),
        (0, Some(4), Some(4))
    );
}

#[test]
fn import_without_a_policy_makes_one() {
    let world = World::new(TREE);
    let ran = world.run(&["policy", "import", "--write", "--yes"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let shown = world.run(&["policy", "show"]);
    assert!(shown.stdout.contains("allow Bash(git diff:*)"), "{}{}", shown.stdout, shown.stderr);
}

#[test]
fn an_answer_on_a_pipe_is_no_agreement() {
    let world = World::new(TREE);
    let mut child = world
        .command(&["policy", "import", "--write"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The command may be gone before it is answered.
    let _answered = child.stdin.take().expect("a pipe").write_all(b"y\n");
    assert_eq!(crate::fixture::ran(child.wait_with_output().expect("it ends")).status, 1);
    assert!(!world.path(USER).exists());
}

/// The schema knows what the parser knows: every example of the documentation is valid by both, and a mistake by neither.
#[test]
fn the_schema_of_a_policy_agrees_with_the_parser() {
    use skillgate_policy::file::{Level, PolicyFile};
    let validator = jsonschema::validator_for(&schema("policy-file")).expect("a schema");
    let documentation = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md"))
        .expect("the documentation");
    let example =
        documentation.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    for (text, valid) in [
        (example, true),
        ("[skills]\nenable = true", false),
        ("[skills]\nenabled = 1", false),
        ("[limits]\ndepth = 65", false),
        ("[limits]\ndepth = 64", true),
        ("[programs.gh]\nenv = []", false),
        ("[programs.gh]\npath = \"bin/gh\"", false),
        ("[[keys]]\nid = \"a\"\npublic = \"abc\"", false),
        ("[permissions]\nallow = [\"Bash(ls\"]", false),
        ("[permissions]\nallow = [\"Bash(ls:*)\", \"Bash(ls:*)\"]", false),
        ("[profile]\nname = \"fast\"", false),
        ("[pre_approve]\nsources = [\"managed\"]\ntools = [\"Bash(git:*)\"]", true),
    ] {
        let parsed = PolicyFile::parse(text, Level::Managed, "policy.toml");
        assert_eq!(parsed.is_ok(), valid, "{text}\n{parsed:?}");
        let json: Value = toml::from_str::<toml::Value>(text).map(json_of).expect("TOML");
        let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors.is_empty(), valid, "{text}\n{errors:?}");
    }
}

/// As an editor's validator sees a document: a date is its text.
fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(on) => Value::from(on),
        toml::Value::Datetime(moment) => Value::from(moment.to_string()),
        toml::Value::Array(items) => items.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            table.into_iter().map(|(key, value)| (key, json_of(value))).collect::<serde_json::Map<_, _>>().into()
        }
    }
}
