use crate::backend::RunError;
use crate::mounts::Mounts;
use crate::run::{Bound, Stop};
use crate::testing::{limits, run, run_with};
use skillgate_core::Limits;
use skillgate_policy::RefusalReason;

mod agreement;
mod limits;
mod nested;
mod scripts;

/// Runs programs under `Bash` and compares output and status.
fn check(table: &[(&str, &str, u8)]) {
    for (source, stdout, status) in table {
        let ran = run(source);
        let completion = ran.result.as_ref().unwrap_or_else(|error| unreachable!("{source}: {error}"));
        assert_eq!((ran.stdout.as_str(), completion.status), (*stdout, *status), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn words_are_expanded_as_a_shell_expands_them() {
    check(&[
        ("args a 'b c' \"d  e\" f\\ g", "[a][b c][d  e][f g]\n", 0),
        ("args ''\"\" x", "[][x]\n", 0),
        ("x='a  b'; args $x \"$x\" '$x'", "[a][b][a  b][$x]\n", 0),
        ("x=; args $x \"$x\" end", "[][end]\n", 0),
        ("args ${x:-d e} \"${x:-d  e}\" ${x+set}", "[d][e][d  e]\n", 0),
        ("x=v; args ${x:+y} ${#x} ${x:=z}", "[y][1][v]\n", 0),
        ("x=a.tar.gz; args ${x%.*} ${x%%.*} ${x#*.} ${x##*.}", "[a.tar][a][tar.gz][gz]\n", 0),
        ("x=abcabc; args ${x/b/X} ${x//b/X} ${x:1:3} ${x: -2} ${x^^}", "[aXcabc][aXcaXc][bca][bc][ABCABC]\n", 0),
        ("args {a,b}c {1..3}", "[ac][bc][1][2][3]\n", 0),
        ("args $(args x y) \"$(args 'x  y')\"", "[[x][y]][[x  y]]\n", 0),
        ("args `args q`", "[[q]]\n", 0),
        ("args $((1 + 2 * 3)) $((x = 4)) $x", "[7][4][4]\n", 0),
        ("x=3+5; args $(( $(cat <<< 3+5) )) $(( $x )) $((x * 2))", "[8][8][16]\n", 0),
        ("args ~ ~/d '~'", "[/home/s][/home/s/d][~]\n", 0),
        ("args \"$@\" $* $#", "[0]\n", 0),
        ("IFS=:; x=a:b::c; args $x", "[a][b][][c]\n", 0),
        ("args a=b", "[a=b]\n", 0),
        ("args no*match", "[no*match]\n", 0),
    ]);
}

#[test]
fn lists_conditions_and_loops_have_the_statuses_of_a_shell() {
    check(&[
        ("true && args y || args n", "[y]\n", 0),
        ("false && args y || args n", "[n]\n", 0),
        ("! false", "", 0),
        ("fail 3", "", 3),
        ("fail 3; args $?", "[3]\n", 0),
        ("nosuch || args fallback", "[fallback]\n", 0),
        ("nosuch", "", 127),
        ("(exit 4); args $?", "[4]\n", 0),
        ("{ args a; args b; } | cat", "[a]\n[b]\n", 0),
        ("fail 2 | true", "", 0),
        ("set -o pipefail; fail 2 | true", "", 2),
        ("set -e; fail 5; args no", "", 5),
        ("set -e; fail 5 || true; args yes", "[yes]\n", 0),
        ("set -u; args $nope; args no", "", 1),
        ("if false; then args a; elif true; then args b; else args c; fi", "[b]\n", 0),
        ("for x in a b; do args $x; done", "[a]\n[b]\n", 0),
        ("for x in a b c; do [ $x = b ] && continue; args $x; done", "[a]\n[c]\n", 0),
        ("for x in a b; do for y in 1 2; do break 2; done; done; args $x$y", "[a1]\n", 0),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; args $i", "[3]\n", 0),
        ("i=0; until [ $i -ge 2 ]; do i=$((i+1)); done; args $i", "[2]\n", 0),
        ("case abc in x) args 1;; a*) args 2;; *) args 3;; esac", "[2]\n", 0),
        ("[[ abc == a* && ! -e x ]] && args y", "[y]\n", 0),
        ("((2 > 1)) && args y", "[y]\n", 0),
        ("x=$(fail 7); args $?", "[7]\n", 0),
        ("exit 300", "", 44),
        ("cat <<E\na $((1+1))\nE", "a 2\n", 0),
        ("cat <<'E'\n$x\nE", "$x\n", 0),
        ("cat <<< 'a b'", "a b\n", 0),
        ("printf_missing x", "", 127),
        ("args x | read y; args \"$y\"", "[]\n", 0),
        ("args 'p q' | { read y z; args $z; }", "[q]]\n", 0),
        ("IFS=, read a b <<< 'x, y,z'; args \"$a\" \"$b\" \"$IFS\"", "[x][ y,z][ \t\n]\n", 0),
        ("IFS= read -r l <<< '  two  '; args \"$l\"", "[  two  ]\n", 0),
        ("while true; do echo y; done | head", "y\n", 0),
    ]);
}

#[test]
fn names_are_described_as_bash_describes_them() {
    check(&[
        ("command -v args cd if sh which", "/usr/bin/args\ncd\nif\n/usr/bin/sh\n/usr/bin/which\n", 0),
        ("command -v nope; args $?; command -v nope cd; args $?", "[1]\ncd\n[0]\n", 0),
        (
            "type args cd if sh",
            "args is /usr/bin/args\ncd is a shell builtin\nif is a shell keyword\nsh is /usr/bin/sh\n",
            0,
        ),
        ("f() { :; }; type -t f cd args if nope; args $?", "function\nbuiltin\nfile\nkeyword\n[1]\n", 0),
        ("type nope cd 2>/dev/null; args $?", "cd is a shell builtin\n[1]\n", 0),
        ("command -V args", "args is /usr/bin/args\n", 0),
        ("which args sh", "/usr/bin/args\n/usr/bin/sh\n", 0),
        ("which cd nope args; args $?", "/usr/bin/args\n[1]\n", 0),
        ("which || args $?", "[1]\n", 0),
    ]);
    for source in ["f() { :; }; type f", "type -a args", "command -p args", "which -a args"] {
        let ran = run(source);
        assert_eq!((ran.stdout.as_str(), ran.result.expect(source).status), ("", 2), "{source}");
        assert!(ran.stderr.contains("support"), "{source}: {}", ran.stderr);
    }
}

#[test]
fn streams_go_where_redirections_say() {
    let ran = run("fail 2>/dev/null; fail 1>&2 2>&1; args out >&2; args gone >/dev/null; fail 2>&1 | cat");
    assert_eq!(ran.stdout, "fail: told to\n");
    assert_eq!(ran.stderr, "fail: told to\n[out]\n");
    let ran = run("cat < /nope; args after");
    assert_eq!((ran.stdout.as_str(), ran.vectors.len()), ("[after]\n", 1), "{}", ran.stderr);
}

#[test]
fn a_closed_reader_ends_its_writer() {
    let ran = run("yes | head");
    assert_eq!((ran.stdout.as_str(), ran.result.expect("it ends").status), ("y\n", 0));
}

#[test]
fn what_runs_is_what_was_checked() {
    let ran = run("args a | cat; args $(args b)");
    let recorded: Vec<_> = ran.result.expect("it runs").commands.into_iter().map(|command| command.argv).collect();
    let mut ran_vectors = ran.vectors;
    let mut recorded_sorted = recorded;
    ran_vectors.sort();
    recorded_sorted.sort();
    assert_eq!(ran_vectors, recorded_sorted);
}

#[test]
fn one_refusal_refuses_all_before_anything_runs() {
    for source in [
        "args ok; head",
        "args ok || head",
        "args $(head)",
        "if args; then head; fi",
        "args ok | head | cat",
        "cat > out",
    ] {
        let ran = run_with(source, &["Bash(args:*)", "Bash(cat)"], &Mounts::none(), limits());
        // `head` and `cat` are filters that need no grant; the second table has a command that is none.
        let refused = matches!(ran.result, Err(RunError::Refused(_)));
        let filter_only = source.contains("head");
        assert_eq!(refused, !filter_only, "{source}");
    }
    for source in
        ["args ok; touch x", "args ok || touch x", "args $(touch x)", "args ok | touch x", "args > $(touch x)"]
    {
        let ran = run_with(source, &["Bash(args:*)"], &Mounts::none(), limits());
        assert!(matches!(ran.result, Err(RunError::Refused(_))) && ran.vectors.is_empty(), "{source}");
    }
}

#[test]
fn a_vector_that_is_known_late_is_decided_when_it_exists() {
    let ran = run_with("x=to; args first; ${x}uch y || args hidden", &["Bash(args:*)"], &Mounts::none(), limits());
    let Err(RunError::Refused(refusal)) = ran.result else { unreachable!("it is refused") };
    assert_eq!(refusal.reason, RefusalReason::NotGranted);
    assert_eq!(ran.vectors, [["args", "first"]], "no `||` hides a refusal");
}

#[test]
fn a_write_attempt_refuses_the_run() {
    let ran = run("touch x || args hidden");
    assert!(matches!(ran.result, Err(RunError::Refused(refusal)) if refusal.remedy.as_deref() == Some("Write(x)")));
    for source in ["args a > x", "args a >> x", "args a &> x", "y=x; args a > $y"] {
        assert!(matches!(run(source).result, Err(RunError::Refused(_))), "{source}");
    }
}

#[test]
fn a_produced_word_is_never_an_option() {
    for (source, allowed) in [
        ("args $(args -x)", true),
        ("x=$(cat <<< -rf); args $x", false),
        ("args $(cat <<< -rf)", false),
        ("args -$(cat <<< rf)", false),
        ("args --since=$(cat <<< -1)", true),
        ("x=-rf; args $x", true),
        ("x=$(cat <<< -rf); x+=; args $x", false),
        ("x=\"a $(cat <<< -rf)\"; args $x", false),
        ("x=a; args ${x/a/$(cat <<< -rf)}", false),
        ("args $((0 - 5))", false),
        ("for x in \"sub $(cat <<< -la)\"; do args $x; done", false),
        ("n=$(cat <<< -2); : $((m = n)); args $m", false),
        ("args \"--x=$(cat <<< 'a -rf')\"", true),
        ("args --x=$(cat <<< 'a -rf')", false),
        ("args \"$(cat <<< '- item')\"", false),
        ("echo $(cat <<< -n)", true),
    ] {
        let ran = run_with(source, &["Bash(args:*)", "Bash(cat:*)"], &Mounts::none(), limits());
        let refused = matches!(&ran.result, Err(RunError::Refused(refusal))
            if matches!(refusal.reason, RefusalReason::ProducedOption { .. }));
        assert_eq!(!refused, allowed, "{source}: {:?}", ran.result);
        assert!(run(source).result.is_ok(), "bare Bash takes it: {source}");
    }
}

#[test]
fn globs_and_file_tests_see_the_mounts_and_nothing_else() {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in [("a.md", "A"), ("b.md", "B"), (".hidden.md", ""), ("sub/c.md", "C"), ("sub/d.txt", "")] {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
    for (source, stdout) in [
        ("args *.md", "[a.md][b.md]\n"),
        ("args .*.md", "[.hidden.md]\n"),
        ("args */*.md", "[sub/c.md]\n"),
        ("args '*.md'", "[*.md]\n"),
        ("args */", "[sub/]\n"),
        ("args ../*", "[../*]\n"),
        ("args /etc/*", "[/etc/*]\n"),
        ("cd sub; args *", "[c.md][d.txt]\n"),
        ("[ -f a.md ] && [ -d sub ] && [ ! -e nope ] && args yes", "[yes]\n"),
        ("[ -e /etc/passwd ] || args no", "[no]\n"),
        ("cd /etc || args stays", "[stays]\n"),
        ("cat < a.md", "A"),
        ("cd sub && cat < ../b.md", "B"),
    ] {
        let ran = run_with(source, &["Bash"], &mounts, limits());
        assert_eq!(ran.stdout, stdout, "{source}: {:?} {}", ran.result, ran.stderr);
    }
}

#[test]
fn a_builtin_reads_a_file_only_where_reading_is_granted() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("a.md"), "text\n").expect("a file");
    let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
    for source in ["read -r x < a.md; args \"$x\"", "while read -r x; do args \"$x\"; done < a.md"] {
        for (allow, reads) in [
            (&["Bash"][..], true),
            (&["Bash(args:*)", "Read"], true),
            (&["Bash(args:*)", "Read(*.md)"], true),
            (&["Bash(args:*)"], false),
        ] {
            let ran = run_with(source, allow, &mounts, limits());
            assert_eq!(ran.stdout == "[text]\n", reads, "{source} under {allow:?}: {:?}", ran.result);
            assert_eq!(matches!(ran.result, Err(RunError::Refused(_))), !reads, "{source} under {allow:?}");
        }
    }
}

#[test]
fn every_limit_ends_the_run_with_its_name() {
    let lowered = |name: &str, value: u64| -> Limits { limits().lowered_by(name, value).expect("lower") };
    for (source, limits, bound) in [
        ("yes", lowered("wall_ms_injection", 30), Bound::WallTime(30)),
        ("yes | cat >/dev/null", lowered("wall_ms_injection", 30), Bound::WallTime(30)),
        ("while true; do :; done", lowered("loop_turns", 9), Bound::LoopTurns(9)),
        ("args; args; args", lowered("commands", 2), Bound::Commands(2)),
        ("args | cat | cat", lowered("pipeline_stages", 2), Bound::PipelineStages(2)),
        ("x=$(yes)", lowered("output_bytes", 100), Bound::Output(100)),
        ("args {1..50}", lowered("glob_results", 10), Bound::GlobResults(10)),
        ("x=aaaaaaaaaaaaaaaa; for i in {1..40}; do x=$x$x; done", lowered("output_bytes", 1000), Bound::Output(1000)),
        ("for i in {1..40}; do export x$i=aaaaaaaaaaaaaaaa; done", lowered("output_bytes", 100), Bound::Variables(200)),
        ("x=aaaaaaaaaaaaaaaa; args $x$x$x$x$x$x$x$x", lowered("output_bytes", 100), Bound::Output(100)),
        ("x=aaaaaaaaaaaaaaaa; args {1..9}$x", lowered("output_bytes", 100), Bound::Output(100)),
        (
            "x=aaaaaaaaaaaaaaaaaaaaaaaa; y=${x//a/$x$x}; args ${y//a/$y}",
            lowered("output_bytes", 200),
            Bound::Output(200),
        ),
        ("{ { args | cat; } | { args | cat; } } | cat", lowered("pipeline_stages", 0), Bound::PipelineStages(0)),
    ] {
        let ran = run_with(source, &["Bash"], &Mounts::none(), limits);
        match ran.result {
            Err(RunError::Stopped { stop: Stop::Bound(found), .. }) => assert_eq!(found, bound, "{source}"),
            other => unreachable!("{source}: {other:?}"),
        }
    }
}
