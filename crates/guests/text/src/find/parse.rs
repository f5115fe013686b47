//! The command line: roots, options, and the expression with its precedence.

use super::expression::{Expression, Kind, Number, modification_of};
use super::format::Format;
use super::{Links, Request, Settings};
use crate::output::{path, reason};
use std::time::SystemTime;

/// Why a command line is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What GNU's find says.
    Wrong(String),
    /// GNU's find does it, and this one does not.
    Unsupported(String),
}

type Parsed<T> = Result<T, Refusal>;

/// Parentheses and `!` inside each other that are still read.
const MAX_NESTING: usize = 256;

fn wrong<T>(message: impl Into<String>) -> Parsed<T> {
    Err(Refusal::Wrong(message.into()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn parse(arguments: &[Vec<u8>]) -> Parsed<Request> {
    let mut settings = Settings { max_depth: usize::MAX, min_depth: 0, depth_first: false, links: Links::None };
    let mut at = 0;
    while let Some(option) = arguments.get(at) {
        match option.as_slice() {
            b"-P" => settings.links = Links::None,
            b"-H" => settings.links = Links::Roots,
            b"-L" => settings.links = Links::All,
            option if option.starts_with(b"-O") || option.starts_with(b"-D") => {
                return Err(Refusal::Unsupported(text(option)));
            }
            b"--" => {
                at += 1;
                break;
            }
            _ => break,
        }
        at += 1;
    }
    let mut roots = Vec::new();
    while let Some(root) = arguments.get(at).filter(|argument| !begins_expression(argument)) {
        roots.push(root.clone());
        at += 1;
    }
    if roots.is_empty() {
        roots.push(b".".to_vec());
    }
    let mut parser = Parser { words: &arguments[at..], at: 0, settings, now: SystemTime::now(), nesting: 0 };
    let mut expression = if parser.words.is_empty() { Expression::Always(true) } else { parser.comma()? };
    if let Some(word) = parser.words.get(parser.at) {
        return match word.as_slice() {
            b")" => wrong("you have too many ')'"),
            word => wrong(format!("paths must precede expression: `{}'", text(word))),
        };
    }
    if !expression.acts() {
        expression = Expression::And(vec![expression, Expression::Print]);
    }
    Ok(Request { roots, settings: parser.settings, expression })
}

/// Whether a word ends the list of roots.
fn begins_expression(word: &[u8]) -> bool {
    (word.len() > 1 && word[0] == b'-') || matches!(word, b"(" | b")" | b"!" | b",")
}

struct Parser<'w> {
    words: &'w [Vec<u8>],
    at: usize,
    settings: Settings,
    now: SystemTime,
    nesting: usize,
}

impl<'w> Parser<'w> {
    fn peek(&self) -> Option<&'w [u8]> {
        self.words.get(self.at).map(Vec::as_slice)
    }

    fn take(&mut self) -> Option<&'w [u8]> {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word
    }

    fn comma(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.or()?];
        while self.peek() == Some(b",") {
            self.at += 1;
            if self.peek().is_none() {
                return wrong("expected an expression after ','");
            }
            parts.push(self.or()?);
        }
        Ok(one_or(parts, Expression::Comma))
    }

    fn or(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.and()?];
        while let Some(operator @ (b"-o" | b"-or")) = self.peek() {
            self.at += 1;
            if self.peek().is_none_or(|word| word == b")") {
                return wrong(format!("expected an expression after '{}'", text(operator)));
            }
            parts.push(self.and()?);
        }
        Ok(one_or(parts, Expression::Or))
    }

    fn and(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.not()?];
        loop {
            match self.peek() {
                None | Some(b")" | b"," | b"-o" | b"-or") => break,
                Some(operator @ (b"-a" | b"-and")) => {
                    self.at += 1;
                    if self.peek().is_none_or(|word| word == b")") {
                        return wrong(format!("expected an expression after '{}'", text(operator)));
                    }
                }
                Some(_) => {}
            }
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::And))
    }

    fn not(&mut self) -> Parsed<Expression> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return wrong("the expression is nested too deeply");
        }
        let parsed = self.not_within();
        self.nesting -= 1;
        parsed
    }

    fn not_within(&mut self) -> Parsed<Expression> {
        match self.peek() {
            Some(operator @ (b"!" | b"-not")) => {
                self.at += 1;
                if self.peek().is_none() {
                    return wrong(format!("expected an expression after '{}'", text(operator)));
                }
                Ok(Expression::Not(Box::new(self.not()?)))
            }
            Some(b"(") => {
                self.at += 1;
                if self.peek() == Some(b")") {
                    return wrong("invalid expression; empty parentheses are not allowed.");
                }
                let unclosed = "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra \
                                predicate after '('";
                if self.peek().is_none() {
                    return wrong(unclosed);
                }
                let inner = self.comma()?;
                if self.take() == Some(b")") {
                    Ok(inner)
                } else {
                    wrong("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
                }
            }
            Some(operator @ (b"-a" | b"-and" | b"-o" | b"-or" | b",")) => wrong(format!(
                "invalid expression; you have used a binary operator '{}' with nothing before it.",
                text(operator)
            )),
            Some(b")") => wrong("invalid expression; you have too many ')'"),
            _ => self.primary(),
        }
    }

    fn value(&mut self, option: &[u8]) -> Parsed<&'w [u8]> {
        self.take().map_or_else(|| wrong(format!("missing argument to `{}'", text(option))), Ok)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let Some(word) = self.take() else { return wrong("an expression is missing") };
        if word.first() != Some(&b'-') {
            return wrong(format!("paths must precede expression: `{}'", text(word)));
        }
        let fold_case = matches!(word, b"-iname" | b"-ipath" | b"-iwholename");
        Ok(match word {
            b"-name" | b"-iname" => Expression::Name { pattern: self.value(word)?.to_vec(), fold_case },
            b"-path" | b"-wholename" | b"-ipath" | b"-iwholename" => {
                Expression::Path { pattern: self.value(word)?.to_vec(), fold_case }
            }
            b"-type" => Expression::Kind(kinds(self.value(word)?)?),
            b"-size" => self.size()?,
            b"-empty" => Expression::Empty,
            b"-newer" => {
                let file = self.value(word)?;
                let moment = modification_of(&path(file));
                Expression::NewerThan(
                    moment.map_err(|error| Refusal::Wrong(format!("‘{}’: {}", text(file), reason(&error))))?,
                )
            }
            b"-mtime" | b"-mmin" => {
                let unit = if word == b"-mtime" { 86_400 } else { 60 };
                let value = self.value(word)?;
                let count = number(value).ok_or_else(|| match value {
                    value if value.contains(&b'.') => Refusal::Unsupported(format!("{} with a fraction", text(word))),
                    value => Refusal::Wrong(format!("invalid argument `{}' to `{}'", text(value), text(word))),
                })?;
                Expression::Age { count, unit, now: self.now }
            }
            b"-true" => Expression::Always(true),
            b"-false" => Expression::Always(false),
            b"-print" => Expression::Print,
            b"-print0" => Expression::Print0,
            b"-printf" => Expression::Printf(Format::parse(self.value(word)?).map_err(Refusal::Unsupported)?),
            b"-prune" => Expression::Prune,
            b"-quit" => Expression::Quit,
            b"-maxdepth" => {
                self.settings.max_depth = self.level(word)?;
                Expression::Always(true)
            }
            b"-mindepth" => {
                self.settings.min_depth = self.level(word)?;
                Expression::Always(true)
            }
            b"-depth" => {
                self.settings.depth_first = true;
                Expression::Always(true)
            }
            b"-follow" => {
                self.settings.links = Links::All;
                Expression::Always(true)
            }
            // A sandbox shows one file system, and warnings are for terminals.
            b"-mount"
            | b"-xdev"
            | b"-noleaf"
            | b"-warn"
            | b"-nowarn"
            | b"-ignore_readdir_race"
            | b"-noignore_readdir_race" => Expression::Always(true),
            word if KNOWN_TO_GNU.contains(&text(word).as_str()) => return Err(Refusal::Unsupported(text(word))),
            word if word.starts_with(b"-newer") => return Err(Refusal::Unsupported(text(word))),
            word => return wrong(format!("unknown predicate `{}'", text(word))),
        })
    }

    fn level(&mut self, option: &[u8]) -> Parsed<usize> {
        let value = self.value(option)?;
        std::str::from_utf8(value)
            .ok()
            .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|value| value.parse().ok())
            .map_or_else(
                || {
                    wrong(format!(
                        "Expected a positive decimal integer argument to {}, but got ‘{}’",
                        text(option),
                        text(value)
                    ))
                },
                Ok,
            )
    }

    fn size(&mut self) -> Parsed<Expression> {
        let value = self.value(b"-size")?;
        let (digits, unit) = match value.split_last() {
            Some((b'c', digits)) => (digits, 1),
            Some((b'w', digits)) => (digits, 2),
            Some((b'b', digits)) => (digits, 512),
            Some((b'k', digits)) => (digits, 1 << 10),
            Some((b'M', digits)) => (digits, 1 << 20),
            Some((b'G', digits)) => (digits, 1 << 30),
            Some((last, _)) if last.is_ascii_digit() => (value, 512),
            Some((last, _)) => return wrong(format!("invalid -size type `{}'", char::from(*last))),
            None => return wrong("invalid null argument to -size"),
        };
        match number(digits) {
            Some(count) => Ok(Expression::Size { count, unit }),
            None => wrong(format!("Invalid argument `{}' to -size", text(value))),
        }
    }
}

