//! Every form of a redirection: what it opens for writing needs a grant of its own, and what it reads is a file of a mount.

use super::{Ended, Place, is_no_program};
use skillgate_policy::RefusalReason;

/// Programs that would write the file `canary`.
const WRITES: &[&str] = &[
    "args a > canary",
    "args a >canary",
    "> canary args a",
    "args > canary a",
    "args a >> canary",
    "args a >| canary",
    "args a 1> canary",
    "args a 2> canary",
    "args a 2>> canary",
    "args a &> canary",
    "args a &>> canary",
    "args a >& canary",
    "> canary",
    ": > canary",
    "x=1 > canary",
    "{ args a; } > canary",
    "( args a ) > canary",
    "if true; then args a; fi > canary",
    "for i in a; do args a; done >> canary",
    "while args a; do break; done > canary",
    "case a in a) args a;; esac > canary",
    "[[ a ]] > canary",
    "f() { args a; } > canary; f",
    "args a 2>&1 > canary",
    "args a > /dev/null > canary",
    "args a 3> canary",
    "args a > ./canary",
    "args a > sub/../canary",
    "args a > 'canary'",
    "args a > can\"ary\"",
    "args a > $'can\\x61ry'",
    "args a > \"canary\"",
    "args a | cat > canary",
    "args $(args a > canary)",
    "echo a > canary",
];

#[test]
fn every_form_of_writing_needs_a_grant() {
    for source in WRITES {
        let place = Place::of("=== sub/\n=== a.md\n");
        let ended = place.run(source, &["Bash(args:*)", "Read"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Write { .. })), "{source}: {ended:?}");
        assert!(!place.tree.names().contains(&"canary".to_owned()), "{source}");
        let ended = place.run(source, &["Bash"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Write { .. })), "{source} under Bash: {ended:?}");
        assert!(!place.tree.names().contains(&"canary".to_owned()), "{source} under Bash");
        // The control: the same program, and the grant.
        let ended = place.run(source, &["Bash", "Write(canary)"], &[]);
        assert!(ended.refusal().is_none(), "{source}: {ended:?}");
        assert!(place.tree.names().contains(&"canary".to_owned()), "{source}: the control wrote nothing: {ended:?}");
    }
}

#[test]
fn a_name_that_is_known_late_needs_the_grant_as_well() {
    for source in [
        "x=canary; args a > $x",
        "args a > $(args canary)",
        "x=can; args a >> \"${x}ary\"",
        "f() { args > $1; }; f canary",
    ] {
        let place = Place::of("=== a.md\n");
        let ended = place.run(source, &["Bash"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Write { .. })), "{source}: {ended:?}");
        assert_eq!(place.tree.names(), ["a.md"], "{source}");
        let ended = place.run(source, &["Bash", "Write(**)"], &[]);
        assert!(place.tree.names().len() > 1, "{source}: the control wrote nothing: {ended:?}");
    }
}

/// A grant of a directory is none of its neighbour, and what other programs act on is never written.
#[test]
fn a_grant_of_writing_ends_at_its_directory() {
    for target in ["ab/x", "a/../ab/x", "x", "a/.git/hooks/pre-commit", "a/.claude/settings.json", "a/.envrc"] {
        let place = Place::of("=== a/.git/hooks/\n=== a/.claude/\n=== ab/\n");
        let before = place.tree.names();
        let ended = place.run(&format!("args a > {target}"), &["Bash", "Write(a/**)"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Write { .. })), "{target}: {ended:?}");
        assert_eq!(place.tree.names(), before, "{target}");
        let control = place.run("args a > a/x", &["Bash", "Write(a/**)"], &[]);
        assert!(place.tree.names().contains(&"a/x".to_owned()), "{control:?}");
    }
}

#[test]
fn other_forms_are_refused_whatever_is_granted() {
    is_no_program(&[
        ("args a {fd}> canary", "args a"),
        ("args a {fd}>> canary", "args a"),
        ("args a {fd}< a.md", "args a"),
        ("args a <> canary", "args a"),
        ("args a 1<> canary", "args a"),
        ("args a > >(canary)", "args a"),
        ("args a &> >(canary)", "args a"),
        ("args a 10> canary", "args a"),
        ("args a 99999999999999999999> canary", "args a"),
        ("exec > canary", "args a"),
        ("exec 3<> canary", "args a"),
        ("args a >&$x", "args a >&2"),
        ("cat 3< a.md", "cat < a.md"),
    ]);
}

#[test]
fn devices_of_the_machine_are_no_targets() {
    let place = Place::of("=== a.md\n");
    for target in
        ["/dev/sda", "/dev/tcp/127.0.0.1/80", "/dev/udp/127.0.0.1/53", "/proc/self/mem", "/etc/passwd", "/dev/fd/1"]
    {
        let ended = place.run(&format!("args a > {target}"), &["Bash", "Write(**)"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Write { .. })), "{target}: {ended:?}");
        let ended = place.run(&format!("cat < {target} || args none"), &["Bash"], &[]);
        assert_eq!(ended.vectors(), [["args", "none"]], "{target}: {ended:?}");
    }
    for target in ["/dev/null", "/dev/stdout", "/dev/stderr"] {
        let ended = place.run(&format!("args a > {target}"), &["Bash(args:*)"], &[]);
        assert!(ended.ran("args"), "{target}: {ended:?}");
    }
}

/// Where only streams are granted, a redirection that opens a file for a command refuses the run.
#[test]
fn a_file_is_not_read_through_a_redirection_without_a_grant() {
    let place = Place::of("=== secret.md\ntop\n");
    for source in [
        "cat < secret.md",
        "cat 0< secret.md",
        "{ cat; } < secret.md",
        "x=$(cat < secret.md); args $x",
        "args $(< secret.md)",
    ] {
        let ended = place.run(source, &["Bash(args:*)"], &[]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Unmounted { .. })), "{source}: {ended:?}");
        assert!(matches!(&ended, Ended::Ran(run) if run.stdout.is_empty()), "{source}: {ended:?}");
        let control = place.run(source, &["Bash"], &[]);
        assert!(
            matches!(&control, Ended::Ran(run) if String::from_utf8_lossy(&run.stdout).contains("top")),
            "{source}: {control:?}"
        );
    }
}
