use crate::fixture::{World, validate};

const TREE: &str = "\
@ project/a.txt
one
two
@ project/.claude/skills/count/SKILL.md
---
description: Counts.
arguments: [file]
allowed-tools: Bash(wc:*), Bash(cat:*)
---
Lines: !`cat \"$file\" | wc -l`
@ project/.claude/skills/greedy/SKILL.md
---
description: Wants more than it lists.
allowed-tools: Bash(wc:*)
---
!`ls; wc -l a.txt`
@ project/.claude/skills/fails/SKILL.md
---
description: Fails.
---
!`cat nope.txt`
@ project/.claude/skills/writes/SKILL.md
---
description: Writes.
---
!`echo x | tee out.txt || echo hidden`
@ project/.claude/skills/late/SKILL.md
---
description: Decides late.
allowed-tools: Bash(cat:*)
---
!`x=touch; cat a.txt; $x out.txt || echo hidden`
@ project/.claude/skills/odd/SKILL.md
---
description: Uses what the shell does not have.
---
!`ls; sleep 1 &`
@ project/.claude/skills/hooked/SKILL.md
---
description: Has hooks.
hooks:
  Stop:
    - hooks: [{type: command, command: echo}]
---
text
@ project/.claude/skills/injected/SKILL.md
---
description: Puts an argument in a command.
---
!`echo $ARGUMENTS | cat`
";

#[test]
fn the_prompt_goes_to_stdout_with_real_output() {
    let world = World::new(TREE);
    let ran = world.run(&["--trust", "run", "count", "a.txt"]);
    let prompt = format!(
        "Base directory for this skill: {}\n\nLines: 2\n",
        world.path("project/.claude/skills/count").canonicalize().expect("it is there").display()
    );
    assert_eq!((ran.status, ran.stdout), (0, prompt), "{}", ran.stderr);
}

#[test]
fn the_report_lists_vectors_rules_and_backends() {
    let world = World::new(TREE);
    let (status, value) = world.json("run", &["--trust", "run", "count", "a.txt"]);
    assert_eq!(status, 0);
    let commands = value["injections"][0]["commands"].as_array().expect("a list");
    let vectors: Vec<_> = commands.iter().map(|command| command["argv"].clone()).collect();
    assert!(
        vectors.contains(&serde_json::json!(["cat", "a.txt"])) && vectors.contains(&serde_json::json!(["wc", "-l"]))
    );
    assert!(commands.iter().all(|command| command["backend"] == "wasm" && command["status"] == 0));
    assert_eq!(value["authority"]["caveats"][0]["patterns"], serde_json::json!(["Bash(wc:*)", "Bash(cat:*)"]));
    assert_eq!(value["messages"][0]["is_meta"], true);
}

#[test]
fn a_dry_run_decides_everything_and_runs_nothing() {
    let world = World::new(TREE);
    let (status, value) = world.json("run", &["--trust", "run", "late", "--dry-run"]);
    assert_eq!(status, 0);
    let commands = value["injections"][0]["commands"].as_array().expect("a list");
    assert_eq!(commands[0]["argv"], serde_json::json!(["cat", "a.txt"]));
    assert_eq!(commands[1]["argv"][0], serde_json::json!({ "unknown": { "start": 20, "end": 22 } }));
    assert_eq!(value["messages"], serde_json::json!([]));
    assert_eq!(value["dry_run"], true);
    let (status, value) = world.json("run", &["--trust", "run", "count", "a.txt", "--dry-run"]);
    assert_eq!((status, &value["dry_run"]), (0, &true.into()), "an option after the arguments is still an option");
    let (status, value) = world.json("run", &["--trust", "run", "greedy", "--dry-run"]);
    assert_eq!(status, 4);
    assert_eq!(value["injections"][0]["commands"][0]["decision"], "deny");
}

#[test]
fn what_is_refused_exits_4_with_the_rule_and_prints_no_prompt() {
    let world = World::new(TREE);
    for (arguments, says) in [
        (&["run", "count", "a.txt"][..], "not trusted"),
        (&["--trust", "run", "greedy"], "project:greedy narrows it away"),
        (&["--trust", "run", "writes"], "writing `out.txt` needs a grant"),
        (&["--trust", "run", "late"], "narrows it away"),
        (&["--trust", "run", "hooked"], "hooks"),
        (&["--trust", "--deny", "Bash(wc:*)", "run", "count", "a.txt"], "denied by the rule `Bash(wc:*)` (--deny)"),
        (&["--trust", "--deny", "Skill(count)", "run", "count", "a.txt"], "denied by the rule"),
    ] {
        let ran = world.run(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{arguments:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}\n{}", ran.stderr);
    }
    assert!(!world.path("project/out.txt").exists());
}

#[test]
fn a_failure_is_told_as_json_when_json_was_asked_for() {
    let world = World::new(TREE);
    let ran = world.run(&["--format", "json", "--trust", "--deny", "Bash(wc:*)", "run", "count", "a.txt"]);
    let value = serde_json::from_str(&ran.stderr).expect("the error is JSON");
    validate("error", &value);
    assert_eq!((&value["code"], &value["rule"]), (&"denied".into(), &"deny Bash(wc:*) (--deny)".into()));
    assert_eq!(ran.stdout, "");
}

#[test]
fn other_endings_have_their_own_status() {
    let world = World::new(TREE);
    for (arguments, status, says) in [
        (&["--trust", "run", "cuont"][..], 3, "near: `count`"),
        (&["--trust", "run", "fails"], 1, "No such file or directory"),
        (&["--trust", "run", "odd"], 1, "background"),
    ] {
        let ran = world.run(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{arguments:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}\n{}", ran.stderr);
    }
}

#[test]
fn arguments_stay_data() {
    let world = World::new(TREE);
    let ran = world.run(&["--trust", "run", "injected", "--args", "a; touch pwned 'b  c' $(touch pwned) `x` > y"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("a; touch pwned b  c $(touch pwned) `x` > y\n"), "{}", ran.stdout);
    assert!(!world.path("project/pwned").exists() && !world.path("project/y").exists());
    let ran = world.run(&["--trust", "run", "injected", "--", "-x", "two words"]);
    assert!(ran.stdout.ends_with("-x two words\n"), "{}", ran.stdout);
}

#[test]
fn the_users_skills_need_no_trust() {
    let world = World::new("@ home/.claude/skills/hi/SKILL.md\n---\ndescription: Hi.\n---\nHi, !`echo you`.\n");
    let ran = world.run(&["run", "/hi"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("Hi, you.\n"), "{}", ran.stdout);
}
