//! The command `s`.

use super::run::{Fault, Machine};
use super::script::{Case, Piece, Substitution};
use crate::posix::Match;

impl Machine<'_> {
    /// Replaces in the pattern space; tells whether anything was replaced.
    pub(super) fn substitute(&mut self, command: &Substitution) -> Result<bool, Fault> {
        let expression = self.expression(&command.regex)?;
        let groups = command.replacement.iter().any(|piece| matches!(piece, Piece::Group(1..)));
        let text = std::mem::take(&mut self.pattern.text);
        let (mut out, mut at, mut seen, mut replaced) = (Vec::new(), 0, 0, false);
        let mut previous_end = None;
        while at <= text.len() {
            let found: Option<Match> = match groups {
                true => expression.captures(&text, at),
                false => expression.find(&text, at).map(|found| found.map(|range| vec![Some(range)])),
            }?;
            let Some(groups) = found else { break };
            let Some(whole) = groups.first().cloned().flatten() else { break };
            out.extend_from_slice(&text[at..whole.start]);
            at = whole.end;
            // Directly after a match there is no empty one.
            let counts = !(whole.is_empty() && previous_end == Some(whole.start));
            if counts {
                seen += 1;
                previous_end = Some(whole.end);
            }
            if counts && seen >= command.from {
                replaced = true;
                expand(&command.replacement, &groups, &text, &mut out);
                if !command.global {
                    break;
                }
            } else {
                out.extend_from_slice(&text[whole.clone()]);
            }
            if whole.is_empty() {
                // One byte, as GNU's does, unless the expression looks at characters.
                let Some(byte) = text.get(at) else { break };
                out.push(*byte);
                at += 1;
                while !expression.is_by_bytes() && text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    out.push(text[at]);
                    at += 1;
                }
            }
        }
        if replaced {
            out.extend_from_slice(&text[at.min(text.len())..]);
            self.pattern.text = out;
        } else {
            self.pattern.text = text;
        }
        Ok(replaced)
    }
}

/// Appends a replacement.
fn expand(pieces: &[Piece], groups: &Match, text: &[u8], out: &mut Vec<u8>) {
    let mut mode = Case::AsIs;
    let mut once = None;
    for piece in pieces {
        let bytes: &[u8] = match piece {
            Piece::Text(bytes) => bytes,
            Piece::Group(group) => match groups.get(*group) {
                Some(Some(range)) => &text[range.clone()],
                _ => &[],
            },
            Piece::Case(case @ (Case::UpperNext | Case::LowerNext)) => {
                once = Some(*case);
                continue;
            }
            Piece::Case(case) => {
                mode = *case;
                continue;
            }
        };
        if bytes.is_empty() {
            continue;
        }
        append(bytes, mode, once.take(), out);
    }
}

fn append(bytes: &[u8], mode: Case, once: Option<Case>, out: &mut Vec<u8>) {
    if mode == Case::AsIs && once.is_none() {
        out.extend_from_slice(bytes);
        return;
    }
    let (mut rest, mut next) = (bytes, once);
    while !rest.is_empty() {
        let (c, size) = bstr::decode_utf8(rest);
        match (c, next.take().unwrap_or(mode)) {
            (Some(c), Case::Upper | Case::UpperNext) => push(out, c, c.to_uppercase()),
            (Some(c), Case::Lower | Case::LowerNext) => push(out, c, c.to_lowercase()),
            _ => out.extend_from_slice(&rest[..size]),
        }
        if c == Some('\0') {
            // Behind a NUL GNU's changes nothing.
            out.extend_from_slice(&rest[size..]);
            return;
        }
        rest = &rest[size..];
    }
}

/// Appends the other case of a character when that is one character, as the C library's is.
fn push(out: &mut Vec<u8>, c: char, mut other: impl Iterator<Item = char>) {
    let c = match (other.next(), other.next()) {
        (Some(only), None) => only,
        _ => c,
    };
    super::escape::push(out, c);
}
