//! Commands that run others, on the shipped components: `xargs` and `find -exec`. Each command that they run is decided as its
//! own vector, and what is refused never runs, whatever the program does with a status.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_core::Limits;
use skillgate_exec::{Bound, RunError, Stop};
use skillgate_policy::{Effect, Refusal, RefusalReason, builtin_limits};
use skillgate_tests::{Sandboxed, sandboxed};
use std::path::Path;

/// A project of a few files, one with blanks in its name.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("README.md", "# Garden\n\nTomatoes\nBeans\n"),
        ("beds/a.txt", "carrots\napples\n"),
        ("beds/b c.txt", "peas\n"),
        ("list", "beds/a.txt\nREADME.md\n"),
        ("options", "-delete\n"),
    ] {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    root
}

fn run_in(root: &Path, source: &str, rules: &[(Effect, &str)], limits: Limits) -> Sandboxed {
    sandboxed(env!("CARGO_TARGET_TMPDIR"), root, source, rules, limits)
}

fn run(source: &str) -> Sandboxed {
    run_in(project().path(), source, &[(Effect::Allow, "Bash")], builtin_limits())
}

fn refusal(outcome: &Sandboxed, source: &str) -> Refusal {
    match &outcome.result {
        Err(RunError::Refused(refusal)) => (**refusal).clone(),
        other => unreachable!("{source}: {other:?} {}", outcome.stderr),
    }
}

