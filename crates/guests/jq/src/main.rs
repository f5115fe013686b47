//! The component `jq`: the language of jaq behind jq's options, with jq's output, messages and statuses.
//!
//! What jaq does differently is put right before it compiles a program (`rewrite`), by definitions of our own (`prelude.jq`)
//! and by functions of our own (`functions`, `formats`, `paths`). What is not supported is refused by its name with status 2.

mod formats;
mod functions;
mod input;
mod message;
mod options;
mod paths;
mod program;
mod reader;
mod rewrite;
mod writer;

use std::ffi::OsString;

#[cfg(target_os = "wasi")]
fn main() {
    guest_start::run(dispatch);
}

#[cfg(not(target_os = "wasi"))]
fn main() {
    std::process::exit(dispatch());
}

fn dispatch() -> i32 {
    let arguments = std::env::args_os().skip(1).map(OsString::into_encoded_bytes);
    match options::read(arguments.map(|argument| String::from_utf8_lossy(&argument).into_owned()).collect()) {
        Ok(options::Asked::Run(request)) => program::run(&request),
        Ok(options::Asked::Version) => {
            println!("jaq-core-3 (the jq of Skillgate {})", env!("CARGO_PKG_VERSION"));
            0
        }
        Err(text) => {
            eprintln!("{text}");
            options::STATUS_USAGE
        }
    }
}
