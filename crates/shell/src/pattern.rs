//! Shell patterns: `*`, `?` and bracket expressions, with quoting kept per character.
//!
//! A pattern is compiled from pieces, because a character of a pattern is active or not depending on how its word was
//! quoted. Matching takes time proportional to text × pattern at worst and never backtracks exponentially. A slash is a
//! character like any other: for pathname expansion, match each component by itself; the rule about a leading dot is
//! the caller's.

use std::ops::Range;

use thiserror::Error;

use crate::word::{RemoveSide, ReplaceScope};

/// The longest pattern with active characters, in characters. Patterns without them have no limit.
pub const MAX_PATTERN: usize = 4096;

/// A piece of the text of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PatternPiece<'a> {
    /// Unquoted text: `*`, `?`, `[` are active, and a backslash (which only an expansion can bring) quotes the next
    /// character.
    Active(&'a str),
    /// Quoted text: every character stands for itself.
    Quoted(&'a str),
}

/// Why a pattern does not compile.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// More than [`MAX_PATTERN`] characters.
    #[error("the pattern has {length} characters and the limit is {MAX_PATTERN}")]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
    /// A character class that POSIX does not name.
    #[error("there is no character class {0:?}")]
    UnknownClass(String),
    /// `[.….]` or `[=…=]`.
    #[error("collating elements are not supported; write the characters")]
    Collating,
}

