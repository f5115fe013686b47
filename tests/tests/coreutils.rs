//! Programs in the capability shell on the shipped components: what they print, what they cannot reach, and how they end.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_core::Limits;
use skillgate_exec::{
    Bound, CapabilityShell, Capture, Completion, Executor, Input, Mounts, Output, Overflow, Program, Run, RunError,
    Scene, Stop, Streams,
};
use skillgate_policy::{Authority, Effect, Gate, Host, Place, RefusalReason, Rule, builtin_limits};
use std::path::Path;

fn shell() -> CapabilityShell {
    CapabilityShell::new(vec![skillgate_tests::backend(env!("CARGO_TARGET_TMPDIR"))])
}

/// A project of a few files.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("README.md", "# Garden\n\nTomatoes\nBeans\n"),
        ("beds/a.txt", "3 carrots\n1 apples\n2 beets\n"),
        ("beds/b.txt", "peas\n"),
        (".env", "TOKEN=secret\n"),
    ] {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    root
}

struct Ran {
    result: Result<Completion, RunError>,
    stdout: String,
    stderr: String,
}

fn run_in(root: &Path, source: &str, rules: &[(Effect, &str)], limits: Limits) -> Ran {
    let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text, Place::Host).expect("a rule"));
    let gate = Gate::new(Authority::of(Host::granting(rules)));
    let program = Program::from_text(source, &limits).expect(source);
    let mounts = Mounts::open_ambient(Some(root), &[]).expect("the project opens");
    let directory = root.to_str().expect("UTF-8").to_owned();
    let scene = Scene::new(mounts, directory, vec![("LANG".into(), "C.UTF-8".into())]);
    let run = Run::start(limits);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let result = shell().execute(&program, &gate, &scene, &run, streams);
    let text = |capture: &Capture| String::from_utf8(capture.take().0).expect("tests print UTF-8");
    Ran { result, stdout: text(&out), stderr: text(&err) }
}

fn run(source: &str) -> Ran {
    run_in(project().path(), source, &[(Effect::Allow, "Bash")], builtin_limits())
}

