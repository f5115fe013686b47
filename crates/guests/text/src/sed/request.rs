//! The command line.

use super::source::{Chunk, Origin};
use guest_command::options::{self, Argument, Spec, Takes};
use guest_command::output::{path, reason};
use std::io::Read as _;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) quiet: bool,
    pub(super) extended: bool,
    pub(super) separate: bool,
    pub(super) null_data: bool,
    pub(super) sandbox: bool,
    /// `-i`, with the suffix of the backup.
    pub(super) in_place: Option<String>,
    /// Where `l` breaks lines.
    pub(super) width: usize,
    pub(super) files: Vec<String>,
}

/// Why a command line is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    Usage(String),
    /// In GNU's words, with the status.
    Wrong(String, i32),
    Unsupported(String),
    Version,
}

const fn flag(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Nothing }
}

const fn value(short: u8, long: &'static str) -> Spec {
    Spec { short: Some(short), long, takes: Takes::Value }
}

const OPTIONS: &[Spec] = &[
    flag(b'b', "binary"),
    flag(0, "debug"),
    value(b'e', "expression"),
    value(b'f', "file"),
    flag(0, "follow-symlinks"),
    flag(0, "help"),
    Spec { short: Some(b'i'), long: "in-place", takes: Takes::MaybeJoined },
    value(b'l', "line-length"),
    flag(b'n', "quiet"),
    flag(0, "silent"),
    flag(b'z', "null-data"),
    flag(0, "zero-terminated"),
    flag(0, "posix"),
    flag(b'E', "regexp-extended"),
    flag(b'r', "regexp-extended-old"),
    flag(0, "sandbox"),
    flag(b's', "separate"),
    flag(b'u', "unbuffered"),
    flag(0, "version"),
];

/// Reads the command line: what is to be done, and the script.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Request, Vec<Chunk>), Refusal> {
    let mut request = Request {
        quiet: false,
        extended: false,
        separate: false,
        null_data: false,
        sandbox: false,
        in_place: None,
        width: 70,
        files: Vec::new(),
    };
    let (mut script, mut expressions) = (Vec::new(), 0);
    let mut expression = |text: String| {
        expressions += 1;
        Chunk { text, origin: Origin::Expression(expressions) }
    };
    for argument in options::read(arguments, OPTIONS, false).map_err(Refusal::Usage)? {
        match argument {
            Argument::Operand(operand) => request.files.push(text(operand)?),
            Argument::Digit(_) => {}
            Argument::Option(name, value) => match (name, value) {
                ("quiet" | "silent", _) => request.quiet = true,
                ("regexp-extended" | "regexp-extended-old", _) => request.extended = true,
                ("separate", _) => request.separate = true,
                ("null-data" | "zero-terminated", _) => request.null_data = true,
                ("sandbox", _) => request.sandbox = true,
                // These change nothing on this system.
                ("binary" | "unbuffered", _) => {}
                ("in-place", suffix) => request.in_place = Some(text(suffix.unwrap_or_default())?),
                ("expression", Some(given)) => script.push(expression(text(given)?)),
                ("file", Some(name)) => script.push(script_file(text(name)?)?),
                ("line-length", Some(given)) => {
                    let given = text(given)?;
                    let digits = given.len() - given.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                    request.width = given[..digits].parse().unwrap_or(0);
                }
                ("version", _) => return Err(Refusal::Version),
                (name, _) => return Err(Refusal::Unsupported(format!("--{name}"))),
            },
        }
    }
    if script.is_empty() {
        if request.files.is_empty() {
            return Err(Refusal::Usage(String::new()));
        }
        script.push(expression(request.files.remove(0)));
    }
    if request.files.is_empty() {
        if request.in_place.is_some() {
            return Err(Refusal::Wrong("sed: no input files".to_owned(), super::STATUS_PANIC));
        }
        request.files.push("-".to_owned());
    }
    Ok((request, script))
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|_| Refusal::Unsupported("an argument that is not UTF-8".to_owned()))
}

fn script_file(name: String) -> Result<Chunk, Refusal> {
    let mut bytes = Vec::new();
    let read = match name.as_str() {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes),
        name => std::fs::File::open(path(name.as_bytes())).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| {
        Refusal::Wrong(format!("sed: couldn't open file {name}: {}", reason(&error)), super::STATUS_PANIC)
    })?;
    let text = String::from_utf8(bytes).map_err(|_| Refusal::Unsupported("a script that is not UTF-8".to_owned()))?;
    // A newline ends the last command of a file; it begins no other.
    let text = text.strip_suffix('\n').map(str::to_owned).unwrap_or(text);
    Ok(Chunk { text, origin: Origin::File(name) })
}
