//! `longest-line [FILE…]`: prints the longest line of the files, or of standard input, with its length in characters.
//!
//! An ordinary program for `wasm32-wasip2`: nothing here knows of Skillgate. What it may read, the host decides; what it may
//! not read is not there.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let mut longest = String::new();
    let mut status = ExitCode::SUCCESS;
    if files.is_empty() {
        look_at(io::stdin().lock(), &mut longest);
    }
    for name in &files {
        match File::open(name) {
            Ok(file) => look_at(BufReader::new(file), &mut longest),
            Err(error) => {
                // Nothing can be done about a message that cannot be written.
                let _ = writeln!(io::stderr(), "longest-line: {name}: {error}");
                status = ExitCode::FAILURE;
            }
        }
    }
    match writeln!(io::stdout(), "{} {longest}", longest.chars().count()) {
        Ok(()) => status,
        Err(_) => ExitCode::FAILURE,
    }
}

fn look_at(mut input: impl BufRead, longest: &mut String) {
    let mut bytes = Vec::new();
    while input.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches('\n');
        if line.chars().count() > longest.chars().count() {
            *longest = line.to_owned();
        }
        bytes.clear();
    }
}
