//! Patterns, read into a tree.

use super::class::{Class, Name};
use super::{Flags, Refusal};

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A character, and whether its case is ignored.
    Char(char, bool),
    Set(Class, bool),
    Any {
        newline: bool,
    },
    Assert(Assertion),
    Group(Box<Node>, usize),
    Cat(Vec<Node>),
    Or(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: u32,
        most: Option<u32>,
        kind: Kind,
    },
    Look {
        node: Box<Node>,
        behind: bool,
        negated: bool,
    },
    Atomic(Box<Node>),
    Back(usize, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Assertion {
    Start,
    End,
    /// The end, or before a newline there.
    SoftEnd,
    LineStart,
    LineEnd,
    Word,
    NotWord,
    SearchStart,
}

const MAX_DEPTH: usize = 200;
const MAX_REPEAT: u32 = 100_000;

pub(super) type Names = Vec<Option<String>>;

/// Reads a pattern: the tree, and the names of its groups.
pub(super) fn parse(pattern: &str, flags: Flags) -> Result<(Node, Names), Refusal> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut parser = Parser { chars, at: 0, flags, names: Vec::new(), depth: 0, references: Vec::new() };
    let node = parser.alternatives()?;
    if parser.at < parser.chars.len() {
        return wrong("unmatched close parenthesis");
    }
    if parser.references.iter().any(|reference| *reference > parser.names.len()) {
        return wrong("invalid backref number/name");
    }
    Ok((node, parser.names))
}

fn wrong<T>(message: &str) -> Result<T, Refusal> {
    Err(Refusal::Wrong(message.to_owned()))
}

fn unsupported<T>(what: &str) -> Result<T, Refusal> {
    Err(Refusal::Unsupported(format!("{what} in a pattern")))
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    flags: Flags,
    names: Names,
    depth: usize,
    references: Vec<usize>,
}

