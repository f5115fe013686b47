//! `skillgate audit`, as root where the tests run as root, and as a user who owns nothing.
#![cfg(target_os = "linux")]

use crate::fixture::{World, ran, validate};
use serde_json::Value;
use skillgate_audit::{Target, all_cases};
use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const NOBODY: u32 = 65_534;

/// What must hold for a report of all cases: none failed, none missing, none too many; a backend that is not available is so for
/// every case.
fn assert_complete(report: &Value, backends: &[Target]) {
    validate("audit", report);
    let cases = report["cases"].as_array().expect("cases");
    let failed: Vec<&Value> = cases.iter().filter(|case| case["result"] == "failed").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for backend in backends {
        let expected: BTreeSet<u64> =
            all_cases().iter().filter(|case| case.applies_to(*backend)).map(|case| case.id.into()).collect();
        let of_backend = || cases.iter().filter(|case| case["backend"] == backend.name());
        let reported: BTreeSet<u64> = of_backend().filter_map(|case| case["id"].as_u64()).collect();
        assert_eq!(reported, expected, "{backend}");
        assert_eq!(of_backend().count(), expected.len(), "{backend}");
        let numbers = &report["summary"][backend.name()];
        assert!(numbers["unavailable"] == 0 || numbers["passed"] == 0, "{numbers}");
    }
}

#[test]
fn no_case_fails_and_none_is_missing() {
    let world = World::new("");
    let (status, report) = world.json("audit", &["audit"]);
    assert_complete(&report, &Target::ALL);
    let unavailable = report["summary"].as_object().expect("numbers").values().any(|it| it["unavailable"] != 0);
    assert_eq!(status, if unavailable { 6 } else { 0 });
    for fact in ["version", "binary", "packs", "kernel", "uid", "policy", "limits"] {
        assert!(!report["environment"][fact].is_null(), "{fact}");
    }
}

/// Root becomes a user who owns nothing; anybody else is one already, and the test before this one is the same.
#[test]
fn no_case_fails_as_a_user_who_owns_nothing() {
    let world = World::new("");
    let root = world.path("");
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    // Where others cannot reach the build directory, nobody could run what is in it.
    let built = Path::new(env!("CARGO_BIN_EXE_skillgate"));
    for name in ["skillgate", "skillgate-sandbox", "skillgate-probes"] {
        let from = built.parent().expect("a directory").join(name);
        std::fs::copy(&from, world.path(name)).unwrap_or_else(|error| unreachable!("{}: {error}", from.display()));
    }
    let is_root = chown(world.path("home"), Some(NOBODY), Some(NOBODY)).is_ok();
    let mut command = Command::new(world.path("skillgate"));
    command
        .env_clear()
        .env("HOME", world.path("home"))
        .current_dir(world.path("project"))
        .args(["--managed", "/nonexistent", "--format", "json", "audit", "--backend", "host", "--backend", "library"])
        .stdin(Stdio::null());
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let ran = ran(command.output().expect("the command starts"));
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| unreachable!("{error}\n{}", ran.stderr));
    assert_complete(&report, &[Target::Host, Target::Library]);
    assert_ne!(report["environment"]["uid"], 0);
}

#[test]
fn a_plan_runs_nothing_and_choices_choose() {
    let world = World::new("");
    let before = std::fs::read_dir(std::env::temp_dir()).expect("it lists").count();
    let (status, plan) = world.json("audit-plan", &["audit", "--plan"]);
    let all: usize =
        Target::ALL.iter().map(|target| all_cases().iter().filter(|case| case.applies_to(*target)).count()).sum();
    assert_eq!((status, plan["cases"].as_array().map(Vec::len)), (0, Some(all)));
    let after = std::fs::read_dir(std::env::temp_dir()).expect("it lists");
    let fields = after.filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("skillgate-audit-"))
    });
    assert!(fields.count() <= before);
    for (arguments, count) in [
        (&["audit", "--plan", "--only", "74"][..], 1),
        (&["audit", "--plan", "--only", "74", "--backend", "wasm"], 0),
        (&["audit", "--plan", "--group", "g", "--backend", "library"], 7),
    ] {
        let ran = world.run(&[&["--format", "json"], arguments].concat());
        let cases =
            serde_json::from_str::<Value>(&ran.stdout).map_or(0, |plan| plan["cases"].as_array().map_or(0, Vec::len));
        assert_eq!(cases, count, "{arguments:?} {}", ran.stderr);
        assert_eq!(ran.status, if count == 0 { 2 } else { 0 }, "{arguments:?}");
    }
}

#[test]
fn the_page_needs_nothing_else_and_the_table_is_for_people() {
    let world = World::new("");
    let page = world.path("report.html");
    let ran = world.run(&["audit", "--only", "74", "--html", page.to_str().expect("UTF-8")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("where a prefix ends") && ran.stdout.contains("library: 1 passed, 0 failed"),
        "{}",
        ran.stdout
    );
    let html = std::fs::read_to_string(page).expect("the page was written");
    assert!(html.contains("git statusx") && html.contains("Landlock"), "{html}");
    for outside in ["http:", "https:", "<script", "<img", "<link", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn what_is_compared_with_is_no_failure() {
    let world = World::new("");
    let (_, report) = world.json("audit", &["audit", "--only", "36", "--backend", "host", "--compare"]);
    let of = |backend: &str| {
        let cases = report["cases"].as_array().expect("cases");
        cases.iter().find(|case| case["backend"] == backend).map(|case| case["result"].clone())
    };
    assert_eq!(of("sh -c"), Some("failed".into()));
    assert_eq!(report["summary"]["host"]["failed"], 0);
    assert!(report["baselines"].as_array().is_some_and(|names| names.contains(&"sh -c".into())));
}
