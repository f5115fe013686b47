use crate::pattern::{PatternError, ToolPattern};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// What a rule does with the actions it matches. Ordered by strictness: the strictest of several wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The action may run.
    Allow,
    /// Somebody has to agree first.
    Ask,
    /// The action may not run.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        })
    }
}

/// Where a rule stands, so that a person can find it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The built-in default policy.
    BuiltIn,
    /// An option of the command line.
    Flag {
        /// The option, with its dashes.
        flag: String,
    },
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Set by the program that embeds Skillgate.
    Host,
}

impl Place {
    /// An option of the command line.
    #[must_use]
    pub fn flag(flag: &str) -> Self {
        Place::Flag { flag: flag.to_owned() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::BuiltIn => f.write_str("built-in default"),
            Place::Flag { flag } => f.write_str(flag),
            Place::File { path, line } => write!(f, "{}:{line}", path.display()),
            Place::Host => f.write_str("host"),
        }
    }
}

/// One line of a policy: an effect, the actions it is about, and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    effect: Effect,
    pattern: ToolPattern,
    place: Place,
}

impl Rule {
    /// A rule about the actions of a pattern.
    #[must_use]
    pub fn new(effect: Effect, pattern: ToolPattern, place: Place) -> Self {
        Self { effect, pattern, place }
    }

    /// A rule from a pattern's text.
    ///
    /// # Errors
    /// [`PatternError`] when the text is not a tool pattern.
    pub fn parse(effect: Effect, pattern: &str, place: Place) -> Result<Self, PatternError> {
        Ok(Self { effect, pattern: ToolPattern::parse(pattern)?, place })
    }

    /// What the rule does.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The actions the rule is about.
    #[must_use]
    pub fn pattern(&self) -> &ToolPattern {
        &self.pattern
    }

    /// Where the rule stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.effect, self.pattern, self.place)
    }
}
