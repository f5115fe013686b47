use crate::fixture::World;
use serde_json::Value;
use std::path::Path;

const TREE: &str = "\
@ project/.claude/skills/greet/SKILL.md
---
description: Greets.
allowed-tools: Bash(cat:*), Bash(tee:*)
---
Greeting: !`cat notes.txt`
@ project/.claude/skills/save/SKILL.md
---
description: Saves.
allowed-tools: Bash(tee:*), Write(/out/**)
---
Saved: !`tee out/file < notes.txt`
@ project/.claude/skills/save/more.md
more
@ project/notes.txt
hello
@ home/x
x
";

fn world() -> World {
    let world = World::new(TREE);
    std::fs::create_dir(world.path("project/out")).expect("a directory");
    world.own_store();
    world
}

macro_rules! ran {
    ($world:expr, $($argument:expr),+ $(,)?) => {{
        let mut command = $world.in_own_store(&[]);
        command.args([$($argument),+]);
        crate::fixture::ran(command.output().expect("the command starts"))
    }};
}

fn json(world: &World, schema: &str, arguments: &[&str]) -> (i32, Value) {
    let mut command = world.in_own_store(&["--format", "json"]);
    let ran = crate::fixture::ran(command.args(arguments).output().expect("the command starts"));
    let value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| unreachable!("{arguments:?}: {error}\n{}\n{}", ran.stdout, ran.stderr));
    crate::fixture::validate(schema, &value);
    (ran.status, value)
}

fn states(world: &World) -> Vec<(String, Vec<String>)> {
    let (status, value) = json(world, "trust-list", &["trust", "list"]);
    assert_eq!(status, 0);
    let folders = value["folders"].as_array().expect("a list").clone();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    folders
        .iter()
        .map(|folder| {
            let skills = folder["skills"].as_array().expect("a list");
            (text(&folder["state"]), skills.iter().map(|skill| text(&skill["state"])).collect())
        })
        .collect()
}

#[test]
fn an_untrusted_skill_is_refused_with_the_command_that_trusts_it_and_the_command_works() {
    let world = world();
    let ran = ran!(world, "run", "greet");
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    let root = world.path("project").canonicalize().expect("there");
    let command = format!("skillgate trust add {}", root.display());
    assert!(ran.stderr.contains(&command), "{}", ran.stderr);
    assert!(!ran.stdout.contains("hello"));

    let ran = ran!(world, "trust", "add", root.to_str().expect("text"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for shown in ["greet", "Bash(cat:*)", "cat notes.txt", "save"] {
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.stdout);
    }
    let ran = ran!(world, "run", "greet");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Greeting: hello"), "{}", ran.stdout);
    let (_, listed) = json(&world, "list", &["list"]);
    assert!(listed["skills"].as_array().expect("a list").iter().all(|skill| skill["state"] == "active"), "{listed:#}");

    assert_eq!(ran!(world, "trust", "remove", ".").status, 0);
    assert_eq!(ran!(world, "run", "greet").status, 4, "taken back");
    assert_eq!(ran!(world, "trust", "remove", ".").status, 4, "nothing is left to take back");
}

#[test]
fn a_moved_copied_or_replaced_project_is_not_trusted() {
    let world = world();
    assert_eq!(ran!(world, "trust", "add").status, 0);
    std::fs::rename(world.path("project"), world.path("elsewhere")).expect("moved");
    let elsewhere = world.path("elsewhere");
    let elsewhere = elsewhere.to_str().expect("text");
    let mut command = world.in_own_store(&["--project", elsewhere, "run", "greet"]);
    let moved = crate::fixture::ran(command.current_dir(elsewhere).output().expect("the command starts"));
    assert_eq!(moved.status, 4, "{}", moved.stderr);
    world.write("project/.claude/skills/greet/SKILL.md", "---\ndescription: x\n---\nEvil.\n");
    assert_eq!(states(&world)[0].0, "moved");
    assert_eq!(ran!(world, "run", "greet").status, 4, "another folder at the path");
    std::fs::remove_dir_all(world.path("project")).expect("removed");
    std::fs::rename(world.path("elsewhere"), world.path("project")).expect("moved back");
    assert_eq!(ran!(world, "run", "greet").status, 0, "the control");
}

#[test]
fn writing_needs_a_right_that_ends_when_a_file_of_the_skill_changes() {
    let world = world();
    let grant = ["--allow", "Bash(tee:*)", "--allow", "Write(/out/**)"];
    let save = || {
        let mut command = world.in_own_store(&grant);
        crate::fixture::ran(command.args(["run", "save"]).output().expect("the command starts"))
    };
    let written = || std::fs::remove_file(world.path("project/out/file")).is_ok();
    assert_eq!(ran!(world, "trust", "add").status, 0);
    let ran = save();
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("--rights write --skill save"), "{}", ran.stderr);
    assert!(!written());

    assert_eq!(ran!(world, "trust", "add", "--rights", "write", "--skill", "save").status, 0);
    let ran = save();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(written());

    // A file beside it could be what a command runs.
    world.write("project/.claude/skills/save/more.md", "other\n");
    let ran = save();
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("skillgate trust review"), "{}", ran.stderr);
    assert!(!written());
    assert_eq!(states(&world), [("changed".to_owned(), vec!["valid".to_owned(), "changed".to_owned()])]);
    assert_eq!(ran!(world, "trust", "add").status, 0);
    assert_eq!(save().status, 4, "trusting the folder again gives no right back");

    world.write(
        "project/.claude/skills/save/SKILL.md",
        "---\ndescription: Saves.\nallowed-tools: Bash(tee:*), Bash(rm:*), Write(/out/**)\n---\nSaved: !`tee out/file < notes.txt`\n",
    );
    let ran = ran!(world, "trust", "review", "--no-input");
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    for shown in ["-more", "+other", "+ tool: Bash(rm:*)", "rights of the accepted content: write"] {
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.stdout);
    }
    assert_eq!(save().status, 4, "looking is not accepting");
    let (status, value) = json(&world, "trust-review", &["trust", "review", "--accept"]);
    assert_eq!((status, &value["accepted"]), (0, &true.into()));
    assert_eq!(save().status, 0, "accepted");
    assert!(written());
    assert_eq!(states(&world), [("valid".to_owned(), vec!["valid".to_owned(), "valid".to_owned()])]);
    let ran = ran!(world, "trust", "review", "--no-input");
    assert_eq!((ran.status, ran.stdout.starts_with("Nothing changed")), (0, true), "{}", ran.stdout);
}

#[test]
fn trust_for_one_run_lets_a_skill_do_what_the_host_grants() {
    let world = world();
    let mut command = world.in_own_store(&["--trust", "--allow", "Bash(tee:*)", "--allow", "Write(/out/**)"]);
    let ran = crate::fixture::ran(command.args(["run", "save"]).output().expect("the command starts"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(states(&world).is_empty(), "and leaves nothing behind");
}

#[test]
fn rights_need_a_skill_that_is_there_and_can_be_read_whole() {
    let world = world();
    assert_eq!(ran!(world, "trust", "add", "--rights", "write").status, 2);
    assert_eq!(ran!(world, "trust", "add", "--skill", "save").status, 2);
    assert_eq!(ran!(world, "trust", "add", "--rights", "everything", "--skill", "save").status, 2);
    let ran = ran!(world, "trust", "add", "--rights", "write", "--skill", "sav");
    assert_eq!(ran.status, 3);
    assert!(ran.stderr.contains("near: `save`"), "{}", ran.stderr);
    assert!(states(&world).is_empty(), "nothing was stored");
    #[cfg(unix)]
    {
        let link = world.path("project/.claude/skills/save/link");
        std::os::unix::fs::symlink("/etc/hostname", &link).expect("a link");
        let ran = ran!(world, "trust", "add", "--rights", "write", "--skill", "save");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("neither a file nor a directory"), "{}", ran.stderr);
        std::fs::remove_file(link).expect("removed");
    }
    let (status, value) = json(&world, "trust-add", &["trust", "add", "--rights", "write,hooks", "--skill", "/save"]);
    assert_eq!(status, 0);
    assert_eq!(value["skills"][1]["rights"], serde_json::json!(["hooks", "write"]));
    let (status, value) = json(&world, "trust-remove", &["trust", "remove", "--all"]);
    assert_eq!((status, value["removed"].as_array().map(Vec::len)), (0, Some(1)));
}

#[test]
fn two_processes_at_once_both_have_their_trust() {
    let world = world();
    for index in 0..4 {
        world.write(&format!("other{index}/.claude/skills/x/SKILL.md"), "---\ndescription: x\n---\nx\n");
    }
    let add = |index: usize| {
        let folder = world.path(&format!("other{index}"));
        world
            .in_own_store(&["trust", "add"])
            .arg(folder)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts")
    };
    let running: Vec<_> = (0..4).map(add).collect();
    for mut process in running {
        assert!(process.wait().expect("it ends").success());
    }
    assert_eq!(states(&world).len(), 4);
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_believed_trusts_nothing_and_says_why() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = world();
    assert_eq!(ran!(world, "trust", "add").status, 0);
    let file = world.path("store/trust/folders.json");
    let good = std::fs::read(&file).expect("a file");
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    let refused = |expected: &str| {
        let ran = ran!(world, "run", "greet");
        assert_eq!(ran.status, 4, "{expected}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
        assert_eq!(ran!(world, "trust", "list").status, 1, "{expected}");
        assert_eq!(ran!(world, "trust", "add").status, 1, "{expected}");
    };
    mode(&file, 0o666);
    refused("is open to other users");
    mode(&file, 0o600);
    for (text, expected) in
        [("{", "nothing is trusted"), ("{\"version\": 99, \"written_by\": \"9.0.0\"}", "written by skillgate 9.0.0")]
    {
        std::fs::write(&file, text).expect("written");
        refused(expected);
    }
    std::fs::write(world.path("store/elsewhere"), &good).expect("written");
    mode(&world.path("store/elsewhere"), 0o600);
    std::fs::remove_file(&file).expect("removed");
    symlink("../elsewhere", &file).expect("a link");
    refused("is a symbolic link");
    std::fs::remove_file(&file).expect("removed");
    std::fs::write(&file, good).expect("written");
    mode(&file, 0o600);
    assert_eq!(ran!(world, "run", "greet").status, 0, "the control");
}
