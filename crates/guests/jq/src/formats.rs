//! The formats: `@csv`, `@sh` and their like.

use crate::value::Value;
use crate::writer::{compact, number};

/// A value as text: a string as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        value => compact(value),
    }
}

/// A value in a format.
///
/// # Errors
/// What the format does not take, in jq's words.
pub(crate) fn format(name: &str, value: &Value) -> Result<String, String> {
    match name {
        "@text" => Ok(text(value)),
        "@json" => Ok(compact(value)),
        "@csv" => row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\""))),
        "@tsv" => row(value, "tsv", "\t", |text| {
            text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
        }),
        "@html" => Ok(text(value).chars().map(html).collect()),
        "@uri" => Ok(text(value).bytes().map(uri).collect()),
        "@sh" => shell(value),
        "@base64" => Ok(base64(text(value).as_bytes())),
        "@base64d" => from_base64(value),
        "@base32" => Ok(base32(text(value).as_bytes())),
        "@base32d" => from_base32(value),
        other => Err(format!("{} is not a valid format", other.trim_start_matches('@'))),
    }
}

fn row(value: &Value, name: &str, separator: &str, quoted: fn(&str) -> String) -> Result<String, String> {
    let Value::Array(values) = value else {
        return Err(format!("{} cannot be {name}-formatted, only array", value.described()));
    };
    let cells: Result<Vec<String>, String> = values
        .iter()
        .map(|cell| match cell {
            Value::Null => Ok(String::new()),
            Value::Bool(value) => Ok(value.to_string()),
            Value::Number(value) => Ok(number(value)),
            Value::Text(_) => Ok(quoted(&text(cell))),
            // jq says csv for both.
            cell => Err(format!("{} is not valid in a csv row", cell.described())),
        })
        .collect();
    Ok(cells?.join(separator))
}

fn html(c: char) -> String {
    match c {
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        '\'' => "&#39;".to_owned(),
        '"' => "&quot;".to_owned(),
        c => c.to_string(),
    }
}

fn uri(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn shell(value: &Value) -> Result<String, String> {
    let words = match value {
        Value::Array(values) => values.to_vec(),
        value => vec![value.clone()],
    };
    let quoted: Result<Vec<String>, String> = words
        .iter()
        .map(|word| match word {
            Value::Text(_) => Ok(format!("'{}'", text(word).replace('\'', "'\\''"))),
            Value::Array(_) | Value::Object(_) => Err(format!("{} can not be escaped for shell", word.described())),
            word => Ok(compact(word)),
        })
        .collect();
    Ok(quoted?.join(" "))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn base64(bytes: &[u8]) -> String {
    encoded(bytes, 3, 6, BASE64)
}

fn base32(bytes: &[u8]) -> String {
    encoded(bytes, 5, 5, BASE32)
}

/// Groups of `group` bytes, as characters of `bits` bits each, padded with `=`.
fn encoded(bytes: &[u8], group: usize, bits: usize, alphabet: &[u8]) -> String {
    let mut out = String::new();
    let characters = group * 8 / bits;
    for chunk in bytes.chunks(group) {
        let word = (0..group).fold(0_u64, |word, at| word << 8 | u64::from(chunk.get(at).copied().unwrap_or(0)));
        let used = (chunk.len() * 8).div_ceil(bits);
        for at in 0..characters {
            let shift = (characters - 1 - at) * bits;
            let index = usize::try_from(word >> shift).unwrap_or(0) & (alphabet.len() - 1);
            out.push(if at < used { char::from(alphabet[index]) } else { '=' });
        }
    }
    out
}

fn from_base64(value: &Value) -> Result<String, String> {
    let source = text(value);
    let mut bytes = Vec::new();
    let (mut word, mut bits) = (0_u32, 0_u32);
    for byte in source.bytes().filter(|byte| *byte != b'=') {
        let Some(digit) = BASE64.iter().position(|known| *known == byte) else {
            return Err(format!("{} is not valid base64 data", Value::from(source.as_str()).described()));
        };
        word = (word << 6 | u32::try_from(digit).unwrap_or(0)) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(word >> bits & 0xFF).unwrap_or(0));
        }
    }
    if bytes.is_empty() && !source.trim_matches('=').is_empty() {
        return Err(format!("{} trailing base64 byte found", Value::from(source).described()));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn from_base32(value: &Value) -> Result<String, String> {
    let source = text(value);
    let (mut bytes, mut word, mut bits) = (Vec::new(), 0_u32, 0_u32);
    for byte in source.bytes().filter(|byte| *byte != b'=') {
        let Some(digit) = BASE32.iter().position(|known| *known == byte) else {
            return Err(format!("{} is not valid base32 data", Value::from(source.as_str()).described()));
        };
        word = (word << 5 | u32::try_from(digit).unwrap_or(0)) & 0xFFFF;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(word >> bits & 0xFF).unwrap_or(0));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::format;
    use crate::reader::single;

    #[test]
    fn formats_are_those_of_jq() {
        for (name, value, expected) in [
            ("@csv", r#"["a\"b",1,null,true]"#, "\"a\"\"b\",1,,true"),
            ("@tsv", r#"["a\tb",1]"#, "a\\tb\t1"),
            ("@html", r#""<'\"&>""#, "&lt;&#39;&quot;&amp;&gt;"),
            ("@uri", r#""a b/é~""#, "a%20b%2F%C3%A9~"),
            ("@sh", r#"["a'b",1]"#, "'a'\\''b' 1"),
            ("@base64", r#""abcd""#, "YWJjZA=="),
            ("@base64d", r#""YWJjZA==""#, "abcd"),
            ("@base32", r#""abcd""#, "MFRGGZA="),
            ("@text", "[1]", "[1]"),
            ("@json", r#""a""#, "\"a\""),
        ] {
            assert_eq!(format(name, &single(value.as_bytes()).unwrap_or_default()).as_deref(), Ok(expected), "{name}");
        }
        assert!(format("@csv", &single(b"[[1]]").unwrap_or_default()).is_err());
    }
}
