//! `printf`, as the C library prints.

use crate::number;
use crate::value::{Text, Value};
use crate::{Fault, wrong};

/// Characters that one value is padded to at most.
const MAX_WIDTH: usize = 1 << 20;
/// Digits behind the point at most.
const MAX_PRECISION: usize = 4096;

/// How one value is printed.
#[derive(Clone, Copy, Default, Debug)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// Formats values, behind what `out` holds.
///
/// # Errors
/// A directive that is none, or one without a value; what stands before it was formatted.
pub(crate) fn formatted(out: &mut Vec<u8>, format: &[u8], values: &[Value], conversion: &[u8]) -> Result<(), Fault> {
    let mut values = values.iter();
    let mut at = 0;
    let shown = || String::from_utf8_lossy(format).into_owned();
    let missing = || Fault::Wrong(format!("run time error: not enough arguments passed to printf(\"{}\")", shown()));
    while let Some(byte) = format.get(at) {
        at += 1;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        if format.get(at) == Some(&b'%') {
            at += 1;
            out.push(b'%');
            continue;
        }
        let mut directive = Directive::default();
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternate = true,
                b'0' => directive.zero = true,
                _ => break,
            }
            at += 1;
        }
        let mut number = |at: &mut usize, most: usize| -> Result<Option<i64>, Fault> {
            if format.get(*at) == Some(&b'*') {
                *at += 1;
                return Ok(Some(whole(values.next().ok_or_else(missing)?.number())));
            }
            let mut value = None;
            while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
                let so_far = value.unwrap_or(0) * 10 + i64::from(digit - b'0');
                value = Some(so_far.min(i64::try_from(most).unwrap_or(i64::MAX)));
                *at += 1;
            }
            Ok(value)
        };
        if let Some(width) = number(&mut at, MAX_WIDTH)? {
            directive.left |= width < 0;
            directive.width = usize::try_from(width.unsigned_abs()).unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            let precision = number(&mut at, MAX_PRECISION)?.unwrap_or(0);
            directive.precision = usize::try_from(precision).ok().map(|precision| precision.min(MAX_PRECISION));
        }
        while matches!(format.get(at), Some(b'h' | b'l')) {
            at += 1;
        }
        let letter = format.get(at).copied().unwrap_or_default();
        at += 1;
        match letter {
            b'd' | b'i' | b'o' | b'x' | b'X' | b'u' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'c' | b's' => {
                let value = values.next().ok_or_else(missing)?;
                out.extend_from_slice(&directive.print(letter, value, conversion));
            }
            _ => return wrong(format!("run time error: improper conversion in printf(\"{}\")", shown())),
        }
    }
    Ok(())
}

/// One number in a format such as `OFMT`; as it is with a format that has no place for it.
pub(crate) fn number(format: &[u8], value: f64) -> Vec<u8> {
    let mut out = Vec::new();
    match formatted(&mut out, format, &[Value::Number(value)], b"%.6g") {
        Ok(()) => out,
        Err(_) => format.to_vec(),
    }
}

/// As a C `int`, without what does not fit.
fn whole(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let value = value as i64;
    value.clamp(-i64::from(i32::MAX), i64::from(i32::MAX))
}

/// As a C `unsigned`, without what does not fit.
fn unsigned(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let value = value as u64;
    value.min(u64::from(u32::MAX))
}