/// A compiled pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    tokens: Vec<Token>,
    /// The text, when no character is active.
    text: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Char(char),
    Any,
    Many,
    Set(Set),
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Set {
    negated: bool,
    items: Vec<SetItem>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum SetItem {
    Range(char, char),
    Class(Class),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
    Word,
}

impl Pattern {
    /// Compiles the pieces of one pattern.
    ///
    /// # Errors
    ///
    /// A [`PatternError`].
    pub fn compile(pieces: &[PatternPiece<'_>]) -> Result<Self, PatternError> {
        let mut chars: Vec<(char, bool)> = Vec::new();
        for piece in pieces {
            match piece {
                PatternPiece::Quoted(text) => chars.extend(text.chars().map(|c| (c, false))),
                PatternPiece::Active(text) => {
                    let mut rest = text.chars();
                    while let Some(c) = rest.next() {
                        match c {
                            '\\' => chars.push((rest.next().unwrap_or('\\'), false)),
                            _ => chars.push((c, true)),
                        }
                    }
                }
            }
        }
        if !chars.iter().any(|(c, active)| *active && matches!(c, '*' | '?' | '[')) {
            return Ok(Self { tokens: Vec::new(), text: Some(chars.into_iter().map(|(c, _)| c).collect()) });
        }
        if chars.len() > MAX_PATTERN {
            return Err(PatternError::TooLong { length: chars.len() });
        }
        let mut tokens = Vec::with_capacity(chars.len());
        let mut at = 0;
        while let Some((c, active)) = chars.get(at).copied() {
            at += 1;
            tokens.push(match c {
                '*' if active => {
                    if tokens.last() == Some(&Token::Many) {
                        continue;
                    }
                    Token::Many
                }
                '?' if active => Token::Any,
                '[' if active => match set(&chars, at)? {
                    Some((set, after)) => {
                        at = after;
                        Token::Set(set)
                    }
                    None => Token::Char(c),
                },
                _ => Token::Char(c),
            });
        }
        let plain: Option<String> =
            tokens.iter().map(|token| if let Token::Char(c) = token { Some(*c) } else { None }).collect();
        Ok(match plain {
            Some(text) => Self { tokens: Vec::new(), text: Some(text) },
            None => Self { tokens, text: None },
        })
    }

    /// The one text that the pattern matches, when no character of it is active.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Whether the whole text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if let Some(plain) = &self.text {
            return plain == text;
        }
        let mut token = 0;
        let mut at = 0;
        // Where to go on when a token fails: the last `*` takes one character more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = text[at..].chars().next();
            match (self.tokens.get(token), next) {
                (None, None) => return true,
                (Some(Token::Many), _) => {
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                (Some(wanted), Some(c)) if wanted.accepts(c) => {
                    token += 1;
                    at += c.len_utf8();
                    continue;
                }
                _ => {}
            }
            let Some((after_star, from)) = retry else { return false };
            let Some(c) = text[from..].chars().next() else { return false };
            token = after_star;
            at = from + c.len_utf8();
            retry = Some((token, at));
        }
    }

    /// Where the shortest or longest match at the beginning of `text` ends.
    #[must_use]
    pub fn prefix_end(&self, text: &str, longest: bool) -> Option<usize> {
        if let Some(plain) = &self.text {
            return text.starts_with(plain.as_str()).then_some(plain.len());
        }
        let tokens: Vec<&Token> = self.tokens.iter().collect();
        let ends = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
        run(&tokens, 0, ends, false, longest)
    }

    /// Where the shortest or longest match at the end of `text` begins.
    #[must_use]
    pub fn suffix_start(&self, text: &str, longest: bool) -> Option<usize> {
        if let Some(plain) = &self.text {
            return text.ends_with(plain.as_str()).then(|| text.len() - plain.len());
        }
        let tokens: Vec<&Token> = self.tokens.iter().rev().collect();
        run(&tokens, text.len(), text.char_indices().rev(), false, longest)
    }

    /// What is left of `text` when a match is removed: `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
    #[must_use]
    pub fn remove<'t>(&self, text: &'t str, side: RemoveSide, longest: bool) -> &'t str {
        match side {
            RemoveSide::Prefix => self.prefix_end(text, longest).map_or(text, |end| &text[end..]),
            RemoveSide::Suffix => self.suffix_start(text, longest).map_or(text, |start| &text[..start]),
        }
    }

    /// The longest of the leftmost matches in `text`.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if let Some(plain) = &self.text {
            return text.find(plain.as_str()).map(|start| start..start + plain.len());
        }
        let start = if self.tokens.contains(&Token::Many) {
            // Backwards, a match may begin after every character; the last end that is found is the leftmost start.
            let tokens: Vec<&Token> = self.tokens.iter().rev().collect();
            run(&tokens, text.len(), text.char_indices().rev(), true, true)?
        } else {
            let mut starts = text.char_indices().map(|(at, _)| at);
            starts.find(|start| self.prefix_end_fixed(&text[*start..]).is_some())?
        };
        let length = self.prefix_end(&text[start..], true)?;
        Some(start..start + length)
    }

    /// The end of a match of a pattern without `*`, which has one length in characters.
    fn prefix_end_fixed(&self, text: &str) -> Option<usize> {
        let mut rest = text.chars();
        for token in &self.tokens {
            if !token.accepts(rest.next()?) {
                return None;
            }
        }
        Some(text.len() - rest.as_str().len())
    }

    /// `${x/p/r}` and its like. An empty pattern matches only with [`ReplaceScope::Prefix`] and
    /// [`ReplaceScope::Suffix`].
    #[must_use]
    pub fn replace(&self, text: &str, replacement: &str, scope: ReplaceScope) -> String {
        let empty = self.text.as_deref() == Some("");
        match scope {
            ReplaceScope::Prefix => match self.prefix_end(text, true) {
                Some(end) => format!("{replacement}{}", &text[end..]),
                None => text.to_owned(),
            },
            ReplaceScope::Suffix => match self.suffix_start(text, true) {
                Some(start) => format!("{}{replacement}", &text[..start]),
                None => text.to_owned(),
            },
            ReplaceScope::First | ReplaceScope::All if empty => text.to_owned(),
            ReplaceScope::First => match self.find(text) {
                Some(found) => format!("{}{replacement}{}", &text[..found.start], &text[found.end..]),
                None => text.to_owned(),
            },
            ReplaceScope::All => self.replace_all(text, replacement),
        }
    }

    fn replace_all(&self, text: &str, replacement: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        // A pattern with `*` has at most one match: a later one would have been part of the longest first one.
        let once = self.tokens.contains(&Token::Many);
        while let Some(found) = self.find(rest) {
            result.push_str(&rest[..found.start]);
            result.push_str(replacement);
            rest = &rest[found.end..];
            if once || found.is_empty() {
                break;
            }
        }
        result.push_str(rest);
        result
    }
}

