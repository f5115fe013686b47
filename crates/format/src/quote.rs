//! Writing a text as a YAML scalar that is read back as the same text.

use crate::yaml;
use skillgate_core::{ScalarStyle, ValueKind};
use std::fmt::Write as _;

/// The text in quotes, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let escapes = !printable && text.chars().any(needs_escape);
    if !escapes && text.contains(['"', '\\']) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    if printable {
        // Neither a quote nor a backslash is left.
        out.push_str(text);
        out.push('"');
        return out;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => {
                let code = u32::from(c);
                // Writing into a String cannot fail.
                let _ = if code <= 0xffff { write!(out, "\\u{code:04x}") } else { write!(out, "\\U{code:08x}") };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text without quotes where that reads back as the same text, else in quotes.
pub(crate) fn scalar(text: &str) -> String {
    let line = format!("k: {text}\n");
    let mut steps = yaml::Steps::new();
    let plain = !text.contains(['#', '\n', '\r'])
        && yaml::parse(&line, 0, &mut steps).is_ok_and(|parsed| match parsed.value.get("k").map(|value| &value.kind) {
            Some(ValueKind::Scalar(scalar)) => {
                scalar.style == ScalarStyle::Plain && scalar.text == text && !looks_typed(text)
            }
            _ => false,
        });
    if plain { text.to_owned() } else { quoted(text) }
}

/// Whether some reader of YAML takes the plain text for something else than text.
fn looks_typed(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    matches!(lower.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "null" | "~" | "")
        || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
        || skillgate_core::classify_invisible(c).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_back_as_itself_is_left_plain() {
        for (text, written) in [
            ("plain words", "plain words"),
            ("true", "\"true\""),
            ("1.10", "\"1.10\""),
            ("null", "\"null\""),
            ("", "\"\""),
            ("a: b", "\"a: b\""),
            ("a #b", "\"a #b\""),
            ("*x", "\"*x\""),
            ("say \"x\"", "say \"x\""),
            ("\"Go\" - x", "'\"Go\" - x'"),
            ("it's: \\n", "'it''s: \\n'"),
            ("a\nb", "\"a\\nb\""),
            (" a", "\" a\""),
        ] {
            assert_eq!(scalar(text), written, "{text:?}");
        }
    }
}
