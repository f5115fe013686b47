use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A relative path that stays below its root: `/`-separated, no empty, `.` or `..` component, no NUL or backslash.
///
/// Whether it names a link is for whoever opens it to check.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelPath(String);

/// Why a text is not a [`RelPath`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelPathError {
    /// The path begins at a root.
    #[error("`{0}` is absolute; a path below the directory is needed")]
    Absolute(String),
    /// A component is empty, `.` or `..`.
    #[error("`{0}` holds an empty, `.` or `..` component")]
    Component(String),
    /// A character that no portable path holds.
    #[error("the path holds {0:?}")]
    Forbidden(char),
}

impl RelPath {
    /// Checks `path` and takes it.
    ///
    /// # Errors
    /// A [`RelPathError`] that says which rule the path breaks.
    pub fn new(path: impl Into<String>) -> Result<Self, RelPathError> {
        let path = path.into();
        if let Some(c) = path.chars().find(|c| matches!(c, '\0' | '\\')) {
            return Err(RelPathError::Forbidden(c));
        }
        if path.starts_with('/') {
            return Err(RelPathError::Absolute(path));
        }
        if path.split('/').any(|component| matches!(component, "" | "." | "..")) {
            return Err(RelPathError::Component(path));
        }
        Ok(Self(path))
    }

    /// The path's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The components in order.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RelPath::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_below_are_taken() {
        for path in ["", "/", "/a", "..", "a/../b", "a//b", "a/", "./a", "a/.", "a\\b", "a\0b"] {
            assert!(RelPath::new(path).is_err(), "{path:?}");
        }
        for path in ["a", "a/b", "...", "a..b/.c", "ü/x y"] {
            assert_eq!(RelPath::new(path).expect("stays below").as_str(), path);
        }
    }
}
