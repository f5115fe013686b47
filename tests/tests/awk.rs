//! `awk` in the sandbox: what it prints, and that it neither runs nor changes anything that is not granted.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_exec::{RunError, Stop};
use skillgate_policy::{Effect, RefusalReason, builtin_limits};
use skillgate_tests::{Sandboxed, sandboxed};
use std::path::Path;

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("beds.csv", "bed,plants,age\nnorth,12,3\nsouth,7,10\nnorth,5,1\n"),
        ("notes.txt", "# Garden\n\nTomatoes and beans\n"),
        ("sum.awk", "{ s += $2 }\nEND { print s }\n"),
    ] {
        std::fs::write(root.path().join(name), text).expect("a file");
    }
    root
}

fn run_in(root: &Path, source: &str, rules: &[(Effect, &str)]) -> Sandboxed {
    sandboxed(env!("CARGO_TARGET_TMPDIR"), root, source, rules, builtin_limits())
}

fn run(source: &str) -> Sandboxed {
    run_in(project().path(), source, &[(Effect::Allow, "Bash")])
}

/// The expected outputs are those of mawk 1.3.4.
#[test]
fn programs_print_what_mawk_prints() {
    for (source, stdout, status) in [
        (
            "awk -F, 'NR > 1 { n[$1] += $2 } END { for (bed in n) print bed, n[bed] }' beds.csv",
            "north 17\nsouth 7\n",
            0,
        ),
        ("awk -F, 'NR > 1 && $3 > m { m = $3 } END { print m }' beds.csv", "10\n", 0),
        ("awk -F, -f sum.awk beds.csv", "24\n", 0),
        ("awk 'END { print NR }' beds.csv notes.txt", "7\n", 0),
        ("awk 'NF { print NF \": \" $1 }' notes.txt", "2: #\n3: Tomatoes\n", 0),
        ("awk '!seen[$1]++' FS=, beds.csv", "bed,plants,age\nnorth,12,3\nsouth,7,10\n", 0),
        ("awk -v n=2 'NR == n' beds.csv", "north,12,3\n", 0),
        ("awk 'BEGIN { printf \"%5.2f|%-4s|%04d|%c\\n\", 3.14159, \"ab\", 7, 65 }'", " 3.14|ab  |0007|A\n", 0),
        (
            "awk 'BEGIN { s = \"a.b.c\"; n = gsub(/\\./, \"[&]\", s); print n, s, substr(s, 2, 3), length(s) }'",
            "2 a[.]b[.]c [.] 9\n",
            0,
        ),
        (
            "awk 'BEGIN { n = split(\"x:y:z\", a, \":\"); print n, a[3]; print match(\"xabcabc\", /(abc)+/), RLENGTH }'",
            "3 z\n2 6\n",
            0,
        ),
        ("awk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } BEGIN { print f(15) }'", "610\n", 0),
        ("awk 'BEGIN { while ((getline line < \"notes.txt\") > 0) n++; print n }'", "3\n", 0),
        ("printf 'a b\\nc\\n\\n\\nd\\n' | awk 'BEGIN { RS = \"\" } { print NR, NF }'", "1 3\n2 1\n", 0),
        (
            "awk 'BEGIN { print 2^31, 2^53, 1e6, 0.1, 1/3; print length(\"é\") }'",
            "2.14748e+09 9.0072e+15 1000000 0.1 0.333333\n2\n",
            0,
        ),
        ("awk 'BEGIN { exit 3 } END { print \"end\" }'", "end\n", 3),
        ("awk 'BEGIN { print index(\"beans\", \"an\"), toupper(\"x\") > \"/dev/stderr\" }'", "", 0),
        ("seq 3 | awk '{ s += $1; print s }' | tail -1", "6\n", 0),
        ("yes | awk '{ print NR }' | head -2", "1\n2\n", 0),
        (
            "awk 'BEGIN { for (i = 0; i < 12; i++) a[i]; for (k in a) printf \"%s \", k }'",
            "3 10 8 6 5 2 11 1 4 0 9 7 ",
            0,
        ),
    ] {
        let ran = run(source);
        let status_ran = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status_ran), (stdout, Ok(status)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn a_program_that_would_run_something_does_not_start() {
    for (source, what) in [
        ("awk 'BEGIN { print 1; system(\"touch canary\") }'", "system()"),
        ("awk 'BEGIN { print 1; print 2 | \"cat\" }'", "a pipe to a command"),
        ("awk 'BEGIN { print 1; \"date\" | getline d }'", "a pipe from a command"),
        ("awk 'BEGIN { print 1; if (\"aa\" ~ /a{2}/) print 2 }'", "{} as a repetition in a regular expression"),
    ] {
        let root = project();
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")]);
        let status = ran.result.map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status), ("", Ok(2)), "{source}");
        assert_eq!(ran.stderr, format!("skillgate: awk: {what} is not supported\n"));
        assert!(!root.path().join("canary").exists());
    }
}

#[test]
fn what_it_writes_is_granted_or_refuses_the_run() {
    let root = project();
    let source = "awk '{ print $1 > \"out.txt\" }' notes.txt; cat out.txt";
    match run_in(root.path(), source, &[(Effect::Allow, "Bash")]).result {
        Err(RunError::Refused(refusal)) => {
            assert_eq!(refusal.reason, RefusalReason::Write { path: "out.txt".to_owned() });
        }
        other => unreachable!("{other:?}"),
    }
    assert!(!root.path().join("out.txt").exists());
    let granted = [(Effect::Allow, "Bash"), (Effect::Allow, "Write(out.txt)")];
    let ran = run_in(root.path(), source, &granted);
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("#\n\nTomatoes\n", Ok(0)), "{}", ran.stderr);
}

#[test]
fn deep_calls_and_endless_loops_end() {
    let ran = run("awk 'function f(n) { return f(n + 1) } BEGIN { print f(0) }'");
    assert_eq!(ran.result.map(|completion| completion.status), Ok(2));
    assert_eq!(ran.stderr, "awk: function call nesting too deep in f\n");
    let ran = run("awk 'function f(n) { return n == 0 ? 0 : 1 + f(n - 1) } BEGIN { print f(150) }'");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("150\n", ""));
    let limits = builtin_limits().lowered_by("wall_ms_injection", 60).expect("lower");
    let rules = [(Effect::Allow, "Bash")];
    let ran = sandboxed(env!("CARGO_TARGET_TMPDIR"), project().path(), "awk 'BEGIN { while (1) n++ }'", &rules, limits);
    assert!(matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(_), .. })), "{:?}", ran.result);
}
