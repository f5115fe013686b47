//! The component `rg`: ripgrep's own libraries, behind its command line.
//!
//! Files are searched one after the other, in the order in which the system lists them, as `rg -j1` does. What `docs/commands`
//! does not list is refused by its name with status 2; it never gives a different result.

mod request;
mod search;
mod walk;

use std::ffi::OsString;
use std::path::Path;

/// One command: its name and its entry, which takes the arguments after the name and gives the status.
#[derive(Debug)]
struct Command {
    name: &'static str,
    main: fn(Vec<Vec<u8>>) -> i32,
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
        eprintln!("rg: {name}: command not found");
        return STATUS_NOT_FOUND;
    };
    (command.main)(arguments.map(OsString::into_encoded_bytes).collect())
}
