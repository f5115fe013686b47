//! `cargo xtask bench`: the benchmarks are a program of the workspace member `tests`; this builds what it needs and runs it.

use crate::process::{cargo, run as run_command};
use crate::{Outcome, Root, guests};

pub(crate) fn run(root: &Root, arguments: &[String]) -> Outcome {
    println!("==> guests: the command components");
    guests::build(root)?;
    println!("==> bench: build and run the benchmark program, and the command beside it");
    run_command(&mut cargo(root, ["build", "--quiet", "--locked", "--workspace", "--bin", "skillgate"]))?;
    let fixed = ["run", "--quiet", "--locked", "--package", "skillgate-tests", "--bin", "bench", "--"];
    run_command(cargo(root, fixed).args(arguments))
}
