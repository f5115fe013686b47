//! Patterns, read into a tree.

use super::set;
use regex_syntax::hir::{ClassUnicode, Look};

/// How a pattern is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// No character has a meaning.
    pub(crate) fixed: bool,
    /// `-E`: operators without a backslash.
    pub(crate) extended: bool,
    pub(crate) fold_case: bool,
    /// `.` and `[^…]` take a newline too.
    pub(crate) newline_is_ordinary: bool,
    /// `^` and `$` match beside every newline too.
    pub(crate) multi_line: bool,
    /// What has no meaning in an extended expression, like a repetition of nothing, is wrong; otherwise it is read as text or
    /// as nothing, as grep does.
    pub(crate) strict: bool,
}

/// Why a pattern is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ExpressionError {
    /// In the words of the C library.
    Wrong(String),
    /// GNU does it, and this one does not.
    Unsupported(String),
}

pub(super) fn wrong<T>(message: &str) -> Result<T, ExpressionError> {
    Err(ExpressionError::Wrong(message.to_owned()))
}

pub(super) fn unsupported<T>(what: &str) -> Result<T, ExpressionError> {
    Err(ExpressionError::Unsupported(what.to_owned()))
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Char(char),
    Set(ClassUnicode),
    Look(Look),
    Group(Box<Node>, usize),
    /// One after the other; empty for the empty pattern.
    Cat(Vec<Node>),
    Or(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
    Back(usize),
}

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) node: Node,
    /// The groups, without the whole.
    pub(super) groups: usize,
    pub(super) has_references: bool,
    /// The C library compares it byte by byte, so that an empty match may stand inside of a character.
    pub(super) by_bytes: bool,
}

/// Copies that one repetition may ask for, as GNU's `RE_DUP_MAX`.
const MAX_COPIES: u32 = 32_767;
const MAX_DEPTH: usize = 200;

/// Reads one pattern.
pub(super) fn parse(pattern: &str, dialect: Dialect) -> Result<Pattern, ExpressionError> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut reader =
        Reader { chars: &chars, at: 0, dialect, groups: 0, closed: Vec::new(), has_references: false, by_bytes: true };
    let node = match dialect.fixed {
        true => Node::Cat(chars.iter().map(|c| reader.character(*c)).collect()),
        false => reader.alternatives(0)?,
    };
    Ok(Pattern {
        node,
        groups: reader.groups,
        has_references: reader.has_references,
        by_bytes: reader.by_bytes && !dialect.fold_case,
    })
}

struct Reader<'c> {
    chars: &'c [char],
    at: usize,
    dialect: Dialect,
    groups: usize,
    /// The groups that are complete, which a reference may name.
    closed: Vec<usize>,
    has_references: bool,
    by_bytes: bool,
}

/// What a character or a pair of them means.
enum Token {
    Literal(char),
    Open,
    Close,
    Or,
    /// `*`, `+`, `?`.
    Repeat(char),
    Brace,
    Any,
    Bracket,
    Start,
    End,
    Look(Look),
    Class(char),
    Back(usize),
}

