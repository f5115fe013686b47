//! Every limit of a run: what just fits runs, and one more ends the run with the limit's name and number.

use crate::backend::RunError;
use crate::mounts::Mounts;
use crate::program::Program;
use crate::run::{Bound, Stop};
use crate::testing::{limits, run_with};
use skillgate_core::Limits;
use std::sync::Arc;

/// A limit, its number, a program that just fits, one that does not, what is stopped, and the bound.
type Row<'a> = (&'a str, u64, &'a str, &'a str, &'a str, Bound);

fn lowered(name: &str, number: u64) -> Limits {
    limits().lowered_by(name, number).expect("it is lower than the built-in one")
}

fn check(mounts: &Arc<Mounts>, allow: &[&str], rows: &[Row<'_>]) {
    for (name, number, fits, past, stopped, bound) in rows {
        let ran = run_with(fits, allow, mounts, lowered(name, *number));
        assert!(ran.result.is_ok(), "{name} {number}: {fits}: {:?}", ran.result);
        let ran = run_with(past, allow, mounts, lowered(name, *number));
        let Err(error) = ran.result else { unreachable!("{name} {number}: {past} ended by itself") };
        let expected = RunError::Stopped { command: (*stopped).to_owned(), stop: Stop::Bound(*bound) };
        assert_eq!(error, expected, "{name} {number}: {past}");
        let message = error.to_string();
        assert!(message.contains(&format!("`{stopped}`")), "{message}");
    }
}

#[test]
fn what_just_fits_runs_and_one_more_does_not() {
    check(
        &Mounts::none(),
        &["Bash"],
        &[
            ("commands", 2, "args; args", "args; args; args", "args", Bound::Commands(2)),
            ("commands", 2, "args | cat", "args | cat; args", "args", Bound::Commands(2)),
            ("commands", 2, "args; nosuch || :", "args; nosuch; nosuch", "nosuch", Bound::Commands(2)),
            (
                "loop_turns",
                3,
                "for i in 1 2 3; do :; done",
                "for i in 1 2 3 4; do :; done",
                "a loop",
                Bound::LoopTurns(3),
            ),
            (
                "loop_turns",
                4,
                "n=0; while [ $((n += 1)) -lt 4 ]; do :; done",
                "n=0; until [ $((n += 1)) -gt 4 ]; do :; done",
                "a loop",
                Bound::LoopTurns(4),
            ),
            (
                "loop_turns",
                6,
                "for i in 1 2; do for j in 1 2; do :; done; done",
                "for i in 1 2; do for j in 1 2 3; do :; done; done",
                "a loop",
                Bound::LoopTurns(6),
            ),
            (
                "pipeline_stages",
                3,
                "args | cat | cat",
                "args | cat | cat | cat",
                "a pipeline",
                Bound::PipelineStages(3),
            ),
            ("output_bytes", 10, "args $(args a)", "args $(yes)", "yes", Bound::Output(10)),
            (
                "output_bytes",
                10,
                ": $(echo aaaa; echo bbbb)",
                ": $(echo aaaa; echo bbbb; echo)",
                "the shell",
                Bound::Output(10),
            ),
            ("output_bytes", 12, "x=aaaa; args $x$x", "x=aaaa; args $x$x$x", "expansion", Bound::Output(12)),
            ("glob_results", 10, "args {1..9}", "args {1..11}", "brace expansion", Bound::GlobResults(10)),
            ("glob_results", 5, "args {a,b}{1,2}", "args {a,b}{1,2,3}", "brace expansion", Bound::GlobResults(5)),
            ("glob_results", 4, "x='a b c'; args $x", "x='a b c d'; args $x", "expansion", Bound::GlobResults(4)),
        ],
    );
}

#[test]
fn variables_are_bounded_together() {
    // Twice what one stream may hold, less what is set from the beginning: HOME and IFS.
    let limit = 2 * 100;
    let room = limit - "HOME/home/s".len() - "IFS \t\n".len() - "x".len();
    let limits = || lowered("output_bytes", 100);
    let halves = |length: usize| {
        let (left, right) = (length / 2, length - length / 2);
        format!("x={}; x+={}", "a".repeat(left), "a".repeat(right))
    };
    // A value that replaces another counts beside it, so that half as long is what fits.
    let fits = run_with(&format!("x={}", "a".repeat(room.min(100))), &["Bash"], &Mounts::none(), limits());
    assert!(fits.result.is_ok(), "{:?}", fits.result);
    let past = run_with(&halves(room + 1), &["Bash"], &Mounts::none(), limits());
    let bound = Stop::Bound(Bound::Variables(limit as u64));
    assert_eq!(past.result, Err(RunError::Stopped { command: "the shell".to_owned(), stop: bound }));
}

#[test]
fn nesting_is_counted_while_a_program_runs() {
    let recursion = |depth: u32| format!("n=0; f() {{ n=$((n + 1)); [ $n -ge {depth} ] || f; }}; f; args $n");
    let reached = |depth: u32| run_with(&recursion(depth), &["Bash"], &Mounts::none(), lowered("depth", 8));
    let fits = (1..20).take_while(|depth| reached(*depth).result.is_ok()).last().expect("one call fits");
    assert_eq!(reached(fits).stdout, format!("[{fits}]\n"));
    let Err(RunError::Stopped { stop, .. }) = reached(fits + 1).result else { unreachable!("it nests too deep") };
    assert_eq!(stop, Stop::Bound(Bound::Depth(8)));
    assert!(fits < 9, "{fits} calls in a depth of 8");
}

#[test]
fn pipelines_in_each_other_are_bounded_together() {
    let nested = |depth: usize| format!("{}args{}", "{ ".repeat(depth), "; } | cat".repeat(depth));
    let run = |depth| run_with(&nested(depth), &["Bash"], &Mounts::none(), lowered("pipeline_stages", 2));
    // Eight pipelines of two stages may be alive at once.
    assert!(run(8).result.is_ok());
    let Err(RunError::Stopped { stop, .. }) = run(9).result else { unreachable!("too many stages are alive") };
    assert_eq!(stop, Stop::Bound(Bound::PipelineStages(2)));
}

#[test]
fn what_a_program_writes_and_finds_in_files_is_bounded() {
    let root = tempfile::tempdir().expect("a directory");
    for name in ["a", "b", "c"] {
        std::fs::write(root.path().join(name), "x").expect("a file");
    }
    std::fs::write(root.path().join("s.sh"), "args script\n").expect("a file");
    std::fs::write(root.path().join("t.md"), "thirteen byte").expect("a file");
    let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
    check(
        &mounts,
        &["Bash", "Write(out)"],
        &[
            ("native_file_bytes", 5, "echo aaaa > out", "echo aaaaa > out", "the shell", Bound::Written(5)),
            (
                "native_file_bytes",
                6,
                "echo a > out; echo bbb >> out",
                "echo a > out; echo bbbb >> out",
                "the shell",
                Bound::Written(6),
            ),
            ("glob_results", 4, "args [abc]", "args [abcs]*", "expansion", Bound::GlobResults(4)),
            ("glob_results", 2, "args [a]", "args [abc]", "a glob", Bound::GlobResults(2)),
            ("output_bytes", 12, ": $(< s.sh)", ": $(< t.md)", "<", Bound::Output(12)),
        ],
    );
    let sourced = "args script\n".len() as u64;
    for program in ["./s.sh", "sh s.sh", ". ./s.sh"] {
        assert!(run_with(program, &["Bash"], &mounts, lowered("source_bytes", sourced)).result.is_ok(), "{program}");
        let past = run_with(program, &["Bash"], &mounts, lowered("source_bytes", sourced - 1));
        let bound = Stop::Bound(Bound::Source(sourced - 1));
        assert!(
            matches!(past.result, Err(RunError::Stopped { stop, .. }) if stop == bound),
            "{program}: {:?}",
            past.result
        );
    }
}

#[test]
fn a_program_is_bounded_before_it_is_read() {
    let text = "args a; args b";
    assert!(Program::from_text(text, &lowered("source_bytes", text.len() as u64)).is_ok());
    let error =
        Program::from_text(text, &lowered("source_bytes", text.len() as u64 - 1)).expect_err("one byte too many");
    assert_eq!(error.reason, "the program has 14 bytes and the limit is 13; move it into a script file");
    assert_eq!((error.span.start, error.span.end), (0, 14));
    let nested = |depth: usize| format!("{}args{}", "( ".repeat(depth), " )".repeat(depth));
    assert!(Program::from_text(&nested(4), &lowered("depth", 4)).is_ok());
    let error = Program::from_text(&nested(5), &lowered("depth", 4)).expect_err("one level too many");
    assert_eq!(error.reason, "nested deeper than 4 levels; use variables or functions to flatten it");
    assert_eq!(error.span.start, 8, "where the fifth level begins");
}

#[test]
fn the_number_of_a_descriptor_is_bounded() {
    for source in ["args 9>&1", "args >&1 9>&2", "args 2>&-"] {
        assert!(Program::from_text(source, &limits()).is_ok(), "{source}");
    }
    for (source, at) in
        [("args 10>&1", 5), ("args 99999999999999999999>&1", 5), ("args >&10", 5), ("args 4294967296>x", 5)]
    {
        let error = Program::from_text(source, &limits()).expect_err(source);
        assert_eq!(error.span.start, at, "{source}: {error}");
    }
}
