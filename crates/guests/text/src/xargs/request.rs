//! The command line of `xargs`.

/// Bytes of a command, as a system counts them, unless `-s` says otherwise.
const MAX_SIZE: usize = 128 << 10;
/// What is run when no command is given.
const DEFAULT: &[u8] = b"echo";

/// How the input falls into items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    /// Blanks and newlines, with quotes and backslashes.
    Blanks,
    /// One byte; no other is special.
    Byte(u8),
}

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) command: Vec<Vec<u8>>,
    pub(super) file: Option<Vec<u8>>,
    pub(super) separator: Separator,
    /// The item at which the input ends.
    pub(super) end: Option<Vec<u8>>,
    /// The mark that an item replaces.
    pub(super) replaced: Option<Vec<u8>>,
    pub(super) max_items: Option<usize>,
    pub(super) max_lines: Option<usize>,
    pub(super) max_size: usize,
    pub(super) exits_when_too_long: bool,
    pub(super) not_when_empty: bool,
    pub(super) traces: bool,
}

/// What is printed, and the status.
type Failure = (String, i32);

/// Options by letter and name, and whether they take a value: `n`o, `y`es, `o`nly joined.
const OPTIONS: &[(char, &str, char)] = &[
    ('0', "null", 'n'),
    ('a', "arg-file", 'y'),
    ('d', "delimiter", 'y'),
    ('E', "", 'y'),
    ('e', "eof", 'o'),
    ('I', "", 'y'),
    ('i', "replace", 'o'),
    ('L', "", 'y'),
    ('l', "max-lines", 'o'),
    ('n', "max-args", 'y'),
    ('o', "open-tty", 'n'),
    ('P', "max-procs", 'y'),
    ('p', "interactive", 'n'),
    ('r', "no-run-if-empty", 'n'),
    ('s', "max-chars", 'y'),
    ('t', "verbose", 'n'),
    ('x', "exit", 'n'),
    (' ', "process-slot-var", 'y'),
    (' ', "show-limits", 'n'),
    (' ', "help", 'n'),
    (' ', "version", 'n'),
];

fn wrong(message: &str) -> Failure {
    (format!("xargs: {message}\nTry 'xargs --help' for more information."), 1)
}

fn unsupported(what: &str) -> Failure {
    (format!("skillgate: xargs: {what} is not supported"), 2)
}

/// Reads the command line. Options end at the first word that is none.
///
/// # Errors
/// What is printed, and the status.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Failure> {
    let mut request = Request {
        command: Vec::new(),
        file: None,
        separator: Separator::Blanks,
        end: None,
        replaced: None,
        max_items: None,
        max_lines: None,
        max_size: MAX_SIZE,
        exits_when_too_long: false,
        not_when_empty: false,
        traces: false,
    };
    let mut words = arguments.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.len() > 1 && word[0] == b'-') {
        if word == b"--" {
            break;
        }
        if let Some(long) = word.strip_prefix(b"--") {
            let text = String::from_utf8_lossy(long).into_owned();
            let (name, joined) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.as_bytes().to_vec())),
                None => (text, None),
            };
            let exact = OPTIONS.iter().find(|(_, long, _)| *long == name);
            let mut near = OPTIONS.iter().filter(|(_, long, _)| !long.is_empty() && long.starts_with(&name));
            let (letter, long, takes) = match (exact, near.next(), near.next()) {
                (Some(option), ..) | (None, Some(option), None) => *option,
                (None, None, _) => return Err(wrong(&format!("unrecognized option '--{name}'"))),
                _ => return Err(wrong(&format!("option '--{name}' is ambiguous"))),
            };
            let value = match (takes, joined) {
                ('n', Some(_)) => return Err(wrong(&format!("option '--{long}' doesn't allow an argument"))),
                ('y', None) => {
                    Some(words.next().ok_or_else(|| wrong(&format!("option '--{long}' requires an argument")))?)
                }
                (_, joined) => joined,
            };
            if letter == ' ' {
                return Err(unsupported(&format!("--{long}")));
            }
            request.set(letter, value)?;
            continue;
        }
        let mut letters = &word[1..];
        while let Some((letter, rest)) = letters.split_first() {
            let letter = char::from(*letter);
            let known = OPTIONS.iter().find(|(short, ..)| *short == letter && letter != ' ');
            let Some((_, _, takes)) = known else { return Err(wrong(&format!("invalid option -- '{letter}'"))) };
            letters = rest;
            let value = match takes {
                'n' => None,
                _ if !rest.is_empty() => Some(std::mem::take(&mut letters).to_vec()),
                'y' => Some(words.next().ok_or_else(|| wrong(&format!("option requires an argument -- '{letter}'")))?),
                _ => None,
            };
            request.set(letter, value)?;
        }
    }
    request.command = words.collect();
    if request.command.is_empty() {
        request.command.push(DEFAULT.to_vec());
    }
    Ok(request)
}

