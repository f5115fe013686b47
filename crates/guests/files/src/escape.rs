//! Names as `ls` shows them.

/// How a name is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// As it is.
    Literal,
    /// `-q`: with `?` for what cannot be printed.
    Hidden,
    /// `-b`: with C's escapes, also for blanks.
    Escape,
    /// `-Q`: between double quotes, with C's escapes.
    C,
}

/// A name in a style.
pub(crate) fn shown(name: &[u8], style: Style) -> Vec<u8> {
    match style {
        Style::Literal => name.to_vec(),
        Style::Hidden => {
            let text = String::from_utf8_lossy(name);
            text.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>().into_bytes()
        }
        Style::Escape => escaped(name, b' '),
        Style::C => [b"\"", escaped(name, b'"').as_slice(), b"\""].concat(),
    }
}

/// C's escapes, and a backslash before one more byte.
fn escaped(name: &[u8], special: u8) -> Vec<u8> {
    let text = String::from_utf8_lossy(name);
    let mut out = Vec::with_capacity(name.len());
    for c in text.chars() {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        let letter = match c {
            '\u{7}' => b'a',
            '\u{8}' => b'b',
            '\u{c}' => b'f',
            '\n' => b'n',
            '\r' => b'r',
            '\t' => b't',
            '\u{b}' => b'v',
            '\\' => b'\\',
            c if c == char::from(special) => special,
            c if c.is_control() => {
                for byte in bytes {
                    out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                }
                continue;
            }
            _ => {
                out.extend_from_slice(bytes);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
    out
}

/// Columns a name takes.
pub(crate) fn width(name: &[u8]) -> usize {
    String::from_utf8_lossy(name).chars().map(columns).sum()
}

/// Columns of one character: none for marks that join the one before, two for wide ones.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0..=0x1f | 0x7f..=0x9f | 0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_in_every_style() {
        let show = |style| String::from_utf8(shown("a b\t\"é\u{1}".as_bytes(), style)).expect("UTF-8");
        assert_eq!(show(Style::Escape), "a\\ b\\t\"é\\001");
        assert_eq!(show(Style::C), "\"a b\\t\\\"é\\001\"");
        assert_eq!(show(Style::Hidden), "a b?\"é?");
        assert_eq!(width("é漢".as_bytes()), 3);
    }
}
