//! `which`, `why` and `listing`: what names mean, what keeps a skill back, and what a model is told.

use crate::fixture::World;
use serde_json::Value;

fn skill(text: &str) -> String {
    format!("---\ndescription: {text}\n---\nText of {text}\n")
}

fn texts<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    list.as_array().expect("a list").iter().map(|item| item[key].as_str().unwrap_or_default()).collect()
}

/// Five skills of one name, from five sources.
fn five() -> World {
    let world = World::new("");
    world.write("managed/.claude/skills/x/SKILL.md", &skill("managed"));
    world.write("project/.claude/skills/x/SKILL.md", &skill("project"));
    world.write("project/more/.claude/skills/x/SKILL.md", &skill("additional"));
    world.write("home/.claude/skills/x/SKILL.md", &skill("user"));
    world.write("home/.claude/commands/x.md", "A command.\n");
    world.write("home/.claude/plugins/tools/.claude-plugin/plugin.json", "{\"name\": \"tools\"}");
    world.write("home/.claude/plugins/tools/skills/x/SKILL.md", &skill("plugin"));
    world
}

#[test]
fn complaint_39_a_clash_of_five_is_explained_with_the_name_of_each() {
    let world = five();
    let (status, value) = world.json("which", &["--trust", "--add-dir", "more", "which", "x"]);
    assert_eq!((status, &value["winner"]["qualified_name"]), (0, &"managed:x".into()), "{value:#}");
    assert_eq!(value["winner"]["reason"], "managed goes before project");
    let losers = ["project:x", "additional:x", "user:x", "user:x#2"];
    assert_eq!(texts(&value["losers"], "qualified_name"), losers);
    assert_eq!(texts(&value["losers"], "state"), ["shadowed"; 4]);
    assert!(texts(&value["losers"], "reason").iter().all(|reason| !reason.is_empty()), "{value:#}");
    for (name, text) in [("x", "managed"), ("project:x", "project"), ("additional:x", "additional")] {
        let ran = world.run(&["--trust", "--add-dir", "more", "run", name]);
        assert!(
            ran.status == 0 && ran.stdout.contains(&format!("Text of {text}")),
            "{name}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let human = world.run(&["--trust", "--add-dir", "more", "which", "x"]).stdout;
    assert!(human.starts_with("x is managed:x\n") && human.contains("managed goes before user"), "{human}");
    // The profile orders the sources.
    let (_, value) = world.json("which", &["--trust", "--profile", "claude", "which", "x"]);
    assert_eq!(texts(&value["losers"], "qualified_name")[..2], ["user:x", "user:x#2"]);
    assert_eq!(world.run(&["which", "y"]).status, 3);
}

#[test]
fn list_says_source_origin_and_state_of_every_skill() {
    let world = five();
    world.write(
        "home/.claude/skills/needs/SKILL.md",
        "---\ndescription: N.\nrequires: {programs: [no-such-program]}\n---\n",
    );
    world.write("home/.claude/skills/waits/SKILL.md", "---\ndescription: W.\npaths: src/**\n---\n");
    world.write("home/.claude/skills/hidden/SKILL.md", "---\ndescription: H.\nuser-invocable: false\n---\n");
    world.write("home/.claude/skills/lost/SKILL.md", "---\ndescription: L.\n");
    world.write("home/.claude/skills/off/SKILL.md", &skill("off"));
    world.write("policy.toml", "[skills]\ndisable = [\"off\"]\n");
    let policy = world.path("policy.toml").display().to_string();
    let (_, value) = world.json("list", &["--policy", &policy, "list"]);
    let lines: Vec<String> = value["skills"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skill| {
            let text = |key: &str| skill[key].as_str().unwrap_or("-");
            format!("{} {} {} {}", text("qualified_name"), text("loaded_from"), text("state"), text("plugin"))
        })
        .collect();
    for line in [
        "managed:x managed active -",
        "project:x skills untrusted -",
        "user:x skills shadowed -",
        "user:x#2 commands_DEPRECATED shadowed -",
        "tools:x plugin untrusted tools",
        "user:needs skills unavailable -",
        "user:waits skills conditional -",
        "user:hidden skills hidden -",
        "user:lost skills broken -",
        "user:off skills disabled -",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}\n{lines:#?}");
    }
    let ran = world.run(&["--policy", &policy, "run", "needs"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("it needs the program `no-such-program`"), "{}", ran.stderr);
}

#[test]
fn complaint_47_why_says_what_keeps_a_skill_back_and_which_paths_would_not() {
    let world = World::new("");
    world.write("home/.claude/skills/py/SKILL.md", "---\ndescription: P.\npaths: \"**/*.py\"\n---\n");
    let (status, value) = world.json("why", &["why", "py", "x/y.py", "x/y.rs", "../outside.py"]);
    assert_eq!((status, &value["state"]), (0, &"conditional".into()));
    assert_eq!(texts(&value["reasons"], "code"), ["conditional"]);
    assert_eq!(value["patterns"], serde_json::json!(["**/*.py"]));
    assert!(value["root"].as_str().is_some_and(|root| root.ends_with("/project")), "{value:#}");
    let tried: Vec<bool> =
        value["paths"].as_array().expect("a list").iter().filter_map(|path| path["matches"].as_bool()).collect();
    assert_eq!(tried, [true, false, false]);
    let human = world.run(&["why", "py", "x/y.py"]).stdout;
    assert!(human.contains("x/y.py makes it active") && human.contains("can be invoked by users"), "{human}");
    assert_eq!(world.run(&["run", "py"]).status, 0, "`paths` keeps nobody from calling it");
}

#[test]
fn why_names_every_reason_and_its_way_out() {
    let world = five();
    world.write("home/.claude/skills/mine/SKILL.md", "---\ndescription: M.\ndisable-model-invocation: true\n---\n");
    world.write("home/.claude/skills/bad/SKILL.md", "---\ndescription: B.\npaths: \"[1/** src/**\"\n---\n");
    world.write("home/.claude/skills/lost/SKILL.md", "---\ndescription: L.\n");
    world.write("home/.claude/skills/off/SKILL.md", &skill("off"));
    world.write("home/.claude/skills/good/SKILL.md", &skill("good"));
    world.write("policy.toml", "[skills]\ndisable = [\"off\"]\n");
    let policy = world.path("policy.toml").display().to_string();
    for (name, codes, help) in [
        ("good", &[][..], ""),
        ("mine", &["not-for-models"], "skillgate run user:mine"),
        ("bad", &["conditional", "path-pattern-invalid"], "close it"),
        ("user:x", &["shadowed"], "call it in full: `user:x`"),
        ("project:x", &["untrusted"], "skillgate trust add"),
        ("off", &["disabled"], "policy.toml"),
        ("lost", &["broken"], "never closed"),
    ] {
        let (status, value) = world.json("why", &["--policy", &policy, "why", name]);
        assert_eq!((status, texts(&value["reasons"], "code").as_slice()), (0, codes), "{name}: {value:#}");
        assert!(value["reasons"].to_string().contains(help), "{name}: {value:#}");
    }
    assert_eq!(world.run(&["why", "none"]).status, 3);
}

#[test]
fn a_listing_keeps_to_its_budget_and_says_what_it_cost() {
    let world = World::new("");
    for name in ["a", "b", "c"] {
        world.write(&format!("home/.claude/skills/{name}/SKILL.md"), &skill(&"word ".repeat(60)));
    }
    world.write("home/.claude/skills/mine/SKILL.md", "---\ndescription: M.\ndisable-model-invocation: true\n---\n");
    world.write("policy.toml", "[skills]\npin = [\"b\"]\nsets = { few = [\"a\", \"user:c\"] }\n");
    let policy = world.path("policy.toml").display().to_string();
    let whole = world.run(&["listing"]);
    assert_eq!(whole.stdout.lines().count(), 3, "{}", whole.stdout);
    assert!(whole.stdout.starts_with("- a: word word") && whole.stderr.starts_with("3 skills; "), "{}", whole.stderr);
    let (_, value) = world.json("listing", &["--policy", &policy, "listing", "--budget-chars", "500"]);
    assert!(value["text"].as_str().is_some_and(|text| text.chars().count() <= 500), "{value:#}");
    assert_eq!(texts(&value["entries"], "level"), ["short", "pinned", "short"]);
    assert_eq!((&value["cut"]["short"], &value["cut"]["whole"]), (&2.into(), &1.into()));
    let small = world.run(&["listing", "--context-tokens", "2500"]);
    assert!(
        small.stdout.chars().count() <= 100 && small.stderr.contains("of 100 characters"),
        "{}{}",
        small.stdout,
        small.stderr
    );
    let (_, value) = world.json("listing", &["--policy", &policy, "listing", "--set", "few", "--xml"]);
    assert_eq!(texts(&value["entries"], "name"), ["a", "c"]);
    assert!(value["text"].as_str().is_some_and(|text| text.starts_with("<skill><name>a</name><description>word")));
    let unknown = world.run(&["--policy", &policy, "listing", "--set", "fwe"]);
    assert!(unknown.status == 3 && unknown.stderr.contains("it has few"), "{}", unknown.stderr);
    let (_, value) = world.json("list", &["--policy", &policy, "list", "--set", "few"]);
    assert_eq!(texts(&value["skills"], "name"), ["a", "c"]);
    assert!(world.run(&["listing", "--guidance"]).stdout.starts_with("A skill is a set of instructions"));
    assert_eq!(world.run(&["listing", "--budget-chars", "1", "--context-tokens", "1"]).status, 2);
}

#[test]
fn names_that_look_alike_are_reported_when_skills_are_listed() {
    let world = World::new("");
    world.write("home/.claude/skills/Review/SKILL.md", &skill("one"));
    world.write("project/.claude/skills/review/SKILL.md", &skill("two"));
    let ran = world.run(&["--trust", "list"]);
    assert!(ran.stderr.contains("names that differ in case only: `user:Review`, `project:review`"), "{}", ran.stderr);
}

#[test]
fn a_plugin_is_used_when_its_directory_is_trusted() {
    let world = World::new("");
    world.own_store();
    world.write("project/tools/.claude-plugin/plugin.json", "{\"name\": \"tools\"}");
    world.write("project/tools/skills/x/SKILL.md", &skill("plugin"));
    let run = |arguments: &[&str]| {
        let output = world.in_own_store(&[&["--add-dir", "tools"], arguments].concat()).output().expect("it starts");
        crate::fixture::ran(output)
    };
    let refused = run(&["run", "tools:x"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (4, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("belongs to a plugin that is not trusted"), "{}", refused.stderr);
    assert!(refused.stderr.contains("skillgate trust add"), "{}", refused.stderr);
    assert_eq!(run(&["--trust", "run", "tools:x"]).status, 4, "trust in the project is not trust in a plugin");
    let added = run(&["trust", "add", "tools"]);
    assert_eq!(added.status, 0, "{}", added.stderr);
    for name in ["tools:x", "x"] {
        let ran = run(&["run", name]);
        assert!(ran.status == 0 && ran.stdout.contains("Text of plugin"), "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn the_environment_switches_managed_skills_off_unless_the_managed_policy_insists() {
    let world = World::new("@ managed/.claude/skills/m/SKILL.md\n---\ndescription: Managed.\n---\nText.");
    let listed = |variable: Option<(&str, &str)>| {
        let mut command = world.command(&["list"]);
        command.envs(variable);
        crate::fixture::ran(command.output().expect("it starts")).stdout.contains("  m ")
    };
    assert!(listed(None));
    for name in ["SKILLGATE_DISABLE_POLICY_SKILLS", "CLAUDE_CODE_DISABLE_POLICY_SKILLS"] {
        assert!(!listed(Some((name, "1"))), "{name}");
        assert!(listed(Some((name, "0"))) && listed(Some((name, ""))), "{name}");
    }
    world.write("managed/policy.toml", "[skills]\npolicy_skills = \"required\"\n");
    assert!(listed(Some(("SKILLGATE_DISABLE_POLICY_SKILLS", "1"))));
}

#[test]
fn all_skills_of_a_project_are_listed_with_what_brings_them() {
    let world = World::new(
        "@ project/.claude/skills/s/SKILL.md\n---\ndescription: The root's.\n---\nText.
@ project/pkg/a/.claude/skills/s/SKILL.md\n---\ndescription: Of a package.\n---\nText.
@ project/pkg/a/.claude/skills/only/SKILL.md\n---\ndescription: Of a package.\n---\nText.
@ project/vendor/.claude/skills/v/SKILL.md\n---\ndescription: Ignored.\n---\nText.
@ project/.gitignore\nvendor/",
    );
    let names = |arguments: &[&str]| -> Vec<(String, String, String)> {
        let (_, value) = world.json("list", arguments);
        let text = |skill: &serde_json::Value, key: &str| skill[key].as_str().unwrap_or_default().to_owned();
        let skills = value["skills"].as_array().cloned().unwrap_or_default();
        let own = skills.iter().filter(|skill| skill["source"] == "project");
        own.map(|skill| (text(skill, "qualified_name"), text(skill, "state"), text(skill, "reason"))).collect()
    };
    let row = |name: &str, state: &str, reason: &str| (name.to_owned(), state.to_owned(), reason.to_owned());
    assert_eq!(names(&["--trust", "list"]), [row("project:s", "active", "")]);
    let brings = "nested: it is there when a file in `pkg/a` is touched";
    assert_eq!(
        names(&["--trust", "list", "--all"]),
        [row("pkg/a:only", "nested", brings), row("project:s", "active", ""), row("pkg/a:s", "nested", brings)]
    );
}

#[test]
fn uses_are_counted_where_a_person_wants_it() {
    let world = World::new("@ home/.claude/skills/a/SKILL.md\n---\ndescription: A.\n---\nText.");
    let counts = || std::fs::read_to_string(world.path("store/usage/usage.json")).ok();
    let run = |arguments: &[&str]| {
        let ran = crate::fixture::ran(world.in_own_store(arguments).output().expect("it starts"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    };
    run(&["run", "a"]);
    assert_eq!(counts(), None);
    run(&["--count-uses", "run", "a"]);
    run(&["--count-uses", "run", "a"]);
    assert_eq!(counts().as_deref(), Some("{\"version\":1,\"counts\":{\"user:a\":2}}"));
}

#[test]
fn complaint_38_a_skill_deeper_in_the_project_is_explained_before_a_file_brings_it() {
    let world = World::new(
        "@ project/pkg/a/.claude/skills/only/SKILL.md\n---\ndescription: Of a package.\n---\nText.
@ project/pkg/b/.claude/skills/only/SKILL.md\n---\ndescription: Of another.\npaths: \"*.rs\"\n---\nText.",
    );
    let brings = "it is there when a file in `pkg/a` is touched";
    let (status, why) = world.json("why", &["--trust", "why", "pkg/a:only"]);
    assert_eq!((status, &why["state"], &why["model_invocable"]), (0, &"nested".into(), &false.into()));
    assert_eq!((texts(&why["reasons"], "code"), texts(&why["reasons"], "message")), (vec!["nested"], vec![brings]));
    let (_, why) = world.json("why", &["--trust", "why", "pkg/b:only", "pkg/b/x.rs"]);
    assert_eq!(texts(&why["reasons"], "code"), ["nested", "conditional"]);
    let (_, which) = world.json("which", &["--trust", "which", "only"]);
    assert_eq!((&which["winner"]["state"], &which["winner"]["reason"]), (&"nested".into(), &brings.into()));
    assert_eq!(texts(&which["losers"], "qualified_name"), ["pkg/b:only"]);
    assert_eq!(world.run(&["--trust", "why", "nowhere:only"]).status, 3);
    let ran = world.run(&["--trust", "run", "/pkg/a:only"]);
    assert!(ran.status == 0 && ran.stdout.contains("Text."), "{}{}", ran.stdout, ran.stderr);
    for (status, name) in [(3, "only"), (3, "../pkg/a:only"), (3, "nowhere:only"), (4, "pkg/a:only")] {
        let trust: &[&str] = if status == 4 { &[] } else { &["--trust"] };
        assert_eq!(world.run(&[trust, &["run", name]].concat()).status, status, "{name}");
    }
}

/// A conversation of `skillgate session`: each request is made when the one before is answered.
fn converse(world: &World, requests: &[Value]) {
    use std::io::{BufRead as _, Write as _};
    use std::process::Stdio;
    let mut child =
        world.command(&["session"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let mut lines = std::io::BufReader::new(child.stdout.take().expect("it is piped")).lines();
    for request in requests {
        writeln!(input, "{request}").expect("it reads");
        let answer = lines.by_ref().map(|line| line.expect("text")).find(|line| line.contains("\"ok\":"));
        assert!(answer.as_ref().is_some_and(|answer| answer.contains("\"ok\":true")), "{request}: {answer:?}");
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn complaint_47_why_shows_the_last_files_that_a_conversation_touched() {
    use serde_json::json;
    let world = World::new("@ home/.claude/skills/py/SKILL.md\n---\ndescription: P.\npaths: \"**/*.py\"\n---\nText.");
    let why = |file: &str| {
        let (status, why) = world.json("why", &["why", "py", "--session", file]);
        assert_eq!(status, 0);
        (why["state"].clone(), why["paths"].clone())
    };
    let path = |path: &str, matches: bool| json!({"path": path, "matches": matches, "outside": false, "touched": true});
    let hello = || json!({"op": "hello", "version": 1});
    let touch = |paths: &[&str]| json!({"op": "touch", "id": 1, "paths": paths});
    let save = |path: &str| json!({"op": "save", "id": 2, "path": path});
    converse(&world, &[hello(), touch(&["x/y.rs"]), save("kept/before.json")]);
    assert_eq!(why("kept/before.json"), ("conditional".into(), json!([path("x/y.rs", false)])));
    let restore = json!({"op": "restore", "id": 0, "path": "kept/before.json"});
    converse(&world, &[hello(), restore, touch(&["x/y.py"]), save("kept/after.json")]);
    assert_eq!(why("kept/after.json"), ("active".into(), json!([path("x/y.rs", false), path("x/y.py", true)])));
    let human = world.run(&["why", "py", "--session", "kept/after.json"]).stdout;
    assert!(human.contains("x/y.py was touched and makes it active"), "{human}");
    let missing = world.run(&["why", "py", "--session", "kept/nothing.json"]);
    assert!(missing.status != 0 && missing.stderr.contains("kept/nothing.json"), "{}", missing.stderr);
}

#[cfg(unix)]
#[test]
fn complaint_42_one_skill_by_two_ways_is_one_entry_with_both() {
    let world = World::new("@ home/.claude/skills/twice/SKILL.md\n---\ndescription: T.\n---\nText.");
    std::fs::create_dir_all(world.path("home/.agents/skills")).expect("a directory");
    std::os::unix::fs::symlink(world.path("home/.claude/skills/twice"), world.path("home/.agents/skills/twice"))
        .expect("a link");
    let (_, list) = world.json("list", &["list"]);
    assert_eq!(texts(&list["skills"], "name"), ["twice"]);
    let other = |value: &Value| {
        let places = value["also_at"].as_array().expect("a list");
        assert!(
            places.len() == 1 && places[0].as_str().is_some_and(|it| it.contains(".agents/skills/twice")),
            "{value:#}"
        );
    };
    other(&list["skills"][0]);
    let (_, which) = world.json("which", &["which", "twice"]);
    other(&which["winner"]);
    assert!(world.run(&["which", "twice"]).stdout.contains("  also at "));
}
