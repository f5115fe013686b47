//! How many columns text takes on a terminal.

use bstr::ByteSlice as _;

/// Ranges of characters that take two columns.
const WIDE: [(u32, u32); 13] = [
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0x33ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xa000, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f300, 0x1faff),
    (0x20000, 0x3fffd),
];

/// Ranges of characters that take none.
const NARROW: [(u32, u32); 4] = [(0x0300, 0x036f), (0x200b, 0x200f), (0x20d0, 0x20ff), (0xfe00, 0xfe0f)];

pub(crate) fn of_character(character: char) -> usize {
    let code = u32::from(character);
    let within = |ranges: &[(u32, u32)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&code));
    if within(&NARROW) {
        0
    } else if within(&WIDE) {
        2
    } else {
        1
    }
}

/// The columns of a text. What is not UTF-8 takes one for each byte.
pub(crate) fn of(text: &[u8]) -> usize {
    if std::str::from_utf8(text).is_err() {
        return text.len();
    }
    text.chars().map(of_character).sum()
}