impl Reader<'_> {
    fn token(&mut self) -> Result<Token, ExpressionError> {
        let c = self.chars[self.at];
        self.at += 1;
        let extended = self.dialect.extended;
        if c == '\\' {
            let Some(next) = self.chars.get(self.at).copied() else { return wrong("Trailing backslash") };
            self.at += 1;
            return Ok(match next {
                '(' if !extended => Token::Open,
                ')' if !extended => Token::Close,
                '|' if !extended => Token::Or,
                '{' if !extended => Token::Brace,
                '+' | '?' if !extended => Token::Repeat(next),
                '1'..='9' => Token::Back(next.to_digit(10).unwrap_or(0) as usize),
                'w' | 'W' | 's' | 'S' => Token::Class(next),
                'b' => Token::Look(Look::WordUnicode),
                'B' => Token::Look(Look::WordUnicodeNegate),
                '<' => Token::Look(Look::WordStartUnicode),
                '>' => Token::Look(Look::WordEndUnicode),
                '`' => Token::Look(Look::Start),
                '\'' => Token::Look(Look::End),
                next => Token::Literal(next),
            });
        }
        Ok(match c {
            '.' => Token::Any,
            '[' => Token::Bracket,
            '*' => Token::Repeat('*'),
            '(' if extended => Token::Open,
            ')' if extended => Token::Close,
            '|' if extended => Token::Or,
            '+' | '?' if extended => Token::Repeat(c),
            '{' if extended => Token::Brace,
            '^' if extended || self.starts_here() => Token::Start,
            '$' if extended || self.ends_here() => Token::End,
            c => Token::Literal(c),
        })
    }

    /// Whether a `^` just read stands where an expression begins.
    fn starts_here(&self) -> bool {
        let before = &self.chars[..self.at - 1];
        before.is_empty() || (is_escaped(before) && matches!(before.last(), Some('(' | '|')))
    }

    /// Whether a `$` just read stands where an expression ends.
    fn ends_here(&self) -> bool {
        matches!(self.chars[self.at..], [] | ['\\', ')' | '|', ..])
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        if depth > MAX_DEPTH {
            return wrong("Regular expression too big");
        }
        let mut branches = Vec::new();
        let mut parts: Vec<Node> = Vec::new();
        // Whether the last part can be repeated.
        let mut atom = false;
        // Whether a repetition ends there; a basic expression repeats it no more.
        let mut repeated = false;
        while self.at < self.chars.len() {
            let token = self.token()?;
            let again = std::mem::take(&mut repeated) && self.dialect.strict && !self.dialect.extended;
            if again && matches!(token, Token::Repeat('*') | Token::Brace) {
                return wrong("Invalid preceding regular expression");
            }
            self.by_bytes &= !matches!(
                token,
                Token::Class(_)
                    | Token::Look(
                        Look::WordUnicode | Look::WordUnicodeNegate | Look::WordStartUnicode | Look::WordEndUnicode
                    )
            );
            let node = match token {
                Token::Literal(c) => self.character(c),
                Token::Any => Node::Set(set::any(self.dialect)),
                Token::Class(letter) => match set::escape(letter) {
                    Some(set) => Node::Set(set),
                    None => return unsupported(&format!("\\{letter}")),
                },
                Token::Bracket => {
                    let (set, after) = set::bracket(self.chars, self.at, self.dialect)?;
                    // A list of ASCII characters and nothing else.
                    let plain = |c: &char| c.is_ascii() && !"-[^".contains(*c);
                    self.by_bytes &= self.chars[self.at..after].iter().all(plain);
                    self.at = after;
                    Node::Set(set)
                }
                Token::Look(look) => {
                    parts.push(Node::Look(look));
                    atom = !self.dialect.strict;
                    continue;
                }
                Token::Start => {
                    parts.push(Node::Look(if self.dialect.multi_line { Look::StartLF } else { Look::Start }));
                    atom = false;
                    continue;
                }
                Token::End => {
                    parts.push(Node::Look(if self.dialect.multi_line { Look::EndLF } else { Look::End }));
                    atom = self.dialect.extended;
                    continue;
                }
                Token::Open => {
                    self.groups += 1;
                    let index = self.groups;
                    // Comes back after the closing parenthesis, or with an error.
                    let inner = self.alternatives(depth + 1)?;
                    self.closed.push(index);
                    Node::Group(Box::new(inner), index)
                }
                Token::Close if depth > 0 => {
                    branches.push(Node::Cat(parts));
                    return Ok(one_of(branches));
                }
                Token::Close if self.dialect.extended && !self.dialect.strict => self.character(')'),
                Token::Close => return wrong("Unmatched ) or \\)"),
                Token::Or => {
                    branches.push(Node::Cat(std::mem::take(&mut parts)));
                    atom = false;
                    continue;
                }
                Token::Back(index) => {
                    if !self.closed.contains(&index) {
                        return wrong("Invalid back reference");
                    }
                    self.has_references = true;
                    Node::Back(index)
                }
                Token::Repeat(c) => match (atom, self.dialect.extended) {
                    (true, _) => {
                        let (least, most) = match c {
                            '*' => (0, None),
                            '+' => (1, None),
                            _ => (0, Some(1)),
                        };
                        repeat(&mut parts, least, most);
                        repeated = true;
                        continue;
                    }
                    (false, true) if self.dialect.strict => return wrong("Invalid preceding regular expression"),
                    (false, true) => continue,
                    // At the beginning a star is itself in a basic expression.
                    (false, false) => self.character(c),
                },
                Token::Brace => match self.braces(atom)? {
                    Braces::Text => self.character('{'),
                    Braces::Nothing => continue,
                    Braces::Times(least, most) => {
                        repeat(&mut parts, least, most);
                        repeated = true;
                        continue;
                    }
                },
            };
            parts.push(node);
            atom = true;
        }
        if depth > 0 {
            return wrong("Unmatched ( or \\(");
        }
        branches.push(Node::Cat(parts));
        Ok(one_of(branches))
    }

    fn character(&self, c: char) -> Node {
        if self.dialect.fold_case {
            let set = set::character(c, self.dialect);
            if set.ranges().len() > 1 || set.ranges().iter().any(|range| range.start() != range.end()) {
                return Node::Set(set);
            }
        }
        Node::Char(c)
    }

    /// After `{` or `\{`.
    fn braces(&mut self, atom: bool) -> Result<Braces, ExpressionError> {
        let lenient = self.dialect.extended && !self.dialect.strict;
        if self.dialect.strict && !atom {
            return wrong("Invalid preceding regular expression");
        }
        let rest: String = self.chars[self.at..].iter().collect();
        let closing = if self.dialect.extended { "}" } else { "\\}" };
        let Some((inside, _)) = rest.split_once(closing) else {
            return if lenient { Ok(Braces::Text) } else { wrong("Unmatched \\{") };
        };
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let valid = number(least) && most.is_none_or(number) && !(least.is_empty() && most.is_none());
        if !valid {
            return match lenient {
                true => Ok(Braces::Text),
                false => wrong("Invalid content of \\{\\}"),
            };
        }
        let after = self.at + inside.chars().count() + closing.len();
        if !atom {
            self.at = after;
            return if self.dialect.extended {
                Ok(Braces::Nothing)
            } else {
                wrong("Invalid preceding regular expression")
            };
        }
        let parse = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= MAX_COPIES);
        let least = if least.is_empty() { Some(0) } else { parse(least) };
        let most = match most {
            None => least.map(Some),
            Some("") => Some(None),
            Some(most) => parse(most).map(Some),
        };
        let (Some(least), Some(most)) = (least, most) else { return wrong("Regular expression too big") };
        if most.is_some_and(|most| most < least) {
            return wrong("Invalid content of \\{\\}");
        }
        self.at = after;
        Ok(Braces::Times(least, most))
    }
}

