//! The component `awk`: an interpreter of POSIX awk that gives what mawk 1.3.4, Debian's awk, gives, byte for byte, or refuses
//! what it does not do by its name with status 2.
//!
//! A program runs nothing: `system` and pipes are refused before it starts. What it writes with `>` goes through the host, as
//! every change of a file does. `options` reads the command line, `lexer` and `parser` make the tree of `syntax`, `interpreter`
//! walks it.

mod array;
mod builtins;
mod calls;
mod evaluate;
mod expressions;
mod fields;
mod format;
mod input;
mod interpreter;
mod lexer;
mod number;
mod options;
mod output;
mod parser;
mod random;
mod regex;
mod regex_syntax;
mod statements;
mod syntax;
mod value;

use std::ffi::OsString;

#[cfg(target_os = "wasi")]
fn main() {
    guest_start::run(run);
}

#[cfg(not(target_os = "wasi"))]
fn main() {
    std::process::exit(run());
}

/// Status of wrong usage, of a program that is none, and of one that fails.
const STATUS_FAULT: i32 = 2;

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fault {
    /// The program or the command line is wrong, as awk itself would say.
    Wrong(String),
    /// Other awks do it, and this one does not.
    Unsupported(String),
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong(message.into()))
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Unsupported(what.into()))
}

fn run() -> i32 {
    let arguments = std::env::args_os().skip(1).map(OsString::into_encoded_bytes).collect();
    match options::parse(arguments).and_then(interpreter::run) {
        Ok(status) => status,
        Err(fault) => {
            match fault {
                Fault::Wrong(message) => eprintln!("awk: {message}"),
                Fault::Unsupported(what) => eprintln!("skillgate: awk: {what} is not supported"),
            }
            STATUS_FAULT
        }
    }
}
