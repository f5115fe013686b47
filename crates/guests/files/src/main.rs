//! The component `files`: commands that tell of files what POSIX tells, behind one entry that looks at the name it was called
//! by.
//!
//! `commands.txt` lists what it offers; a build script makes the table from it. Each command prints what GNU coreutils' prints
//! without a terminal, byte for byte, or refuses an option by its name with status 2; it never gives a different result. Nothing
//! here changes a file or runs another program.

mod du;
mod escape;
mod human;
mod ls;
mod quote;
mod stat;
mod version_order;

use std::ffi::OsString;
use std::path::Path;

/// One command: its name and its entry, which takes the arguments after the name and gives the status.
#[derive(Debug)]
struct Command {
    name: &'static str,
    main: fn(&str, Vec<Vec<u8>>) -> i32,
}

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

/// Status of a name that this component does not offer, as in a shell.
const STATUS_NOT_FOUND: i32 = 127;

#[cfg(target_os = "wasi")]
fn main() {
    guest_start::run(dispatch);
}

#[cfg(not(target_os = "wasi"))]
fn main() {
    std::process::exit(dispatch());
}

fn dispatch() -> i32 {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or(&called).to_string_lossy().into_owned();
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("files: {name}: command not found");
        return STATUS_NOT_FOUND;
    };
    (command.main)(command.name, arguments.map(OsString::into_encoded_bytes).collect())
}
