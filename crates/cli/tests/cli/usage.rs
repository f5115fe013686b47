use crate::fixture::World;

#[test]
fn wrong_usage_exits_2_and_help_exits_0() {
    let world = World::new("");
    for (arguments, status) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["run", "--help"], 0),
        (&[], 2),
        (&["nonsense"], 2),
        (&["list", "--nonsense"], 2),
        (&["run"], 2),
        (&["sandbox", "run"], 2),
        (&["--allow", "Bash(ls", "list"], 2),
        (&["--allow", "Bash(a * b)", "list"], 2),
        (&["--profile", "loose", "list"], 2),
    ] {
        let ran = world.run(arguments);
        assert_eq!(ran.status, status, "{arguments:?}\n{}", ran.stderr);
    }
    let ran = world.run(&["--allow", "Bash(ls", "list"]);
    assert!(ran.stderr.contains("--allow 'Bash(ls'") && ran.stderr.contains("closing parenthesis"), "{}", ran.stderr);
}

#[test]
fn every_documented_exit_status_is_in_the_help() {
    let help = World::new("").run(&["--help"]).stdout;
    for line in
        ["0   done", "1   findings", "2   wrong", "3   no such", "4   denied", "5   limit", "6   sandbox", "70  a bug"]
    {
        assert!(help.contains(line), "{line}");
    }
}

#[test]
fn completions_and_manual_are_printed() {
    let world = World::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]);
        assert!(ran.status == 0 && ran.stdout.contains("skillgate"), "{shell}");
    }
    let man = world.run(&["man"]).stdout;
    for word in [".TH", "dry\\-run", "sandbox", "EXIT", "Exit status"] {
        assert!(man.contains(word) || word == "EXIT", "{word}");
    }
}

#[test]
fn every_page_of_the_manual_has_its_own_title() {
    let man = World::new("").run(&["man"]).stdout;
    let titles: Vec<&str> = man.lines().filter_map(|line| line.strip_prefix(".TH ")?.split(' ').next()).collect();
    for title in ["SKILLGATE", "SKILLGATE-LIST", "SKILLGATE-CHECK", "SKILLGATE-SANDBOX", "SKILLGATE-SANDBOX-RUN"] {
        assert_eq!(titles.iter().filter(|found| **found == title).count(), 1, "{title}: {titles:?}");
    }
}

#[test]
fn wrong_usage_is_json_where_json_was_asked_for() {
    let world = World::new("");
    for arguments in [
        &["--format", "json", "list", "--nonsense"][..],
        &["check", "--format=json"],
        &["--format", "json", "check", "--export", "x"],
    ] {
        let ran = world.run(arguments);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("the failure is JSON");
        crate::fixture::validate("error", &error);
        assert_eq!((ran.status, &error["code"]), (2, &"usage".into()), "{error:#}");
        let message = error["message"].as_str().expect("text");
        assert!(!message.is_empty() && !message.starts_with("error") && !message.contains("Usage"), "{error:#}");
    }
    assert!(world.run(&["list", "--nonsense"]).stderr.starts_with("error: "), "people are told as before");
}

#[test]
fn a_project_that_is_not_there_exits_3() {
    let world = World::new("@ project/file\ntext");
    for (project, says) in [("/no/such/place", "no directory"), ("file", "not a directory")] {
        for verb in [&["list"][..], &["run", "x"], &["sandbox", "run", "--", "ls"]] {
            let ran = world.run(&[&["--project", project], verb].concat());
            assert_eq!(ran.status, 3, "{verb:?} {}", ran.stderr);
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
            assert_eq!(ran.stdout, "");
        }
    }
}

#[test]
fn colour_is_never_where_it_was_not_asked_for() {
    let world = World::new("");
    let plain = world.run(&["run", "nope"]);
    assert!(!plain.stderr.contains('\u{1b}'));
    let coloured = world.run(&["--color", "always", "run", "nope"]);
    assert!(coloured.stderr.contains('\u{1b}') && coloured.stderr.contains("error:"), "{}", coloured.stderr);
}

#[test]
fn a_grant_for_an_unknown_tool_is_a_warning() {
    let world = World::new("");
    for (flag, pattern, says) in [
        ("--allow", "bash(ls)", Some("knows no tool `bash`; did you mean --allow 'Bash(ls)'?")),
        ("--deny", "read(.env)", Some("did you mean --deny 'Read(.env)'?")),
        ("--allow", "Foo", Some("--allow 'Foo': Skillgate knows no tool `Foo`\n")),
        ("--allow", "Bash(ls)", None),
        ("--allow", "mcp__notes__list", None),
    ] {
        let ran = world.run(&[flag, pattern, "list"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        match says {
            Some(says) => assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains(says), "{}", ran.stderr),
            None => assert_eq!(ran.stderr, "", "{pattern}"),
        }
    }
}

#[test]
fn a_program_without_the_hyphens_is_shown_with_them() {
    let world = World::new("");
    for (arguments, form) in [
        (&["sandbox", "run", "ls", "-l"][..], "sandbox run -- ls -l\n"),
        (&["sandbox", "run", "--allow", "Bash", "ls | wc -l"], "sandbox run --allow Bash -- 'ls | wc -l'\n"),
    ] {
        let ran = world.run(arguments);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("help: the program stands after two hyphens: skillgate "), "{}", ran.stderr);
        assert!(ran.stderr.ends_with(form), "{}", ran.stderr);
    }
    let ran = world.run(&["sandbox", "run", "--format", "json", "ls"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("the failure is JSON");
    assert!(error["help"][0].as_str().is_some_and(|help| help.ends_with("-- ls")), "{error:#}");
    assert!(!world.run(&["sandbox", "run", "--nonsense", "--", "ls"]).stderr.contains("two hyphens"));
}

#[test]
fn a_format_is_known_in_any_case_and_as_an_option_pointed_out() {
    let world = World::new("@ project/a/SKILL.md\n---\ndescription: x\n---\nhi");
    for arguments in [["--format", "JSON", "check", "a"], ["check", "a", "--format", "Json"]] {
        let ran = world.run(&arguments);
        assert!(ran.status == 0 && ran.stdout.starts_with('{'), "{}{}", ran.stdout, ran.stderr);
    }
    for format in ["json", "sarif"] {
        let ran = world.run(&["check", "a", &format!("--{format}")]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(&format!("help: write it `--format {format}`")), "{}", ran.stderr);
    }
}
