use crate::fixture::World;
use std::fs;

const GOOD: &str = "---\nname: good\ndescription: Good.\n---\nBody.\n";

#[test]
fn paths_that_name_no_skill_are_said_to_and_exit_3() {
    let world = World::new("@ project/empty/readme.txt\nx");
    world.write("project/good/SKILL.md", GOOD);
    for (path, says) in [("empty", "no SKILL.md"), ("nope", "no file or directory"), ("good/SKILL.md/x", "no file or")]
    {
        let ran = world.run(&["check", path]);
        assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{path}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains(path), "{path}: {}", ran.stderr);
        let ran = world.run(&["--format", "json", "check", path]);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("a failure is JSON too");
        assert_eq!((ran.status, &error["code"]), (3, &"not-found".into()), "{path}");
    }
    // The others are checked all the same.
    let ran = world.run(&["check", "empty", "good", "nope"]);
    assert_eq!(ran.status, 3);
    assert!(ran.stderr.contains("1 file: nothing found") && ran.stderr.contains("`nope`"), "{}", ran.stderr);
}

#[test]
fn a_named_file_that_is_no_skill_is_said_to_be_none() {
    let world = World::new("@ project/tool.py\nprint('x')\n@ project/notes.md\nNotes.");
    world.write("project/good/SKILL.md", GOOD);
    let ran = world.run(&["check", "tool.py", "good"]);
    assert_eq!(ran.status, 1);
    let says = "error[not-a-skill-file]: tool.py: it is neither a `SKILL.md` nor a command";
    assert!(ran.stdout.contains(says) && ran.stdout.contains("help: name the `SKILL.md`"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "2 files: 1 error\n");
    let (status, value) = world.json("check", &["check", "tool.py"]);
    let file = &value["files"][0];
    assert_eq!(
        (status, &file["frontmatter"], &file["description"]),
        (1, &serde_json::Value::Null, &serde_json::Value::Null)
    );
    let ran = world.run(&["check", "--fix", "tool.py"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, "1 file, 0 fixed: 1 error left\n"));
    assert_eq!(world.run(&["check", "notes.md"]).status, 0, "the control: a text may be a command");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_is_an_error() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = World::new("");
    world.write("project/pack/good/SKILL.md", GOOD);
    world.write("project/pack/closed/SKILL.md", GOOD);
    symlink("loop", world.path("project/loop")).expect("a link");
    let ran = world.run(&["check", "loop"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("error[file-unreadable]: loop: the directory cannot be read"), "{}", ran.stdout);
    let closed = world.path("project/pack/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("a mode");
    // Root may look into everything.
    let expected = if fs::read_dir(&closed).is_ok() { 0 } else { 1 };
    let ran = world.run(&["check", "pack"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("a mode");
    assert_eq!(ran.status, expected, "{}", ran.stdout);
    assert_eq!(ran.stdout.contains("pack/closed: the directory cannot be"), expected == 1, "{}", ran.stdout);
}

/// A file of a gigabyte without a block on the disk; reading it would take longer and more memory than a test has.
#[test]
fn a_file_beyond_the_limit_is_refused_by_its_size() {
    let world = World::new("");
    world.write("project/big/SKILL.md", GOOD);
    let file = fs::OpenOptions::new().write(true).open(world.path("project/big/SKILL.md")).expect("a file");
    file.set_len(1 << 30).expect("a hole");
    let ran = world.run(&["check", "big"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("error[file-too-large]: big/SKILL.md: it has more than"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn what_stands_beside_a_skill_is_looked_at() {
    use std::os::unix::fs::symlink;
    let world = World::new("");
    world.write("project/good/SKILL.md", GOOD);
    world.write("project/good/scripts/run.sh", "#!/bin/sh\n");
    assert_eq!(world.run(&["check", "good"]).stdout, "");
    symlink("/etc/passwd", world.path("project/good/notes.md")).expect("a link");
    world.write("project/good/logo.png", "#!/bin/sh\n");
    let ran = world.run(&["check", "good"]);
    assert_eq!(ran.status, 0, "warnings are no failure");
    for says in [
        "warning[link-out-of-skill]: good/SKILL.md: the link `notes.md` leads out of the skill's directory, to `/etc/passwd`",
        "warning[executable-companion]: good/SKILL.md: `logo.png` is a script under the name",
    ] {
        assert!(ran.stdout.contains(says), "{says}\n{}", ran.stdout);
    }
}

#[cfg(unix)]
#[test]
fn check_and_list_agree_on_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new("");
    for name in [&b"caf\xe9"[..], b"a\xe2\x80\x8bb"] {
        let dir = world.path("project/.claude/skills").join(OsStr::from_bytes(name));
        fs::create_dir_all(&dir).expect("a directory");
        fs::write(dir.join("SKILL.md"), GOOD).expect("a file");
    }
    let (_, listed) = world.json("list", &["--trust", "list"]);
    let skills = listed["skills"].as_array().expect("a list");
    assert!(skills.len() == 2 && skills.iter().all(|skill| skill["state"] == "broken"), "{listed:#}");
    let (status, checked) = world.json("check", &["check", ".claude"]);
    assert_eq!(status, 1);
    for file in checked["files"].as_array().expect("a list") {
        assert_eq!(file["diagnostics"][0]["code"], "command-name-invalid", "{file:#}");
    }
}

#[test]
fn nothing_of_a_file_acts_on_a_terminal_and_colours_are_only_where_they_are_wanted() {
    let world = World::new("");
    let text = "---\nname: x\ndescription: a: \u{1b}[31mred\u{7}\u{202e}\n---\n";
    world.write("project/x/SKILL.md", text);
    let acts = |text: &str| text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}');
    let plain = world.run(&["check", "x"]);
    assert!(!acts(&plain.stdout) && plain.stdout.contains("\\u{202e}"), "{}", plain.stdout);
    let coloured = world.run(&["--color", "always", "check", "x"]);
    assert!(coloured.stdout.contains("\u{1b}["), "{}", coloured.stdout);
    let drawn =
        String::from_utf8(world.command(&["check", "x"]).env("LANG", "C.UTF-8").output().expect("it runs").stdout);
    assert!(drawn.expect("text").contains("╭─[x/SKILL.md"));
}

#[test]
fn notes_are_counted_and_shown_with_verbose() {
    let world = World::new("@ project/commands/x.md\nDo it.\n@ project/commands/y.md\nDo it too.");
    let ran = world.run(&["check", "commands"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "2 files: nothing found; 2 notes with --verbose\n");
    let ran = world.run(&["-v", "check", "commands"]);
    assert_eq!(ran.stdout.matches("info[frontmatter-missing]").count(), 2, "{}", ran.stdout);
    assert_eq!(ran.stderr, "2 files: 2 notes\n");
}

#[test]
fn complaint_02_one_bad_skill_stops_no_other() {
    let world = World::new("");
    world.write("project/.claude/skills/good/SKILL.md", GOOD);
    world.write("project/.claude/skills/bad/SKILL.md", "---\nname: bad\ndescription: Use for X: and Y\n---\nhi");
    world.write("project/.claude/skills/worse/SKILL.md", "---\nname: worse\n");
    let (status, listed) = world.json("list", &["--trust", "list"]);
    let states: Vec<_> =
        listed["skills"].as_array().expect("a list").iter().map(|skill| (&skill["name"], &skill["state"])).collect();
    assert_eq!((status, states.len()), (0, 3), "{listed:#}");
    for (name, state) in [("good", "active"), ("bad", "active"), ("worse", "broken")] {
        assert!(states.contains(&(&name.into(), &state.into())), "{name}: {states:?}");
    }
    assert_eq!(world.run(&["--trust", "run", "good"]).status, 0);
}

#[test]
fn complaint_05_what_cannot_be_used_exits_1_and_names_file_and_line() {
    let world = World::new("");
    for name in ["one", "two"] {
        world.write(&format!("project/pack/{name}/SKILL.md"), &GOOD.replace("good", name));
    }
    world.write("project/pack/three/SKILL.md", "---\nname: three\ndescription: a\nallowed-tools: [Read\n---\nhi");
    let ran = world.run(&["check", "pack"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("[pack/three/SKILL.md:4:") && ran.stderr.contains("3 files"), "{}", ran.stdout);
}

#[test]
fn complaint_14_list_and_check_read_line_ends_alike() {
    let world = World::new("");
    let text = "---\r\nname: a\r\ndescription: x: y\r\nallowed-tools: Read\r\n---\r\nBody.\r\n";
    world.write("project/.claude/skills/a/SKILL.md", text);
    let (_, listed) = world.json("list", &["--trust", "list"]);
    let (_, checked) = world.json("check", &["check", ".claude/skills/a"]);
    let (skill, file) = (&listed["skills"][0], &checked["files"][0]);
    assert_eq!(skill["description"], "x: y");
    assert_eq!(skill["description"], file["description"]);
    assert_eq!(skill["diagnostics"], file["diagnostics"]);
    assert_eq!(file["diagnostics"].as_array().map(Vec::len), Some(1));
}

#[test]
fn complaint_66_the_part_of_a_block_that_is_refused_is_named() {
    let world = World::new("@ project/a.txt\none");
    let text = "---\ndescription: x\n---\n```!\ncat a.txt && rm a.txt\n```\n";
    world.write("project/.claude/skills/a/SKILL.md", text);
    let ran = world.run(&["--trust", "--allow", "Bash(cat:*)", "--allow", "Skill(a)", "run", "a"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("rm a.txt") && !ran.stderr.contains("`cat a.txt`"), "{}", ran.stderr);
    assert!(world.path("project/a.txt").exists());
}

#[test]
fn tools_that_no_tool_answers_to_are_reported() {
    let world = World::new("");
    let text = "---\nname: x\ndescription: x\nallowed-tools: bash(ls *), Read, Foo, 'Bash(git'\ndisallowed-tools: [write]\n---\n";
    world.write("project/x/SKILL.md", &text.replace(", 'Bash(git'", ""));
    let (status, value) = world.json("check", &["check", "x"]);
    let found: Vec<(&str, u64, &str)> = value["files"][0]["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|found| Some((found["code"].as_str()?, found["line"].as_u64()?, found["help"].as_str()?)))
        .collect();
    let code = "tool-pattern-invalid";
    assert_eq!((status, found), (0, vec![(code, 4, "write `Bash(ls *)`"), (code, 5, "write `Write`")]));
    world.write("project/x/SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: [\"Bash(git\"]\n---\n");
    let ran = world.run(&["check", "x"]);
    assert!(ran.stdout.contains("no closing parenthesis") && ran.stdout.contains("`Bash(git)`"), "{}", ran.stdout);
}

#[test]
fn a_file_that_is_no_text_is_said_to_be_and_shown_within_bounds() {
    let world = World::new("");
    let utf16: Vec<u8> = "\u{feff}---\nname: x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let binary: Vec<u8> = [0, 1, 2, 0xff].into_iter().cycle().take(4096).collect();
    for (bytes, says) in [(utf16, "the file is UTF-16, not UTF-8"), (binary, "the file is not UTF-8")] {
        world.write("project/x/SKILL.md", "");
        fs::write(world.path("project/x/SKILL.md"), bytes).expect("a file");
        let ran = world.run(&["check", "x"]);
        assert!(ran.stdout.contains(says) && ran.stdout.contains("save it as UTF-8"), "{}", ran.stdout);
        assert!(ran.stdout.lines().all(|line| line.chars().count() < 160), "{}", ran.stdout);
    }
}

#[test]
fn a_title_for_a_name_is_a_note() {
    let world = World::new("@ project/menu/SKILL.md\n---\nname: Weekly Menu\ndescription: x\n---\nhi");
    let ran = world.run(&["check", "menu"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(world.run(&["-v", "check", "menu"]).stdout.contains("info[name-invalid]"));
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let world = World::new("");
    for number in 0..400 {
        world.write(&format!("project/many/s{number}/SKILL.md"), "no header");
    }
    let mut child = world.command(&["check", "many"]);
    let mut child =
        child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8(ended.stderr).expect("text");
    assert_eq!((ended.status.code(), stderr.lines().count()), (Some(0), 1), "{stderr}");
}
