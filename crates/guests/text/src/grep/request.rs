//! The command line.

use super::print::Layout;
use crate::options::{self, Argument, Spec, Takes};
use crate::output::{path, reason};
use std::io::Read as _;

/// What is searched for, where, and what is printed.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) patterns: Vec<Vec<u8>>,
    pub(super) matching: Matching,
    pub(super) layout: Layout,
    pub(super) files: Vec<Vec<u8>>,
    pub(super) recursion: Recursion,
    pub(super) filters: Vec<Filter>,
    pub(super) excluded_directories: Vec<Vec<u8>>,
    pub(super) quiet_about_errors: bool,
    pub(super) binary: Binary,
    pub(super) skip_directories: bool,
}

/// How a pattern is read and compared.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    pub(super) syntax: Syntax,
    pub(super) fold_case: bool,
    pub(super) words: bool,
    pub(super) whole_lines: bool,
    pub(super) invert: bool,
    pub(super) separator: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    Basic,
    Extended,
    Fixed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recursion {
    None,
    /// `-r`: links only when named.
    Directories,
    /// `-R`: all links.
    Links,
}

/// What is done with files that are no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    /// Said, not printed.
    Report,
    /// `-a`.
    Text,
    /// `-I`.
    Skip,
}

/// `--include` and `--exclude`, in order: the last that matches a name decides.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) include: bool,
    pub(super) pattern: Vec<u8>,
}

/// Why a command line is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    Usage(String),
    Wrong(String),
    Unsupported(String),
}

const fn flag(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Nothing }
}

const fn value(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Value }
}

const OPTIONS: &[Spec] = &[
    value(b'A', "after-context"),
    value(b'B', "before-context"),
    value(b'C', "context"),
    value(b'D', "devices"),
    flag(b'E', "extended-regexp"),
    flag(b'F', "fixed-strings"),
    flag(b'G', "basic-regexp"),
    flag(b'P', "perl-regexp"),
    flag(b'H', "with-filename"),
    flag(b'I', "binary-without-match"),
    flag(b'L', "files-without-match"),
    flag(b'R', "dereference-recursive"),
    flag(b'T', "initial-tab"),
    flag(b'U', "binary"),
    flag(b'V', "version"),
    flag(b'Z', "null"),
    flag(b'a', "text"),
    flag(b'b', "byte-offset"),
    flag(b'c', "count"),
    value(b'd', "directories"),
    value(b'e', "regexp"),
    value(b'f', "file"),
    flag(b'h', "no-filename"),
    flag(b'i', "ignore-case"),
    flag(b'y', "ignore-case-obsolete"),
    flag(b'l', "files-with-matches"),
    value(b'm', "max-count"),
    flag(b'n', "line-number"),
    flag(b'o', "only-matching"),
    flag(b'q', "quiet"),
    flag(0, "silent"),
    flag(b'r', "recursive"),
    flag(b's', "no-messages"),
    flag(b'u', "unix-byte-offsets"),
    flag(b'v', "invert-match"),
    flag(b'w', "word-regexp"),
    flag(b'x', "line-regexp"),
    flag(b'z', "null-data"),
    value(0, "binary-files"),
    Spec { short: None, long: "color", takes: Takes::MaybeValue },
    Spec { short: None, long: "colour", takes: Takes::MaybeValue },
    value(0, "exclude"),
    value(0, "exclude-dir"),
    value(0, "exclude-from"),
    value(0, "group-separator"),
    flag(0, "help"),
    value(0, "include"),
    value(0, "label"),
    flag(0, "line-buffered"),
    flag(0, "no-group-separator"),
    flag(0, "no-ignore-case"),
];

