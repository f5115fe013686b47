//! Programs of the machine, as users of the command meet them.

use crate::fixture::World;

const TREE: &str = "@ project/a.txt\ntwo\none\n@ project/out/old\nold\n";

#[test]
#[cfg(target_os = "linux")]
fn a_named_program_runs_confined_and_only_with_a_grant() {
    let world = World::new(TREE);
    let project = world.path("project");
    let home = std::env::var("HOME").unwrap_or_default();
    let run = |allow: &[&str], program: &str| {
        let grants = allow.iter().flat_map(|pattern| ["--allow", pattern]);
        let named = ["--program", "perl=/usr/bin/perl", "--program", "sort=/usr/bin/sort"];
        let start = ["sandbox", "run", "--write", "out"].into_iter().chain(named);
        let arguments: Vec<&str> = start.chain(grants).chain(["--", program]).collect();
        world.run(&arguments)
    };
    let reads =
        format!("perl -e 'print -e \"{home}\" ? \"home\" : \"none\"; print `id -u`; print -e \"a.txt\" ? 1 : 0'");
    for (allow, program, status, stdout, says) in [
        (&["Bash(sort:*)"][..], "sort a.txt", 0, "one\ntwo\n", ""),
        (&["Bash(sort:*)"], "sort a.txt | wc -l", 0, "2\n", ""),
        (&[], "sort a.txt", 4, "", "no rule grants it"),
        (&["Bash"], reads.as_str(), 0, "none1000\n1", ""),
        (&["Bash"], "perl -e 'exit 3'", 3, "", ""),
        (&["Bash"], "perl -e 'open(F, \">a.txt\") or exit 9'", 9, "", ""),
        (&["Bash"], "perl -e 'open(F, \">out/.envrc\") or exit 9'", 4, "", "out/.envrc"),
        (&["Bash"], "perl -e 'open(F, \">out/new\") or exit 9; print F 1'", 0, "", ""),
    ] {
        let ran = run(allow, program);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{program}\n{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{program}\n{}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(project.join("out/new")).expect("it was carried over"), "1");
    assert!(!project.join("out/.envrc").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_confined_does_not_run() {
    let world = World::new(TREE);
    world.write("project/script", "#!/bin/sh\ntouch ran\n");
    let path = world.path("project/script");
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    for (path, says) in
        [(path.to_str().expect("UTF-8"), "is a script"), ("/not/there", "/not/there"), ("/usr", "is not a file")]
    {
        let named = format!("tool={path}");
        let ran = world.run(&["sandbox", "run", "--program", &named, "--allow", "Bash", "--", "tool || echo instead"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("(stage program)") && ran.stderr.contains(says), "{}", ran.stderr);
    }
}

#[test]
fn the_doctor_says_what_each_sandbox_enforces() {
    let world = World::new("");
    world.write("policy.toml", "[programs.tool]\npath = \"/not/there\"\n");
    let policy = world.path("policy.toml");
    let arguments = ["--policy", policy.to_str().expect("UTF-8"), "sandbox", "doctor"];
    let (status, answer) = world.json("sandbox-doctor", &arguments);
    assert_eq!(status, 0);
    let backend = |name: &str| {
        let backends = answer["backends"].as_array().expect("backends");
        backends.iter().find(|backend| backend["name"] == name).cloned().expect("it is named")
    };
    assert_eq!(backend("wasm")["available"], true);
    let host = backend("host");
    assert_eq!(host["available"] == true, host["unavailable"].is_null());
    assert_eq!(host["programs"][0]["name"], "tool");
    assert!(host["programs"][0]["fault"].is_string());
    let ran = world.run(&arguments);
    // What a stage says names the run's user, who is another one each time.
    for stage in host["stages"].as_array().expect("stages") {
        let name = stage["name"].as_str().expect("a name");
        assert!(ran.stdout.lines().any(|line| line.trim_start().starts_with(name)), "{name}\n{}", ran.stdout);
    }
}

#[test]
fn a_program_is_named_by_an_absolute_path_for_the_host_sandbox() {
    let world = World::new(TREE);
    for named in ["git", "git=bin/git", "=/usr/bin/git", "bin/git=/usr/bin/git"] {
        let ran = world.run(&["sandbox", "run", "--program", named, "--", "git"]);
        assert_eq!(ran.status, 2, "{named}");
        assert!(ran.stderr.contains("NAME=/ABSOLUTE/PATH"), "{}", ran.stderr);
    }
    let ran = world.run(&["sandbox", "run", "--backend", "wasm", "--program", "git=/usr/bin/git", "--", "git"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("leave out `--backend wasm`"), "{}", ran.stderr);
}
