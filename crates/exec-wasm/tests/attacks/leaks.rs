//! That runs leave nothing behind in the process or on the machine.

use crate::support::{Setting, backend, run_on};
use skillgate_exec_wasm::attack::Attack;

/// Descriptors and threads of this process, and directories of runs on the machine.
#[cfg(target_os = "linux")]
fn census() -> (usize, usize) {
    let count = |path: &str| std::fs::read_dir(path).expect("the system has /proc").count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_runs_and_fifty_at_once_leave_nothing_behind() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("kept"), "text").expect("a file");
    let path = root.path().join("kept").to_str().expect("UTF-8").trim_start_matches('/').as_bytes().to_vec();
    let setting = || Setting { stdin: path.clone(), ..Setting::of_project(root.path(), &[]) };
    let backends = [
        backend(Attack::Nothing.component()),
        backend(Attack::Trap.component()),
        backend(Attack::StreamsBehindClosedDescriptors { keep: true }.component()),
        backend(Attack::Handles(10).component()),
    ];
    // Loads the code, and starts what a process starts once.
    for backend in &backends {
        drop(run_on(backend, setting()));
    }
    let before = census();
    for turn in 0..1_000 {
        drop(run_on(&backends[turn % backends.len()], setting()));
    }
    assert_eq!(census(), before);
    std::thread::scope(|scope| {
        for turn in 0..50 {
            let backend = &backends[turn % backends.len()];
            scope.spawn(move || drop(run_on(backend, setting())));
        }
    });
    // A thread that was joined may be listed for a moment longer.
    let settled = (0..1_000).any(|_| {
        std::thread::yield_now();
        census() == before
    });
    assert!(settled, "{:?} and then {:?}", before, census());
}
