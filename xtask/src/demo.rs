//! `cargo xtask demo`: from nothing to a prompt that holds real command output, on the sample project.

use crate::process::{cargo, line, run as run_command};
use crate::{Outcome, Root, guests};
use std::process::Command;

/// The sample project, below the repository's root.
const PROJECT: &str = "tests/fixtures/garden";

/// What is run there, in order: the arguments behind `skillgate --project PROJECT`, what it shows, and the exit status.
const SHOWS: &[(&[&str], &str, i32)] = &[
    (&["--trust", "--verbose", "run", "beds"], "a skill whose injections are pipelines over the project", 0),
    (&["--trust", "--verbose", "run", "harvest", "2026", "tomato"], "a skill with arguments", 0),
    (&["--trust", "--verbose", "run", "almanac"], "a skill whose commands fall back", 0),
];

pub(crate) fn run(root: &Root, _: &[String]) -> Outcome {
    println!("==> guests: the command components");
    guests::build(root)?;
    println!("==> cli: cargo build (about 7 minutes the first time: the wasm engine)");
    run_command(&mut cargo(root, ["build", "--quiet", "--locked", "--package", "skillgate-cli"]))?;
    let program = root.target.join("debug").join(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
    for (arguments, about, expected) in SHOWS {
        let mut command = Command::new(&program);
        command.args(["--project", PROJECT]).args(*arguments).current_dir(&root.directory);
        println!("\n==> {about}\n$ {}", line(&command));
        let status = command.status().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        if status.code() != Some(*expected) {
            return Err(format!("`{}` ended with {status} instead of {expected}", line(&command)));
        }
    }
    Ok(())
}
