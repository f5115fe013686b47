//! `cargo xtask docs`: the API documentation, and the parts of docs/ that are generated.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, guests, tidy};
use std::path::Path;
use std::process::Command;

pub(crate) fn run(root: &Root, _: &[String]) -> Outcome {
    for path in tidy::write_generated(root)? {
        println!("wrote {path}");
    }
    println!("==> guests: the command components");
    guests::build(root)?;
    println!("==> schemas: what the command says of its JSON outputs");
    run_command(&mut cargo(root, ["build", "--quiet", "--locked", "--package", "skillgate-cli"]))?;
    let program = root.target.join("debug").join(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
    let names = output(Command::new(&program).args(["schema", "--names"]))?;
    for name in String::from_utf8_lossy(&names).lines() {
        let schema = output(Command::new(&program).args(["schema", name]))?;
        let path = root.join("docs/schemas").join(format!("{name}.json"));
        std::fs::write(&path, schema).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("wrote docs/schemas/{name}.json");
    }
    write_cases(root, &program)?;
    println!("==> docs: cargo doc (about a minute the first time)");
    run_command(&mut cargo(root, ["doc", "--workspace", "--no-deps", "--locked"]))
}

/// Puts the matrix of the auditor's suite, as the command prints it, between its marks.
fn write_cases(root: &Root, program: &Path) -> Outcome {
    const BEGIN: &str = "<!-- generated: audit cases -->\n";
    const END: &str = "<!-- end: audit cases -->";
    let matrix = output(Command::new(program).args(["audit", "--matrix"]))?;
    let path = root.join("docs/audit.md");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| failed(&"the mark of the cases is missing"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| failed(&"the end of the cases is missing"))?;
    let renewed = format!("{before}{BEGIN}{}{END}{after}", String::from_utf8_lossy(&matrix));
    if renewed != text {
        std::fs::write(&path, renewed).map_err(|error| failed(&error))?;
        println!("wrote docs/audit.md");
    }
    Ok(())
}
