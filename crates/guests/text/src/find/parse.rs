//! The command line: roots, options, and the expression with its precedence.

use super::exec::{Batches, Exec};
use super::expression::{Expression, Number};
use super::format::Format;
use super::path_expression::{PathExpression, Syntax};
use super::permissions::Permissions;
use super::time::{self, Age, Stamp};
use super::{Links, Request, Settings};
use crate::output::{path, reason};
use crate::posix::ExpressionError;
use guest_files::{Kind, Moment, Status, civil};

/// Why a command line is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What GNU's find says.
    Wrong(String),
    /// GNU's find does it, and this one does not.
    Unsupported(String),
}

type Parsed<T> = Result<T, Refusal>;

/// Seconds of a day.
const DAY: i64 = 86_400;
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
    let batches = Batches::default();
    let now = civil::now();
    let words = &arguments[at..];
    let syntax = Syntax::default();
    let mut parser = Parser { words, at: 0, settings, batches, now, origin: now, syntax, nesting: 0 };
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
    Ok(Request { roots, settings: parser.settings, expression, batches: parser.batches })
}

/// Whether a word ends the list of roots.
fn begins_expression(word: &[u8]) -> bool {
    (word.len() > 1 && word[0] == b'-') || matches!(word, b"(" | b")" | b"!" | b",")
}

