//! What a fresh machine lacks: compilation targets.

use crate::process::{output, run};
use crate::{Outcome, Root};
use std::path::Path;
use std::process::Command;

/// Makes sure that the toolchain can compile for `target`, adding its standard library through rustup where it is missing.
pub(crate) fn ensure_target(root: &Root, target: &str) -> Outcome {
    if has_target(root, target)? {
        return Ok(());
    }
    println!("    adding the Rust target {target} (some seconds)");
    let added = run(Command::new("rustup").args(["target", "add", target]).current_dir(&root.directory));
    let reason = match added {
        Ok(()) if has_target(root, target)? => return Ok(()),
        Ok(()) => "rustup added it to another toolchain than the one in use".to_owned(),
        Err(reason) => reason,
    };
    Err(format!(
        "the Rust target {target} is missing and could not be added ({reason}). Install it for this toolchain: `rustup target \
         add {target}`, or, for a Rust without rustup, the package of your system that carries its standard library"
    ))
}

/// Asked of the compiler, not of rustup, so that a toolchain without rustup will do.
fn has_target(root: &Root, target: &str) -> Outcome<bool> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).current_dir(&root.directory);
    let directory = String::from_utf8_lossy(&output(&mut rustc)?).trim().to_owned();
    Ok(Path::new(&directory).is_dir())
}
