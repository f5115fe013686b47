//! Values.

use crate::number;
use std::cmp::Ordering;
use std::rc::Rc;

/// Bytes that values share.
pub(crate) type Text = Rc<[u8]>;

/// What a variable holds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// Nothing yet: the empty string and 0.
    Nothing,
    Number(f64),
    Text(Text),
    /// Text from outside, which is a number when it looks like one.
    Input(Text),
}

impl Value {
    pub(crate) fn text_of(text: impl Into<Text>) -> Self {
        Value::Text(text.into())
    }

    pub(crate) fn flag(flag: bool) -> Self {
        Value::Number(if flag { 1.0 } else { 0.0 })
    }

    pub(crate) fn number(&self) -> f64 {
        match self {
            Value::Nothing => 0.0,
            Value::Number(number) => *number,
            Value::Text(text) | Value::Input(text) => number::of(text),
        }
    }

    /// The value as text; numbers that are not whole by the format.
    pub(crate) fn text(&self, format: &[u8]) -> Text {
        match self {
            Value::Nothing => Text::default(),
            Value::Number(number) => number::text(*number, format).into(),
            Value::Text(text) | Value::Input(text) => Rc::clone(text),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::Nothing => false,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Input(text) => number::looked_like(text).map_or(!text.is_empty(), |number| number != 0.0),
        }
    }

    /// The value as a comparison takes it: as a number, or not.
    fn as_number(&self) -> Option<f64> {
        match self {
            Value::Nothing => Some(0.0),
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
            Value::Input(text) => number::looked_like(text),
        }
    }

    /// Compares as numbers where both are, else as text. `None` when one is not a number at all.
    pub(crate) fn compare(&self, other: &Self, format: &[u8]) -> Option<Ordering> {
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => Some(self.text(format).cmp(&other.text(format))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_of_numbers_where_both_are() {
        let input = |text: &str| Value::Input(text.as_bytes().into());
        let text = |text: &str| Value::text_of(text.as_bytes());
        for (a, b, order) in [
            (input("10"), input("9"), Ordering::Greater),
            (text("10"), text("9"), Ordering::Less),
            (input("10"), text("10.0"), Ordering::Less),
            (input(" 10 "), Value::Number(10.0), Ordering::Equal),
            (Value::Nothing, Value::Number(0.0), Ordering::Equal),
            (Value::Nothing, text(""), Ordering::Equal),
            (input("abc"), Value::Number(1.0), Ordering::Greater),
        ] {
            assert_eq!(a.compare(&b, b"%.6g"), Some(order), "{a:?} {b:?}");
        }
        assert!(!input("0").is_true() && text("0").is_true() && !Value::Nothing.is_true());
    }
}
