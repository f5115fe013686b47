//! Credentials by their published shapes.

use super::MAX_FINDINGS;
use memchr::memmem;
use skillgate_core::{Code, Diagnostic, Span};

/// A kind of credential: a fixed beginning and a tail of a known alphabet and length.
struct Shape {
    kind: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    /// Bytes of the tail, at least and at most.
    tail: (usize, usize),
    /// The part of the prefix that is searched for; what few other texts hold.
    sign: (usize, usize),
    /// Whether the tail must have small and capital letters and digits, because the prefix alone says little.
    mixed: bool,
}

const fn shape(kind: &'static str, prefix: &'static str, alphabet: fn(u8) -> bool, tail: (usize, usize)) -> Shape {
    Shape { kind, prefix, alphabet, tail, sign: (0, prefix.len()), mixed: false }
}

/// A shape of whose prefix only a part is searched for, because the rest stands in many words, or in other shapes too.
const fn signed(shape: Shape, from: usize, to: usize) -> Shape {
    Shape { sign: (from, to), ..shape }
}

/// What the block of a private key begins with.
const PRIVATE_KEY: &[u8] = b"-----BEGIN ";

/// Dashes of it that are not searched for, because rules and tables are made of dashes.
const KEY_DASHES: usize = 3;

const LONG: usize = 400;

const SHAPES: [Shape; 19] = [
    shape("an AWS access key", "AKIA", upper, (16, 16)),
    shape("an AWS session key", "ASIA", upper, (16, 16)),
    shape("a GitHub token", "ghp_", alnum, (36, 36)),
    shape("a GitHub token", "gho_", alnum, (36, 36)),
    shape("a GitHub token", "ghu_", alnum, (36, 36)),
    shape("a GitHub token", "ghs_", alnum, (36, 36)),
    shape("a GitHub token", "ghr_", alnum, (36, 76)),
    signed(shape("a GitHub token", "github_pat_", word, (60, 90)), 5, 11),
    shape("a GitLab token", "glpat-", dashed, (20, 64)),
    signed(shape("a Slack token", "xoxb-", dashed, (24, LONG)), 0, 3),
    signed(shape("a Slack token", "xoxa-", dashed, (24, LONG)), 0, 3),
    signed(shape("a Slack token", "xoxp-", dashed, (24, LONG)), 0, 3),
    shape("a Google API key", "AIza", dashed, (35, 35)),
    signed(shape("an npm token", "npm_", alnum, (36, 36)), 1, 4),
    shape("a Hugging Face token", "hf_", alnum, (34, 37)),
    signed(shape("a Stripe key", "sk_live_", alnum, (24, 120)), 1, 8),
    signed(shape("a Stripe key", "rk_live_", alnum, (24, 120)), 1, 8),
    Shape { mixed: true, ..shape("an API key", "sk-", dashed, (32, LONG)) },
    signed(shape("a PyPI token", "pypi-AgEIcHlwaS5vcmc", dashed, (40, LONG)), 0, 6),
];

/// Words that say that a token is none.
const PLACEHOLDERS: [&str; 13] = [
    "example",
    "placeholder",
    "dummy",
    "fake",
    "sample",
    "your",
    "xxxx",
    "redacted",
    "changeme",
    "change_me",
    "insert",
    "replace",
    "notreal",
];

/// Reports the credentials in `source` whose beginnings are `present`. The message never holds one.
pub(super) fn scan(source: &str, present: Present, found: &mut Vec<Diagnostic>) {
    let mut reported = 0;
    for (shape, _) in SHAPES.iter().zip(present.shapes).filter(|(_, present)| *present) {
        for (at, _) in source.match_indices(shape.prefix) {
            if reported == MAX_FINDINGS {
                return;
            }
            if let Some(span) = token(source, at, shape) {
                reported += 1;
                found.push(secret(shape.kind, span));
            }
        }
    }
    if !present.key {
        return;
    }
    for at in memmem::find_iter(source.as_bytes(), PRIVATE_KEY) {
        if reported == MAX_FINDINGS {
            return;
        }
        if let Some(span) = private_key(source, at) {
            reported += 1;
            found.push(secret("a private key", span));
        }
    }
}

/// Which beginnings of credentials stand in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Present {
    shapes: [bool; SHAPES.len()],
    key: bool,
}

