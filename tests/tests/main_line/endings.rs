//! How injections end: statuses, the order and size of their output, and limits.

use crate::Case;
use skillgate_exec::{Bound, RunError, Stop};
use skillgate_runtime::InvokeError;

#[test]
fn a_status_that_means_failure_aborts_the_invocation() {
    for (program, command, status) in [
        ("cat missing", "cat missing", 1),
        ("ls missing", "ls missing", 2),
        ("false", "false", 1),
        ("exit 3", "exit 3", 3),
        ("echo x; (exit 7)", "exit 7", 7),
        ("no-such-command-here", "no-such-command-here", 127),
        ("ls | cat missing", "cat missing", 1),
        ("echo a && cat missing", "cat missing", 1),
        ("set -o pipefail; cat missing | wc -l", "cat missing", 1),
        ("set -e; cat missing; echo on", "cat missing", 1),
        ("test a -bad b", "test a -bad b", 2),
        ("for f in x y; do cat $f; done", "cat y", 1),
        ("! true", "true", 1),
    ] {
        let outcome = Case::new(&format!("Before !`echo first` !`{program}` after")).invoke();
        match outcome.result {
            Err(InvokeError::Failed(failed)) => {
                assert_eq!((failed.command.as_str(), failed.status), (command, status), "{program}");
                assert_eq!(failed.source_text, program);
            }
            other => unreachable!("{program}: {other:?}"),
        }
    }
}

#[test]
fn status_one_of_a_command_that_looks_for_something_is_nothing_found() {
    for program in
        ["test -f missing", "[ -f missing ]", "[ a = b ] && echo x", "[[ a == b ]]", "ls >/dev/null; [ -d x ]"]
    {
        let outcome = Case::new(&format!("Found: !`{program}`.")).invoke();
        assert_eq!(outcome.prompt(), "Found: .\n", "{program}");
        let invocation = outcome.result.expect("it ran");
        let codes: Vec<_> = invocation.diagnostics.iter().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, ["command-status-1"], "{program}");
        assert_eq!(invocation.injections[0].exit_code, 1);
        let span = invocation.diagnostics[0].span.expect("it has a place");
        let file = std::fs::read_to_string(outcome.tree.path(".claude/skills/s/SKILL.md")).expect("the file");
        assert_eq!(span.slice(&file), Some(format!("!`{program}`").as_str()));
    }
    let control = Case::new("!`[ -f README.md ]`").invoke();
    assert!(control.result.expect("it ran").diagnostics.is_empty());
}

#[test]
fn both_streams_stand_in_the_order_in_which_they_were_written() {
    for (program, output) in [
        ("echo one; cat missing || true; echo two", "one\ncat: missing: No such file or directory\ntwo"),
        ("echo one; cat missing 2>/dev/null || true; echo two", "one\ntwo"),
        ("cat missing 2>&1 | wc -l", "1"),
        ("{ echo out; echo err >&2; echo out again; }", "out\nerr\nout again"),
        ("{ echo out; echo err >&2; } 2>/dev/null", "out"),
        ("{ echo out; echo err >&2; } 2>&1 >/dev/null | tr a-z A-Z", "ERR"),
    ] {
        assert_eq!(Case::new(&format!("!`{program}`")).invoke().prompt(), format!("{output}\n"), "{program}");
    }
}

#[test]
fn output_is_made_safe_to_show() {
    let outcome = Case::new("!`printf '\\033[31mred\\033[0m \\033]0;title\\007x\\r\\b\\ny\\n\\n'`").invoke();
    assert_eq!(outcome.prompt(), "red x\ny\n\n", "one newline at the end is taken off");
}

#[test]
fn output_that_is_too_long_is_cut_and_marked() {
    let outcome = Case::new("!`seq 1000`").limit("prompt_chars", 10).invoke();
    assert_eq!(outcome.prompt(), "1\n2\n3\n4\n5\n[… 3882 bytes cut]\n");
    let report = &outcome.result.expect("it ran").injections[0];
    assert!(report.truncated);
    assert_eq!(report.stdout_bytes, 3893);

    let outcome = Case::new("!`seq 1000`").limit("output_bytes", 20).invoke();
    assert_eq!(outcome.prompt(), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n[… 3873 bytes cut]\n");

    let outcome = Case::new("!`seq 5`").limit("prompt_chars", 9).invoke();
    assert_eq!(outcome.prompt(), "1\n2\n3\n4\n5\n", "the control: what fits is not marked");
    assert!(!outcome.result.expect("it ran").injections[0].truncated);
}

#[test]
fn what_does_not_end_is_ended_by_its_limit() {
    for (program, limit, value, bound) in [
        ("yes > /dev/null", "wall_ms_injection", 60, Bound::WallTime(60)),
        ("yes | wc -l", "wall_ms_injection", 60, Bound::WallTime(60)),
        ("sleep 600 || echo hidden", "wall_ms_injection", 60, Bound::WallTime(60)),
        ("while true; do :; done", "wall_ms_injection", 60, Bound::WallTime(60)),
        ("while true; do :; done", "loop_turns", 100, Bound::LoopTurns(100)),
        ("ls; ls", "wall_ms_invocation", 0, Bound::WallTime(0)),
        ("for i in 1 2 3; do ls; done", "commands", 2, Bound::Commands(2)),
        ("echo \"$(yes)\"", "output_bytes", 5000, Bound::Output(5000)),
        ("seq 1000000 | sort", "memory_bytes", 8 << 20, Bound::Memory(8 << 20)),
        ("echo beds/*", "glob_results", 1, Bound::GlobResults(1)),
        ("ls | ls | ls", "pipeline_stages", 2, Bound::PipelineStages(2)),
    ] {
        let outcome = Case::new(&format!("!`{program}`")).limit(limit, value).invoke();
        match outcome.result {
            Err(InvokeError::Run { error: RunError::Stopped { stop: Stop::Bound(found), .. }, source_text }) => {
                assert_eq!((found, source_text.as_str()), (bound, program));
            }
            other => unreachable!("{program}: {other:?}"),
        }
    }
    let outcome = Case::new("!`seq 100000 | tail -n 1`").limit("output_bytes", 100).invoke();
    assert_eq!(outcome.prompt(), "100000\n", "the control: what flows through a pipe is not kept");
}

#[test]
fn a_program_that_is_too_large_or_too_deep_refuses_before_it_is_read() {
    let deep = format!("echo {}x{}", "$(echo ".repeat(80), ")".repeat(80));
    let large = format!("echo {}", "x".repeat(300));
    for (program, limit, value) in [(deep.as_str(), "depth", 64), (large.as_str(), "source_bytes", 256)] {
        let outcome = Case::new(&format!("!`{program}`")).limit(limit, value).invoke();
        assert!(matches!(outcome.result, Err(InvokeError::Program { .. })), "{limit}: {:?}", outcome.result);
        assert_eq!(outcome.ran, Vec::<String>::new());
    }
}
