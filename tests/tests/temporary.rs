//! The private `/tmp` of a run: what the commands of one program see of each other there, and what is left.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see, and look at the machine")]

use skillgate_exec::{
    Bound, CapabilityShell, Capture, Completion, Executor, Input, Mounts, Output, Overflow, Program, Run, RunError,
    Scene, Stop, Streams,
};
use skillgate_policy::{Authority, Effect, Gate, Host, Place, Rule, builtin_limits};
use std::path::Path;

struct Ran {
    result: Result<Completion, RunError>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn status(&self) -> u8 {
        self.result.as_ref().unwrap_or_else(|error| unreachable!("{error}: {}", self.stderr)).status
    }
}

fn run_in(root: &Path, source: &str, allow: &[&str]) -> Ran {
    let rules = allow.iter().map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule"));
    let gate = Gate::new(Authority::of(Host::granting(rules)));
    let limits = builtin_limits();
    let program = Program::from_text(source, &limits).expect(source);
    let mounts = Mounts::open_ambient(Some(root), &[]).expect("the project opens");
    let scene = Scene::new(mounts, root.to_str().expect("UTF-8"), vec![("LANG".into(), "C.UTF-8".into())]);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let shell = CapabilityShell::new(vec![skillgate_tests::backend(env!("CARGO_TARGET_TMPDIR"))]);
    let result = shell.execute(&program, &gate, &scene, &Run::start(limits), streams);
    let text = |capture: &Capture| String::from_utf8(capture.take().0).expect("tests print UTF-8");
    Ran { result, stdout: text(&out), stderr: text(&err) }
}

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("a.txt"), "one\n").expect("a file");
    root
}

#[test]
fn what_one_command_writes_the_next_one_reads() {
    for (source, stdout) in [
        ("x=$(mktemp); echo a > $x; cat $x", "a\n"),
        ("x=$(mktemp); echo a > $x; echo b >> \"$x\"; sort -r $x | head -1", "b\n"),
        ("d=$(mktemp -d); cp a.txt \"$d/b\"; cat $d/b", "one\n"),
        ("echo a > /tmp/x; wc -c < /tmp/x", "2\n"),
        ("mkdir /tmp/d && touch /tmp/d/x /tmp/d/y && ls /tmp/d", "x\ny\n"),
        ("cd /tmp && pwd", "/tmp\n"),
        ("echo 1 | tee /tmp/x; mv /tmp/x /tmp/y; ls /tmp", "1\ny\n"),
        ("touch /tmp/x; rm /tmp/x; ls /tmp", ""),
        ("for i in 1 2 3; do echo $i > /tmp/$i; done; cat /tmp/*", "1\n2\n3\n"),
        ("echo a > /tmp/x; [ -f /tmp/x ] && echo there", "there\n"),
        ("ls -d /tmp", "/tmp\n"),
        ("cat a.txt > /tmp/x; cmp a.txt /tmp/x && echo same", "same\n"),
    ] {
        let root = project();
        let ran = run_in(root.path(), source, &["Bash"]);
        assert_eq!((ran.status(), ran.stdout.as_str()), (0, stdout), "{source}\n{}", ran.stderr);
        assert_eq!(std::fs::read_dir(root.path()).expect("lists").count(), 1, "{source}");
    }
}

