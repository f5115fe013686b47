//! `cargo xtask test`: the set-up, then every check and every test, in an order that finds cheap mistakes first.

use crate::process::{cargo, run as run_command};
use crate::{Outcome, Root, examples, faults, fuzz, guests, packaged, setup, tidy};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Crates that do no input or output and know no async runtime: they compile for a machine that has neither.
const PURE: &[&str] = &["core", "format", "policy", "shell", "search"];
const PURE_TARGET: &str = "wasm32-unknown-unknown";

/// Crates that compile on other systems too: all but those that need the wasm engine, which needs a C compiler for its target.
/// Checked only: running there is up to the people who have them.
const PORTABLE: &[&str] = &[
    "core",
    "format",
    "policy",
    "shell",
    "search",
    "state",
    "loader",
    "registry",
    "exec",
    "exec-host",
    "packs",
    "runtime",
    "sandbox",
];
const SYSTEMS: &[&str] = &["x86_64-pc-windows-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"];

/// One step: its name, what it takes, and its code.
struct Step {
    name: String,
    about: &'static str,
    run: Box<dyn Fn(&Root) -> Outcome>,
}

pub(crate) fn run(root: &Root, options: &[String]) -> Outcome {
    if options.iter().any(|option| option == "--faults") {
        return faults::run(root);
    }
    let long = options.iter().any(|option| option == "--long");
    let steps = steps(root, long);
    let mut done: Vec<(&str, Duration)> = Vec::new();
    for step in &steps {
        println!("==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(root);
        done.push((&step.name, start.elapsed()));
        if let Err(message) = outcome {
            print_summary(&done, true);
            return Err(format!("{}: {message}", step.name));
        }
    }
    print_summary(&done, false);
    if long {
        let report = long_report(root);
        let report = fs::read_to_string(&report).map_err(|error| format!("{}: {error}", report.display()))?;
        println!("{report}");
    }
    Ok(())
}

fn print_summary(done: &[(&str, Duration)], failed: bool) {
    println!("\n==> summary");
    for (at, (name, duration)) in done.iter().enumerate() {
        let word = if failed && at + 1 == done.len() { "FAILED" } else { "ok" };
        println!("    {word:<6} {:>7.1} s  {name}", duration.as_secs_f64());
    }
    let failures = usize::from(failed);
    println!("steps: {} passed, {failures} failed", done.len() - failures);
}

fn steps(root: &Root, long: bool) -> Vec<Step> {
    let mut steps = vec![
        step("guests", "the command components", guests::build),
        command("format", "rustfmt", &["fmt", "--all", "--check"]),
        step("format guests", "rustfmt", |root| {
            run_command(cargo(root, ["fmt", "--all", "--check"]).current_dir(root.join("crates/guests")))
        }),
        step("format guest examples", "rustfmt", |root| {
            run_command(cargo(root, ["fmt", "--all", "--check"]).current_dir(root.join("guest-examples")))
        }),
        step("format fuzz targets", "rustfmt", |root| {
            run_command(cargo(root, ["fmt", "--all", "--check"]).current_dir(root.join(fuzz::WORKSPACE)))
        }),
        step("tidy", "the rules of this repository", |root| tidy::run(root, &[])),
    ];
    let elsewhere = SYSTEMS.iter().map(|system| (*system, PORTABLE));
    for (target, names) in std::iter::once((PURE_TARGET, PURE)).chain(elsewhere) {
        let names: Vec<_> = names.iter().copied().filter(|name| root.join("crates").join(name).is_dir()).collect();
        steps.push(Step {
            name: format!("check {target}"),
            about: "crates that must compile there (about 20 seconds the first time)",
            run: Box::new(move |root| check_for(root, target, &names)),
        });
    }
    steps.extend([
        command(
            "clippy",
            "lints, warnings are errors (about 5 minutes the first time)",
            &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        ),
        step("guest examples", "what must not compile (about 20 seconds the first time)", examples::test_rust),
        step("fuzz targets", "they compile, warnings are errors (about 40 seconds the first time)", fuzz::check),
        step("tests", "all tests (about 8 minutes the first time: the wasm engine)", move |root| tests(root, long)),
        step("packaged crates", "the components out of a package (about 20 seconds the first time)", packaged::run),
        command("doctests", "the examples in the documentation", &["test", "--doc", "--workspace", "--locked"]),
        step("doc", "the API documentation, warnings are errors (about a minute the first time)", |root| {
            let mut command = cargo(root, ["doc", "--workspace", "--no-deps", "--locked"]);
            run_command(command.env("RUSTDOCFLAGS", "-D warnings"))
        }),
    ]);
    steps
}

fn step(name: &str, about: &'static str, run: impl Fn(&Root) -> Outcome + 'static) -> Step {
    Step { name: name.to_owned(), about, run: Box::new(run) }
}

fn command(name: &str, about: &'static str, arguments: &'static [&'static str]) -> Step {
    step(name, about, move |root| run_command(&mut cargo(root, arguments)))
}

fn check_for(root: &Root, target: &str, names: &[&str]) -> Outcome {
    setup::ensure_target(root, target)?;
    let packages = names.iter().flat_map(|name| ["--package".to_owned(), format!("skillgate-{name}")]);
    run_command(cargo(root, ["check", "--quiet", "--locked", "--target", target]).args(packages))
}

/// Where the long form of a property says what it did, and with which seed.
fn long_report(root: &Root) -> PathBuf {
    root.target.join("long-report")
}

fn tests(root: &Root, long: bool) -> Outcome {
    let nextest = cargo(root, ["nextest", "--version"]).output().is_ok_and(|output| output.status.success());
    let mut command = if nextest {
        cargo(root, ["nextest", "run", "--workspace", "--locked", "--no-fail-fast"])
    } else {
        cargo(root, ["test", "--workspace", "--locked", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples"])
    };
    if long {
        command.env("SKILLGATE_LONG", "1");
        let report = long_report(root);
        match fs::remove_file(&report) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(format!("{}: {error}", report.display())),
            _ => {}
        }
        command.env("SKILLGATE_LONG_REPORT", report);
    }
    run_command(&mut command)
}
