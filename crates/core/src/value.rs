use crate::Span;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// How a scalar was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarStyle {
    /// Without quotes: its type follows from its text.
    Plain,
    /// In quotes or as a block: always text.
    Text,
}

/// One scalar as the author wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// The text after quotes, escapes and folding are resolved.
    pub text: String,
    /// Whether the text alone decides over the type.
    pub style: ScalarStyle,
}

/// A header value with the place of every part of it. Scalars keep the author's text; types are resolved when it is asked
/// for, so `1.10` stays `1.10`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The bytes of the value in the file.
    pub span: Span,
    /// What it is.
    pub kind: ValueKind,
}

/// The shapes of a [`Value`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Nothing, `~` or `null`.
    Null,
    /// Text, number or boolean, unresolved.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping in the author's order; keys may repeat.
    Map(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// The bytes of the key in the file.
    pub key_span: Span,
    /// The value.
    pub value: Value,
}

impl Value {
    /// The scalar's text, whatever type it looks like.
    #[inline]
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            ValueKind::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The last value under `key` of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.kind {
            ValueKind::Map(entries) => entries.iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// What kind of value it is, in words for messages.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            ValueKind::Null => "nothing",
            ValueKind::Scalar(_) => "text",
            ValueKind::List(_) => "a list",
            ValueKind::Map(_) => "a mapping",
        }
    }
}

/// Serialises as the YAML core schema resolves it: plain `true` is a boolean, plain integers that fit are numbers, and every
/// other scalar (also `1.10`) is its text.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            ValueKind::Null => serializer.serialize_unit(),
            ValueKind::Scalar(Scalar { text, style: ScalarStyle::Plain }) => match text.as_str() {
                "true" | "True" | "TRUE" => serializer.serialize_bool(true),
                "false" | "False" | "FALSE" => serializer.serialize_bool(false),
                _ => match text.parse::<i64>() {
                    Ok(number) if number.to_string() == *text => serializer.serialize_i64(number),
                    _ => serializer.serialize_str(text),
                },
            },
            ValueKind::Scalar(scalar) => serializer.serialize_str(&scalar.text),
            ValueKind::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            ValueKind::Map(entries) => {
                let mut map = serializer.serialize_map(None)?;
                for (i, entry) in entries.iter().enumerate() {
                    if !entries[i + 1..].iter().any(|later| later.key == entry.key) {
                        map.serialize_entry(&entry.key, &entry.value)?;
                    }
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str, style: ScalarStyle) -> Value {
        Value { span: Span::default(), kind: ValueKind::Scalar(Scalar { text: text.into(), style }) }
    }

    #[test]
    fn scalars_resolve_without_losing_the_authors_text() {
        for (text, style, json) in [
            ("true", ScalarStyle::Plain, "true"),
            ("true", ScalarStyle::Text, "\"true\""),
            ("5", ScalarStyle::Plain, "5"),
            ("007", ScalarStyle::Plain, "\"007\""),
            ("1.10", ScalarStyle::Plain, "\"1.10\""),
            ("99999999999999999999", ScalarStyle::Plain, "\"99999999999999999999\""),
        ] {
            assert_eq!(serde_json::to_string(&scalar(text, style)).expect("a scalar is JSON"), json);
        }
    }

    #[test]
    fn the_last_of_two_keys_is_the_one_that_is_read_and_written() {
        let entry = |key: &str, text| Entry {
            key: key.into(),
            key_span: Span::default(),
            value: scalar(text, ScalarStyle::Plain),
        };
        let map = Value {
            span: Span::default(),
            kind: ValueKind::Map(vec![entry("a", "x"), entry("b", "y"), entry("a", "z")]),
        };
        assert_eq!(map.get("a").and_then(Value::text), Some("z"));
        assert_eq!(serde_json::to_string(&map).expect("a mapping is JSON"), r#"{"b":"y","a":"z"}"#);
    }
}
