//! JSON values.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// A JSON value. Copies share what they hold.
#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Rc<str>),
    Array(Rc<Vec<Value>>),
    Object(Rc<Object>),
}

/// A number, with its digits as they were read as long as nothing was calculated with it.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) literal: Option<Rc<str>>,
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(Number { value, literal: None })
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "lengths and places are far below 2^53")]
        Self::from(value as f64)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::Array(Rc::new(values))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(Rc::new(object))
    }
}

impl Value {
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    /// The name of its type.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The place of its type in jq's order.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Number(_) => 3,
            Self::Text(_) => 4,
            Self::Array(_) => 5,
            Self::Object(_) => 6,
        }
    }

    /// The value as messages about paths show it: cut where it is long.
    pub(crate) fn shown_in_path(&self) -> String {
        cut(&crate::writer::compact(self), WHOLE_OF_A_PATH)
    }

    /// Its type and itself, as messages show them.
    pub(crate) fn described(&self) -> String {
        format!("{} ({})", self.kind(), cut(&crate::writer::compact(self), WHOLE))
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.value),
            _ => None,
        }
    }
}

/// Bytes of a value in a message.
const WHOLE: usize = 14;
const WHOLE_OF_A_PATH: usize = 29;

fn cut(text: &str, whole: usize) -> String {
    if text.len() <= whole {
        return text.to_owned();
    }
    let mut end = whole - 3;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

impl Number {
    fn order(&self, other: &Self) -> Ordering {
        if let (Some(one), Some(two)) = (&self.literal, &other.literal)
            && self.value.to_bits() == other.value.to_bits()
        {
            return crate::decimal::compare(one, two);
        }
        // What is not a number is less than any, even itself.
        if self.value < other.value || self.value.is_nan() {
            Ordering::Less
        } else if self.value == other.value {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.order(two),
            (Self::Text(one), Self::Text(two)) => one.as_bytes().cmp(two.as_bytes()),
            (Self::Array(one), Self::Array(two)) => one.cmp(two),
            (Self::Object(one), Self::Object(two)) => {
                let (one, two) = (one.sorted(), two.sorted());
                let keys = one.iter().map(|(key, _)| key).cmp(two.iter().map(|(key, _)| key));
                keys.then_with(|| one.iter().map(|(_, value)| value).cmp(two.iter().map(|(_, value)| value)))
            }
            (one, two) => one.rank().cmp(&two.rank()),
        }
    }
}

/// Members in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    entries: Vec<(Rc<str>, Value)>,
    /// Where a key is, as soon as there are many.
    index: Option<HashMap<Rc<str>, usize>>,
}

/// Members from which on keys are looked up in an index.
const INDEXED: usize = 12;

impl Object {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn place(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.entries.iter().position(|(known, _)| **known == *key),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.place(key).map(|at| &self.entries[at].1)
    }

    pub(crate) fn insert(&mut self, key: Rc<str>, value: Value) {
        if let Some(at) = self.place(&key) {
            self.entries[at].1 = value;
            return;
        }
        if let Some(index) = &mut self.index {
            index.insert(Rc::clone(&key), self.entries.len());
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > INDEXED {
            self.reindex();
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.place(key)?;
        let (_, value) = self.entries.remove(at);
        if self.index.is_some() {
            self.reindex();
        }
        Some(value)
    }

    /// The value of a key to be changed, null when it is new.
    pub(crate) fn take(&mut self, key: &str) -> Value {
        self.place(key).map(|at| std::mem::take(&mut self.entries[at].1)).unwrap_or_default()
    }

    fn reindex(&mut self) {
        let places = self.entries.iter().enumerate().map(|(at, (key, _))| (Rc::clone(key), at));
        self.index = Some(places.collect());
    }

    pub(crate) fn entries(&self) -> &[(Rc<str>, Value)] {
        &self.entries
    }

    /// The members by key.
    pub(crate) fn sorted(&self) -> Vec<&(Rc<str>, Value)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.as_bytes().cmp(other.as_bytes()));
        entries
    }
}

impl FromIterator<(Rc<str>, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (Rc<str>, Value)>>(entries: I) -> Self {
        let mut object = Self::default();
        for (key, value) in entries {
            object.insert(key, value);
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ordered_as_jq_orders_them() {
        let values =
            crate::reader::all(b"null false true -1 1.0 \"a\" \"b\" [] [0] {} {\"a\":2} {\"b\":1} {\"a\":1,\"b\":0}");
        let values = values.expect("it is JSON");
        for pair in values.windows(2).take(11) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        let nan = Value::from(f64::NAN);
        assert!(nan < nan && nan < Value::from(0.0) && Value::Null < nan);
    }

    #[test]
    fn members_keep_their_order() {
        let mut object: Object = (0..20).map(|n| (Rc::from(format!("k{n}")), Value::from(n as f64))).collect();
        object.remove("k3");
        object.insert("k3".into(), Value::Null);
        assert_eq!(object.get("k4"), Some(&Value::from(4.0)));
        assert_eq!(object.entries().last().map(|(key, _)| &**key), Some("k3"));
    }
}
