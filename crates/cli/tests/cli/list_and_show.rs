use crate::fixture::World;
use serde_json::Value;

const TREE: &str = "\
@ home/.claude/skills/greet/SKILL.md
---
description: Greets.
---
User's greet.
@ home/.claude/commands/old.md
An old command.
@ project/.claude/skills/greet/SKILL.md
---
description: Greets here.
allowed-tools: Bash(ls:*), Read
---
Project's greet: !`ls`
@ project/.claude/skills/greet/notes/more.md
more
@ project/.claude/skills/lost/SKILL.md
---
description: never closed
";

fn states(value: &Value) -> Vec<(String, String)> {
    let text = |skill: &Value, key: &str| skill[key].as_str().unwrap_or_default().to_owned();
    let skills = value["skills"].as_array().expect("a list");
    let mut states: Vec<_> = skills.iter().map(|skill| (text(skill, "qualified_name"), text(skill, "state"))).collect();
    states.sort();
    states
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
}

#[test]
fn an_untrusted_projects_skills_are_listed_and_shadow_nothing() {
    let world = World::new(TREE);
    let (status, value) = world.json("list", &["list"]);
    assert_eq!(status, 0);
    let expected =
        [("project:greet", "untrusted"), ("project:lost", "broken"), ("user:greet", "active"), ("user:old", "active")];
    assert_eq!(states(&value), pairs(&expected));
    let (_, value) = world.json("list", &["--trust", "list"]);
    let expected =
        [("project:greet", "active"), ("project:lost", "broken"), ("user:greet", "shadowed"), ("user:old", "active")];
    assert_eq!(states(&value), pairs(&expected));
}

#[test]
fn broken_files_are_listed_with_their_reason() {
    let world = World::new(TREE);
    std::fs::create_dir_all(world.path("project/.claude/skills/dir/SKILL.md")).expect("a directory");
    std::fs::create_dir_all(world.path("project/.claude/skills/pipe")).expect("a directory");
    world.write("project/.claude/skills/big/SKILL.md", &"x".repeat(5 << 20));
    std::fs::create_dir_all(world.path("project/.claude/skills/latin")).expect("a directory");
    std::fs::write(world.path("project/.claude/skills/latin/SKILL.md"), b"---\ndescription: caf\xe9\n---\nx\n")
        .expect("a file");
    #[cfg(unix)]
    let _socket =
        std::os::unix::net::UnixListener::bind(world.path("project/.claude/skills/pipe/SKILL.md")).expect("a socket");
    let (status, value) = world.json("list", &["--trust", "list"]);
    assert_eq!(status, 0);
    let skills = value["skills"].as_array().expect("a list");
    let find = |name: &str| skills.iter().find(|skill| skill["name"] == name).expect(name);
    for (name, code) in [("dir", "file-not-regular"), ("pipe", "file-not-regular"), ("big", "file-too-large")] {
        assert_eq!(
            (&find(name)["state"], &find(name)["diagnostics"][0]["code"]),
            (&"broken".into(), &code.into()),
            "{name}"
        );
    }
    assert_eq!(find("latin")["diagnostics"][0]["code"], "not-utf8");
    for name in ["dir", "pipe", "big"] {
        let ran = world.run(&["--trust", "run", name]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{name}: {}", ran.stderr);
    }
}

#[test]
fn without_skills_the_directories_to_create_are_named() {
    let ran = World::new("").run(&["list"]);
    assert_eq!(ran.status, 0);
    for place in [".claude/skills", "home/.claude/commands"] {
        assert!(ran.stdout.contains(place), "{}", ran.stdout);
    }
}

#[test]
fn people_see_groups_states_and_reasons() {
    let ran = World::new(TREE).run(&["list"]);
    for text in ["project (local)", "user (global)", "/old", "untrusted: the project is not trusted"] {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.stdout);
    }
}

#[test]
fn a_skill_is_shown_with_what_it_takes_away_and_would_run() {
    let world = World::new(TREE);
    let (status, value) = world.json("show", &["--trust", "show", "greet"]);
    assert_eq!(status, 0);
    assert_eq!(value["qualified_name"], "project:greet");
    assert_eq!(value["caveats"][0]["patterns"], serde_json::json!(["Bash(ls:*)", "Read"]));
    assert_eq!(value["injections"][0]["commands"][0]["argv"], serde_json::json!(["ls"]));
    assert_eq!(value["files"], serde_json::json!([{ "path": "notes/more.md", "bytes": 5 }]));
    assert_eq!(value["body"], "Project's greet: !`ls`\n");
    let human = world.run(&["--trust", "show", "greet"]).stdout;
    assert!(human.contains("narrows to   Bash(ls:*), Read"), "{human}");
    assert_eq!(world.run(&["show", "gret"]).status, 3);
    assert!(world.run(&["show", "gret"]).stderr.contains("near: `greet`"));
}

#[test]
fn invisible_text_is_not_shown_to_a_person() {
    let world = World::new("@ home/.claude/skills/x/SKILL.md\n---\ndescription: \"a\u{202e}b\u{200b}c\"\n---\nx");
    let human = world.run(&["list"]).stdout;
    assert!(human.contains("abc"), "{human}");
    let (_, value) = world.json("list", &["list"]);
    assert_eq!(value["skills"][0]["diagnostics"][0]["code"], "invisible-character");
}

#[test]
fn findings_are_listed_with_their_places() {
    let world = World::new("");
    world.write("home/.claude/skills/x/SKILL.md", "---\nname: x\ndescription: a: b\n---\nText\u{200b}.\n");
    world.write("home/.claude/skills/y/skill.md", "---\ndescription: b\n---\nText.\n");
    let expected = [("yaml-recovered:description", 3, 1), ("invisible-character", 5, 5)]
        .map(|(code, line, column)| (Value::from(code), Value::from(line), Value::from(column)));
    // A list reads headers, so it tells what is found in them.
    for (verb, skill, known) in [(&["list"][..], "/skills/0", 1), (&["show", "x"], "", 2)] {
        let (_, value) = world.json(verb[0], verb);
        let found = &value.pointer(skill).expect("the skill")["diagnostics"];
        let places: Vec<_> =
            found.as_array().expect("a list").iter().map(|it| (&it["code"], &it["line"], &it["column"])).collect();
        let expected: Vec<_> = expected.iter().take(known).map(|(code, line, column)| (code, line, column)).collect();
        assert_eq!(places, expected);
    }
    let (_, value) = world.json("list", &["list"]);
    assert!(value["skills"][1]["diagnostics"][0]["line"].is_null(), "it is about the whole file: {value:#}");
}