impl Directive {
    fn print(mut self, letter: u8, value: &Value, conversion: &[u8]) -> Vec<u8> {
        match letter {
            b'c' => {
                let byte = match value {
                    Value::Number(number) => whole(*number).to_le_bytes()[0],
                    Value::Input(text) if number::looked_like(text).is_some() => whole(value.number()).to_le_bytes()[0],
                    other => other.text(conversion).first().copied().unwrap_or(0),
                };
                self.zero = false;
                self.padded("", &[byte])
            }
            b's' => {
                let text: Text = value.text(conversion);
                let length = self.precision.map_or(text.len(), |precision| precision.min(text.len()));
                self.zero = false;
                self.padded("", &text[..length])
            }
            b'd' | b'i' => {
                let number = whole(value.number());
                let sign = self.sign(number < 0);
                self.integer(sign, number.unsigned_abs().to_string())
            }
            b'u' => self.integer("", unsigned(value.number()).to_string()),
            b'o' => {
                let mut digits = format!("{:o}", unsigned(value.number()));
                if self.alternate && !digits.starts_with('0') {
                    digits.insert(0, '0');
                }
                self.integer("", digits)
            }
            b'x' | b'X' => {
                let number = unsigned(value.number());
                let upper = letter == b'X';
                let digits = if upper { format!("{number:X}") } else { format!("{number:x}") };
                let before = match (self.alternate && number != 0, upper) {
                    (false, _) => "",
                    (true, false) => "0x",
                    (true, true) => "0X",
                };
                self.integer(before, digits)
            }
            _ => self.float(letter, value.number()),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(mut self, before: &str, mut digits: String) -> Vec<u8> {
        if let Some(precision) = self.precision {
            self.zero = false;
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            digits = format!("{digits:0>precision$}");
        }
        self.padded(before, digits.as_bytes())
    }

    fn float(mut self, letter: u8, value: f64) -> Vec<u8> {
        let sign = self.sign(value.is_sign_negative());
        let upper = letter.is_ascii_uppercase();
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            self.zero = false;
            let word = if magnitude.is_nan() { "nan" } else { "inf" };
            let word = if upper { word.to_uppercase() } else { word.to_owned() };
            return self.padded(sign, word.as_bytes());
        }
        let precision = self.precision.unwrap_or(6);
        let mut text = match letter.to_ascii_lowercase() {
            b'f' => self.fixed(magnitude, precision),
            b'e' => self.scientific(magnitude, precision),
            _ => self.shortest(magnitude, precision.max(1)),
        };
        if upper {
            text.make_ascii_uppercase();
        }
        self.padded(sign, text.as_bytes())
    }

    fn fixed(&self, value: f64, precision: usize) -> String {
        let mut text = format!("{value:.precision$}");
        if self.alternate && precision == 0 {
            text.push('.');
        }
        text
    }

    fn scientific(&self, value: f64, precision: usize) -> String {
        let text = format!("{value:.precision$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        let point = if self.alternate && precision == 0 { "." } else { "" };
        format!("{mantissa}{point}e{sign}{digits:0>2}")
    }

    /// `%g`: fixed or scientific, whatever its exponent asks for, without zeros at the end.
    fn shortest(&self, value: f64, precision: usize) -> String {
        let rounded = format!("{value:.0$e}", precision - 1);
        let exponent: i64 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
        let digits = i64::try_from(precision).unwrap_or(i64::MAX);
        let strip = |text: &str| {
            if self.alternate || !text.contains('.') {
                return text.to_owned();
            }
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if exponent < -4 || exponent >= digits {
            let text = self.scientific(value, precision - 1);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
            return format!("{}e{exponent}", strip(mantissa));
        }
        strip(&self.fixed(value, usize::try_from(digits - 1 - exponent).unwrap_or(0)))
    }

    fn padded(&self, before: &str, text: &[u8]) -> Vec<u8> {
        let missing = self.width.saturating_sub(before.len() + text.len());
        let mut out = Vec::with_capacity(self.width.max(before.len() + text.len()));
        if !self.left && !self.zero {
            out.resize(missing, b' ');
        }
        out.extend_from_slice(before.as_bytes());
        if !self.left && self.zero {
            out.resize(out.len() + missing, b'0');
        }
        out.extend_from_slice(text);
        if self.left {
            out.resize(out.len() + missing, b' ');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_the_c_library_prints_them() {
        for (format, value, expected) in [
            ("%d|", 3.9, "3|"),
            ("%05d", -42.0, "-0042"),
            ("%+.3d", 5.0, "+005"),
            ("%-5d|", 5.0, "5    |"),
            ("%x %%", 255.0, "ff %"),
            ("%#o", 8.0, "010"),
            ("%5.2f", 3.14159, " 3.14"),
            ("%e", 12_345.678, "1.234568e+04"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 1e6, "1e+06"),
            ("%.0f", 2.5, "2"),
            ("%G", 1e-10, "1E-10"),
            ("%#g", 1.0, "1.00000"),
            ("%c", 65.0, "A"),
            ("%5c", 65.0, "    A"),
            ("%d", 1e12, "2147483647"),
            ("%u", -1.0, "0"),
            ("%f", f64::INFINITY, "inf"),
        ] {
            let mut printed = Vec::new();
            formatted(&mut printed, format.as_bytes(), &[Value::Number(value)], b"%.6g").expect(format);
            assert_eq!(String::from_utf8_lossy(&printed), expected, "{format}");
        }
        let mut printed = Vec::new();
        assert!(formatted(&mut printed, b"a%d", &[], b"%.6g").is_err());
        assert!(formatted(&mut printed, b"b%z", &[Value::Nothing], b"%.6g").is_err());
        assert_eq!(printed, b"ab");
    }
}