#[test]
fn commands_are_run_as_the_native_tools_run_them() {
    for (source, stdout, status) in [
        ("cat list | xargs wc -l", " 2 beds/a.txt\n 4 README.md\n 6 total\n", 0),
        ("cat list | xargs -n1 basename", "a.txt\nREADME.md\n", 0),
        ("cat list | xargs -I{} echo '[{}]'", "[beds/a.txt]\n[README.md]\n", 0),
        ("find beds -name '*.txt' -print0 | xargs -0 cat | sort", "apples\ncarrots\npeas\n", 0),
        ("find beds -type f -exec grep -l peas {} \\;", "beds/b c.txt\n", 0),
        ("find beds -type f -exec cat {} + | sort", "apples\ncarrots\npeas\n", 0),
        ("find beds -type f -execdir ls {} \\; | sort", "./a.txt\n./b c.txt\n", 0),
        ("find beds -name a.txt -execdir pwd \\; | tail -c 6", "/beds\n", 0),
        ("find beds -type f ! -exec grep -q peas {} \\; -print", "beds/a.txt\n", 0),
        ("find beds -type f -exec sh -c 'basename \"$1\"' _ {} \\; | sort", "a.txt\nb c.txt\n", 0),
        ("printf 'a b\\n' | xargs", "a b\n", 0),
        ("printf '' | xargs -r echo no; printf '' | xargs echo once", "once\n", 0),
        ("cat list | xargs grep -c nothing", "beds/a.txt:0\nREADME.md:0\n", 123),
        ("echo x | xargs nosuch || echo $?", "127\n", 0),
        ("echo x | xargs cd || echo $?", "127\n", 0),
        ("echo x | xargs -n1 sh -c 'exit 255' || echo $?", "124\n", 0),
        ("find beds -exec nosuch {} \\;; echo $?", "0\n", 0),
        ("yes | xargs -n1 echo | head -2", "y\ny\n", 0),
        ("echo list | xargs cat | xargs ls -d", "README.md\nbeds/a.txt\n", 0),
        ("X=1; export X; echo X | xargs printenv", "1\n", 0),
        ("X=1; export X; env X=2 Y=3 printenv X Y; printenv X", "2\n3\n1\n", 0),
        ("X=1; export X; env -u X printenv X || echo $?", "1\n", 0),
        ("env -i A=1 B=2 env; env - C=x=y", "A=1\nB=2\nC=x=y\n", 0),
        ("env -C beds cat a.txt | env -u HOME wc -l", "2\n", 0),
        ("env A=1 sh -c 'echo $A'; env nosuch || echo $?", "1\n127\n", 0),
        ("env -S ls || echo $?", "2\n", 0),
    ] {
        let ran = run(source);
        let status_ran = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status_ran), (stdout, Ok(status)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn a_command_is_recorded_and_counted_as_one_of_its_own() {
    let ran = run("cat list | xargs -n1 wc -l");
    let expected = ["cat list -> 0", "wc -l beds/a.txt -> 0", "wc -l README.md -> 0", "xargs -n1 wc -l -> 0"];
    assert!(expected.iter().all(|line| ran.ran.iter().any(|ran| ran == line)), "{:?}", ran.ran);
    let limits = builtin_limits().lowered_by("commands", 10).expect("lower");
    let ran = run_in(project().path(), "yes | xargs -n1 true", &[(Effect::Allow, "Bash")], limits);
    match ran.result {
        Err(RunError::Stopped { stop: Stop::Bound(bound), .. }) => assert_eq!(bound, Bound::Commands(10)),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn what_is_refused_never_runs() {
    let root = project();
    let granted = [
        (Effect::Allow, "Bash(xargs -I% % canary)"),
        (Effect::Allow, "Bash(xargs wc -l)"),
        (Effect::Allow, "Bash(find beds -exec touch canary ;)"),
        (Effect::Allow, "Bash(find beds -type f -exec wc -l {} ;)"),
        (Effect::Allow, "Bash(wc:*)"),
        (Effect::Allow, "Bash(cat:*)"),
    ];
    for source in [
        // The command comes from what is read.
        "echo touch | xargs -I% % canary",
        "echo touch | xargs -I% % canary || echo hidden",
        "cat list | xargs wc -l; echo ls | xargs -I% % canary",
        // It stands in the text.
        "find beds -exec touch canary \\;",
        "env A=1 touch canary || echo hidden",
        "X=touch; env $X canary || echo hidden",
        // An option that nobody wrote.
        "cat options | xargs wc -l",
    ] {
        let ran = run_in(root.path(), source, &granted, builtin_limits());
        refusal(&ran, source);
        assert!(!ran.ran.iter().any(|line| line.starts_with("touch") || line.starts_with("ls")), "{:?}", ran.ran);
        assert!(!ran.stdout.contains("hidden"), "{source}");
    }
    // The same commands do run where they are granted.
    for source in [
        "cat list | xargs wc -l",
        "find beds -type f -exec wc -l {} \\;",
        "echo x > /tmp/canary; cd /tmp; echo wc | xargs -I% % canary",
    ] {
        let ran = run_in(root.path(), source, &granted, builtin_limits());
        assert_eq!(ran.result.map(|completion| completion.status), Ok(0), "{source}: {}", ran.stderr);
        assert!(ran.ran.iter().any(|line| line.starts_with("wc ")), "{:?}", ran.ran);
    }
    assert!(!root.path().join("canary").exists());
}

#[test]
fn what_runs_others_stays_within_what_files_are_granted() {
    let root = project();
    let ran = run_in(root.path(), "echo canary | xargs touch", &[(Effect::Allow, "Bash")], builtin_limits());
    assert_eq!(refusal(&ran, "touch").reason, RefusalReason::Write { path: "canary".to_owned() });
    let rules = [(Effect::Allow, "Bash"), (Effect::Allow, "Write(out)")];
    let ran = run_in(root.path(), "mkdir out; echo out/made | xargs touch; ls out", &rules, builtin_limits());
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("made\n", Ok(0)), "{}", ran.stderr);
    let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Bash(wc:*)")];
    for source in ["cat list | xargs wc", "find beds -exec wc {} +", "W=wc; echo README.md | xargs $W || echo hidden"] {
        let ran = run_in(root.path(), source, &rules, builtin_limits());
        assert!(matches!(refusal(&ran, source).reason, RefusalReason::Denied(_)), "{source}");
        assert!(!ran.ran.iter().any(|line| line.starts_with("wc")), "{:?}", ran.ran);
    }
}

#[test]
fn nesting_ends_at_the_limit() {
    let limits = builtin_limits().lowered_by("depth", 3).expect("lower");
    let deep = "echo x | xargs xargs xargs xargs xargs echo";
    match run_in(project().path(), deep, &[(Effect::Allow, "Bash")], limits).result {
        Err(RunError::Stopped { stop: Stop::Bound(bound), .. }) => assert_eq!(bound, Bound::Depth(3)),
        other => unreachable!("{other:?}"),
    }
    let control = run(deep);
    assert_eq!((control.stdout.as_str(), control.result.map(|c| c.status)), ("x\n", Ok(0)), "{}", control.stderr);
}
