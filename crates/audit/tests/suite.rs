//! The suite itself: on the shipped backends no case fails, and a sandbox that is none fails every case.
#![expect(clippy::disallowed_methods, reason = "a test reads the documentation that it compares")]

use skillgate_audit::{
    Baseline, CaseReport, Options, Outcome, Report, Silent, Subject, Target, all_cases, matrix, run,
};
use skillgate_exec_wasm::{ChildCompiler, GuestComponent, WasmBackend};
use skillgate_packs::PackSet;
use skillgate_policy::builtin_limits;
use skillgate_sandbox::Helper;
use skillgate_state::OwnerDir;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The wasm backend over the shipped commands, with their compiled form kept between runs.
fn wasm() -> Subject {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components");
    let cache = OwnerDir::open_ambient(cache).expect("a directory of our own");
    let shipped = PackSet::shipped().components().to_vec().into_iter().map(|pack| {
        GuestComponent::new(pack.name(), pack.digest(), pack.commands().iter().copied(), move || pack.wasm())
    });
    let shipped = WasmBackend::builder(shipped).cache(cache).build().expect("the engine starts");
    Subject::wasm(Arc::new(shipped), Arc::new(ChildCompiler::new(beside("skillgate-compile"), [] as [&str; 0])))
}

/// A program that the workspace builds beside its tests.
fn beside(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("the test has a path");
    let path = tests.parent().and_then(Path::parent).expect("it lies in a directory of its own").join(name);
    assert!(path.is_file(), "`{}` is not built: build the workspace's programs", path.display());
    path
}

/// The Linux sandbox, with the helper beside the tests.
fn host() -> Subject {
    Subject::host(Some(Helper::at(beside("skillgate-sandbox"))))
}

fn options() -> Options {
    Options::new(builtin_limits()).probes(beside("skillgate-probes"))
}

fn of(report: &Report, result: Outcome) -> Vec<String> {
    let words = |case: &CaseReport| {
        format!("{} {} ({}): {} | {}", case.backend, case.id, case.title, case.detail, case.control)
    };
    report.cases.iter().filter(|case| case.result == result).map(words).collect()
}

/// Every case that the matrix has for a target is in the report, once, and none more.
fn assert_complete(report: &Report, target: Target, backend: &str) {
    let expected: Vec<u16> = all_cases().iter().filter(|case| case.applies_to(target)).map(|case| case.id).collect();
    let reported: Vec<u16> = report.cases.iter().filter(|case| case.backend == backend).map(|case| case.id).collect();
    assert_eq!(reported, expected, "{backend}");
    assert!(!expected.is_empty(), "{backend}");
}

#[test]
fn no_case_fails_against_the_wasm_backend() {
    let report = run(&options(), &[wasm()], &Silent);
    assert_eq!(of(&report, Outcome::Failed), Vec::<String>::new());
    assert_eq!(of(&report, Outcome::Unavailable), Vec::<String>::new());
    assert_complete(&report, Target::Wasm, "wasm");
}

#[test]
fn no_case_fails_against_the_library() {
    let report = run(&Options::new(builtin_limits()), &[Subject::library()], &Silent);
    assert_eq!(of(&report, Outcome::Failed), Vec::<String>::new());
    assert_eq!(of(&report, Outcome::Unavailable), Vec::<String>::new());
    assert_complete(&report, Target::Library, "library");
}

#[test]
fn no_case_fails_against_the_linux_sandbox() {
    let report = run(&options(), &[host()], &Silent);
    assert_eq!(of(&report, Outcome::Failed), Vec::<String>::new());
    let expected: Vec<u16> = all_cases()
        .iter()
        .filter(|case| case.applies_to(Target::Host) && !case.needs_a_process())
        .map(|case| case.id)
        .collect();
    let reported: Vec<u16> = report.cases.iter().map(|case| case.id).collect();
    assert_eq!(reported, expected);
    // A machine that lacks a part lacks it for every case.
    let numbers = &report.summary["host"];
    assert!(numbers.unavailable == 0 || numbers.passed == 0, "{:#?}", of(&report, Outcome::Unavailable));
}

/// Without this the suite could pass because it sees nothing: `sh -c` denies nothing, so every case must fail against it but
/// those about what the program that starts it does itself.
#[test]
fn a_sandbox_that_is_none_fails_every_case() {
    // Without filters a copy of a program has the rights of the program, which is all that is asked of it. The program is started
    // by its path, ended at its deadline and not waited for when its output is held open, no more of an output is kept than the
    // bound, and nothing is left behind: all that is done outside the sandbox. An approval that was taken back gives its vector to
    // nobody, whatever would have run it.
    const ITS_OWN_DOING: &[u16] = &[48, 61, 62, 63, 65, 68, 83];
    let report = run(&options(), &[Baseline::Sh.subject()], &Silent);
    let not_failed: Vec<u16> =
        report.cases.iter().filter(|case| case.result != Outcome::Failed).map(|case| case.id).collect();
    let unexpected: Vec<&u16> = not_failed.iter().filter(|id| !ITS_OWN_DOING.contains(id)).collect();
    assert_eq!(unexpected, Vec::<&u16>::new(), "{:#?}", of(&report, Outcome::Passed));
    assert!(report.cases.len() > ITS_OWN_DOING.len());
    assert!(report.cases.iter().all(|case| case.result != Outcome::Unavailable));
}

/// A backend that says it cannot work here is believed only as long as nothing ran.
#[test]
fn a_backend_that_is_unavailable_is_reported_so_and_nothing_ran() {
    let missing = Subject::host(Some(Helper::at(PathBuf::from("/nonexistent/helper"))));
    let report = run(&options(), &[missing], &Silent);
    assert_eq!(of(&report, Outcome::Passed), Vec::<String>::new());
    assert!(report.has_unavailable());
    let failed: Vec<u16> =
        report.cases.iter().filter(|case| case.result == Outcome::Failed).map(|case| case.id).collect();
    assert_eq!(failed, Vec::<u16>::new());
}

#[test]
fn numbers_are_given_once_and_every_case_says_what_it_does() {
    let cases = all_cases();
    let ids: BTreeSet<u16> = cases.iter().map(|case| case.id).collect();
    assert_eq!(ids.len(), cases.len());
    for case in &cases {
        let said = [case.title, case.attempt, case.control, case.denial];
        assert!(said.iter().all(|text| !text.is_empty()), "{case:?}");
        assert!(!case.targets.is_empty() && !case.sources.is_empty() && !case.limit.is_zero(), "{case:?}");
    }
}

#[test]
fn the_matrix_has_a_line_for_each_case() {
    let cases = all_cases();
    let table = matrix(&cases);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let text = std::fs::read_to_string(&path).expect("docs/audit.md is there");
    assert!(text.contains(&table), "docs/audit.md is old: run `cargo xtask docs`");
    assert_eq!(table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| case")).count(), cases.len());
}
