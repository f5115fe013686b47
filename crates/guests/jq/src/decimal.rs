//! Numbers as they are written: their form when they are printed again, and their order.

use std::cmp::Ordering;

/// A number's digits without leading zeros, and the power of ten of the last.
struct Parts<'t> {
    negative: bool,
    digits: String,
    exponent: i64,
    text: &'t str,
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let trimmed = all.trim_start_matches('0');
    let digits = if trimmed.is_empty() { "0" } else { trimmed }.to_owned();
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    Some(Parts { negative, digits, exponent, text })
}

/// The form in which a number that was read is printed: all its digits, with an exponent where that is shorter than zeros.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let Parts { negative, digits, exponent, .. } = parts(text)?;
    let sign = if negative { "-" } else { "" };
    let count = i64::try_from(digits.len()).ok()?;
    // The power of ten of the first digit.
    let adjusted = exponent.checked_add(count - 1)?;
    if exponent <= 0 && adjusted >= -6 {
        let point = count + exponent;
        let at = usize::try_from(point).unwrap_or(0);
        return Some(match exponent {
            0 => format!("{sign}{digits}"),
            _ if point > 0 => format!("{sign}{}.{}", &digits[..at], &digits[at..]),
            _ => format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-point).unwrap_or(0))),
        });
    }
    let dot = if digits.len() > 1 { "." } else { "" };
    let power = if adjusted < 0 { format!("-{}", -adjusted) } else { format!("+{adjusted}") };
    Some(format!("{sign}{}{dot}{}E{power}", &digits[..1], &digits[1..]))
}

/// Compares two numbers by all their digits.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let (Some(one), Some(other)) = (parts(one), parts(other)) else { return Ordering::Equal };
    let is_zero = |parts: &Parts<'_>| parts.digits.bytes().all(|digit| digit == b'0');
    match (is_zero(&one), is_zero(&other)) {
        (true, true) => return Ordering::Equal,
        (true, false) => return if other.negative { Ordering::Greater } else { Ordering::Less },
        (false, true) => return if one.negative { Ordering::Less } else { Ordering::Greater },
        (false, false) => {}
    }
    if one.negative != other.negative {
        return other.negative.cmp(&one.negative);
    }
    let first = |parts: &Parts<'_>| parts.exponent.saturating_add(i64::try_from(parts.digits.len()).unwrap_or(0));
    let (a, b) = (one.digits.trim_end_matches('0'), other.digits.trim_end_matches('0'));
    let order = first(&one).cmp(&first(&other)).then_with(|| a.cmp(b));
    debug_assert!(!one.text.is_empty() && !other.text.is_empty(), "numbers have digits");
    if one.negative { order.reverse() } else { order }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (text, expected) in [
            ("1.0", "1.0"),
            ("1e2", "1E+2"),
            ("0.1e-7", "1E-8"),
            ("1e-5", "0.00001"),
            ("0e10", "0E+10"),
            ("-0.0", "-0.0"),
            ("00012", "12"),
            ("5.", "5"),
            (".5", "0.5"),
            ("123.45e2", "12345"),
            ("1.5e300", "1.5E+300"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(canonical("x"), None);
    }

    #[test]
    fn numbers_are_compared_by_their_digits() {
        assert_eq!(compare("10000000000000000001", "10000000000000000002"), Ordering::Less);
        assert_eq!(compare("1.0", "1"), Ordering::Equal);
        assert_eq!(compare("-1.0", "1"), Ordering::Less);
    }
}