impl Request {
    fn set(&mut self, letter: char, value: Option<Vec<u8>>) -> Result<(), Failure> {
        let given = value.clone().unwrap_or_default();
        match letter {
            '0' => self.separator = Separator::Byte(0),
            'a' => self.file = value.filter(|file| file != b"-"),
            'd' => self.separator = Separator::Byte(delimiter(&given)?),
            'E' | 'e' => self.end = value.filter(|end| !end.is_empty()),
            'I' | 'i' => {
                self.forget("--replace/-I/-i");
                self.replaced = Some(if value.is_none() { b"{}".to_vec() } else { given });
            }
            'L' | 'l' => {
                let lines = if value.is_none() { 1 } else { number('L', &given, 1)? };
                self.forget(if letter == 'L' { "-L" } else { "--max-lines/-l" });
                self.max_lines = Some(lines);
            }
            'n' => {
                let items = number('n', &given, 1)?;
                if items == 1 && self.replaced.is_some() {
                    return Ok(());
                }
                self.forget("--max-args/-n");
                self.max_items = Some(items);
            }
            // One command after the other is as good as several at once.
            'P' => drop(number('P', &given, 0)?),
            'r' => self.not_when_empty = true,
            's' => self.max_size = number('s', &given, 1)?.min(MAX_SIZE),
            't' => self.traces = true,
            'x' => self.exits_when_too_long = true,
            letter => return Err(unsupported(&format!("-{letter}"))),
        }
        Ok(())
    }

    /// The ways to cut the input exclude each other; the last one holds.
    fn forget(&mut self, now: &str) {
        let before = [
            ("--replace", self.replaced.take().is_some(), "--replace/-I/-i"),
            ("--max-lines", self.max_lines.take().is_some(), "--max-lines/-l"),
            ("--max-args", self.max_items.take().is_some(), "--max-args/-n"),
        ];
        for (name, was_set, option) in before {
            let same = option == now || (now == "-L" && name == "--max-lines");
            if was_set && !same {
                let option = option.split('/').next().unwrap_or(option);
                eprintln!(
                    "xargs: warning: options {option} and {now} are mutually exclusive, ignoring previous {option} value"
                );
            }
        }
    }
}

fn number(letter: char, value: &[u8], least: usize) -> Result<usize, Failure> {
    let text = String::from_utf8_lossy(value);
    match text.parse::<i64>() {
        Err(_) => Err(wrong(&format!("invalid number \"{text}\" for -{letter} option"))),
        Ok(number) => match usize::try_from(number).ok().filter(|number| *number >= least) {
            Some(number) => Ok(number),
            None => Err(wrong(&format!("value {text} for -{letter} option should be >= {least}"))),
        },
    }
}

fn delimiter(text: &[u8]) -> Result<u8, Failure> {
    let shown = String::from_utf8_lossy(text);
    match text {
        [byte] => Ok(*byte),
        [b'\\', escape] if "abfnrtv0\\".contains(char::from(*escape)) => Ok(match escape {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0' => 0,
            _ => b'\\',
        }),
        [b'\\', b'x', hex @ ..] => number_in(hex, 16, &shown),
        [b'\\', octal @ ..] => number_in(octal, 8, &shown),
        _ => Err((
            format!(
                "xargs: Invalid input delimiter specification {shown}: the delimiter must be either a single character or \
                 an escape sequence starting with \\."
            ),
            1,
        )),
    }
}

fn number_in(digits: &[u8], radix: u32, shown: &str) -> Result<u8, Failure> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, radix).ok());
    number.ok_or_else(|| (format!("xargs: Invalid escape sequence {shown} in input delimiter specification."), 1))
}
