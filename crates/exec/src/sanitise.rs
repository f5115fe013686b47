use skillgate_core::{InvisibleKind, classify_invisible};
use vte::{Parser, Perform};

/// Makes output of a command safe to show and to put into a prompt: escape sequences (also in their 8-bit forms), controls
/// other than newline and tab, bidirectional controls and tag characters are taken out; bytes that are not UTF-8 become
/// U+FFFD.
#[must_use]
pub fn sanitise(bytes: &[u8]) -> String {
    let mut text = Text(String::with_capacity(bytes.len()));
    let mut parser = Parser::new();
    parser.advance(&mut text, bytes);
    // A sequence that the output's end cuts is dropped; a cut character is marked.
    if std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none()) && !text.0.ends_with('\u{fffd}') {
        text.0.push('\u{fffd}');
    }
    text.0
}

/// [`sanitise`] for a stream: sequences and characters may be cut anywhere between two pieces.
#[derive(Default)]
pub struct Sanitiser {
    parser: Parser,
}

impl Sanitiser {
    /// A sanitiser at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The safe text of the next piece.
    pub fn feed(&mut self, bytes: &[u8]) -> String {
        let mut text = Text(String::with_capacity(bytes.len()));
        self.parser.advance(&mut text, bytes);
        text.0
    }
}

impl std::fmt::Debug for Sanitiser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sanitiser")
    }
}

struct Text(String);

impl Perform for Text {
    fn print(&mut self, c: char) {
        let deceives = matches!(classify_invisible(c), Some(InvisibleKind::BidiControl | InvisibleKind::Tag));
        if !c.is_control() && !deceives {
            self.0.push(c);
        }
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\t') {
            self.0.push(char::from(byte));
        }
    }
}

/// Cuts a text to `chars` characters and says how many bytes are gone.
#[must_use]
pub fn cut(text: &str, chars: u64, already_lost: u64) -> String {
    let keep = usize::try_from(chars).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(keep).map_or(text.len(), |(at, _)| at);
    let lost = already_lost + (text.len() - end) as u64;
    if lost == 0 { text.to_owned() } else { format!("{}\n[… {lost} bytes cut]", text[..end].trim_end_matches('\n')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_printable_text_newlines_and_tabs_are_left() {
        for (bytes, text) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b]52;c;aGk=\x07x", "x"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPq#0\x1b\\x", "x"),
            (b"a\rb\x08c\x7fd\0e", "abcde"),
            ("\u{202e}abc\u{e0041}\u{2069}".as_bytes(), "abc"),
            ("⚠️ ok".as_bytes(), "⚠️ ok"),
            ("\u{9b}31mx".as_bytes(), "31mx"),
            (b"caf\xc3\xa9", "café"),
            (b"cut \x1b[3", "cut "),
        ] {
            assert_eq!(sanitise(bytes), text, "{bytes:?}");
        }
        for bytes in [&b"\xff\xfeab"[..], b"ab\xc3", b"\x9b31m"] {
            let text = sanitise(bytes);
            assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
        }
        assert_eq!(sanitise(b"ab\xc3"), "ab\u{fffd}");
    }

    #[test]
    fn a_sequence_cut_between_two_pieces_is_still_taken_out() {
        let bytes = "a\x1b]52;c;aGk=\x07b\u{9b}31mé".as_bytes();
        for at in 0..bytes.len() {
            let mut sanitiser = Sanitiser::new();
            let text = sanitiser.feed(&bytes[..at]) + &sanitiser.feed(&bytes[at..]);
            assert_eq!(text, "ab31mé", "cut at {at}");
        }
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(cut("abc", 3, 0), "abc");
        assert_eq!(cut("äbcd", 2, 10), "äb\n[… 12 bytes cut]");
    }
}