/// Follows all partial matches at once over characters that come with the offset behind them. Returns the first or the
/// last offset at which all tokens have matched. `anywhere`: a match may begin before every character.
fn run(
    tokens: &[&Token],
    start: usize,
    characters: impl Iterator<Item = (usize, char)>,
    anywhere: bool,
    last: bool,
) -> Option<usize> {
    let mut active = vec![false; tokens.len() + 1];
    let mut next = active.clone();
    enter(tokens, &mut active, 0);
    let mut found = if active[tokens.len()] { Some(start) } else { None };
    for (offset, c) in characters {
        if found.is_some() && !last {
            return found;
        }
        next.fill(false);
        let mut alive = false;
        for (i, token) in tokens.iter().enumerate() {
            if !active[i] {
                continue;
            }
            if **token == Token::Many {
                enter(tokens, &mut next, i);
                alive = true;
            } else if token.accepts(c) {
                enter(tokens, &mut next, i + 1);
                alive = true;
            }
        }
        if next[tokens.len()] {
            found = Some(offset);
        }
        if anywhere {
            enter(tokens, &mut next, 0);
        } else if !alive {
            return found;
        }
        std::mem::swap(&mut active, &mut next);
    }
    found
}

/// Activates a place, and the one behind a `*`, which may match nothing. Two `*` never stand side by side.
fn enter(tokens: &[&Token], active: &mut [bool], place: usize) {
    active[place] = true;
    if tokens.get(place) == Some(&&Token::Many) {
        active[place + 1] = true;
    }
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::Any => true,
            Self::Many => false,
            Self::Set(set) => set.negated != set.items.iter().any(|item| item.accepts(c)),
        }
    }
}

impl SetItem {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Range(low, high) => (*low..=*high).contains(&c),
            Self::Class(class) => class.accepts(c),
        }
    }
}

impl Class {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "alnum" => Self::Alnum,
            "alpha" => Self::Alpha,
            "blank" => Self::Blank,
            "cntrl" => Self::Cntrl,
            "digit" => Self::Digit,
            "graph" => Self::Graph,
            "lower" => Self::Lower,
            "print" => Self::Print,
            "punct" => Self::Punct,
            "space" => Self::Space,
            "upper" => Self::Upper,
            "xdigit" => Self::Xdigit,
            "word" => Self::Word,
            _ => return None,
        })
    }

    fn accepts(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_alphabetic() || c.is_ascii_digit(),
            Self::Alpha => c.is_alphabetic(),
            Self::Blank => c == ' ' || c == '\t',
            Self::Cntrl => c.is_control(),
            Self::Digit => c.is_ascii_digit(),
            Self::Graph => !c.is_control() && !c.is_whitespace(),
            Self::Lower => c.is_lowercase(),
            Self::Print => c == ' ' || !c.is_control() && !c.is_whitespace(),
            Self::Punct => c.is_ascii_punctuation() || !c.is_ascii() && Self::Graph.accepts(c) && !c.is_alphanumeric(),
            Self::Space => c.is_whitespace(),
            Self::Upper => c.is_uppercase(),
            Self::Xdigit => c.is_ascii_hexdigit(),
            Self::Word => c.is_alphabetic() || c.is_ascii_digit() || c == '_',
        }
    }
}

/// A bracket expression whose `[` stands before `at`, and where it ends. `None` if it is never closed: the `[` is then
/// an ordinary character.
fn set(chars: &[(char, bool)], mut at: usize) -> Result<Option<(Set, usize)>, PatternError> {
    let mut set = Set { negated: false, items: Vec::new() };
    if matches!(chars.get(at), Some(('!' | '^', true))) {
        set.negated = true;
        at += 1;
    }
    let first = at;
    loop {
        let Some((c, active)) = chars.get(at).copied() else { return Ok(None) };
        if active && c == ']' && at > first {
            return Ok(Some((set, at + 1)));
        }
        if active
            && c == '['
            && let Some((kind @ (':' | '.' | '='), true)) = chars.get(at + 1).copied()
            && let Some(length) = chars[at + 2..].windows(2).position(|pair| pair == [(kind, true), (']', true)])
        {
            if kind != ':' {
                return Err(PatternError::Collating);
            }
            let name: String = chars[at + 2..at + 2 + length].iter().map(|(c, _)| *c).collect();
            let class = Class::from_name(&name).ok_or(PatternError::UnknownClass(name))?;
            set.items.push(SetItem::Class(class));
            at += length + 4;
            continue;
        }
        at += 1;
        let high = match (chars.get(at), chars.get(at + 1)) {
            (Some(('-', true)), Some((high, active))) if !(*active && *high == ']') => Some(*high),
            _ => None,
        };
        if high.is_some() {
            at += 2;
        }
        set.items.push(SetItem::Range(c, high.unwrap_or(c)));
    }
}
