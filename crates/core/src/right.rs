use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// What a skill of a trusted folder can do only when it was granted for exactly its content (docs: trust).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// Its hooks run.
    Hooks,
    /// Its commands may write where the host grants writing.
    Write,
    /// Its commands may be programs of the machine, where the host grants them.
    Native,
    /// What its `allowed-tools` lists may need no answer, where the host approves in advance.
    PreApprove,
}

impl Right {
    /// Every right.
    pub const ALL: [Right; 4] = [Right::Hooks, Right::Write, Right::Native, Right::PreApprove];

    /// The right's name as it is written on the command line and in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Right::Hooks => "hooks",
            Right::Write => "write",
            Right::Native => "native",
            Right::PreApprove => "pre-approve",
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no right: there are hooks, write, native and pre-approve")]
pub struct ParseRightError(String);

impl FromStr for Right {
    type Err = ParseRightError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|right| right.as_str() == text).ok_or_else(|| ParseRightError(text.to_owned()))
    }
}

/// A set of rights.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rights(BTreeSet<Right>);

impl Rights {
    /// No right at all.
    pub const NONE: Rights = Rights(BTreeSet::new());

    /// Whether the right is among them.
    #[must_use]
    pub fn contains(&self, right: Right) -> bool {
        self.0.contains(&right)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rights in their order.
    pub fn iter(&self) -> impl Iterator<Item = Right> + '_ {
        self.0.iter().copied()
    }

    /// Adds the rights of another set.
    pub fn extend(&mut self, other: &Rights) {
        self.0.extend(other.iter());
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        Self(rights.into_iter().collect())
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, right) in self.iter().enumerate() {
            write!(f, "{}{right}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rights_name_leads_back_to_it_and_no_other_text_does() {
        for right in Right::ALL {
            assert_eq!(right.as_str().parse(), Ok(right));
        }
        for text in ["", "Hooks", "write ", "all"] {
            assert!(text.parse::<Right>().is_err(), "{text:?}");
        }
    }
}
