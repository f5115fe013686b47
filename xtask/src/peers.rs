//! `cargo xtask peers`: what needs programs of the machine beside Rust, a linker and git. Missing ones are installed where
//! that is possible; where it is not, the task fails. Nothing is skipped.

mod mcp;
mod registry;

use crate::process::{cargo, run as run_command};
use crate::{Outcome, Root, agree, examples};
use std::process::{Command, Stdio};

pub(crate) const ABOUT: &str =
    "install the programs to agree with where they are missing, then the tests that need them (--long: more programs)";

/// Generated programs that are compared with bash, and in the long form.
const PROGRAMS: [u32; 2] = [10_000, 100_000];

/// A program and the Debian package that carries it.
pub(crate) struct Peer {
    program: &'static str,
    package: &'static str,
}

/// What the sandbox's commands are compared with.
pub(crate) const NATIVE: &[Peer] = &[
    Peer { program: "bash", package: "bash" },
    Peer { program: "git", package: "git" },
    Peer { program: "find", package: "findutils" },
    Peer { program: "grep", package: "grep" },
    Peer { program: "sed", package: "sed" },
    Peer { program: "diff", package: "diffutils" },
    Peer { program: "jq", package: "jq" },
];

/// What compiles the example of a command in C.
pub(crate) const COMPILER: &[Peer] = &[Peer { program: "clang", package: "clang" }];

pub(crate) fn run(root: &Root, options: &[String]) -> Outcome {
    let long = options.iter().any(|option| option == "--long");
    println!("==> peers: the programs to agree with");
    require(NATIVE)?;
    agree::run(root, &[])?;
    differential(root, PROGRAMS[usize::from(long)])?;
    let skillgate = root.target.join("debug").join(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
    examples::run_c(root, &skillgate)?;
    registry::run(root, &skillgate)?;
    mcp::run(root, &skillgate)
}

/// Generated programs in the capability shell and in bash.
fn differential(root: &Root, programs: u32) -> Outcome {
    println!("==> differential: {programs} generated programs, beside bash (10,000 take about half a minute)");
    let fixed = ["run", "--quiet", "--locked", "--package", "skillgate-tests", "--bin", "differential", "--"];
    run_command(cargo(root, fixed).args(["--programs", &programs.to_string()]))
}

/// Makes sure that every program is there.
pub(crate) fn require(peers: &[Peer]) -> Outcome {
    let missing: Vec<&Peer> = peers.iter().filter(|peer| !is_there(peer.program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|peer| peer.program).collect();
    let packages: Vec<&str> = missing.iter().map(|peer| peer.package).collect();
    let installed = install(&packages);
    match missing.iter().find(|peer| !is_there(peer.program)) {
        None => Ok(()),
        Some(_) => Err(format!(
            "{} missing and could not be installed ({}). Install them with the means of your system, then try again",
            names.join(", "),
            installed.err().unwrap_or_else(|| "the packages carry other programs".to_owned())
        )),
    }
}

/// Installs packages of a Debian system.
pub(crate) fn install(packages: &[&str]) -> Outcome {
    println!("    installing {} (some seconds)", packages.join(", "));
    run_command(Command::new("apt-get").args(["update", "-q"]).stdout(Stdio::null()))?;
    let mut command = Command::new("apt-get");
    command.args(["install", "-y", "-q", "--no-install-recommends"]).args(packages);
    run_command(command.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}