#[test]
fn it_is_empty_in_each_run_and_is_not_the_machines() {
    let root = project();
    let canary = std::env::temp_dir().join(format!("skillgate-canary-{}", std::process::id()));
    std::fs::write(&canary, "secret").expect("a file");
    let name = canary.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    assert_eq!(run_in(root.path(), "echo a > /tmp/left; ls /tmp", &["Bash"]).stdout, "left\n");
    let ran = run_in(root.path(), "ls /tmp", &["Bash"]);
    assert_eq!((ran.status(), ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let ran = run_in(root.path(), &format!("cat /tmp/{name}"), &["Bash"]);
    assert_eq!((ran.status(), ran.stdout.as_str()), (1, ""));
    std::fs::remove_file(&canary).expect("it is there");
}

/// The directories of runs that this machine has now. Other tests run beside this one, so only names count.
fn directories() -> Vec<String> {
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("lists").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("skillgate-run-")).collect()
}

/// However the run ends: the directory it had is gone when it is over. The file's name tells the run's directory from others.
#[test]
fn nothing_is_left_on_the_machine_however_the_run_ends() {
    let root = project();
    let mark = format!("mark-{}", std::process::id());
    for (source, ends_well) in [
        (format!("touch /tmp/{mark}"), true),
        (format!("touch /tmp/{mark}; false"), true),
        (format!("touch /tmp/{mark}; touch refused"), false),
        (format!("touch /tmp/{mark}; yes > /dev/null"), false),
    ] {
        let limits = builtin_limits().lowered_by("wall_ms_injection", 3_000).expect("lower");
        let rules = [Rule::parse(Effect::Allow, "Bash", Place::Host).expect("a rule")];
        let gate = Gate::new(Authority::of(Host::granting(rules)));
        let program = Program::from_text(&source, &limits).expect("a program");
        let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
        let scene = Scene::new(mounts, root.path().to_str().expect("UTF-8"), Vec::new());
        let shell = CapabilityShell::new(vec![skillgate_tests::backend(env!("CARGO_TARGET_TMPDIR"))]);
        let streams = Streams { stdin: Input::Empty, stdout: Output::Discard, stderr: Output::Discard };
        let ended = shell.execute(&program, &gate, &scene, &Run::start(limits), streams);
        assert_eq!(ended.is_ok(), ends_well, "{source}: {ended:?}");
        let left: Vec<_> =
            directories().into_iter().filter(|name| std::env::temp_dir().join(name).join(&mark).exists()).collect();
        assert_eq!(left, Vec::<String>::new(), "{source}");
    }
}

#[test]
fn it_is_bounded_in_bytes_and_in_names() {
    let root = project();
    let stop = |source: &str| match run_in(root.path(), source, &["Bash"]).result {
        Err(RunError::Stopped { stop, .. }) => stop,
        other => unreachable!("{source}: {other:?}"),
    };
    assert_eq!(stop("head -c 70000000 /dev/zero > /tmp/x || yes > /tmp/x"), Stop::Bound(Bound::Written(67_108_864)));
    assert_eq!(stop("seq 2000 | while read i; do : > /tmp/$i; done"), Stop::Bound(Bound::TemporaryFiles(1_024)));
    assert_eq!(
        run_in(root.path(), "seq 20 | while read i; do : > /tmp/$i; done; ls /tmp | wc -l", &["Bash"]).stdout,
        "20\n"
    );
}

#[test]
fn nothing_of_it_is_run_or_linked() {
    let root = project();
    let ran = run_in(root.path(), "echo 'echo hi' > /tmp/x.sh; /tmp/x.sh; echo $?; sh /tmp/x.sh; echo $?", &["Bash"]);
    assert_eq!((ran.status(), ran.stdout.as_str()), (0, "126\n126\n"), "{}", ran.stderr);
    let ran = run_in(root.path(), "ln -s /etc/passwd /tmp/x || echo refused; cat /tmp/x", &["Bash"]);
    assert_eq!(ran.stdout, "refused\n", "{}", ran.stderr);
    // Elsewhere in the project nothing changed by there being a place to write.
    for source in ["echo x > b", "touch b", "mv /tmp/x b"] {
        let source = format!("echo a > /tmp/x; {source}");
        assert!(matches!(run_in(root.path(), &source, &["Bash"]).result, Err(RunError::Refused(_))), "{source}");
    }
    assert_eq!(
        run_in(root.path(), "echo a > /tmp/x; mv /tmp/x out && cat out", &["Bash", "Write(/out)"]).stdout,
        "a\n"
    );
}
