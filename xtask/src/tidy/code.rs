//! Rust source with its comments and the contents of its literals blanked out, so that a rule looks at code only.

/// `source` with every byte of a comment, and every byte between the quotes of a literal, replaced by a space. Lines and
/// columns stay where they were.
pub(super) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        // The length of what begins here and is to be blanked, and how many bytes of it stay at both ends.
        let (length, kept) = match byte {
            b'/' if rest.starts_with(b"//") => (rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()), 0),
            b'/' if rest.starts_with(b"/*") => (block_comment(rest), 0),
            b'"' => (quoted(rest, b'"'), 1),
            b'\'' => (character(rest), 1),
            b'r' if !follows_word(bytes, at) => (raw_string(rest), 1),
            b'b' | b'c' if !follows_word(bytes, at) && rest.get(1) == Some(&b'r') => {
                let length = raw_string(rest.get(1..).unwrap_or_default());
                (if length > 1 { length + 1 } else { 1 }, 1)
            }
            _ => (1, 1),
        };
        for blank in out.iter_mut().take((at + length).saturating_sub(kept)).skip(at + kept) {
            if *blank != b'\n' {
                *blank = b' ';
            }
        }
        at += length.max(1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_')
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < rest.len() {
        let here = rest.get(at..).unwrap_or_default();
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character literal; a lifetime is one byte of code.
fn character(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'\\') => quoted(rest, b'\''),
        // The closing quote comes behind one character of one to four bytes.
        Some(first) => match rest.iter().take(6).skip(2).position(|&b| b == b'\'') {
            Some(0) => 3,
            Some(more) if *first >= 0x80 => 3 + more,
            _ => 1,
        },
        None => 1,
    }
}

/// A raw string from its `r` on, or 1 when it is none.
fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest.iter().skip(1).take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 1;
    }
    let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let body = rest.get(2 + hashes..).unwrap_or_default();
    let length = body.windows(end.len()).position(|window| window == end);
    length.map_or(rest.len(), |length| 2 + hashes + length + end.len())
}

#[cfg(test)]
mod tests {
    use super::code_only;

    #[test]
    fn comments_and_literals_are_blank() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x\"y") g"#, r#"f("    ") g"#),
            ("let c = '\"'; d", "let c = ' '; d"),
            ("let c = '\\''; d", "let c = '  '; d"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("r\"a\" b", "r   \" b"),
            ("r#\"a\"b\"# c", "r       # c"),
            ("br#\"a\"# c", "b      # c"),
            ("for b in c {}", "for b in c {}"),
            ("var\"x\"", "var\" \""),
        ];
        for (source, code) in cases {
            assert_eq!(code_only(source).len(), source.len(), "{source}");
            assert_eq!(code_only(source).replace(' ', ""), code.replace(' ', ""), "{source}");
        }
    }

    #[test]
    fn unfinished_literals_end_with_the_file() {
        for source in ["\"abc", "/* abc", "r#\"abc\"", "'", "'\\", "\"\\"] {
            assert_eq!(code_only(source).len(), source.len(), "{source}");
        }
    }
}