type Read<T> = Result<T, Refusal>;

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        let wanted: Vec<char> = text.chars().collect();
        let found = self.chars[self.at..].starts_with(&wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn until(&mut self, end: char) -> Option<String> {
        let length = self.chars[self.at..].iter().position(|c| *c == end)?;
        let text = self.chars[self.at..self.at + length].iter().collect();
        self.at += length + 1;
        Some(text)
    }

    fn alternatives(&mut self) -> Read<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return unsupported("so deep a nesting");
        }
        let outer = self.flags;
        let mut branches = vec![self.sequence()?];
        while self.take("|") {
            branches.push(self.sequence()?);
        }
        self.flags = outer;
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Or(branches) })
    }

    fn sequence(&mut self) -> Read<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            self.at += 1;
            if self.flags.extended && c.is_whitespace() {
                continue;
            }
            if self.flags.extended && c == '#' {
                while self.next().is_some_and(|c| c != '\n') {}
                continue;
            }
            let Some(node) = self.atom(c)? else { continue };
            nodes.push(self.repeated(node)?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Cat(nodes) })
    }

    fn atom(&mut self, c: char) -> Read<Option<Node>> {
        let fold = self.flags.ignore_case;
        Ok(Some(match c {
            '.' => Node::Any { newline: self.flags.dot_all },
            '^' => Node::Assert(if self.flags.multi_line { Assertion::LineStart } else { Assertion::Start }),
            '$' => Node::Assert(if self.flags.multi_line { Assertion::LineEnd } else { Assertion::SoftEnd }),
            '[' => Node::Set(self.set()?, fold),
            '(' => return self.group(),
            '\\' => self.escape()?,
            '*' | '+' | '?' => return wrong("target of repeat operator is not specified"),
            c => Node::Char(c, fold),
        }))
    }

    /// The quantifiers behind a node.
    fn repeated(&mut self, mut node: Node) -> Read<Node> {
        loop {
            let (least, most, braces) = match self.peek() {
                Some('*') => (0, None, false),
                Some('+') => (1, None, false),
                Some('?') => (0, Some(1), false),
                Some('{') => match self.braces()? {
                    Some((least, most)) => (least, most, true),
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            if !braces {
                self.at += 1;
            }
            let kind = match self.peek() {
                Some('?') => Kind::Lazy,
                Some('+') if !braces => Kind::Possessive,
                _ => Kind::Greedy,
            };
            self.at += usize::from(kind != Kind::Greedy);
            node = Node::Repeat { node: Box::new(node), least, most, kind };
        }
    }

    /// `{n}`, `{n,}`, `{,n}` or `{n,m}`; `None` where braces are text.
    fn braces(&mut self) -> Read<Option<(u32, Option<u32>)>> {
        let Some(length) = self.chars[self.at..].iter().position(|c| *c == '}') else { return Ok(None) };
        let inside: String = self.chars[self.at + 1..self.at + length].iter().collect();
        let (least, most) = inside.split_once(',').map_or((inside.as_str(), None), |(least, most)| (least, Some(most)));
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let empty = least.is_empty() && most.is_none_or(str::is_empty);
        if empty || !number(least) || !most.is_none_or(number) {
            return Ok(None);
        }
        let parse = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= MAX_REPEAT);
        let least_count = if least.is_empty() { Some(0) } else { parse(least) };
        let most_count = match most {
            None => least_count.map(Some),
            Some("") => Some(None),
            Some(most) => parse(most).map(Some),
        };
        let (Some(least), Some(most)) = (least_count, most_count) else {
            return wrong("too big number for repeat range");
        };
        if most.is_some_and(|most| most < least) {
            return unsupported("a repetition whose bounds are exchanged");
        }
        self.at += length + 1;
        Ok(Some((least, most)))
    }

    fn close(&mut self) -> Read<()> {
        if self.take(")") { Ok(()) } else { wrong("end pattern with unmatched parenthesis") }
    }

    fn within(&mut self) -> Read<Box<Node>> {
        let node = self.alternatives()?;
        self.close()?;
        Ok(Box::new(node))
    }

    /// After `(`; `None` for what matches nothing.
    fn group(&mut self) -> Read<Option<Node>> {
        if !self.take("?") {
            self.names.push(None);
            let index = self.names.len();
            return Ok(Some(Node::Group(self.within()?, index)));
        }
        for (sign, behind, negated) in
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)]
        {
            if self.take(sign) {
                return Ok(Some(Node::Look { node: self.within()?, behind, negated }));
            }
        }
        if self.take(":") {
            return self.within().map(|node| Some(*node));
        }
        if self.take(">") {
            return Ok(Some(Node::Atomic(self.within()?)));
        }
        if self.take("#") {
            return match self.until(')') {
                Some(_) => Ok(None),
                None => wrong("end pattern in group"),
            };
        }
        if self.take("<") || self.take("P<") {
            let Some(name) = self.until('>') else { return wrong("invalid group name <>") };
            if name.is_empty() {
                return wrong("group name is empty");
            }
            let valid = name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit());
            if !valid {
                return wrong(&format!("invalid group name <{name}>"));
            }
            self.names.push(Some(name));
            let index = self.names.len();
            return Ok(Some(Node::Group(self.within()?, index)));
        }
        self.options()
    }

    /// After `(?` before letters of options.
    fn options(&mut self) -> Read<Option<Node>> {
        let mut on = true;
        let mut flags = self.flags;
        loop {
            match self.next() {
                Some('-') => on = false,
                Some('i') => flags.ignore_case = on,
                Some('x') => flags.extended = on,
                Some('s') => flags.dot_all = on,
                Some('m') => flags.multi_line = on,
                Some(')') => {
                    // It holds up to the end of the group around it.
                    self.flags = flags;
                    return Ok(None);
                }
                Some(':') => {
                    let outer = std::mem::replace(&mut self.flags, flags);
                    let node = self.within()?;
                    self.flags = outer;
                    return Ok(Some(*node));
                }
                _ => return wrong("undefined group option"),
            }
        }
    }

    fn escape(&mut self) -> Read<Node> {
        let fold = self.flags.ignore_case;
        let Some(c) = self.next() else { return wrong("end pattern at escape") };
        if let Some(class) = named(c) {
            return Ok(Node::Set(class, false));
        }
        Ok(match c {
            'b' => Node::Assert(Assertion::Word),
            'B' => Node::Assert(Assertion::NotWord),
            'A' => Node::Assert(Assertion::Start),
            'z' => Node::Assert(Assertion::End),
            'Z' => Node::Assert(Assertion::SoftEnd),
            'G' => Node::Assert(Assertion::SearchStart),
            'p' | 'P' => Node::Set(self.property(c == 'P')?, false),
            'k' => {
                if !self.take("<") {
                    return wrong("invalid backref number/name");
                }
                let Some(name) = self.until('>') else { return wrong("invalid backref number/name") };
                let index = match name.parse::<usize>() {
                    Ok(index) => index,
                    Err(_) => match self.names.iter().position(|known| known.as_ref() == Some(&name)) {
                        Some(at) => at + 1,
                        None => return wrong(&format!("undefined name <{name}> reference")),
                    },
                };
                self.references.push(index);
                Node::Back(index, fold)
            }
            '1'..='9' => {
                self.at -= 1;
                let digits: String = self.chars[self.at..].iter().take_while(|c| c.is_ascii_digit()).collect();
                self.at += digits.len();
                let index = digits.parse().unwrap_or(usize::MAX);
                self.references.push(index);
                Node::Back(index, fold)
            }
            'R' | 'X' | 'K' | 'O' | 'N' | 'y' | 'Y' | 'g' | 'C' | 'M' | 'c' => return unsupported(&format!("\\{c}")),
            c => Node::Char(self.character(c)?, fold),
        })
    }

    /// The character of an escape.
    fn character(&mut self, c: char) -> Read<char> {
        Ok(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'x' if self.take("{") => {
                let Some(digits) = self.until('}') else { return wrong("invalid code point value") };
                return code(&digits, 16);
            }
            'x' => return self.digits(16, 2),
            'u' => return self.digits(16, 4),
            '0' => return self.digits(8, 2),
            c => c,
        })
    }

    fn digits(&mut self, radix: u32, most: usize) -> Read<char> {
        let digits: String = self.chars[self.at..].iter().take(most).take_while(|c| c.is_digit(radix)).collect();
        self.at += digits.len();
        if digits.is_empty() { Ok('\0') } else { code(&digits, radix) }
    }

    fn property(&mut self, negated: bool) -> Read<Class> {
        if !self.take("{") {
            return wrong("invalid character property name {p}");
        }
        let Some(name) = self.until('}') else { return wrong("invalid character property name {}") };
        let (negated, name) = match name.strip_prefix('^') {
            Some(rest) => (!negated, rest),
            None => (negated, name.as_str()),
        };
        let Some(class) = Name::of(name) else { return unsupported(&format!("the property {name}")) };
        Ok(if negated { Class::Not(Box::new(Class::Named(class))) } else { Class::Named(class) })
    }

    /// A set after its `[`.
    fn set(&mut self) -> Read<Class> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return unsupported("so deep a nesting");
        }
        let negated = self.take("^");
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        let mut first = true;
        loop {
            let Some(c) = self.next() else { return wrong("premature end of char-class") };
            match c {
                ']' if !first || self.chars[self.at..].iter().all(|c| *c != ']') => break,
                '[' if self.take(":") => {
                    let not = self.take("^");
                    let Some(name) = self.until(':').filter(|_| self.take("]")) else {
                        return wrong("premature end of char-class");
                    };
                    let Some(name) = Name::of(&name) else { return wrong("invalid POSIX bracket type") };
                    let class = Class::Named(name);
                    parts.push(if not { Class::Not(Box::new(class)) } else { class });
                }
                '[' => parts.push(self.set()?),
                '&' if self.take("&") => all.push(Class::Any(std::mem::take(&mut parts))),
                c => {
                    let low = match c {
                        '\\' => match self.set_escape()? {
                            Ok(class) => {
                                parts.push(class);
                                first = false;
                                continue;
                            }
                            Err(c) => c,
                        },
                        c => c,
                    };
                    let range =
                        self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']' && *c != '[');
                    if !range {
                        parts.push(Class::Range(low, low));
                        first = false;
                        continue;
                    }
                    self.at += 1;
                    let high = match self.next() {
                        Some('\\') => match self.set_escape()? {
                            Err(c) => c,
                            Ok(class) => {
                                parts.extend([Class::Range(low, low), Class::Range('-', '-'), class]);
                                continue;
                            }
                        },
                        Some(c) => c,
                        None => return wrong("premature end of char-class"),
                    };
                    if high < low {
                        return wrong("empty range in char class");
                    }
                    parts.push(Class::Range(low, high));
                }
            }
            first = false;
        }
        self.depth -= 1;
        let class = if all.is_empty() {
            Class::Any(parts)
        } else {
            all.push(Class::Any(parts));
            Class::All(all)
        };
        Ok(if negated { Class::Not(Box::new(class)) } else { class })
    }

    /// An escape in a set: a class or a character.
    fn set_escape(&mut self) -> Read<Result<Class, char>> {
        let Some(c) = self.next() else { return wrong("end pattern at escape") };
        if let Some(class) = named(c) {
            return Ok(Ok(class));
        }
        match c {
            'p' | 'P' => self.property(c == 'P').map(Ok),
            'b' => Ok(Err('\u{8}')),
            'R' | 'X' => wrong("premature end of char-class"),
            c => self.character(c).map(Err),
        }
    }
}

fn code(digits: &str, radix: u32) -> Read<char> {
    match u32::from_str_radix(digits, radix).ok().and_then(char::from_u32) {
        Some(c) => Ok(c),
        None => wrong("invalid code point value"),
    }
}

fn named(letter: char) -> Option<Class> {
    let name = match letter.to_ascii_lowercase() {
        'd' => Name::Digit,
        'w' => Name::Word,
        's' => Name::Space,
        'h' => Name::Hex,
        _ => return None,
    };
    let class = Class::Named(name);
    Some(if letter.is_ascii_uppercase() { Class::Not(Box::new(class)) } else { class })
}
