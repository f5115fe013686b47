//! The messages of jaq in jq's words.

use jaq_json::Val;

/// A message in jq's words, where they are known.
pub(crate) fn in_jqs_words(text: &str) -> String {
    known(text).unwrap_or_else(|| text.to_owned())
}

fn known(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix("cannot use ") {
        let (value, wanted) = rest.rsplit_once(" as ")?;
        let shown = shown(value);
        return match wanted {
            "iterable (array or object)" => Some(format!("Cannot iterate over {shown}")),
            "rangeable (array or string)" => Some(format!("Cannot index {} with object", kind(value))),
            "number" => Some(format!("{shown} number required")),
            _ => None,
        };
    }
    if let Some(rest) = text.strip_prefix("cannot index ") {
        let (value, key) = halves(rest, " with ")?;
        return Some(match kind(key) {
            "string" => format!("Cannot index {} with {key}", kind(value)),
            other => format!("Cannot index {} with {other}", kind(value)),
        });
    }
    if let Some(rest) = text.strip_prefix("cannot calculate ") {
        for (operator, verb) in [(" + ", "added"), (" - ", "subtracted"), (" * ", "multiplied"), (" / ", "divided")] {
            if let Some((left, right)) = halves(rest, operator) {
                return Some(format!("{} and {} cannot be {verb}", shown(left), shown(right)));
            }
        }
        let (left, right) = halves(rest, " % ")?;
        let zero = if kind(right) == "number" { " because the divisor is zero" } else { "" };
        return Some(format!("{} and {} cannot be divided{zero}", shown(left), shown(right)));
    }
    let value = text.strip_prefix("invalid path expression with input ")?;
    Some(format!("Invalid path expression with result {value}"))
}

/// Splits where a separator stands between two values, and not inside of one.
fn halves<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    let is_value = |text: &str| crate::reader::single(text.as_bytes()).is_some();
    text.match_indices(separator)
        .map(|(at, _)| (&text[..at], &text[at + separator.len()..]))
        .find(|(left, right)| is_value(left) && is_value(right))
}

fn kind(value: &str) -> &'static str {
    match value.bytes().next() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "boolean",
        Some(b'"') => "string",
        Some(b'[') => "array",
        Some(b'{') => "object",
        _ => "number",
    }
}

fn shown(value: &str) -> String {
    format!("{} ({})", kind(value), cut(value))
}

/// Bytes of a value in a message.
const SHOWN: usize = 11;
/// What still is shown in full.
const WHOLE: usize = 14;

fn cut(value: &str) -> String {
    if value.len() <= WHOLE {
        return value.to_owned();
    }
    format!("{}...", String::from_utf8_lossy(&value.as_bytes()[..SHOWN]))
}

/// The kind of a value and the value itself, as messages show it.
pub(crate) fn described(value: &Val) -> String {
    shown(&crate::writer::compact(value))
}

/// The name of a value's type.
pub(crate) fn type_of(value: &Val) -> &'static str {
    kind(&crate::writer::compact(value))
}

#[cfg(test)]
mod tests {
    use super::in_jqs_words;

    #[test]
    fn messages_are_in_jqs_words() {
        for (text, expected) in [
            ("cannot use null as iterable (array or object)", "Cannot iterate over null (null)"),
            ("cannot index 1 with \"a with b\"", "Cannot index number with \"a with b\""),
            ("cannot index {\"a\":1} with 0", "Cannot index object with number"),
            ("cannot calculate \"a + b\" + 1", "string (\"a + b\") and number (1) cannot be added"),
            ("cannot calculate 1 % 0", "number (1) and number (0) cannot be divided because the divisor is zero"),
            ("cannot calculate {\"abc\":\"defghi\"} + 1", "object ({\"abc\":\"def...) and number (1) cannot be added"),
            ("mine", "mine"),
        ] {
            assert_eq!(in_jqs_words(text), expected);
        }
    }
}
