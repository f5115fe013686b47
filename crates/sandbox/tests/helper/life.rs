//! When a run ends, and that nothing of it is left.

use crate::support::{Outcome, alone, directory, finish, helper, run, shell, tests_as_both};
use skillgate_sandbox::{Ending, Event, Running, Stream};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Waits until the program said something.
fn first_output(running: &mut Running) -> Vec<u8> {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < until, "the program said nothing");
        if let Event::Output(Stream::Stdout, bytes) = running.next(Duration::from_secs(1)).expect("it can be heard") {
            return bytes;
        }
    }
}

/// How many things this process has open, and how many processes and mounts the machine has of this test.
fn left_behind() -> (usize, usize, usize) {
    let count = |path: &str| std::fs::read_dir(path).expect("it is there").count();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("it is there").lines().count();
    let own = std::process::id().to_string();
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let threads = std::fs::read_dir("/proc/self/task").expect("it is there");
    let of_threads = threads.filter_map(Result::ok).map(|thread| {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.split_whitespace().count()
    });
    (count("/proc/self/fd"), mounts, of_threads.sum::<usize>().max(children.split_whitespace().count()))
}

tests_as_both! {
    fn what_is_killed_is_gone_with_all_that_it_started() {
        // Ignores what can be ignored, leaves its session, and closes its streams.
        let script = "trap '' TERM HUP INT; setsid sh -c 'exec >/dev/null 2>&1 </dev/null; while :; do :; done' & echo started; while :; do :; done";
        let mut running = helper().start(&shell(script), false).expect("starts");
        assert_eq!(first_output(&mut running), b"started\n");
        running.kill();
        let outcome = finish(&mut running);
        assert_eq!(outcome.ending, None, "{outcome:?}");
    }

    fn a_daemon_dies_when_the_program_ends() {
        // It holds the output open; the end of the stream comes all the same, because it is dead.
        let started = Instant::now();
        let outcome = run(&shell("setsid sleep 1000 & echo done"));
        assert_eq!((outcome.stdout.as_str(), outcome.ending), ("done\n", Some(Ending::Exited(0))));
        assert!(started.elapsed() < Duration::from_secs(500), "it waited for the daemon");
    }

    fn a_run_that_is_dropped_is_gone() {
        alone(concat!(module_path!(), "::a_run_that_is_dropped_is_gone"), || {
            let before = left_behind();
            let mut running = helper().start(&shell("echo started; while :; do :; done"), false).expect("starts");
            first_output(&mut running);
            drop(running);
            assert_eq!(left_behind(), before);
        });
    }

    fn a_program_reads_what_it_is_given_to_the_end() {
        let mut running = helper().start(&shell("wc -c"), true).expect("starts");
        let mut input = running.input().expect("a pipe");
        assert!(running.input().is_none(), "it is given once");
        let writer = std::thread::spawn(move || input.write_all(&vec![b'x'; 300_000]));
        let outcome = finish(&mut running);
        writer.join().expect("no panic").expect("all of it is read");
        assert_eq!(outcome.text(), "300000\n");
    }

    fn a_closed_stream_ends_its_writer() {
        let mut running = helper().start(&shell("while :; do echo y; done"), false).expect("starts");
        first_output(&mut running);
        running.close(Stream::Stdout);
        assert_eq!(finish(&mut running).ending, Some(Ending::Signalled(13)));
    }

    fn both_streams_arrive_whole() {
        let outcome = run(&shell("head -c 3000000 /dev/zero | tr '\\0' o; head -c 3000000 /dev/zero | tr '\\0' e >&2"));
        assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (3_000_000, 3_000_000));
    }
}

/// As the sum of all stages: descriptors, mounts, children and directories, after runs one after the other and at once.
#[test]
fn many_runs_leave_nothing_behind() {
    alone(concat!(module_path!(), "::many_runs_leave_nothing_behind"), many_runs);
}

fn many_runs() {
    const ONE_BY_ONE: usize = 1_000;
    const AT_ONCE: usize = 50;
    let outside = directory();
    let entries = || std::fs::read_dir(outside.path()).expect("it is there").count();
    let ok = |outcome: &Outcome| assert_eq!(outcome.stdout, "ran\n", "{outcome:?}");
    ok(&run(&shell("echo ran")));
    let before = (left_behind(), entries());
    for _ in 0..ONE_BY_ONE {
        ok(&run(&shell("echo ran")));
    }
    assert_eq!((left_behind(), entries()), before);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| run(&shell("echo ran")))).collect();
        for run in runs {
            ok(&run.join().expect("no panic"));
        }
    });
    assert_eq!((left_behind(), entries()), before);
}