fn one_or(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => Expression::Always(true),
    }
}

fn number(value: &[u8]) -> Option<Number> {
    let (make, digits): (fn(u64) -> Number, _) = match value.split_first()? {
        (b'+', digits) => (Number::Above, digits),
        (b'-', digits) => (Number::Below, digits),
        _ => (Number::Exactly, value),
    };
    let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().map(make)
}

fn kinds(value: &[u8]) -> Parsed<Vec<Kind>> {
    if value.is_empty() {
        return wrong("Arguments to -type should contain at least one letter");
    }
    let letters = text(value);
    letters
        .split(',')
        .map(|letter| match letter {
            "f" => Ok(Kind::File),
            "d" => Ok(Kind::Directory),
            "l" => Ok(Kind::Link),
            "b" | "c" | "p" | "s" => Ok(Kind::Never),
            "" => wrong("Last file type in list argument to -type is missing, i.e., list is ending on: ','"),
            letter if letter.chars().count() > 1 => wrong("Must separate multiple arguments to -type using: ','"),
            letter => wrong(format!("Unknown argument to -type: {letter}")),
        })
        .collect()
}

/// What GNU's find has beyond this one.
const KNOWN_TO_GNU: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-daystart",
    "-delete",
    "-exec",
    "-execdir",
    "-executable",
    "-files0-from",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fstype",
    "-gid",
    "-group",
    "-help",
    "--help",
    "-ilname",
    "-inum",
    "-iregex",
    "-links",
    "-lname",
    "-ls",
    "-nogroup",
    "-nouser",
    "-ok",
    "-okdir",
    "-perm",
    "-readable",
    "-regex",
    "-regextype",
    "-samefile",
    "-uid",
    "-used",
    "-user",
    "-version",
    "--version",
    "-writable",
    "-xtype",
];
