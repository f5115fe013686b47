use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The name that means the main agent, and that no other one can have.
const MAIN: &str = "main";

/// Bytes of an agent's name.
const MAX_BYTES: usize = 255;

/// Names one agent of a conversation: the main one, written `main`, or one that the host or a fork began.
///
/// What one agent invoked is never seen by another, so the name is part of every key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AgentId(Option<String>);

/// Why a text cannot name an agent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentIdError {
    /// No character at all.
    #[error("the agent's name is empty; leave it out to mean the main agent")]
    Empty,
    /// Longer than a name is.
    #[error("the agent's name has {0} bytes; at most {MAX_BYTES} are allowed")]
    TooLong(usize),
    /// A character that would break a line or hide in one.
    #[error("the agent's name holds U+{:04X}, which a name cannot", u32::from(*.0))]
    Forbidden(char),
}

impl AgentId {
    /// The agent that the user talks to.
    pub const MAIN: Self = Self(None);

    /// The agent of this name; `main` is the main one.
    ///
    /// # Errors
    /// An [`AgentIdError`] that says which rule the name breaks.
    pub fn new(name: impl Into<String>) -> Result<Self, AgentIdError> {
        let name = name.into();
        if name.is_empty() {
            return Err(AgentIdError::Empty);
        }
        if name.len() > MAX_BYTES {
            return Err(AgentIdError::TooLong(name.len()));
        }
        let forbidden = |c: &char| c.is_control() || skillgate_core::classify_invisible(*c).is_some();
        match name.chars().find(forbidden) {
            Some(c) => Err(AgentIdError::Forbidden(c)),
            None if name == MAIN => Ok(Self::MAIN),
            None => Ok(Self(Some(name))),
        }
    }

    /// Whether it is the agent that the user talks to.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0.is_none()
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or(MAIN)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AgentId::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_agent_has_one_name_and_no_name_hides_in_a_line() {
        assert_eq!(AgentId::new("main"), Ok(AgentId::MAIN));
        assert_eq!(AgentId::default(), AgentId::MAIN);
        assert!(!AgentId::new("agent-1").expect("a name").is_main());
        for (name, error) in [
            ("", AgentIdError::Empty),
            ("a\nb", AgentIdError::Forbidden('\n')),
            ("a\u{202e}b", AgentIdError::Forbidden('\u{202e}')),
            (&"x".repeat(256), AgentIdError::TooLong(256)),
        ] {
            assert_eq!(AgentId::new(name), Err(error), "{name:?}");
        }
    }
}