struct Parser<'w> {
    words: &'w [Vec<u8>],
    at: usize,
    settings: Settings,
    batches: Batches,
    now: Moment,
    /// From when ages are counted.
    origin: Moment,
    /// How `-regex` reads its pattern.
    syntax: Syntax,
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
            b"-regex" | b"-iregex" => {
                let pattern = text(self.value(word)?);
                let matched = PathExpression::new(&pattern, self.syntax, word == b"-iregex");
                Expression::Matches(matched.map_err(|error| match error {
                    ExpressionError::Wrong(message) => {
                        Refusal::Wrong(format!("failed to compile regular expression '{pattern}': {message}"))
                    }
                    ExpressionError::Unsupported(what) => Refusal::Unsupported(format!("{}: {what}", text(word))),
                })?)
            }
            b"-regextype" => {
                let name = text(self.value(word)?);
                self.syntax = Syntax::named(&name).ok_or_else(|| Refusal::Unsupported(format!("-regextype {name}")))?;
                Expression::Always(true)
            }
            b"-readable" => Expression::Readable,
            b"-executable" => Expression::Executable,
            b"-daystart" => {
                // The end of today, from which days are counted back.
                self.origin = (self.now.0.div_euclid(DAY) * DAY + DAY, 0);
                Expression::Always(true)
            }
            b"-delete" => {
                self.settings.depth_first = true;
                Expression::Delete
            }
            b"-type" => Expression::Kind(kinds(self.value(word)?)?),
            b"-size" => self.size()?,
            b"-empty" => Expression::Empty,
            b"-xtype" => Expression::OtherKind(kinds(self.value(word)?)?),
            b"-lname" | b"-ilname" => {
                Expression::LinkName { pattern: self.value(word)?.to_vec(), fold_case: word == b"-ilname" }
            }
            b"-newer" | b"-mnewer" => Expression::Newer(Stamp::Modified, self.file(word)?.modified),
            b"-anewer" => Expression::Newer(Stamp::Accessed, self.file(word)?.modified),
            b"-cnewer" => Expression::Newer(Stamp::Changed, self.file(word)?.modified),
            b"-mtime" | b"-mmin" => self.age(word, Stamp::Modified)?,
            b"-atime" | b"-amin" => self.age(word, Stamp::Accessed)?,
            b"-ctime" | b"-cmin" => self.age(word, Stamp::Changed)?,
            b"-perm" => {
                let value = self.value(word)?;
                let wanted = Permissions::parse(value);
                Expression::Permissions(wanted.ok_or_else(|| invalid_mode(value))?)
            }
            b"-user" => Expression::User(self.owner(word, "user", guest_files::user_name(0))?),
            b"-group" => Expression::Group(self.owner(word, "group", guest_files::group_name(0))?),
            b"-uid" => Expression::UserNumber(self.count(word)?),
            b"-gid" => Expression::GroupNumber(self.count(word)?),
            b"-nouser" => Expression::NoUser,
            b"-nogroup" => Expression::NoGroup,
            b"-links" => Expression::Links(self.count(word)?),
            b"-inum" => Expression::Inode(self.count(word)?),
            b"-samefile" => {
                let status = self.file(word)?;
                Expression::SameFile(status.device, status.inode)
            }
            b"-ls" => Expression::List,
            b"-exec" | b"-execdir" | b"-ok" | b"-okdir" => self.exec(word)?,
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
            [b'-', b'n', b'e', b'w', b'e', b'r', first, second] => self.newer(word, *first, *second)?,
            word if KNOWN_TO_GNU.contains(&text(word).as_str()) => return Err(Refusal::Unsupported(text(word))),
            word => return wrong(format!("unknown predicate `{}'", text(word))),
        })
    }

    /// The status of the file that an option names.
    fn file(&mut self, option: &[u8]) -> Parsed<Status> {
        let name = self.value(option)?;
        let follow = self.settings.links != Links::None;
        let found = guest_files::status(&path(name), follow);
        found.map_err(|error| Refusal::Wrong(format!("‘{}’: {}", text(name), reason(&error))))
    }

    /// `-newerXY`.
    fn newer(&mut self, word: &[u8], first: u8, second: u8) -> Parsed<Expression> {
        let Some(stamp) = Stamp::named(first).filter(|_| first.is_ascii_lowercase()) else {
            return Err(Refusal::Unsupported(text(word)));
        };
        if second == b't' {
            let value = text(self.value(word)?);
            let moment = time::moment(&value, self.now);
            let moment = moment.ok_or_else(|| Refusal::Unsupported(format!("{} ‘{value}’", text(word))))?;
            return Ok(Expression::Newer(stamp, moment));
        }
        let Some(other) = Stamp::named(second).filter(|_| second.is_ascii_lowercase()) else {
            return Err(Refusal::Unsupported(text(word)));
        };
        Ok(Expression::Newer(stamp, other.of(&self.file(word)?)))
    }

    fn age(&mut self, word: &[u8], stamp: Stamp) -> Parsed<Expression> {
        let unit = if word.ends_with(b"time") { 86_400 } else { 60 };
        let value = self.value(word)?;
        let count = number(value).ok_or_else(|| match value {
            value if value.contains(&b'.') => Refusal::Unsupported(format!("{} with a fraction", text(word))),
            value => Refusal::Wrong(format!("invalid argument `{}' to `{}'", text(value), text(word))),
        })?;
        Ok(Expression::Age(Age { stamp, count, unit, now: self.origin }))
    }

    fn count(&mut self, word: &[u8]) -> Parsed<Number> {
        let value = self.value(word)?;
        number(value).ok_or_else(|| Refusal::Wrong(format!("invalid argument `{}' to `{}'", text(value), text(word))))
    }

    /// A user or a group by name or number. The sandbox knows one name.
    fn owner(&mut self, word: &[u8], kind: &str, known: Option<&str>) -> Parsed<u32> {
        let value = text(self.value(word)?);
        if known == Some(value.as_str()) {
            return Ok(0);
        }
        value.parse().map_err(|_| Refusal::Wrong(format!("‘{value}’ is not the name of a known {kind}")))
    }

    /// The command of `-exec` and its like, up to `;`, or to `+` behind `{}`.
    fn exec(&mut self, option: &[u8]) -> Parsed<Expression> {
        let in_directory = option.ends_with(b"dir");
        let asks = option.starts_with(b"-ok");
        let mut words: Vec<Vec<u8>> = Vec::new();
        let missing = || Refusal::Wrong(format!("missing argument to `{}'", text(option)));
        let many = loop {
            let word = self.take().ok_or_else(missing)?;
            match word {
                b";" => break false,
                b"+" if !asks && words.last().is_some_and(|last| last == b"{}") => break true,
                word => words.push(word.to_vec()),
            }
        };
        if words.is_empty() {
            return wrong(format!("invalid argument `;' to `{}'", text(option)));
        }
        let batch = if many {
            words.pop();
            if words.iter().any(|word| word.windows(2).any(|pair| pair == b"{}")) {
                return wrong(format!("Only one instance of {{}} is supported with {} ... +", text(option)));
            }
            if words.is_empty() {
                return Err(missing());
            }
            Some(self.batches.add(words.clone()))
        } else {
            None
        };
        Ok(Expression::Exec(Exec { words, in_directory, asks, batch }))
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

fn invalid_mode(value: &[u8]) -> Refusal {
    Refusal::Wrong(format!("invalid mode ‘{}’", text(value)))
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
            "b" => Ok(Kind::BlockDevice),
            "c" => Ok(Kind::CharacterDevice),
            "p" => Ok(Kind::Fifo),
            "s" => Ok(Kind::Socket),
            "" => wrong("Last file type in list argument to -type is missing, i.e., list is ending on: ','"),
            letter if letter.chars().count() > 1 => wrong("Must separate multiple arguments to -type using: ','"),
            letter => wrong(format!("Unknown argument to -type: {letter}")),
        })
        .collect()
}

/// What GNU's find has beyond this one.
const KNOWN_TO_GNU: &[&str] = &[
    "-context",
    "-files0-from",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fstype",
    "-help",
    "--help",
    "-used",
    "-version",
    "--version",
    "-writable",
];
