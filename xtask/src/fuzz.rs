//! `cargo xtask fuzz`: the fuzz targets of `tests/fuzz`, for a bounded time, on the toolchain of the repository.
//!
//! The instrumentation is made of stable flags, so that no nightly is needed as long as no sanitizer is asked for; the crates
//! under test hold no unsafe code for one to look into. What the fuzzer learns lies below the build directory. The committed
//! corpus is only read, and replayed by an ordinary test.

use crate::process::{cargo, line, output, run as run_command};
use crate::{Outcome, Root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace of the targets, and the bodies of the targets, below the repository's root.
pub(crate) const WORKSPACE: &str = "tests/fuzz";
const BODIES: &str = "tests/src/fuzzing";
/// How long one target runs when nothing is said.
const SECONDS: u32 = 60;
/// A single input that takes longer is a failure: parsing is linear, and these inputs are small.
const SECONDS_AN_INPUT: u32 = 10;
/// The longest input that is tried, in bytes.
const LONGEST_INPUT: u32 = 8192;

pub(crate) const ABOUT: &str =
    "run the fuzz targets: `fuzz [TARGET…] [--seconds N] [--reproduce FILE] [--list]` (60 seconds each)";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    List,
    Help,
    Run { targets: Vec<String>, seconds: u32 },
    Reproduce { target: String, file: PathBuf },
}

/// How one target ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ended {
    /// Inputs that were tried.
    executions: u64,
    /// Inputs that reached new code.
    added: u64,
    /// The last lines that say what failed.
    failure: Option<String>,
}

pub(crate) fn run(root: &Root, arguments: &[String]) -> Outcome {
    let manifest = root.join(WORKSPACE).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    let known = targets(&text);
    match parse(arguments, &known)? {
        Request::Help => println!("{}", usage()),
        Request::List => {
            for target in &known {
                println!("{target:<22} {}", about(root, target));
            }
        }
        Request::Reproduce { target, file } => {
            // As seen from where the task was called, which the run below is not.
            let file = std::path::absolute(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let program = build(root, &target)?;
            println!("==> fuzz {target}: {} alone", file.display());
            run_command(Command::new(program).arg(&file).current_dir(&root.directory))?;
            println!("    every invariant holds");
        }
        Request::Run { targets, seconds } => {
            let mut failed = Vec::new();
            for target in targets {
                if !fuzz(root, &target, seconds)? {
                    failed.push(target);
                }
            }
            if !failed.is_empty() {
                return Err(format!("{} failed", failed.join(", ")));
            }
        }
    }
    Ok(())
}

/// Checks that every target compiles, without the C++ compiler that building one needs: a check links nothing, so libFuzzer's
/// build script is told of a library that it need not make.
pub(crate) fn check(root: &Root) -> Outcome {
    let mut command = cargo(root, ["clippy", "--locked", "--all-targets", "--target-dir"]);
    command.arg(root.target.join("fuzz")).args(["--", "-D", "warnings"]).current_dir(root.join(WORKSPACE));
    run_command(command.env("CUSTOM_LIBFUZZER_PATH", root.target.join("fuzz/libunused.a")))
}

fn usage() -> String {
    format!(
        "usage: cargo xtask fuzz [TARGET…] [--seconds N]\n       cargo xtask fuzz TARGET --reproduce FILE\n       cargo xtask fuzz \
         --list\n\nWithout a target all of them run, one after the other, {SECONDS} seconds each. An input that fails is kept \
         below the build\ndirectory; put it into {WORKSPACE}/corpus/TARGET when its cause is mended, and `cargo xtask test` \
         replays it."
    )
}

fn parse(arguments: &[String], known: &[String]) -> Outcome<Request> {
    let (mut targets, mut seconds, mut reproduce) = (Vec::new(), SECONDS, None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => return Ok(Request::List),
            "--help" | "-h" => return Ok(Request::Help),
            "--seconds" => {
                let number = arguments.next().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
                seconds = number.ok_or("--seconds needs a number above 0")?;
            }
            "--reproduce" => reproduce = Some(PathBuf::from(arguments.next().ok_or("--reproduce needs a file")?)),
            name if known.iter().any(|target| target == name) => targets.push(name.to_owned()),
            other => return Err(format!("there is no target or option `{other}`\n\n{}", usage())),
        }
    }
    match (reproduce, targets.as_slice()) {
        (Some(file), [target]) => Ok(Request::Reproduce { target: target.clone(), file }),
        (Some(_), _) => Err("--reproduce needs exactly one target".to_owned()),
        (None, []) => Ok(Request::Run { targets: known.to_vec(), seconds }),
        (None, _) => Ok(Request::Run { targets, seconds }),
    }
}

