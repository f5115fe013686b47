//! The command `l`: a text in which everything can be seen.

/// The pattern space in the form of `l`, its lines broken at a width; 0 breaks none.
pub(super) fn shown(text: &[u8], width: usize, delimiter: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut column = 0;
    for byte in text {
        let piece = match byte {
            b'\\' => b"\\\\".to_vec(),
            7 => b"\\a".to_vec(),
            8 => b"\\b".to_vec(),
            12 => b"\\f".to_vec(),
            b'\n' => b"\\n".to_vec(),
            b'\r' => b"\\r".to_vec(),
            b'\t' => b"\\t".to_vec(),
            11 => b"\\v".to_vec(),
            b' '..=b'~' => vec![*byte],
            byte => format!("\\{byte:03o}").into_bytes(),
        };
        if width > 0 && column + piece.len() > width - 1 {
            out.extend_from_slice(&[b'\\', delimiter]);
            column = 0;
        }
        column += piece.len();
        out.extend_from_slice(&piece);
    }
    out.extend_from_slice(&[b'$', delimiter]);
    out
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn everything_is_visible() {
        assert_eq!(shown("a\tb\\é\n".as_bytes(), 70, b'\n'), b"a\\tb\\\\\\303\\251\\n$\n");
        assert_eq!(shown(b"abcde", 3, b'\n'), b"ab\\\ncd\\\ne$\n");
        assert_eq!(shown(b"abc", 0, b'\n'), b"abc$\n");
    }
}
