//! Numbers and their texts, as the C library and mawk make them from each other.

use crate::format;

/// The largest number that is printed without a format.
const LARGEST: f64 = 2_147_483_647.0;

/// The number that a text begins with, without white space before it, and its length; 0 and 0 without one.
pub(crate) fn prefix(text: &[u8]) -> (f64, usize) {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let negative = text.first() == Some(&b'-');
    let signed = |value: f64| if negative { -value } else { value };
    let body = &text[sign..];
    if body.len() > 2 && body[0] == b'0' && matches!(body[1], b'x' | b'X') {
        let (value, length) = hexadecimal(&body[2..]);
        if length > 0 {
            return (signed(value), sign + 2 + length);
        }
    }
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if body.len() >= word.len() && body[..word.len()].eq_ignore_ascii_case(word.as_bytes()) {
            return (signed(value), sign + word.len());
        }
    }
    let digits = |from: usize| body[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    let mut fraction = 0;
    if body.get(length) == Some(&b'.') {
        fraction = digits(length + 1);
        if whole + fraction > 0 {
            length += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return (0.0, 0);
    }
    if matches!(body.get(length), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(body.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + exponent_sign).min(body.len()));
        if exponent > 0 {
            length += 1 + exponent_sign + exponent;
        }
    }
    let value = std::str::from_utf8(&body[..length]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (signed(value), sign + length)
}

fn hexadecimal(text: &[u8]) -> (f64, usize) {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut value, mut at, mut scale) = (0.0, 0, 1.0);
    while let Some(found) = digit(at) {
        value = value * 16.0 + f64::from(found);
        at += 1;
    }
    if at > 0 && text.get(at) == Some(&b'.') {
        at += 1;
        while let Some(found) = digit(at) {
            scale /= 16.0;
            value += f64::from(found) * scale;
            at += 1;
        }
    }
    (value, at)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 11 | 12)
}

/// What a text is as a number.
pub(crate) fn of(text: &[u8]) -> f64 {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    prefix(&text[start..]).0
}

/// The number that a text from outside looks like, as a whole; `None` for other text.
pub(crate) fn looked_like(text: &[u8]) -> Option<f64> {
    let start = text.iter().position(|byte| !is_space(*byte))?;
    let end = text.iter().rposition(|byte| !is_space(*byte))? + 1;
    let body = &text[start..end];
    let begins = body[0].is_ascii_digit() || matches!(body[0], b'+' | b'-' | b'.');
    let ends = body[body.len() - 1].is_ascii_digit() || body[body.len() - 1] == b'.';
    if !begins || !ends {
        return None;
    }
    let (value, length) = prefix(body);
    (length == body.len()).then_some(value)
}

/// The whole number that a value is printed as without a format.
pub(crate) fn whole(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    (value.abs() <= LARGEST && value.fract() == 0.0).then_some(value as i64)
}

/// A number as text, by a format such as `CONVFMT` when it is not whole.
pub(crate) fn text(value: f64, format: &[u8]) -> Vec<u8> {
    match whole(value) {
        Some(whole) => whole.to_string().into_bytes(),
        None => format::number(format, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, value) in [
            ("12abc", 12.0),
            (" +1.5e2x", 150.0),
            ("1e", 1.0),
            (".5.", 0.5),
            (".", 0.0),
            ("-", 0.0),
            ("0x1Fz", 31.0),
            ("0x", 0.0),
            ("1e+", 1.0),
            ("abc", 0.0),
            ("", 0.0),
        ] {
            assert_eq!(of(text.as_bytes()), value, "{text}");
        }
        assert!(of(b"inf").is_infinite() && of(b"nan").is_nan());
    }

    #[test]
    fn whole_texts_look_like_numbers() {
        for (text, value) in
            [(" 10 ", Some(10.0)), ("1e3", Some(1000.0)), ("1e3x", None), ("inf", None), ("", None), ("5.", Some(5.0))]
        {
            assert_eq!(looked_like(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn only_small_whole_numbers_need_no_format() {
        for (value, shown) in
            [(3.0, "3"), (-0.0, "0"), (2_147_483_647.0, "2147483647"), (2_147_483_648.0, "2.14748e+09"), (0.1, "0.1")]
        {
            assert_eq!(text(value, b"%.6g"), shown.as_bytes());
        }
    }
}