#[test]
fn commands_print_what_the_native_tools_print() {
    for (source, stdout, status) in [
        ("cat README.md", "# Garden\n\nTomatoes\nBeans\n", 0),
        ("ls", "README.md\nbeds\n", 0),
        ("ls -a", ".\n..\n.env\nREADME.md\nbeds\n", 0),
        ("ls beds/", "a.txt\nb.txt\n", 0),
        ("ls | wc -l", "2\n", 0),
        ("wc -l README.md", "4 README.md\n", 0),
        ("wc -l < README.md", "4\n", 0),
        ("head -1 README.md", "# Garden\n", 0),
        ("tail -n 1 README.md", "Beans\n", 0),
        ("sort -n beds/a.txt | cut -d ' ' -f 2 | tr a-z A-Z", "APPLES\nBEETS\nCARROTS\n", 0),
        ("cat beds/*.txt | wc -l", "4\n", 0),
        ("printf '%s-%03d\\n' a 7", "a-007\n", 0),
        ("basename /a/b.txt .txt; dirname /a/b.txt", "b\n/a\n", 0),
        ("seq 3 | paste -sd+", "1+2+3\n", 0),
        ("echo b a b | tr ' ' '\\n' | sort | uniq -c", "      1 a\n      2 b\n", 0),
        ("echo hi | base64", "aGkK\n", 0),
        ("printf hi | sha256sum", "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4  -\n", 0),
        ("seq 3 | tac | nl", "     1\t3\n     2\t2\n     3\t1\n", 0),
        ("uname -s", "Linux\n", 0),
        ("cd beds && pwd | tail -c 6", "/beds\n", 0),
        ("cd beds && cat ../README.md | head -1", "# Garden\n", 0),
        ("date -u -d @0 +%F", "1970-01-01\n", 0),
        ("echo x | tee /dev/null", "x\n", 0),
        ("cat /dev/null; wc -c < /dev/null", "0\n", 0),
        ("comm -12 beds/b.txt beds/b.txt; join beds/b.txt beds/b.txt", "peas\npeas\n", 0),
        ("env_is_not_there || echo fallback", "fallback\n", 0),
        ("cat missing 2>/dev/null || echo none", "none\n", 0),
        ("ls missing 2>/dev/null", "", 2),
        ("realpath --relative-to . beds/../beds/a.txt", "beds/a.txt\n", 0),
        ("X=1 printenv X", "1\n", 0),
    ] {
        let ran = run(source);
        let status_ran = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status_ran), (stdout, Ok(status)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn a_file_outside_is_not_there_and_the_command_says_so_itself() {
    for path in ["/etc/passwd", "../../../../etc/passwd", "/proc/self/environ"] {
        let ran = run(&format!("cat {path}"));
        assert_eq!(ran.result.map(|completion| completion.status), Ok(1), "{path}");
        assert_eq!(ran.stdout, "", "{path}");
        assert!(ran.stderr.starts_with(&format!("cat: {path}: ")), "{}", ran.stderr);
        assert!(!ran.stderr.contains("os error"), "{}", ran.stderr);
    }
}

#[test]
fn every_way_to_change_a_file_refuses_the_run() {
    let root = project();
    for source in [
        "touch x",
        "touch README.md",
        "rm README.md",
        "rmdir beds",
        "mkdir new",
        "mv README.md y",
        "cp README.md y",
        "ln README.md y",
        "ln -s README.md y",
        "echo x | tee y",
        "truncate -s 0 README.md",
        "sort -o README.md README.md",
        "split README.md",
        "shred README.md",
        "mktemp -p .",
        "touch x || echo hidden",
        "unlink README.md",
        "link README.md y",
    ] {
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")], builtin_limits());
        match &ran.result {
            Err(RunError::Refused(refusal)) => {
                assert!(matches!(refusal.reason, RefusalReason::Write { .. }), "{source}: {refusal}");
                assert!(refusal.remedy.as_deref().is_some_and(|line| line.starts_with("Write(")), "{source}");
            }
            other => unreachable!("{source}: {other:?} {}", ran.stderr),
        }
        assert_eq!(ran.stdout, "", "{source}");
    }
    let mut names: Vec<_> =
        std::fs::read_dir(root.path()).expect("it lists").map(|e| e.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, [".env", "README.md", "beds"]);
    assert_eq!(std::fs::read_to_string(root.path().join("README.md")).expect("it is there").len(), 25);
}

#[test]
fn a_hidden_file_is_not_there_for_any_command() {
    let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Read(.env)")];
    let root = project();
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", root.path().join("alias")).expect("a link");
    for (source, stdout) in [
        ("cat .env", ""),
        ("cat alias", ""),
        ("ls -a", ".\n..\nREADME.md\nalias\nbeds\n"),
        ("cat < .env", ""),
        ("echo .e*", ".e*\n"),
    ] {
        let ran = run_in(root.path(), source, &rules, builtin_limits());
        assert_eq!(ran.stdout, stdout, "{source} {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"));
    }
    let control = run_in(root.path(), "cat .env", &[(Effect::Allow, "Bash")], builtin_limits());
    assert_eq!(control.stdout, "TOKEN=secret\n");
}

#[test]
fn a_filter_without_a_grant_sees_streams_only() {
    let only_ls = [(Effect::Allow, "Bash(ls:*)")];
    let root = project();
    let ran = run_in(root.path(), "ls | head -1 | tr a-z A-Z", &only_ls, builtin_limits());
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("README.MD\n", Ok(0)), "{}", ran.stderr);
    for source in
        ["ls; cat README.md", "ls | sort README.md", "ls | cat < README.md", "cat beds/../README.md || echo hidden"]
    {
        let ran = run_in(root.path(), source, &only_ls, builtin_limits());
        match ran.result {
            Err(RunError::Refused(refusal)) => {
                assert!(matches!(refusal.reason, RefusalReason::Unmounted { .. }), "{source}: {refusal}");
            }
            other => unreachable!("{source}: {other:?}"),
        }
    }
}

#[test]
#[cfg(unix)]
fn a_fifo_does_not_hang_and_a_link_out_does_not_lead_out() {
    let root = project();
    let fifo = root.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a fifo");
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("out")).expect("a link");
    for name in ["fifo", "out"] {
        let ran = run_in(root.path(), &format!("cat {name}"), &[(Effect::Allow, "Bash")], builtin_limits());
        assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("", Ok(1)), "{name}");
        assert!(ran.stderr.starts_with(&format!("cat: {name}: ")), "{}", ran.stderr);
    }
}

