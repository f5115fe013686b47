//! The component `jq`: the language, options, output, messages and statuses of jq 1.7.
//!
//! A program goes from words ([`lexer`]) to a tree ([`parser`], [`ast`]), from there to steps with resolved names ([`compile`],
//! [`ir`]), and a machine without recursion runs those ([`machine`], [`results`], [`kont`]). What is not supported is refused by
//! its name with status 2; nothing is answered differently. It reads the files it is given and changes none.

mod arithmetic;
mod ast;
mod builtins;
mod compile;
mod dates;
mod decimal;
mod environment;
mod error;
mod formats;
mod host;
mod input;
mod ir;
mod kont;
mod lexer;
mod machine;
mod options;
mod parser;
mod paths;
mod program;
mod reader;
mod regex;
mod results;
mod value;
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
            println!("jq-1.7");
            0
        }
        Err(text) => {
            eprintln!("{text}");
            options::STATUS_USAGE
        }
    }
}
