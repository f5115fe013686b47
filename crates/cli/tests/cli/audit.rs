use crate::fixture::{World, validate};
use serde_json::Value;

const TREE: &str = "\
@ project/a.txt
one
@ project/out/kept.txt
kept
@ project/.claude/skills/count/SKILL.md
---
description: Counts.
---
!`wc -l $ARGUMENTS`
";

/// The records of the world's log, each as its schema has it.
fn records(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path("log")).expect("it is there");
    let record = |line| {
        let value: Value = serde_json::from_str(line).expect("a line is JSON");
        validate("audit-record", &value);
        value
    };
    text.lines().map(record).collect()
}

#[test]
fn runs_are_recorded_and_the_log_verifies() {
    let world = World::new(TREE);
    let log = world.path("log");
    let log = log.to_str().expect("UTF-8");
    for (arguments, status) in [
        (&["--trust", "run", "count", "a.txt"][..], 0),
        (&["run", "count", "a.txt"], 4),
        (&["--trust", "--deny", "Bash(wc:*)", "run", "count", "a.txt"], 4),
        (&["sandbox", "run", "--allow", "Bash(wc:*)", "--", "wc -l a.txt"], 0),
        (&["--trust", "run", "count", "a.txt", "--dry-run"], 0),
    ] {
        let ran = world.run(&[&["--audit-log", log], arguments].concat());
        assert_eq!(ran.status, status, "{arguments:?}\n{}", ran.stderr);
    }
    let records = records(&world);
    let events: Vec<&str> = records.iter().filter_map(|record| record["event"].as_str()).collect();
    let run = ["run-start", "command", "command-end", "run-end"];
    let expected = [&["skill-typed"], &run[..], &["refusal", "skill-typed", "command"], &run].concat();
    assert_eq!(events, expected);
    assert_eq!(records[7]["rule"], "deny Bash(wc:*) (--deny)");
    assert!(!std::fs::read_to_string(log).expect("it is there").contains("a.txt"), "contents were not asked for");

    let (status, value) = world.json("log-verify", &["log", "verify", log]);
    assert_eq!((status, &value["holds"], &value["lines"]), (0, &true.into(), &records.len().into()));
    let head = value["head"].as_str().expect("a head").to_owned();
    let ran = world.run(&["log", "verify", log]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains(&format!("head {head}")) && ran.stdout.contains("--expect"), "{}", ran.stdout);

    let text = std::fs::read_to_string(log).expect("it is there");
    let edited = text.replacen("\"allow\"", "\"deny!\"", 1);
    let shorter: String = text.split_inclusive('\n').take(records.len() - 1).collect();
    for (changed, expect, code, line) in
        [(edited, None, "edited", 1), (shorter, Some(head.as_str()), "shorter", records.len())]
    {
        std::fs::write(log, changed).expect("a file");
        let expect: Vec<&str> = expect.into_iter().flat_map(|head| ["--expect", head]).collect();
        let (status, value) = world.json("log-verify", &[&["log", "verify", log][..], &expect].concat());
        assert_eq!((status, &value["fault"]["code"], &value["fault"]["line"]), (1, &code.into(), &line.into()));
    }
}

#[test]
fn contents_are_recorded_when_they_are_asked_for() {
    let world = World::new(TREE);
    let log = world.path("log");
    let log = log.to_str().expect("UTF-8");
    let ran = world.run(&["--trust", "--audit-log", log, "--audit-contents", "run", "count", "a.txt"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let records = records(&world);
    assert_eq!(records[0]["arguments"], "a.txt");
    assert_eq!(records[2]["argv"], serde_json::json!(["wc", "-l", "a.txt"]));
}

#[test]
fn a_record_that_is_required_and_cannot_be_written_refuses_the_run() {
    let world = World::new(TREE);
    world.write("required.toml", "[audit]\nrequired = true\n");
    let policy = world.path("required.toml");
    let policy = policy.to_str().expect("UTF-8");
    let run = ["sandbox", "run", "--allow", "Bash", "--write", "out", "--", "echo x > out/made.txt"];
    for log in [&["--audit-log", "/nonexistent/log"][..], &["--audit-log", "a.txt"], &[]] {
        let ran = world.run(&[&["--policy", policy][..], log, &run].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{log:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains("the audit record cannot be written"), "{}", ran.stderr);
        assert!(!world.path("project/out/made.txt").exists());
    }
    // Where it is not required, it is said and the program runs.
    let ran = world.run(&[&["--audit-log", "/nonexistent/log"][..], &run].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("the audit record cannot be written").count(), 1, "{}", ran.stderr);
    assert!(world.path("project/out/made.txt").exists());
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let world =
        World::new("@ home/.claude/skills/hi/SKILL.md\n---\ndescription: Hi.\nshell: bash\n---\nHi, !`echo you`.\n");
    let ran = world.run(&["run", "hi"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("there is nobody to ask") && ran.stderr.contains("--allow 'Skill(hi)'"),
        "{}",
        ran.stderr
    );
}
