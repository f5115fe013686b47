//! Bytes to text.

/// A file as text. The text keeps a byte order mark, so that for valid UTF-8 its offsets are the file's own.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Decoded {
    /// The whole file.
    pub(crate) text: String,
    /// Where the content starts: after the byte order mark, if there is one.
    pub(crate) start: usize,
    /// Whether the bytes were UTF-8; if not, bad sequences stand as U+FFFD and offsets are the text's only.
    pub(crate) valid: bool,
    /// Whether the bytes begin as UTF-16 does.
    pub(crate) utf16: bool,
}

/// Decodes `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    match std::str::from_utf8(bytes) {
        Ok(text) => valid(text.to_owned()),
        Err(_) => lossy(bytes),
    }
}

/// Decodes bytes that nobody else needs: the text is the same memory where they are UTF-8.
pub(crate) fn decode_owned(bytes: Vec<u8>) -> Decoded {
    match String::from_utf8(bytes) {
        Ok(text) => valid(text),
        Err(error) => lossy(error.as_bytes()),
    }
}

fn valid(text: String) -> Decoded {
    Decoded { start: content_start(&text), text, valid: true, utf16: false }
}

fn lossy(bytes: &[u8]) -> Decoded {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    Decoded { start: content_start(&text), text, valid: false, utf16 }
}

/// Where the text goes on behind a byte order mark.
fn content_start(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Bytes that are looked at together while they are ASCII.
const BLOCK: usize = 32;

/// The characters of a text that are not ASCII, with their places.
pub(crate) fn beyond_ascii(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at..at + BLOCK).is_some_and(<[u8]>::is_ascii) {
            at += BLOCK;
        }
        at += bytes[at..].iter().position(|byte| !byte.is_ascii())?;
        let (place, c) = (at, text[at..].chars().next()?);
        at += c.len_utf8();
        Some((place, c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_is_passed_over() {
        for gap in [0, 1, 30, 31, 32, 33, 64, 100] {
            let gap = "x".repeat(gap);
            let text = format!("{gap}\u{e4}{gap}\u{1f600}\u{200b}{gap}\u{7f}");
            let expected: Vec<_> = text.char_indices().filter(|(_, c)| !c.is_ascii()).collect();
            assert_eq!(beyond_ascii(&text).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn the_mark_is_passed_over_once_and_offsets_stay() {
        for (bytes, start, valid) in [
            (b"abc".as_slice(), 0, true),
            (b"\xef\xbb\xbfabc", 3, true),
            (b"\xef\xbb\xbf\xef\xbb\xbfabc", 3, true),
            (b"a\xffb", 0, false),
            (b"", 0, true),
        ] {
            let decoded = decode(bytes);
            assert_eq!(decoded, decode_owned(bytes.to_vec()), "{bytes:?}");
            assert_eq!((decoded.start, decoded.valid), (start, valid), "{bytes:?}");
            if valid {
                assert_eq!(decoded.text.as_bytes(), bytes);
            }
        }
    }
}
