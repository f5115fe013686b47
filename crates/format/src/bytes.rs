//! Bytes to text.

/// A file as text. The text keeps a byte order mark, so that for valid UTF-8 its offsets are the file's own.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// The whole file.
    pub(crate) text: String,
    /// Where the content starts: after the byte order mark, if there is one.
    pub(crate) start: usize,
    /// Whether the bytes were UTF-8; if not, bad sequences stand as U+FFFD and offsets are the text's only.
    pub(crate) valid: bool,
}

/// Decodes `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let (text, valid) = match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), true),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), false),
    };
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    Decoded { text, start, valid }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!((decoded.start, decoded.valid), (start, valid), "{bytes:?}");
            if valid {
                assert_eq!(decoded.text.as_bytes(), bytes);
            }
        }
    }
}
