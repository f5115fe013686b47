//! The escapes of GNU's sed that stand for a character, and the replacement of `s`.

use super::script::{Case, Piece};

/// The byte that an escape stands for, of which the text begins after the backslash, and how many characters the escape takes.
/// `\n` is not among them where it is a newline anyway.
pub(super) fn byte(rest: &[char]) -> Option<(u8, usize)> {
    match rest.first()? {
        'a' => Some((0x07, 1)),
        'f' => Some((0x0C, 1)),
        'n' => Some((b'\n', 1)),
        'r' => Some((b'\r', 1)),
        't' => Some((b'\t', 1)),
        'v' => Some((0x0B, 1)),
        'c' => {
            let letter = u8::try_from(*rest.get(1)?).ok().filter(u8::is_ascii)?;
            // A backslash has to be escaped here too.
            let taken = if letter == b'\\' { rest.get(2).filter(|c| **c == '\\').map(|_| 3)? } else { 2 };
            Some((letter.to_ascii_uppercase() ^ 0x40, taken))
        }
        'd' => number(&rest[1..], 10, 3),
        'o' => number(&rest[1..], 8, 3),
        'x' => number(&rest[1..], 16, 2),
        _ => None,
    }
}

fn number(rest: &[char], radix: u32, most: usize) -> Option<(u8, usize)> {
    let digits: Vec<u32> = rest.iter().take(most).map_while(|c| c.to_digit(radix)).collect();
    let value = digits.iter().fold(0, |value, digit| value * radix + digit) & 0xFF;
    let byte = u8::try_from(value).ok()?;
    (!digits.is_empty()).then_some((byte, 1 + digits.len()))
}

/// How many characters a bracket expression takes after its `[`; `None` when it has no end on the line.
pub(super) fn brackets(rest: &[char]) -> Option<usize> {
    let mut at = usize::from(rest.first() == Some(&'^'));
    at += usize::from(rest.get(at) == Some(&']'));
    while let Some(c) = rest.get(at) {
        match (c, rest.get(at + 1)) {
            (']', _) => return Some(at + 1),
            ('[', Some(kind @ (':' | '.' | '='))) => {
                let inside = &rest[at + 2..];
                at += inside.windows(2).position(|pair| pair == [*kind, ']'])? + 4;
            }
            ('\n', _) => return None,
            _ => at += 1,
        }
    }
    None
}

/// A regular expression with its escapes for characters resolved; `None` when one stands for a byte that is no character. What
/// they give keeps its meaning: `\x5e` is a `^`.
pub(super) fn pattern(text: &[char]) -> Option<String> {
    let (mut out, mut at, mut brackets_end) = (String::new(), 0, 0);
    while let Some(c) = text.get(at).copied() {
        if c == '[' && at >= brackets_end {
            brackets_end = at + 1 + brackets(&text[at + 1..]).unwrap_or(0);
        }
        let in_brackets = at < brackets_end;
        at += 1;
        if c != '\\' {
            out.push(c);
            continue;
        }
        match byte(&text[at..]) {
            Some((byte, taken)) => {
                out.push(char::from(byte).is_ascii().then_some(char::from(byte))?);
                at += taken;
            }
            // In brackets a backslash is itself.
            None => {
                out.push('\\');
                if !in_brackets && let Some(next) = text.get(at) {
                    out.push(*next);
                    at += 1;
                }
            }
        }
    }
    Some(out)
}

/// The pieces of a replacement.
pub(super) fn replacement(text: &[char]) -> Vec<Piece> {
    let (mut pieces, mut literal, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(c) = text.get(at).copied() {
        at += 1;
        let piece = match (c, text.get(at).copied()) {
            ('&', _) => Piece::Group(0),
            ('\\', Some(next)) => {
                at += 1;
                match next {
                    '0'..='9' => Piece::Group(next.to_digit(10).unwrap_or(0) as usize),
                    'U' => Piece::Case(Case::Upper),
                    'L' => Piece::Case(Case::Lower),
                    'E' => Piece::Case(Case::AsIs),
                    'u' => Piece::Case(Case::UpperNext),
                    'l' => Piece::Case(Case::LowerNext),
                    next => {
                        match byte(&text[at - 1..]) {
                            Some((byte, taken)) => {
                                literal.push(byte);
                                at += taken - 1;
                            }
                            None => push(&mut literal, next),
                        }
                        continue;
                    }
                }
            }
            (c, _) => {
                push(&mut literal, c);
                continue;
            }
        };
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        if matches!(piece, Piece::Case(_)) {
            // Of two in a row the second counts, but one for a single character goes together with one before it.
            let single = matches!(piece, Piece::Case(Case::UpperNext | Case::LowerNext));
            match pieces.last() {
                Some(Piece::Case(Case::UpperNext | Case::LowerNext)) => drop(pieces.pop()),
                Some(Piece::Case(_)) if !single => drop(pieces.pop()),
                _ => {}
            }
        }
        pieces.push(piece);
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    pieces
}

/// The characters of a string of `y`; `None` when an escape stands for a byte that is no character.
pub(super) fn characters(text: &[char]) -> Option<Vec<char>> {
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(c) = text.get(at).copied() {
        at += 1;
        if c != '\\' {
            out.push(c);
            continue;
        }
        match byte(&text[at..]) {
            Some((byte, taken)) => {
                out.push(char::from(byte).is_ascii().then_some(char::from(byte))?);
                at += taken;
            }
            None => {
                out.push(text.get(at).copied().unwrap_or('\\'));
                at += 1;
            }
        }
    }
    Some(out)
}

/// Appends a character to bytes.
pub(super) fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn escapes_of_a_pattern_become_characters() {
        for (text, expected) in [
            (r"a\tb", Some("a\tb")),
            (r"[\t ]", Some("[\t ]")),
            (r"\x5e", Some("^")),
            (r"\o101\d066", Some("AB")),
            (r"\cA", Some("\u{1}")),
            (r"\\t", Some(r"\\t")),
            (r"\(a\)", Some(r"\(a\)")),
            (r"[\]\t", Some("[\\]\t")),
            (r"\xe9", None),
        ] {
            assert_eq!(pattern(&chars(text)).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn brackets_end_where_they_end() {
        for (text, taken) in [
            ("a]b", Some(2)),
            ("]a]", Some(3)),
            ("^]a]", Some(4)),
            ("[:alpha:]/]", Some(11)),
            ("\\]", Some(2)),
            ("abc", None),
        ] {
            assert_eq!(brackets(&chars(text)), taken, "{text}");
        }
    }

    #[test]
    fn replacements_are_cut_into_pieces() {
        assert_eq!(
            replacement(&chars(r"a&\&\1\u\n\x26\xc3\cA")),
            [
                Piece::Text(b"a".to_vec()),
                Piece::Group(0),
                Piece::Text(b"&".to_vec()),
                Piece::Group(1),
                Piece::Case(Case::UpperNext),
                Piece::Text(b"\n&\xc3\x01".to_vec()),
            ]
        );
    }
}
