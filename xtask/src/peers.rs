//! `cargo xtask peers`: what needs programs of the machine beside Rust, a linker and git. Missing ones are installed where
//! that is possible; where it is not, the task fails. Nothing is skipped.

use crate::process::run as run_command;
use crate::{Outcome, Root, agree};
use std::process::{Command, Stdio};

pub(crate) const ABOUT: &str =
    "install the programs to agree with where they are missing, then the tests that need them";

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

pub(crate) fn run(root: &Root, _: &[String]) -> Outcome {
    println!("==> peers: the programs to agree with");
    require(NATIVE)?;
    agree::run(root, &[])
}

/// Makes sure that every program is there.
pub(crate) fn require(peers: &[Peer]) -> Outcome {
    let missing: Vec<&Peer> = peers.iter().filter(|peer| !is_there(peer.program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|peer| peer.program).collect();
    let packages: Vec<&str> = missing.iter().map(|peer| peer.package).collect();
    println!("    installing {} (some seconds)", packages.join(", "));
    let installed = run_command(Command::new("apt-get").args(["update", "-q"]).stdout(Stdio::null())).and_then(|()| {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "-q", "--no-install-recommends"]).args(&packages);
        run_command(command.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
    });
    match missing.iter().find(|peer| !is_there(peer.program)) {
        None => Ok(()),
        Some(_) => Err(format!(
            "{} missing and could not be installed ({}). Install them with the means of your system, then try again",
            names.join(", "),
            installed.err().unwrap_or_else(|| "the packages carry other programs".to_owned())
        )),
    }
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}
