use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The name a skill is invoked by: the name of its directory or command file.
///
/// Never empty, `.` or `..`; holds no separator, control or invisible character and at most 255 bytes, so that it can be
/// shown, compared and typed safely. It is still never joined to a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommandName(String);

/// Why a text cannot be a command name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No character at all.
    #[error("the name is empty")]
    Empty,
    /// `.` or `..`.
    #[error("`{0}` is a directory reference, not a name")]
    DirectoryReference(String),
    /// More than 255 bytes.
    #[error("the name has {0} bytes; at most 255 are allowed")]
    TooLong(usize),
    /// A separator, control or invisible character.
    #[error("the name holds {}, which a command name cannot", describe(*.0))]
    Forbidden(char),
}

fn describe(c: char) -> String {
    if c == ' ' || c.is_ascii_graphic() { format!("`{c}`") } else { format!("U+{:04X}", u32::from(c)) }
}

impl CommandName {
    /// Checks `name` and takes it.
    ///
    /// # Errors
    /// A [`NameError`] that says which rule the name breaks.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name == "." || name == ".." {
            return Err(NameError::DirectoryReference(name));
        }
        if name.len() > 255 {
            return Err(NameError::TooLong(name.len()));
        }
        // Nearly every name is one of these; the others are looked at character by character.
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return Ok(Self(name));
        }
        let forbidden = |c: &char| matches!(c, '/' | '\\') || c.is_control() || crate::classify_invisible(*c).is_some();
        match name.chars().find(forbidden) {
            Some(c) => Err(NameError::Forbidden(c)),
            None => Ok(Self(name)),
        }
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for CommandName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CommandName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        CommandName::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_paths_or_could_deceive_are_refused() {
        for name in ["", ".", "..", "a/b", "a\\b", "a\0", "a\nb", "a\u{200b}b", "a\u{202e}b"] {
            assert!(CommandName::new(name).is_err(), "{name:?}");
        }
        assert_eq!(CommandName::new("x".repeat(256)), Err(NameError::TooLong(256)));
        for name in ["review", "Weekly Menu", "werkzeug-ü", "a.b", "...", "x:y"] {
            assert!(CommandName::new(name).is_ok(), "{name:?}");
        }
    }
}
