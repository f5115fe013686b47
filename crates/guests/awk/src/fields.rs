//! The record and its fields.

use crate::regex::Matcher;
use crate::value::{Text, Value};
use crate::{Fault, wrong};
use std::rc::Rc;

/// Fields a record may have.
const MAX_FIELDS: usize = 1 << 20;

/// What stands between fields.
#[derive(Clone, Debug)]
pub(crate) enum Separator {
    /// Runs of blanks, also at both ends.
    Blanks,
    Byte(u8),
    Regex(Rc<Matcher>),
    /// Nothing: every byte is a field.
    Nothing,
}

impl Separator {
    /// The separator that the value of `FS`, or the third argument of `split`, stands for.
    pub(crate) fn of(text: &[u8]) -> Result<Self, Fault> {
        Ok(match text {
            b"" => Separator::Nothing,
            b" " => Separator::Blanks,
            [byte] => Separator::Byte(*byte),
            text => Separator::Regex(Rc::new(Matcher::compile(text)?)),
        })
    }

    /// The parts of a text.
    pub(crate) fn split(&self, text: &[u8]) -> Result<Vec<Value>, Fault> {
        let part = |bytes: &[u8]| Value::Input(bytes.into());
        let parts: Vec<Value> = match self {
            _ if text.is_empty() => Vec::new(),
            Separator::Blanks => {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
                text.split(blank).filter(|field| !field.is_empty()).map(part).collect()
            }
            Separator::Byte(separator) => text.split(|byte| byte == separator).map(part).collect(),
            Separator::Nothing => text.iter().map(|byte| part(&[*byte])).collect(),
            Separator::Regex(matcher) => {
                let (mut parts, mut start, mut from) = (Vec::new(), 0, 0);
                while from <= text.len()
                    && let Some(found) = matcher.find(text, from)?
                {
                    if found.is_empty() {
                        from = found.end + 1;
                        continue;
                    }
                    parts.push(part(&text[start..found.start]));
                    (start, from) = (found.end, found.end);
                }
                parts.push(part(&text[start..]));
                parts
            }
        };
        if parts.len() > MAX_FIELDS { wrong("a record has too many fields") } else { Ok(parts) }
    }
}

/// The record. It is split when somebody asks for a field, by the separator of when it was read, and put together again when
/// somebody asks for the whole after a field was changed.
#[derive(Debug)]
pub(crate) struct Record {
    whole: Value,
    fields: Vec<Value>,
    separator: Separator,
    is_split: bool,
    is_joined: bool,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            whole: Value::Nothing,
            fields: Vec::new(),
            separator: Separator::Blanks,
            is_split: true,
            is_joined: true,
        }
    }

    pub(crate) fn set(&mut self, whole: Value, separator: &Separator) {
        self.whole = whole;
        self.separator = separator.clone();
        self.fields.clear();
        (self.is_split, self.is_joined) = (false, true);
    }

    fn split(&mut self, format: &[u8]) -> Result<(), Fault> {
        if !self.is_split {
            self.fields = self.separator.split(&self.whole.text(format))?;
            self.is_split = true;
        }
        Ok(())
    }

    /// The record as a whole.
    pub(crate) fn whole(&mut self, joint: &[u8], format: &[u8]) -> Value {
        if !self.is_joined {
            let mut text = Vec::new();
            for (index, field) in self.fields.iter().enumerate() {
                if index > 0 {
                    text.extend_from_slice(joint);
                }
                text.extend_from_slice(&field.text(format));
            }
            self.whole = Value::Input(text.into());
            self.is_joined = true;
        }
        self.whole.clone()
    }

    pub(crate) fn count(&mut self, format: &[u8]) -> Result<usize, Fault> {
        self.split(format)?;
        Ok(self.fields.len())
    }

    pub(crate) fn field(&mut self, index: usize, format: &[u8]) -> Result<Value, Fault> {
        self.split(format)?;
        // A field that is not there is text, and empty.
        Ok(self.fields.get(index - 1).cloned().unwrap_or_else(|| Value::Text(Text::default())))
    }

    pub(crate) fn set_field(&mut self, index: usize, value: Value, format: &[u8]) -> Result<(), Fault> {
        self.split(format)?;
        if index > self.fields.len() {
            self.resize(index)?;
        }
        self.fields[index - 1] = value;
        self.is_joined = false;
        Ok(())
    }

    pub(crate) fn set_count(&mut self, count: usize, format: &[u8]) -> Result<(), Fault> {
        self.split(format)?;
        self.is_joined = false;
        self.resize(count)
    }

    fn resize(&mut self, count: usize) -> Result<(), Fault> {
        if count > MAX_FIELDS {
            return wrong(format!("run time error: field index ${count} is too large"));
        }
        self.fields.resize(count, Value::Input(Text::default()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(separator: &str, text: &str) -> Vec<String> {
        let parts = Separator::of(separator.as_bytes()).and_then(|separator| separator.split(text.as_bytes()));
        let shown = |value: &Value| String::from_utf8_lossy(&value.text(b"%.6g")).into_owned();
        parts.expect("it is a separator").iter().map(shown).collect()
    }

    #[test]
    fn texts_are_split() {
        for (separator, text, expected) in [
            (" ", "  a \t b\nc ", vec!["a", "b", "c"]),
            (":", ":a::b", vec!["", "a", "", "b"]),
            ("|", "a|b", vec!["a", "b"]),
            ("[0-9]+", "a1b22", vec!["a", "b", ""]),
            ("x*", "axb", vec!["a", "b"]),
            ("", "abc", vec!["a", "b", "c"]),
            (",", "", vec![]),
        ] {
            assert_eq!(parts(separator, text), expected, "{separator:?} {text:?}");
        }
    }

    #[test]
    fn a_changed_record_is_put_together_when_it_is_asked_for() {
        let mut record = Record::new();
        record.set(Value::Input(b"a b c"[..].into()), &Separator::Blanks);
        record.set_field(5, Value::Number(7.0), b"%.6g").expect("there is room");
        assert_eq!(&*record.whole(b"-", b"%.6g").text(b"%.6g"), b"a-b-c--7");
        record.set_count(2, b"%.6g").expect("there is room");
        assert_eq!(&*record.whole(b"-", b"%.6g").text(b"%.6g"), b"a-b");
        assert!(record.set_count(usize::MAX, b"%.6g").is_err());
    }
}