/// What braces turned out to be.
enum Braces {
    Text,
    Nothing,
    Times(u32, Option<u32>),
}

fn one_of(mut branches: Vec<Node>) -> Node {
    match branches.pop() {
        Some(only) if branches.is_empty() => only,
        Some(last) => {
            branches.push(last);
            Node::Or(branches)
        }
        None => Node::Cat(Vec::new()),
    }
}

fn repeat(parts: &mut Vec<Node>, least: u32, most: Option<u32>) {
    if let Some(part) = parts.pop() {
        parts.push(Node::Repeat(Box::new(part), least, most));
    }
}

/// Whether the character before the last is a backslash that is not escaped itself.
fn is_escaped(chars: &[char]) -> bool {
    let before = &chars[..chars.len().saturating_sub(1)];
    before.iter().rev().take_while(|c| **c == '\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASIC: Dialect = Dialect {
        fixed: false,
        extended: false,
        fold_case: false,
        newline_is_ordinary: false,
        multi_line: false,
        strict: false,
    };
    const EXTENDED: Dialect = Dialect { extended: true, ..BASIC };
    const STRICT: Dialect = Dialect { strict: true, ..EXTENDED };

    /// The pattern in the syntax of the regex crates.
    fn translated(pattern: &str, dialect: Dialect) -> String {
        let pattern = parse(pattern, dialect).expect(pattern);
        super::super::lower::hir(&pattern.node, false).expect("no references").to_string()
    }

    #[test]
    fn both_syntaxes_are_read() {
        for (pattern, dialect, same) in [
            ("a\\|b", BASIC, "a|b"),
            ("a|b", BASIC, r"a\|b"),
            ("a|b", EXTENDED, "a|b"),
            ("*a", BASIC, r"\*a"),
            ("*a", EXTENDED, "a"),
            ("a**", BASIC, "(?:a*)*"),
            ("\\(ab\\)*", BASIC, "(?:ab)*"),
            ("a\\{2,\\}", BASIC, "a{2,}"),
            ("a{,3}", EXTENDED, "a{0,3}"),
            ("a{x", EXTENDED, r"a\{x"),
            ("a{1", BASIC, r"a\{1"),
            ("^a$", BASIC, "^a$"),
            ("a^b$c", BASIC, r"a\^b\$c"),
            ("\\(^a\\)", BASIC, "^a"),
            ("[^]a]", BASIC, r"[^\]a\n]"),
            ("[\\d]", BASIC, r"[\\d]"),
            ("[[:digit:]-]", BASIC, "[-0-9]"),
            (")", EXTENDED, r"\)"),
            ("a.b", Dialect { fixed: true, ..BASIC }, r"a\.b"),
            ("a", Dialect { fold_case: true, ..BASIC }, "[aA]"),
            (".", Dialect { newline_is_ordinary: true, ..BASIC }, "(?s:.)"),
        ] {
            let expected = regex_syntax::parse(same).expect(same).to_string();
            assert_eq!(translated(pattern, dialect), expected, "{pattern}");
        }
    }

    #[test]
    fn wrong_patterns_are_said_in_gnus_words() {
        for (pattern, dialect, expected) in [
            ("(", EXTENDED, "Unmatched ( or \\("),
            ("a\\)", BASIC, "Unmatched ) or \\)"),
            ("a)", STRICT, "Unmatched ) or \\)"),
            ("[a", BASIC, "Unmatched [, [^, [:, [., or [="),
            ("a\\", BASIC, "Trailing backslash"),
            ("[z-a]", BASIC, "Invalid range end"),
            ("a\\{2", BASIC, "Unmatched \\{"),
            ("[[:no:]]", BASIC, "Invalid character class name"),
            ("*a", STRICT, "Invalid preceding regular expression"),
            ("\\(a\\1\\)", BASIC, "Invalid back reference"),
        ] {
            assert_eq!(parse(pattern, dialect).err(), Some(ExpressionError::Wrong(expected.to_owned())), "{pattern}");
        }
    }
}
