//! `cargo xtask agree`: runs the command lines that published skills inject natively and in the sandbox, and compares.
//!
//! A line agrees when standard output and status are the same, byte for byte. A line that does not has to stand in
//! `differences.txt` with the reason, and one that stands there has to differ: the number of agreeing lines only rises.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, guests, peers};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const ABOUT: &str =
    "run the injected lines of published skills natively and in the sandbox, and compare (--lines FILE: other lines)";

/// The lines, the project they run in, and what is known to differ; below the repository's root.
const LINES: &str = "crates/shell/tests/data/injected-lines.txt";
const FIXTURE: &str = "tests/cases/injections/make-fixture.sh";
const DIFFERENCES: &str = "tests/cases/injections/differences.txt";
/// Where the table goes, below the build directory.
const REPORT: &str = "agree/report.md";
/// Bytes of an output that the table shows.
const SHOWN: usize = 2000;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a line gave.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    stdout: Vec<u8>,
    status: Option<i32>,
}

pub(crate) fn run(root: &Root, arguments: &[String]) -> Outcome {
    let (lines_file, other) = match arguments {
        [] => (root.join(LINES), false),
        [option, file] if option == "--lines" => (file.into(), true),
        _ => return Err("usage: cargo xtask agree [--lines FILE]".to_owned()),
    };
    peers::require(peers::NATIVE)?;
    guests::build(root)?;
    println!("==> cli: cargo build (about 7 minutes the first time: the wasm engine)");
    run_command(&mut cargo(root, ["build", "--quiet", "--locked", "--package", "skillgate-cli"]))?;
    let place = root.target.join("agree");
    fs::create_dir_all(place.join("home")).map_err(|error| format!("cannot create {}: {error}", place.display()))?;
    println!("==> fixture: the project that the lines run in");
    output(Command::new("bash").arg(root.join(FIXTURE)).arg(place.join("fixture")))?;
    let work = place.join("fixture/work");
    let program = root.target.join("debug").join(format!("skillgate{}", std::env::consts::EXE_SUFFIX));

    let lines = read(&lines_file)?;
    let listed = if other { String::new() } else { read(&root.join(DIFFERENCES))? };
    let listed: Vec<(&str, &str)> =
        listed.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(" # ")).collect();
    let (mut agreed, mut total, mut wrong) = (0, 0, Vec::new());
    let mut report = String::from("# Injected lines, natively and in the sandbox\n\n| agrees | line |\n|---|---|\n");
    let mut details = String::new();
    println!("==> agree: each line natively and in the sandbox (about a minute)");
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        total += 1;
        let native = answer(Command::new("bash").arg("-c").arg(line), &work, &place)?;
        let ours = answer(sandboxed(&program, &work, &place).arg(line), &work, &place)?;
        let same = native == ours;
        agreed += u32::from(same);
        let reason = listed.iter().find(|(known, _)| *known == line).map(|(_, reason)| *reason);
        match (same, reason) {
            (true, Some(_)) => wrong.push(format!("`{line}` agrees now: take it out of {DIFFERENCES}")),
            (false, None) => wrong.push(format!("`{line}` differs")),
            _ => {}
        }
        let mark = if same { "yes" } else { "**no**" };
        let _ = writeln!(report, "| {mark} | `{}` |", line.replace('|', "\\|"));
        if !same {
            let _ = writeln!(details, "\n## `{line}`\n\n{}\n", reason.unwrap_or("Not explained."));
            for (name, answer) in [("native", &native), ("sandbox", &ours)] {
                let status = answer.status.map_or("none".to_owned(), |status| status.to_string());
                let shown = String::from_utf8_lossy(&answer.stdout[..answer.stdout.len().min(SHOWN)]);
                let _ = writeln!(details, "{name}, status {status}:\n\n```\n{shown}\n```\n");
            }
        }
    }
    let path = root.target.join(REPORT);
    fs::write(&path, report + &details).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("    {agreed} of {total} lines agree; the table is {}", path.display());
    match wrong.as_slice() {
        [] => Ok(()),
        _ if other => Err(format!("{} lines differ:\n    {}", wrong.len(), wrong.join("\n    "))),
        wrong => Err(format!("{} of {total} lines are not as listed:\n    {}", wrong.len(), wrong.join("\n    "))),
    }
}

fn sandboxed(program: &Path, work: &Path, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--project").arg(work).arg("--home").arg(place.join("home")).arg("--store").arg(place.join("store"));
    command.args(["--allow", "Bash", "sandbox", "run", "--"]);
    command
}

fn answer(command: &mut Command, work: &Path, place: &Path) -> Outcome<Answer> {
    command.current_dir(work).env_clear().stdin(Stdio::null());
    command.env("PATH", PATH).env("HOME", place.join("home")).env("LANG", "C.UTF-8").env("TZ", "UTC");
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    let output =
        command.output().map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
    Ok(Answer { stdout: output.stdout, status: output.status.code() })
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
