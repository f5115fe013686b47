//! Paths in C quotes, as git writes those that could be misread.

use bstr::BString;

/// Whether this byte needs quotes; those of other alphabets only when `core.quotePath` says so.
fn is_special(byte: u8, quote_path: bool) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f || (byte >= 0x80 && quote_path)
}

/// What stands between the quotes.
fn escaped(path: &[u8], quote_path: bool) -> BString {
    let mut out = BString::default();
    for byte in path {
        let letter = match byte {
            7 => b'a',
            8 => b'b',
            9 => b't',
            10 => b'n',
            11 => b'v',
            12 => b'f',
            13 => b'r',
            b'"' | b'\\' => *byte,
            byte if is_special(*byte, quote_path) => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                continue;
            }
            byte => {
                out.push(*byte);
                continue;
            }
        };
        out.push(b'\\');
        out.push(letter);
    }
    out
}

/// The path, in quotes when it needs them.
pub(crate) fn path(path: &[u8], quote_path: bool) -> BString {
    with_prefix(b"", path, quote_path)
}

/// The path behind a prefix, both in quotes when the path needs them.
pub(crate) fn with_prefix(prefix: &[u8], path: &[u8], quote_path: bool) -> BString {
    if path.iter().chain(prefix).any(|byte| is_special(*byte, quote_path)) {
        [b"\"", escaped(prefix, quote_path).as_slice(), escaped(path, quote_path).as_slice(), b"\""].concat().into()
    } else {
        [prefix, path].concat().into()
    }
}

/// The path, in quotes also when it holds a space, as `status --short` has it.
pub(crate) fn spaced(path: &[u8], quote_path: bool) -> BString {
    let quoted = self::path(path, quote_path);
    if quoted.as_slice() == path && path.contains(&b' ') { [b"\"", path, b"\""].concat().into() } else { quoted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_misread_is_quoted() {
        assert_eq!(path(b"a b", true), "a b");
        assert_eq!(spaced(b"a b", true), "\"a b\"");
        assert_eq!(path("ä\t".as_bytes(), true), "\"\\303\\244\\t\"");
        assert_eq!(path("ä".as_bytes(), false), "ä");
        assert_eq!(with_prefix(b"a/", b"x\"y", true), "\"a/x\\\"y\"");
    }
}