/// A part of what every credential begins with, which the search of [`super::signs`] looks for.
#[cfg(test)]
pub(super) fn signs() -> impl Iterator<Item = &'static [u8]> {
    SHAPES.iter().map(|shape| &shape.prefix.as_bytes()[shape.sign.0..shape.sign.1]).chain([&PRIVATE_KEY[KEY_DASHES..]])
}

impl Present {
    /// Takes the beginning whose sign stands at `at`, if there is one.
    pub(super) fn add(&mut self, bytes: &[u8], at: usize) {
        let begins =
            |with: &[u8], sign: usize| at.checked_sub(sign).is_some_and(|start| bytes[start..].starts_with(with));
        for (shape, present) in SHAPES.iter().zip(&mut self.shapes) {
            *present |= begins(shape.prefix.as_bytes(), shape.sign.0);
        }
        self.key |= begins(PRIVATE_KEY, KEY_DASHES);
    }
}

fn secret(kind: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code::SecretInText, format!("what looks like {kind} stands in the text"))
        .at(span)
        .help("revoke it, remove it, and read it from the environment; whoever has the file has the key")
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

/// The token that starts at `at`, unless it is part of a word, has another length, or is made up.
fn token(source: &str, at: usize, shape: &Shape) -> Option<Span> {
    let bytes = source.as_bytes();
    if at > 0 && dashed(bytes[at - 1]) {
        return None;
    }
    let start = at + shape.prefix.len();
    let (least, most) = shape.tail;
    let length = bytes[start..].iter().take(most + 1).take_while(|byte| (shape.alphabet)(**byte)).count();
    let tail = &source[start..start + length];
    let ends = !bytes.get(start + length).is_some_and(|byte| word(*byte));
    let fits = (least..=most).contains(&length) && ends && (!shape.mixed || is_mixed(tail));
    (fits && !is_made_up(tail)).then(|| Span::new(at, start + length))
}

/// Letters of both cases and digits, as random tokens of this length have; names with dashes do not.
fn is_mixed(tail: &str) -> bool {
    let has = |test: fn(&u8) -> bool| tail.as_bytes().iter().any(test);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// Whether the token was typed as an example: it says so, has few different characters, or counts up.
fn is_made_up(tail: &str) -> bool {
    let lower = tail.to_ascii_lowercase();
    let mut seen = [false; 256];
    lower.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    let counting = lower.as_bytes().windows(2).filter(|pair| pair[1] == pair[0] + 1 || pair[1] == pair[0]).count();
    PLACEHOLDERS.iter().any(|word| lower.contains(word)) || different < 8 || counting * 3 >= lower.len()
}

/// Characters of key material that make a key; an abridged example has fewer.
const KEY_MATERIAL: usize = 100;

/// How far behind its first line a key is read.
const KEY_WINDOW: usize = 1024;

fn private_key(source: &str, at: usize) -> Option<Span> {
    let rest = &source[at + "-----BEGIN ".len()..];
    let kind = &rest.as_bytes()[..rest.len().min(40)];
    let kind = kind.split(|byte| *byte == b'-').next()?;
    let marker = "PRIVATE KEY";
    if !kind.ends_with(marker.as_bytes()) || !rest[kind.len()..].starts_with("-----") {
        return None;
    }
    let start = at + "-----BEGIN ".len() + kind.len() + 5;
    let mut material = String::new();
    // A key in a string has `\n` for its line ends.
    let mut bytes = source.as_bytes()[start..].iter().take(KEY_WINDOW).copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.next_if(|next| matches!(next, b'n' | b'r')).is_some() => {}
            b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'+' | b'/' | b'=' => {}
            _ if byte.is_ascii_alphanumeric() => material.push(char::from(byte)),
            _ => break,
        }
    }
    let real = material.len() >= KEY_MATERIAL && is_mixed(&material) && !is_made_up(&material);
    real.then(|| Span::new(at, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::signs::Signs;

    #[test]
    fn every_beginning_is_seen_wherever_it_stands() {
        for (index, shape) in SHAPES.iter().enumerate() {
            for text in [shape.prefix.to_owned(), format!("x-A_{}y", shape.prefix), format!("AAKI {}", shape.prefix)] {
                assert!(Signs::find(&text).secrets.shapes[index], "{text}");
            }
        }
        let none = Signs::find("snake_case, a list-item, All A_B - and \u{e4}_").secrets;
        assert!(!none.key && !none.shapes.contains(&true));
        assert!(Signs::find("- a\n------BEGIN PRIVATE").secrets.key);
    }
}
