//! What users of other systems ran into, where it is the command that answers. The numbers are the rows of the collection that
//! the project was ordered with.

use crate::fixture::World;
use std::fs;

#[test]
fn complaint_20_a_folded_description_is_listed_as_its_text() {
    let world = World::new("@ home/.claude/skills/a/SKILL.md\n---\ndescription: >-\n  one\n  two\n---\nhi");
    assert!(world.run(&["list"]).stdout.contains("\n      one two\n"), "{}", world.run(&["list"]).stdout);
}

#[test]
fn complaint_21_a_broken_skill_is_listed_with_state_path_and_cause() {
    let world = World::new("@ home/.claude/skills/a/SKILL.md\n---\n- name: a\n- b\n---\nhi");
    let (status, value) = world.json("list", &["list"]);
    let skill = &value["skills"][0];
    assert_eq!((status, &skill["name"], &skill["state"]), (0, &"a".into(), &"broken".into()), "{skill:#}");
    assert!(skill["path"].as_str().is_some_and(|path| path.ends_with("a/SKILL.md")), "{skill:#}");
    let found = &skill["diagnostics"][0];
    assert_eq!((&found["severity"], found["line"].is_u64()), (&"error".into(), true), "{skill:#}");
}

#[test]
fn complaint_39_who_wins_and_why_is_shown_and_both_can_be_called() {
    let skill = |text: &str| format!("---\ndescription: x\n---\n{text}\n");
    let world = World::new("");
    world.write("home/.claude/skills/a/SKILL.md", &skill("the user's"));
    world.write("project/.claude/skills/a/SKILL.md", &skill("the project's"));
    let (_, value) = world.json("list", &["--trust", "list"]);
    let of = |name: &str| {
        let skills = value["skills"].as_array().expect("a list");
        skills.iter().find(|skill| skill["qualified_name"] == name).unwrap_or_else(|| unreachable!("{value:#}"))
    };
    assert_eq!(of("project:a")["state"], "active");
    assert_eq!(of("user:a")["state"], "shadowed");
    assert!(of("user:a")["reason"].as_str().is_some_and(|reason| reason.contains("`project:a`")), "{value:#}");
    for (name, text) in [("a", "the project's"), ("project:a", "the project's"), ("user:a", "the user's")] {
        let ran = world.run(&["--trust", "run", name]);
        assert!(ran.status == 0 && ran.stdout.contains(text), "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn complaint_43_one_variable_moves_the_users_skills_for_every_verb() {
    let world = World::new("@ home/conf/skills/a/SKILL.md\n---\ndescription: x\n---\nmoved");
    for (arguments, says) in [(&["list"][..], "a "), (&["show", "a"], "moved"), (&["run", "a"], "moved")] {
        let moved =
            world.command(arguments).env("CLAUDE_CONFIG_DIR", world.path("home/conf")).output().expect("it runs");
        let stdout = String::from_utf8(moved.stdout).expect("text");
        assert!(moved.status.success() && stdout.contains(says), "{arguments:?}: {stdout}");
    }
    assert_eq!(world.run(&["run", "a"]).status, 3, "the control");
}

#[test]
fn complaint_44_a_directory_that_is_named_is_searched_or_said_to_be_missing() {
    let world = World::new("@ project/more/.claude/skills/a/SKILL.md\n---\ndescription: x\n---\nhi");
    let (_, value) = world.json("list", &["--add-dir", "more", "list"]);
    assert_eq!(value["skills"][0]["qualified_name"], "additional:a", "{value:#}");
    let ran = world.run(&["--add-dir", "mor", "list"]);
    assert!(ran.status == 3 && ran.stderr.contains("mor"), "{}", ran.stderr);
}

#[test]
fn complaint_45_a_project_is_the_same_from_every_directory() {
    let world = World::new("@ project/.claude/skills/a/SKILL.md\n---\ndescription: x\n---\nhi");
    let from = |directory: &str| {
        let project = world.path("project");
        let project = project.to_str().expect("a path");
        let mut command = world.command(&["--format", "json", "--project", project, "list"]);
        String::from_utf8(command.current_dir(world.path(directory)).output().expect("it runs").stdout).expect("text")
    };
    assert!(from("project").contains("project:a"));
    assert_eq!(from("home"), from("project"));
}

#[test]
fn complaint_67_an_argument_of_a_command_is_one_word_whatever_is_in_it() {
    let world = World::new("@ project/a; rm b\nthe file\n@ project/b\nkept");
    world.write("project/.claude/skills/a/SKILL.md", "---\ndescription: x\n---\n```!\ncat $1\n```\n");
    let ran = world.run(&["--trust", "run", "a", "a; rm b"]);
    assert!(ran.status == 0 && ran.stdout.contains("the file"), "{}{}", ran.stdout, ran.stderr);
    assert!(world.path("project/b").exists());
}

#[test]
fn complaint_68_what_a_command_prints_is_text() {
    let world = World::new("@ project/b\nkept");
    fs::write(world.path("project/a"), "!`rm b` $ARGUMENTS ${CLAUDE_SKILL_DIR}\n").expect("a file");
    world.write("project/.claude/skills/a/SKILL.md", "---\ndescription: x\n---\n<$ARGUMENTS> !`cat a`\n");
    let ran = world.run(&["--trust", "run", "a", "given"]);
    let prompt = "<given> !`rm b` $ARGUMENTS ${CLAUDE_SKILL_DIR}";
    assert!(ran.status == 0 && ran.stdout.contains(prompt), "{}{}", ran.stdout, ran.stderr);
    assert!(world.path("project/b").exists());
}
