//! JSON text as jq prints it.

use crate::value::{Number, Value};

/// The white space of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Indent {
    None,
    Tab,
    Spaces(usize),
}

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) indent: Indent,
    pub(crate) sorted: bool,
    pub(crate) ascii: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { indent: Indent::Spaces(2), sorted: false, ascii: false }
    }
}

impl Style {
    pub(crate) const COMPACT: Self = Self { indent: Indent::None, sorted: false, ascii: false };
}

/// A value on one line.
pub(crate) fn compact(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, Style::COMPACT, 0);
    text
}

/// Nesting from which on a value is written as such, as jq does to end.
const MAX_DEPTH: usize = 10_000;

/// Appends a value, its lines indented from a level on.
pub(crate) fn write(out: &mut String, value: &Value, style: Style, level: usize) {
    match value {
        _ if level > MAX_DEPTH => out.push_str("<skipped: too deep>"),
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => out.push_str(&number(value)),
        Value::Text(text) => string(out, text, style.ascii),
        Value::Array(values) if values.is_empty() => out.push_str("[]"),
        Value::Object(object) if object.len() == 0 => out.push_str("{}"),
        Value::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                next(out, index, style, level + 1);
                write(out, value, style, level + 1);
            }
            newline(out, style, level);
            out.push(']');
        }
        Value::Object(object) => {
            let entries = if style.sorted { object.sorted() } else { object.entries().iter().collect() };
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                next(out, index, style, level + 1);
                string(out, key, style.ascii);
                out.push(':');
                if style.indent != Indent::None {
                    out.push(' ');
                }
                write(out, value, style, level + 1);
            }
            newline(out, style, level);
            out.push('}');
        }
    }
}

fn next(out: &mut String, index: usize, style: Style, level: usize) {
    if index > 0 {
        out.push(',');
    }
    newline(out, style, level);
}

fn newline(out: &mut String, style: Style, level: usize) {
    match style.indent {
        Indent::None => {}
        Indent::Tab => {
            out.push('\n');
            out.extend(std::iter::repeat_n('\t', level));
        }
        Indent::Spaces(count) => {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', level * count));
        }
    }
}

fn string(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' || (ascii && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number: with its digits as it was read, or with as few as identify it (17 at most).
pub(crate) fn number(number: &Number) -> String {
    match &number.literal {
        Some(literal) => literal.to_string(),
        None => float(number.value),
    }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        return "null".to_owned();
    }
    let value = value.clamp(f64::MIN, f64::MAX);
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The decimal point stands before the digit of this index.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let sign = if value < 0.0 { "-" } else { "" };
    let body = if point <= -4 || point > count + 15 {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let power = point - 1;
        format!("{first}{dot}{rest}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
    } else if point <= 0 {
        format!("0.{}{digits}", "0".repeat(usize::try_from(-point).unwrap_or(0)))
    } else if point >= count {
        format!("{digits}{}", "0".repeat(usize::try_from(point - count).unwrap_or(0)))
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{fraction}")
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_jq_does() {
        for (value, text) in [
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1e-5, "1e-05"),
            (1e17, "1e+17"),
            (0.0001, "0.0001"),
            (1.7e15, "1700000000000000"),
            (1e100, "1e+100"),
            (f64::INFINITY, "1.7976931348623157e+308"),
            (-0.0, "-0"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn values_are_indented() {
        let value = crate::reader::single(br#"{"b":[1,{}],"a":"\u00e9\u0001"}"#).unwrap_or_default();
        let mut text = String::new();
        write(&mut text, &value, Style { sorted: true, ascii: true, ..Style::default() }, 0);
        assert_eq!(text, "{\n  \"a\": \"\\u00e9\\u0001\",\n  \"b\": [\n    1,\n    {}\n  ]\n}");
        assert_eq!(compact(&value), "{\"b\":[1,{}],\"a\":\"é\\u0001\"}");
    }
}
