use crate::fixture::World;

const TREE: &str = "\
@ home/.claude/skills/deploy-site/SKILL.md
---
description: Ship the static site to production.
when_to_use: The user says publish or go live.
---
text
@ home/.claude/skills/review/SKILL.md
---
description: Read a diff and comment on it.
---
text
@ home/.claude/skills/secret/SKILL.md
---
description: Ship the static site by hand.
disable-model-invocation: true
---
text
@ project/.claude/skills/foreign/SKILL.md
---
description: Ship the static site of this project.
---
text
";

fn names(value: &serde_json::Value) -> Vec<&str> {
    value["results"].as_array().expect("results").iter().map(|found| found["name"].as_str().expect("a name")).collect()
}

#[test]
fn only_what_a_model_is_offered_is_found() {
    let world = World::new(TREE);
    let (status, value) = world.json("search", &["search", "ship the static site"]);
    assert_eq!((status, names(&value), &value["count"]), (0, vec!["deploy-site"], &1.into()));
    let (_, value) = world.json("search", &["--trust", "search", "ship the static site"]);
    assert_eq!(names(&value).len(), 2, "a trusted project's skill is offered too: {value}");
}

#[test]
fn words_are_one_query_and_the_limit_holds() {
    let world = World::new(TREE);
    let (_, value) = world.json("search", &["--trust", "search", "static", "site", "--limit", "1"]);
    assert_eq!(names(&value).len(), 1);
    let ran = world.run(&["search", "x", "--limit", "0"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
}

#[test]
fn nothing_found_says_how_many_were_searched() {
    let world = World::new(TREE);
    let ran = world.run(&["search", "quantum chromodynamics"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("none of the 2 skills"), "{}", ran.stderr);
}

fn triggers(world: &World, text: &str) -> crate::fixture::Ran {
    world.write("project/triggers.toml", text);
    world.run(&["test-triggers", "triggers.toml"])
}

#[test]
fn complaint_91_triggers_pass_when_both_shares_are_reached() {
    let world = World::new(TREE);
    let right = "\
[[case]]
query = \"publish the page\"
expect = \"deploy-site\"
[[case]]
query = \"comment on this diff\"
expect = [\"review\"]
[[case]]
query = \"bake a cake\"
expect = []
";
    world.write("project/triggers.toml", right);
    let (status, value) = world.json("test-triggers", &["test-triggers", "triggers.toml"]);
    assert_eq!(
        (status, &value["passed"], &value["precision"], &value["recall"]),
        (0, &true.into(), &1.0.into(), &1.0.into())
    );

    let wrong = format!("{right}[[case]]\nquery = \"go live\"\nexpect = \"review\"\n");
    let ran = triggers(&world, &wrong);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("wrong: go live\n  expected review, found deploy-site"), "{}", ran.stdout);
    assert!(ran.stdout.contains("3 of 4 queries as expected; precision 0.667"), "{}", ran.stdout);

    let lower = format!("min-precision = 0.6\nmin-recall = 0.6\n{wrong}");
    assert_eq!(triggers(&world, &lower).status, 0);
}

#[test]
fn a_wrong_file_is_named_with_its_place() {
    let world = World::new(TREE);
    for (text, said) in [
        (
            "[[case]]\nquery = \"x\"\nexpect = \"nobody\"\n",
            "`nobody` is expected, and no skill of that name is offered to a model",
        ),
        ("[[case]]\nquery = \"x\"\nexpect = \"secret\"\n", "`secret` is expected"),
        ("[[case]]\nquery = \"x\"\nexpects = \"review\"\n", "line 3, column 1"),
        ("within = 0\n[[case]]\nquery = \"x\"\nexpect = []\n", "line 1, column 1"),
        ("min-recall = 2\n[[case]]\nquery = \"x\"\nexpect = []\n", "share from 0 to 1"),
        ("case = []\n", "there is no [[case]]"),
        ("case = [\n", "triggers.toml"),
    ] {
        let ran = triggers(&world, text);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{text}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("help: "), "{text}: {}", ran.stderr);
    }
    assert_eq!(world.run(&["test-triggers", "nowhere.toml"]).status, 3);
}

#[test]
fn the_tools_schema_is_a_schema_of_its_input() {
    let schema = crate::fixture::schema("discover-skills");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&serde_json::json!({ "description": "x", "limit": 50 })));
    for wrong in [
        serde_json::json!({ "limit": 3 }),
        serde_json::json!({ "description": "x", "limit": 51 }),
        serde_json::json!({ "description": "x", "more": 1 }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