/// The names of the binaries of a manifest, which are the targets.
fn targets(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_binary = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            in_binary = line == "[[bin]]";
        } else if let Some(name) = line.strip_prefix("name = \"").filter(|_| in_binary) {
            names.push(name.trim_end_matches('"').to_owned());
        }
    }
    names
}

/// What a target checks: the first line of its body's documentation.
fn about(root: &Root, target: &str) -> String {
    let text = fs::read_to_string(root.join(BODIES).join(format!("{target}.rs"))).unwrap_or_default();
    text.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default().to_owned()
}

/// Runs one target and says what came of it; whether every input passed.
fn fuzz(root: &Root, target: &str, seconds: u32) -> Outcome<bool> {
    println!("==> fuzz {target}: {}", about(root, target));
    let program = build(root, target)?;
    let learned = create(&root.target.join("fuzz/corpus").join(target))?;
    let artifacts = create(&root.target.join("fuzz/artifacts").join(target))?;
    let corpus = root.join(WORKSPACE).join("corpus").join(target);
    let before = files(&artifacts)?;
    println!("    running for {seconds} seconds");
    let mut command = Command::new(program);
    command.current_dir(&root.directory).arg(&learned).arg(&corpus);
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-timeout={SECONDS_AN_INPUT}"),
        format!("-max_len={LONGEST_INPUT}"),
        format!("-artifact_prefix={}/", artifacts.display()),
        "-print_final_stats=1".to_owned(),
    ]);
    let dictionary = root.join(WORKSPACE).join("dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    let said = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start {target}: {error}"))?;
    let ended = ended(&String::from_utf8_lossy(&said.stderr), said.status.success());
    println!("    {} executions, {} new corpus entries", ended.executions, ended.added);
    let Some(failure) = ended.failure else { return Ok(true) };
    println!("    FAILED ({}): {failure}", said.status);
    for file in files(&artifacts)?.iter().filter(|file| !before.contains(file)) {
        println!("    reproduce: cargo xtask fuzz {target} --reproduce {}", file.display());
    }
    println!("    run again: {}", line(&command));
    Ok(false)
}

/// Builds a target with cargo-fuzz and gives the path of the fuzzer.
fn build(root: &Root, target: &str) -> Outcome<PathBuf> {
    let cargo_fuzz = cargo_fuzz(root)?;
    println!("    building (about a minute the first time)");
    let directory = root.target.join("fuzz");
    // Started as `cargo` starts it, so that it finds the toolchain that runs this task.
    let mut command = Command::new(cargo_fuzz);
    command.args(["fuzz", "build", "--sanitizer", "none", "--fuzz-dir"]).arg(root.join(WORKSPACE));
    command.arg("--target-dir").arg(&directory).arg(target).current_dir(&root.directory);
    output(&mut command)?;
    let host = host(root)?;
    Ok(directory.join(host).join("release").join(target))
}

/// The compilation target of this machine, by whose name cargo-fuzz calls the directory of what it builds.
fn host(root: &Root) -> Outcome<String> {
    let version = output(Command::new("rustc").arg("-vV").current_dir(&root.directory))?;
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say for which machine it compiles".to_owned())
}