pub(super) fn read(name: &str, arguments: Vec<Vec<u8>>) -> Result<Request, Refusal> {
    let syntax = match name {
        "egrep" => Syntax::Extended,
        "fgrep" => Syntax::Fixed,
        _ => Syntax::Basic,
    };
    let mut request = Request {
        patterns: Vec::new(),
        matching: Matching {
            syntax,
            fold_case: false,
            words: false,
            whole_lines: false,
            invert: false,
            separator: b'\n',
        },
        layout: Layout::default(),
        files: Vec::new(),
        recursion: Recursion::None,
        filters: Vec::new(),
        excluded_directories: Vec::new(),
        quiet_about_errors: false,
        binary: Binary::Report,
        skip_directories: false,
    };
    let mut given: Option<Vec<Vec<u8>>> = None;
    let (mut names, mut context, mut digits) = (None, None, String::new());
    let (mut before, mut after) = (None, None);
    for argument in options::read(arguments, OPTIONS, true).map_err(Refusal::Usage)? {
        if let Argument::Digit(digit) = argument {
            digits.push(char::from(digit));
            continue;
        }
        if !digits.is_empty() {
            context = Some(length(std::mem::take(&mut digits).as_bytes())?);
        }
        let matching = &mut request.matching;
        let layout = &mut request.layout;
        match argument {
            Argument::Operand(operand) => request.files.push(operand),
            Argument::Digit(_) => {}
            Argument::Option(name, None) => match name {
                "extended-regexp" => matching.syntax = Syntax::Extended,
                "fixed-strings" => matching.syntax = Syntax::Fixed,
                "basic-regexp" => matching.syntax = Syntax::Basic,
                "ignore-case" | "ignore-case-obsolete" => matching.fold_case = true,
                "no-ignore-case" => matching.fold_case = false,
                "word-regexp" => matching.words = true,
                "line-regexp" => matching.whole_lines = true,
                "invert-match" => matching.invert = true,
                "null-data" => matching.separator = 0,
                "with-filename" => names = Some(true),
                "no-filename" => names = Some(false),
                "files-with-matches" => layout.list = Some(true),
                "files-without-match" => layout.list = Some(false),
                "count" => layout.count = true,
                "line-number" => layout.line_numbers = true,
                "byte-offset" => layout.offsets = true,
                "only-matching" => layout.only_matching = true,
                "quiet" | "silent" => layout.quiet = true,
                "null" => layout.null_names = true,
                "no-group-separator" => layout.group_separator = None,
                "no-messages" => request.quiet_about_errors = true,
                "recursive" => request.recursion = Recursion::Directories,
                "dereference-recursive" => request.recursion = Recursion::Links,
                "text" => request.binary = Binary::Text,
                "binary-without-match" => request.binary = Binary::Skip,
                // Output is never a terminal, and these change nothing on this system.
                "color" | "colour" | "line-buffered" | "binary" | "unix-byte-offsets" => {}
                name => return Err(Refusal::Unsupported(format!("--{name}"))),
            },
            Argument::Option(name, Some(value)) => match name {
                "regexp" => given.get_or_insert_default().extend(lines(&value)),
                "file" => given.get_or_insert_default().extend(pattern_file(&value)?),
                "after-context" => after = Some(length(&value)?),
                "before-context" => before = Some(length(&value)?),
                "context" => context = Some(length(&value)?),
                "max-count" => {
                    let count = std::str::from_utf8(&value).ok().and_then(|text| text.parse::<i64>().ok());
                    let count = count.ok_or_else(|| Refusal::Wrong("invalid max count".to_owned()))?;
                    layout.max_count = u64::try_from(count).ok();
                }
                "include" => request.filters.push(Filter { include: true, pattern: value }),
                "exclude" => request.filters.push(Filter { include: false, pattern: value }),
                "exclude-dir" => {
                    let end = value.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
                    request.excluded_directories.push(value[..end].to_vec());
                }
                "label" => layout.stdin_label = value,
                "group-separator" => layout.group_separator = Some(value),
                "binary-files" => {
                    request.binary = match value.as_slice() {
                        b"binary" => Binary::Report,
                        b"text" => Binary::Text,
                        b"without-match" => Binary::Skip,
                        _ => return Err(Refusal::Wrong("unknown binary-files type".to_owned())),
                    };
                }
                "directories" => match value.as_slice() {
                    b"read" => request.skip_directories = false,
                    b"skip" => request.skip_directories = true,
                    b"recurse" => request.recursion = Recursion::Directories,
                    _ => return Err(Refusal::Usage("invalid argument for '--directories'".to_owned())),
                },
                "color" | "colour" => match value.as_slice() {
                    b"never" | b"no" | b"none" | b"auto" | b"tty" | b"if-tty" => {}
                    _ => return Err(Refusal::Unsupported("--color=always".to_owned())),
                },
                name => return Err(Refusal::Unsupported(format!("--{name}"))),
            },
        }
    }
    if !digits.is_empty() {
        context = Some(length(digits.as_bytes())?);
    }
    request.patterns = match given {
        Some(patterns) => patterns,
        None if request.files.is_empty() => return Err(Refusal::Usage(String::new())),
        None => lines(&request.files.remove(0)),
    };
    request.layout.before = before.or(context).unwrap_or(0);
    request.layout.after = after.or(context).unwrap_or(0);
    request.layout.separator = request.matching.separator;
    let several = request.files.len() > 1 || request.recursion != Recursion::None;
    request.layout.names = names.unwrap_or(several);
    Ok(request)
}

fn length(value: &[u8]) -> Result<usize, Refusal> {
    let text = String::from_utf8_lossy(value);
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(Refusal::Wrong(format!("{text}: invalid context length argument")));
    }
    Ok(text.parse().unwrap_or(usize::MAX))
}

/// The patterns of a text: one a line.
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn pattern_file(name: &[u8]) -> Result<Vec<Vec<u8>>, Refusal> {
    let mut text = Vec::new();
    let read = if name == b"-" {
        std::io::stdin().lock().read_to_end(&mut text)
    } else {
        std::fs::File::open(path(name)).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.map_err(|error| Refusal::Wrong(format!("{}: {}", String::from_utf8_lossy(name), reason(&error))))?;
    if text.last() == Some(&b'\n') {
        text.pop();
    } else if text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(lines(&text))
}
