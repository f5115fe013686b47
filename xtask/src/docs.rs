//! `cargo xtask docs`: the API documentation, and the parts of docs/ that are generated.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, guests, tidy};
use std::process::Command;

/// The outputs with a schema, and the header of a skill; a test of the command compares the files.
const SCHEMAS: [&str; 18] = [
    "list",
    "show",
    "run",
    "check",
    "sandbox-run",
    "log-verify",
    "audit-record",
    "error",
    "frontmatter",
    "trust-add",
    "trust-list",
    "trust-remove",
    "trust-review",
    "policy-file",
    "policy-show",
    "policy-explain",
    "policy-check",
    "policy-import",
];

pub(crate) fn run(root: &Root, _: &[String]) -> Outcome {
    for path in tidy::write_generated(root)? {
        println!("wrote {path}");
    }
    println!("==> guests: the command components");
    guests::build(root)?;
    println!("==> schemas: what the command says of its JSON outputs");
    run_command(&mut cargo(root, ["build", "--quiet", "--locked", "--package", "skillgate-cli"]))?;
    let program = root.target.join("debug").join(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
    for name in SCHEMAS {
        let schema = output(Command::new(&program).args(["schema", name]))?;
        let path = root.join("docs/schemas").join(format!("{name}.json"));
        std::fs::write(&path, schema).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("wrote docs/schemas/{name}.json");
    }
    println!("==> docs: cargo doc (about a minute the first time)");
    run_command(&mut cargo(root, ["doc", "--workspace", "--no-deps", "--locked"]))
}