/// The cargo-fuzz of this machine, else one of our own beside the build output, installed where it is missing.
fn cargo_fuzz(root: &Root) -> Outcome<PathBuf> {
    let name = format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = std::env::split_paths(&path).map(|place| place.join(&name)).find(|file| file.is_file()) {
        return Ok(found);
    }
    let tools = root.target.join("tools");
    let own = tools.join("bin").join(&name);
    if !own.is_file() {
        println!("    installing cargo-fuzz (about a minute, once)");
        run_command(cargo(root, ["install", "cargo-fuzz", "--locked", "--quiet", "--root"]).arg(&tools))?;
    }
    Ok(own)
}

/// Reads the messages of libFuzzer.
fn ended(messages: &str, success: bool) -> Ended {
    let number = |name: &str| {
        let found = messages.lines().rev().find_map(|line| line.strip_prefix(name));
        found.and_then(|rest| rest.trim().parse().ok()).unwrap_or_default()
    };
    let says_why = |line: &&str| {
        line.contains("panicked at") || line.contains("SUMMARY:") || line.contains("ERROR:") || line.contains("error:")
    };
    let mut lines = messages.lines();
    let why = lines.find(says_why).map(|first| {
        // The message of a panic stands on the line after its place.
        let rest = if first.contains("panicked at") { lines.next() } else { None };
        [Some(first), rest].into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    Ended {
        executions: number("stat::number_of_executed_units:"),
        added: number("stat::new_units_added:"),
        failure: (!success).then(|| why.unwrap_or_else(|| "no message; run it again by hand".to_owned())),
    }
}

fn create(directory: &Path) -> Outcome<PathBuf> {
    fs::create_dir_all(directory).map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    Ok(directory.to_owned())
}

fn files(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).and_then(|entries| entries.map(|entry| entry.map(|it| it.path())).collect());
    entries.map_err(|error| format!("cannot list {}: {error}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[package]\nname = \"p\"\n[[bin]]\nname = \"one\"\npath = \"x\"\n\n[[bin]]\nname = \"two\"\n[lints]\n";

    fn asked(arguments: &[&str]) -> Outcome<Request> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        parse(&arguments, &targets(MANIFEST))
    }

    #[test]
    fn targets_are_the_binaries_of_the_manifest() {
        assert_eq!(targets(MANIFEST), ["one", "two"]);
    }

    #[test]
    fn arguments_are_read() {
        let run = |targets: &[&str], seconds| {
            Ok(Request::Run { targets: targets.iter().map(|text| (*text).to_owned()).collect(), seconds })
        };
        assert_eq!(asked(&[]), run(&["one", "two"], SECONDS));
        assert_eq!(asked(&["two", "--seconds", "5"]), run(&["two"], 5));
        assert_eq!(asked(&["--list"]), Ok(Request::List));
        assert_eq!(asked(&["one", "--help"]), Ok(Request::Help));
        assert_eq!(
            asked(&["one", "--reproduce", "f"]),
            Ok(Request::Reproduce { target: "one".to_owned(), file: "f".into() })
        );
        for (arguments, part) in [
            (&["three"][..], "no target or option `three`"),
            (&["--seconds"], "needs a number"),
            (&["--seconds", "0"], "needs a number"),
            (&["--reproduce", "f"], "exactly one target"),
            (&["one", "--reproduce"], "needs a file"),
        ] {
            let error = asked(arguments).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_messages_of_the_fuzzer_are_read() {
        let good = "Done 12 runs\nstat::number_of_executed_units: 12\nstat::average_exec_per_sec:     6\nstat::new_units_added:          3\n";
        assert_eq!(ended(good, true), Ended { executions: 12, added: 3, failure: None });
        let bad = "INFO: x\n\nthread '<unnamed>' (7) panicked at a.rs:1:2:\nit is wrong\nnote: y\nSUMMARY: libFuzzer: deadly signal\n";
        let failure = ended(bad, false).failure.expect("it failed");
        assert_eq!(failure, "thread '<unnamed>' (7) panicked at a.rs:1:2: it is wrong");
        assert_eq!(
            ended("==1== ERROR: libFuzzer: timeout after 10 seconds\n", false).failure.as_deref(),
            Some("==1== ERROR: libFuzzer: timeout after 10 seconds")
        );
        assert!(ended("", false).failure.is_some());
    }
}