#[test]
fn limits_end_a_command_that_does_not_end_itself() {
    let lowered = |name: &str, value: u64| builtin_limits().lowered_by(name, value).expect("lower");
    for (source, limits, bound) in [
        ("yes > /dev/null", lowered("wall_ms_injection", 60), Bound::WallTime(60)),
        ("sleep 600", lowered("wall_ms_injection", 60), Bound::WallTime(60)),
        ("yes | wc -l", lowered("wall_ms_injection", 60), Bound::WallTime(60)),
        ("seq 1000000 | sort", lowered("memory_bytes", 8 << 20), Bound::Memory(8 << 20)),
        ("ls", lowered("memory_bytes", 65_536), Bound::Memory(65_536)),
        ("cat README.md beds/a.txt", lowered("open_files", 0), Bound::OpenFiles(0)),
    ] {
        let ran = run_in(project().path(), source, &[(Effect::Allow, "Bash")], limits);
        match ran.result {
            Err(RunError::Stopped { stop: Stop::Bound(found), .. }) => assert_eq!(found, bound, "{source}"),
            other => unreachable!("{source}: {other:?}"),
        }
    }
}

#[test]
fn a_writer_ends_with_its_reader_and_says_nothing() {
    let ran = run("yes | head -2");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("y\ny\n", ""));
    let ran = run("set -o pipefail; seq 1000000 | head -1");
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("1\n", Ok(141)), "{}", ran.stderr);
}

#[test]
fn a_revoked_gate_runs_nothing() {
    let rule = Rule::parse(Effect::Allow, "Bash", Place::Host).expect("a rule");
    let gate = Gate::new(Authority::of(Host::granting([rule])));
    let approved = gate
        .approve(skillgate_policy::CommandRequest::from_author(&["ls"], skillgate_policy::Provider::Shipped))
        .expect("it is allowed");
    gate.revocation().revoke();
    assert!(matches!(approved.redeem(), Err(refusal) if refusal.reason == RefusalReason::Revoked));
}

#[test]
fn a_grant_to_write_is_for_the_names_it_names() {
    let rules = [(Effect::Allow, "Bash"), (Effect::Allow, "Write(out)")];
    let root = project();
    let program = "mkdir out; echo one > out/a; echo two >> out/a; cp README.md out/b; mv out/b out/c; touch -d @0 out/a; \
                   sort -r out/a | tee out/d; rm out/c; truncate -s 2 out/d";
    let ran = run_in(root.path(), program, &rules, builtin_limits());
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("two\none\n", Ok(0)), "{}", ran.stderr);
    let text = |name: &str| std::fs::read_to_string(root.path().join(name)).expect("it was written");
    assert_eq!((text("out/a"), text("out/d")), ("one\ntwo\n".to_owned(), "tw".to_owned()));
    assert!(!root.path().join("out/b").exists() && !root.path().join("out/c").exists());
    for (program, path) in [
        ("echo x > README.md", "README.md"),
        ("cd out && echo x > ../README.md", "README.md"),
        ("cd out && touch ../beds/x", "beds/x"),
        ("mv README.md out/", "README.md"),
        ("mkdir out/.git", "out/.git"),
        ("ln -s ../README.md out/link", "out/link"),
        ("rm beds/a.txt", "beds/a.txt"),
    ] {
        match run_in(root.path(), program, &rules, builtin_limits()).result {
            Err(RunError::Refused(refusal)) => {
                assert_eq!(refusal.reason, RefusalReason::Write { path: path.to_owned() }, "{program}");
                let remedy = (path != "out/.git").then(|| format!("Write({path})"));
                assert_eq!(refusal.remedy, remedy, "{program}");
            }
            other => unreachable!("{program}: {other:?}"),
        }
    }
    assert_eq!(text("README.md").len(), 25);
    let denied = [(Effect::Allow, "Bash"), (Effect::Allow, "Write"), (Effect::Deny, "Write(beds)")];
    let ran = run_in(root.path(), "echo x > beds/new", &denied, builtin_limits());
    assert!(matches!(ran.result, Err(RunError::Refused(_))));
    let limited = builtin_limits().lowered_by("native_file_bytes", 10).expect("lower");
    let ran = run_in(root.path(), "seq 100 > out/big", &rules, limited);
    assert!(
        matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::Written(10)), .. })),
        "{:?}",
        ran.result
    );
}
