//! JSON text as jq reads it: a stream of values, with jq's words and places for what is wrong.

use crate::decimal;
use crate::value::{Number, Object, Value};
use std::rc::Rc;

/// Nesting that is still read.
const MAX_DEPTH: usize = 10_000;

/// A container that is being read.
#[derive(Debug)]
enum Open {
    Array(Vec<Value>),
    /// The members so far, and the key whose value is awaited.
    Object(Object, Option<Rc<str>>),
}

/// Reads a stream of values byte by byte.
#[derive(Debug)]
pub(crate) struct Reader {
    open: Vec<Open>,
    next: Option<Value>,
    token: Vec<u8>,
    in_string: bool,
    escaped: bool,
    line: usize,
    column: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Self { open: Vec::new(), next: None, token: Vec::new(), in_string: false, escaped: false, line: 1, column: 0 }
    }
}

type Read<T = ()> = Result<T, &'static str>;

impl Reader {
    /// Takes one byte; gives the value that it completes.
    pub(crate) fn push(&mut self, byte: u8) -> Result<Option<Value>, String> {
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
        self.scan(byte).map_err(|what| format!("{what} at line {}, column {}", self.line, self.column))
    }

    /// Takes the end of the text.
    pub(crate) fn end(&mut self) -> Result<Option<Value>, String> {
        let result = if self.in_string { Err("Unfinished string") } else { self.literal() };
        let result = result.and_then(|()| if self.open.is_empty() { Ok(()) } else { Err("Unfinished JSON term") });
        let place = format!("at EOF at line {}, column {}", self.line, self.column);
        result.map(|()| self.next.take()).map_err(|what| format!("{what} {place}"))
    }

    fn scan(&mut self, byte: u8) -> Read<Option<Value>> {
        if self.in_string {
            if byte == b'"' && !self.escaped {
                self.in_string = false;
                let text = unescaped(&std::mem::take(&mut self.token))?;
                self.value(Value::from(text))?;
            } else {
                self.escaped = byte == b'\\' && !self.escaped;
                self.token.push(byte);
            }
            return Ok(self.done());
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.literal()?,
            b'[' | b'{' | b':' | b',' | b']' | b'}' => {
                self.literal()?;
                self.structure(byte)?;
            }
            b'"' => {
                self.literal()?;
                self.in_string = true;
            }
            byte => self.token.push(byte),
        }
        Ok(self.done())
    }

    fn done(&mut self) -> Option<Value> {
        if self.open.is_empty() { self.next.take() } else { None }
    }

    fn value(&mut self, value: Value) -> Read {
        match self.next.replace(value) {
            None => Ok(()),
            Some(_) => Err("Expected separator between values"),
        }
    }

    fn structure(&mut self, byte: u8) -> Read {
        match byte {
            b'[' | b'{' => {
                if self.open.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if self.next.is_some() {
                    return Err("Expected separator between values");
                }
                self.open.push(if byte == b'[' {
                    Open::Array(Vec::new())
                } else {
                    Open::Object(Object::default(), None)
                });
            }
            b':' => {
                let Some(key) = self.next.take() else { return Err("Expected string key before ':'") };
                match self.open.last_mut() {
                    Some(Open::Object(_, awaited @ None)) => match key {
                        Value::Text(key) => *awaited = Some(key),
                        _ => return Err("Object keys must be strings"),
                    },
                    _ => return Err("':' not as part of an object"),
                }
            }
            b',' => {
                let Some(value) = self.next.take() else { return Err("Expected value before ','") };
                match self.open.last_mut() {
                    Some(Open::Array(values)) => values.push(value),
                    Some(Open::Object(map, awaited)) => match awaited.take() {
                        Some(key) => map.insert(key, value),
                        None => return Err("Objects must consist of key:value pairs"),
                    },
                    None => return Err("',' not as part of an object or array"),
                }
            }
            b']' => match (self.open.pop(), self.next.take()) {
                (Some(Open::Array(mut values)), value) => {
                    if value.is_none() && !values.is_empty() {
                        return Err("Expected another array element");
                    }
                    values.extend(value);
                    self.next = Some(Value::from(values));
                }
                _ => return Err("Unmatched ']'"),
            },
            _ => match (self.open.pop(), self.next.take()) {
                (Some(Open::Object(mut map, Some(key))), Some(value)) => {
                    map.insert(key, value);
                    self.next = Some(Value::from(map));
                }
                (Some(Open::Object(map, None)), None) if map.len() == 0 => self.next = Some(Value::from(map)),
                (Some(Open::Object(_, None)), None) => return Err("Expected another key-value pair"),
                (Some(_), Some(_)) => return Err("Objects must consist of key:value pairs"),
                _ => return Err("Unmatched '}'"),
            },
        }
        Ok(())
    }

