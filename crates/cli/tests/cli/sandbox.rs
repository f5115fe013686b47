use crate::fixture::{World, ran, validate};
use std::io::Write as _;
use std::process::Stdio;

const TREE: &str = "@ project/a.txt\none\ntwo\n@ project/b.txt\nthree\n";

fn sandbox(world: &World, allow: &[&str], program: &[&str]) -> crate::fixture::Ran {
    let grants = allow.iter().flat_map(|pattern| ["--allow", pattern]);
    let arguments: Vec<&str> =
        ["sandbox", "run"].into_iter().chain(grants).chain(["--"]).chain(program.iter().copied()).collect();
    world.run(&arguments)
}

#[test]
fn only_what_is_granted_runs() {
    let world = World::new(TREE);
    for (allow, program, status, stdout, says) in [
        (&["Bash(ls:*)", "Bash(wc:*)"][..], "ls | wc -l", 0, "2\n", ""),
        (&[], "ls | wc -l", 4, "", "no rule grants it"),
        (&[], "echo hi", 4, "", "no rule grants it"),
        (&["Bash(cat:*)"], "cat /etc/passwd", 1, "", "cat: /etc/passwd: No such file or directory"),
        (&["Bash(touch:*)"], "touch x", 4, "", "writing `x` needs a grant"),
        (&["Bash(ls:*)"], "ls || rm a.txt", 4, "", "rm: no rule grants it".split(':').next_back().unwrap_or_default()),
        (&["Bash(env:*)"], "env ls", 4, "", "it runs what its arguments say"),
        (&["Bash"], "nosuch || echo fallback", 0, "fallback\n", ""),
        (&["Bash"], "exit 7", 7, "", ""),
        (&["Bash"], "echo 'open", 1, "", "never closed"),
        (&["Bash"], "sleep 1 & echo", 1, "", "background"),
        (&["Bash"], "echo x > a.txt", 4, "", "writing `a.txt` needs a grant"),
        (&["Read"], "ls", 4, "", "no rule grants it"),
    ] {
        let ran = sandbox(&world, allow, &[program]);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{program}\n{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{program}\n{}", ran.stderr);
    }
    assert!(!world.path("project/x").exists());
}

#[test]
fn a_refusal_says_what_would_allow_it_and_that_is_true() {
    let world = World::new(TREE);
    let ran = sandbox(&world, &[], &["wc -l a.txt"]);
    assert!(ran.stderr.contains("--allow 'Bash(wc:*)'"), "{}", ran.stderr);
    assert_eq!(sandbox(&world, &["Bash(wc:*)"], &["wc -l a.txt"]).stdout, "2 a.txt\n");
}

#[test]
fn words_after_the_dashes_are_one_command() {
    let world = World::new(TREE);
    let ran = sandbox(&world, &["Bash(printf:*)"], &["printf", "[%s]", "a b", "$x;'"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "[a b][$x;']"), "{}", ran.stderr);
}

#[test]
fn a_denied_file_is_not_there() {
    let world = World::new(TREE);
    let denied = |program| world.run(&["sandbox", "run", "--allow", "Bash", "--deny", "Read(b.txt)", "--", program]);
    let ran = denied("ls; test -e b.txt");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, "a.txt\n"), "{}", ran.stderr);
    // Who names it learns which rule hides it, and no `||` goes on without it.
    let ran = denied("ls; cat b.txt || true");
    assert_eq!((ran.status, ran.stdout.as_str()), (4, "a.txt\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`b.txt` is hidden by the rule `deny Read(b.txt)` (--deny)"), "{}", ran.stderr);
}

#[test]
fn standard_input_is_passed_through() {
    let world = World::new(TREE);
    let mut command = world.command(&["sandbox", "run", "--allow", "Bash(tr:*)", "--", "tr a-z A-Z"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(b"hello\n").expect("it reads");
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "HELLO\n"), "{}", ran.stderr);
}

#[test]
fn output_without_end_stops_at_its_limit() {
    let world = World::new(TREE);
    let ran = sandbox(&world, &["Bash(yes:*)"], &["yes"]);
    assert_eq!((ran.status, ran.stdout.len()), (5, 1 << 20), "{}", ran.stderr);
    assert!(ran.stderr.contains("output_bytes"), "{}", ran.stderr);
}

#[test]
fn the_status_file_says_whose_status_it_was() {
    let world = World::new(TREE);
    let file = world.path("status.json");
    let path = file.to_str().expect("UTF-8");
    for (allow, program, kind, status) in
        [("Bash", "exit 4", "exit", 4), ("Bash(ls)", "rm x", "denied", 4), ("Bash", "yes", "limit", 5)]
    {
        let ran = world.run(&["sandbox", "run", "--status-file", path, "--allow", allow, "--", program]);
        let value = serde_json::from_str(&std::fs::read_to_string(&file).expect("it is written")).expect("JSON");
        validate("sandbox-run", &value);
        assert_eq!((&value["kind"], &value["status"]), (&kind.into(), &status.into()), "{program}");
        assert_eq!(ran.status, status);
    }
}
