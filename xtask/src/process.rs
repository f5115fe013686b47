//! Other programs: cargo, rustup, git.

use crate::{Outcome, Root};
use std::ffi::OsStr;
use std::process::Command;

/// A cargo of the toolchain that runs this program, in the repository's root.
pub(crate) fn cargo<S: AsRef<OsStr>>(root: &Root, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(&root.directory);
    // The directory of this program, which cargo sets for it, must not be taken for another's.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs `command` with this program's own streams.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", line(command))) }
}

/// Runs `command` and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Outcome<Vec<u8>> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("`{}` ended with {}: {said}", line(command), output.status))
}

/// `command` as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", command.get_program().display())
}
