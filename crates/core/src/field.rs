use crate::Span;
use serde::{Deserialize, Serialize};

/// A value together with where it was written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Field<T> {
    /// What was read.
    pub value: T,
    /// The bytes of the value in the file.
    pub span: Span,
}

impl<T> Field<T> {
    /// A value and its place.
    #[inline]
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A key that decides over authority. "Absent" and "could not be read" are never the same thing: what cannot be read fails
/// closed, and every reader of the value has to say what that means.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Guarded<T> {
    /// The author did not write the key (or wrote null).
    #[default]
    Absent,
    /// What the author wrote.
    Present(Field<T>),
    /// The key is there, and cannot be read or stands twice.
    Unreadable(Span),
}

impl<T> Guarded<T> {
    /// The value, when it was written and read.
    pub fn present(&self) -> Option<&T> {
        match self {
            Guarded::Present(field) => Some(&field.value),
            Guarded::Absent | Guarded::Unreadable(_) => None,
        }
    }

    /// Whether the author did not write the key.
    pub fn is_absent(&self) -> bool {
        matches!(self, Guarded::Absent)
    }

    /// Whether the key is there and could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Guarded::Unreadable(_))
    }

    /// Where the key's value stands.
    pub fn span(&self) -> Option<Span> {
        match self {
            Guarded::Absent => None,
            Guarded::Present(field) => Some(field.span),
            Guarded::Unreadable(span) => Some(*span),
        }
    }
}
