//! `cargo xtask test --faults`: every stage of the host sandbox is made to fail, one after the other, and nothing runs.
//!
//! It needs a build that can be told to fail; the next ordinary build takes its place.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Which stage fails.
const FAULT: &str = "SKILLGATE_FAULT";
/// What a run ends with when its sandbox is not available.
const UNAVAILABLE: i32 = 6;
/// The stage that no doctor goes through, because it runs nothing.
const PROGRAM: &str = "program";

pub(crate) fn run(root: &Root) -> Outcome {
    let features = ["build", "--workspace", "--bins", "--locked", "--features", "skillgate-cli/fault-injection"];
    run_command(&mut cargo(root, features))?;
    let skillgate = root.target.join("debug/skillgate");
    let stages = stages(&skillgate)?;
    let project = root.target.join("faults");
    let (status, said) = attempt(&skillgate, &project, None)?;
    // The control: what leaves no trace below leaves one when nothing fails.
    if status != Some(0) || !canary(&project).exists() {
        return Err(format!("without a fault the program did not run (exit {status:?}): {said}"));
    }
    let mut wrong = 0;
    println!("{:<12} exit  canary   said", "stage");
    for stage in &stages {
        let (status, said) = attempt(&skillgate, &project, Some(stage))?;
        let ran = canary(&project).exists();
        let ok = status == Some(UNAVAILABLE) && !ran && said.contains(&format!("(stage {stage})"));
        wrong += usize::from(!ok);
        let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
        let trace = if ran { "PRESENT" } else { "absent" };
        let mark = if ok { "" } else { "  WRONG" };
        println!("{stage:<12} {status:<5} {trace:<8} {}{mark}", said.lines().next().unwrap_or_default());
    }
    println!("faults: {} passed, {wrong} failed", stages.len() - wrong);
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} stages that fail do not end the run as they must")) }
}

/// The stages as the sandbox itself names them, which also says whether this build can be told to fail.
fn stages(skillgate: &Path) -> Outcome<Vec<String>> {
    let answer = output(Command::new(skillgate).args(["--format", "json", "sandbox", "doctor"]))?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| format!("sandbox doctor: {error}"))?;
    let backends = answer["backends"].as_array().ok_or("sandbox doctor names no backends")?;
    let host =
        backends.iter().find(|backend| backend["name"] == "host").ok_or("sandbox doctor names no host backend")?;
    if host["fault_injection"] != true {
        return Err("sandbox doctor does not say that this build can be told to fail".to_owned());
    }
    let named = host["stages"].as_array().into_iter().flatten().filter_map(|stage| stage["name"].as_str());
    let stages: Vec<String> = named.map(str::to_owned).chain([PROGRAM.to_owned()]).collect();
    if host["available"] == true && stages.len() > 1 {
        Ok(stages)
    } else {
        Err(format!("the host sandbox is not available here: {}", host["unavailable"]))
    }
}

fn canary(project: &Path) -> std::path::PathBuf {
    project.join("out/canary")
}

/// Runs a program that leaves a trace in the project; its status, and what was said about it.
fn attempt(skillgate: &Path, project: &Path, fault: Option<&str>) -> Outcome<(Option<i32>, String)> {
    match fs::remove_dir_all(project) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(format!("{}: {error}", project.display())),
        _ => {}
    }
    fs::create_dir_all(project.join("out")).map_err(|error| format!("{}: {error}", project.display()))?;
    // A repository of its own, so that the project is this directory and not the one around it.
    fs::create_dir_all(project.join(".git")).map_err(|error| format!("{}: {error}", project.display()))?;
    let mut command = Command::new(skillgate);
    command.arg("--project").arg(project);
    command.args(["sandbox", "run", "--program", "touch=/usr/bin/touch", "--write", "out"]);
    command.args(["--allow", "Bash(touch:*)", "--", "touch out/canary"]).env_remove(FAULT);
    command.envs(fault.map(|stage| (FAULT, stage)));
    let ended = command.output().map_err(|error| format!("{}: {error}", skillgate.display()))?;
    Ok((ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned()))
}
