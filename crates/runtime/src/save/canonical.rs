use serde_json::Value;
use skillgate_core::Digest;

/// The digest of a JSON value, whatever the order of its keys and the spaces between.
pub(super) fn digest(value: &Value) -> Digest {
    let mut text = String::new();
    write(value, &mut text);
    Digest::of(text.as_bytes())
}

/// Keys in their order, no space: two values that are equal have one text.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spaces_do_not_matter_and_everything_else_does() {
        let of = |text: &str| digest(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(of(r#"{"b":[1,{"y":null,"x":"ü"}],"a":true}"#), of(r#" { "a":true, "b":[1,{"x":"ü","y":null}] } "#));
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":{}}"#, r#"{"a":[]}"#),
            (r#"["a,b"]"#, r#"["a","b"]"#),
            (r#"["a\",\"b"]"#, r#"["a","b"]"#),
        ] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }
}
