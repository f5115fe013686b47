//! What the matchers ask of a text: the character at a place, and what stands around it.

use regex_syntax::hir::{ClassUnicode, Look};

/// The character at a place and the place after it; `None` at the end and at a byte that begins none.
pub(super) fn character(text: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    match rest.first()? {
        byte if byte.is_ascii() => Some((char::from(*byte), at + 1)),
        _ => {
            let (c, size) = bstr::decode_utf8(rest);
            c.map(|c| (c, at + size))
        }
    }
}

pub(super) fn contains(set: &ClassUnicode, c: char) -> bool {
    let ranges = set.ranges();
    let after = ranges.partition_point(|range| range.start() <= c);
    after > 0 && c <= ranges[after - 1].end()
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| regex_syntax::is_word_character(c))
}

/// Whether an assertion holds at a place.
pub(super) fn holds(look: Look, text: &[u8], at: usize) -> bool {
    let before = bstr::decode_last_utf8(&text[..at]).0;
    let after = character(text, at).map(|(c, _)| c);
    let (before, after) = (is_word(before), is_word(after));
    match look {
        Look::Start => at == 0,
        Look::End => at == text.len(),
        Look::StartLF => at == 0 || text[at - 1] == b'\n',
        Look::EndLF => at == text.len() || text[at] == b'\n',
        Look::WordUnicode => before != after,
        Look::WordUnicodeNegate => before == after,
        Look::WordStartUnicode => !before && after,
        Look::WordEndUnicode => before && !after,
        Look::WordStartHalfUnicode => !before,
        Look::WordEndHalfUnicode => !after,
        // The parser makes no others.
        _ => false,
    }
}
