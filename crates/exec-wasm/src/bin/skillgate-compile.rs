//! Compiles one component for another process and ends: for hosts that embed the backend and have no program of their own
//! that could (see `ChildCompiler`). It reads a request from standard input and writes the code to standard output.

#![forbid(unsafe_code)]

use skillgate_exec_wasm::{CompileFault, REFUSED_STATUS, serve_compile_request};
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (status, message) = match serve_compile_request(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(CompileFault::Refused { reason }) => (ExitCode::from(REFUSED_STATUS), reason),
        Err(fault) => (ExitCode::FAILURE, fault.to_string()),
    };
    // Whoever started this process may be gone; the status says it too.
    let _ = writeln!(io::stderr(), "{message}");
    status
}
