//! Functions of strings.

use super::{Native, native};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    native("_text_indices", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(wanted)) => Ok(indices(text, wanted)),
        _ => Ok(Value::Null),
    }),
    native("endswith", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(end)) => Ok(Value::Bool(text.ends_with(&**end))),
        _ => Err("endswith() requires string inputs".into()),
    }),
    native("startswith", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(begin)) => Ok(Value::Bool(text.starts_with(&**begin))),
        _ => Err("startswith() requires string inputs".into()),
    }),
    native("ltrimstr", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(begin)) => {
            Ok(text.strip_prefix(&**begin).map_or_else(|| input.clone(), Value::from))
        }
        _ => Ok(input.clone()),
    }),
    native("rtrimstr", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(end)) => {
            Ok(text.strip_suffix(&**end).map_or_else(|| input.clone(), Value::from))
        }
        _ => Ok(input.clone()),
    }),
    native("explode", 0, |_, input, _| match input {
        Value::Text(text) => {
            Ok(Value::from(text.chars().map(|c| Value::from(f64::from(u32::from(c)))).collect::<Vec<_>>()))
        }
        _ => Err("explode input must be a string".into()),
    }),
    native("implode", 0, |_, input, _| {
        let Value::Array(codes) = input else { return Err("implode input must be an array".into()) };
        let mut text = String::new();
        for code in codes.iter() {
            let Some(number) = code.number() else {
                let code = code.described();
                return Err(format!("{code} can't be imploded, unicode codepoint needs to be numeric").into());
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "what is no code becomes the sign for that"
            )]
            let c = char::from_u32(number as u32).filter(|_| number >= 0.0);
            text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(Value::from(text))
    }),
    native("utf8bytelength", 0, |_, input, _| match input {
        Value::Text(text) => Ok(Value::from(text.len())),
        other => Err(format!("{} only strings have UTF-8 byte length", other.described()).into()),
    }),
];

/// Where a text stands in another, counted in bytes as jq 1.7 does; one may overlap the next.
fn indices(text: &str, wanted: &str) -> Value {
    if wanted.is_empty() {
        return Value::Null;
    }
    let bytes = text.as_bytes().windows(wanted.len()).enumerate();
    let found = bytes.filter(|(_, window)| *window == wanted.as_bytes()).map(|(at, _)| Value::from(at));
    Value::from(found.collect::<Vec<_>>())
}