    /// Ends a word or a number.
    fn literal(&mut self) -> Read {
        if self.token.is_empty() {
            return Ok(());
        }
        let token = std::mem::take(&mut self.token);
        let value = match (token.as_slice(), token[0]) {
            (b"true", _) => Value::Bool(true),
            (b"false", _) => Value::Bool(false),
            (b"null", _) => Value::Null,
            (b"nan", _) => Value::from(f64::NAN),
            (_, b't' | b'f' | b'n') => return Err("Invalid literal"),
            (token, _) => {
                let text = std::str::from_utf8(token).ok();
                text.and_then(number).ok_or("Invalid numeric literal")?
            }
        };
        self.value(value)
    }
}

/// A number, with its digits.
pub(crate) fn number(text: &str) -> Option<Value> {
    if text.eq_ignore_ascii_case("nan") {
        return Some(Value::from(f64::NAN));
    }
    let literal = decimal::canonical(text)?;
    let value = literal.parse::<f64>().ok()?;
    Some(Value::Number(Number { value, literal: Some(literal.into()) }))
}

/// The text of a string between its quotes.
pub(crate) fn unescaped(raw: &[u8]) -> Read<String> {
    let text = String::from_utf8_lossy(raw);
    if !text.contains('\\') {
        return Ok(text.into_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    let mut units: Vec<u16> = Vec::new();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\\' {
            let escape = rest.chars().next().ok_or("Expected escape character at end of string")?;
            rest = &rest[escape.len_utf8()..];
            if escape == 'u' {
                let code = rest.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
                units.push(code.ok_or("Invalid \\uXXXX escape")?);
                rest = &rest[4..];
                continue;
            }
            flush(&mut units, &mut out);
            out.push(match escape {
                '"' | '\\' | '/' => escape,
                'b' => '\u{8}',
                'f' => '\u{c}',
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                _ => return Err("Invalid escape"),
            });
        } else {
            flush(&mut units, &mut out);
            out.push(c);
        }
    }
    flush(&mut units, &mut out);
    Ok(out)
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.extend(char::decode_utf16(units.drain(..)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

/// All values of a text.
///
/// # Errors
/// What is wrong, in jq's words.
pub(crate) fn all(bytes: &[u8]) -> Result<Vec<Value>, String> {
    let mut reader = Reader::default();
    let mut values = Vec::new();
    for byte in bytes {
        values.extend(reader.push(*byte)?);
    }
    values.extend(reader.end()?);
    Ok(values)
}

/// The one value of a text.
pub(crate) fn single(bytes: &[u8]) -> Option<Value> {
    let mut values = all(bytes).ok()?;
    values.pop().filter(|_| values.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::compact;

    #[test]
    fn values_are_read() {
        for (text, expected) in [
            ("1 2\n", "1 2"),
            ("[1,[],{}]", "[1,[],{}]"),
            ("{\"b\":1,\"a\":{\"c\":null}}", "{\"b\":1,\"a\":{\"c\":null}}"),
            ("\"\\ud83d\\ude00\\n\"", "\"😀\\n\""),
            ("1.0 1e2 -0", "1.0 1E+2 -0"),
            ("\"\\ud800x\"", "\"\u{fffd}x\""),
            ("12345678901234567890", "12345678901234567890"),
            ("", ""),
        ] {
            let values = all(text.as_bytes()).map(|all| all.iter().map(compact).collect::<Vec<_>>().join(" "));
            assert_eq!(values.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_as_jq_does() {
        for (text, expected) in [
            ("{", "Unfinished JSON term at EOF at line 1, column 1"),
            ("[1,]", "Expected another array element at line 1, column 4"),
            ("{\"a\"}", "Objects must consist of key:value pairs at line 1, column 5"),
            ("nul", "Invalid literal at EOF at line 1, column 3"),
            ("[1 2]", "Expected separator between values at line 1, column 5"),
            ("\"abc", "Unfinished string at EOF at line 1, column 4"),
            ("{a:1}", "Invalid numeric literal at line 1, column 3"),
            ("x\n", "Invalid numeric literal at line 2, column 0"),
            ("\"\\x\"", "Invalid escape at line 1, column 4"),
            ("]", "Unmatched ']' at line 1, column 1"),
            ("{1:2}", "Object keys must be strings at line 1, column 3"),
            (":", "Expected string key before ':' at line 1, column 1"),
            ("{\"a\":}", "Unmatched '}' at line 1, column 6"),
        ] {
            assert_eq!(all(text.as_bytes()).err().as_deref(), Some(expected), "{text}");
        }
    }
}
