use serde::Serialize;
use skillgate_core::SkillId;
use std::fmt;

/// Forks that stand in each other.
pub const MAX_CHAIN: usize = 8;

/// The skills whose forks stand in each other, the outermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct SkillChain(Vec<SkillId>);

/// A fork that would stand in itself, or too deep.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecursionError {
    /// The skill runs already, further out.
    #[error("`{skill}` is running already and would call itself ({chain})")]
    Itself {
        /// The skill.
        skill: SkillId,
        /// What it stands in.
        chain: SkillChain,
    },
    /// Each is another skill, and they are too many.
    #[error("skills run in each other more than {MAX_CHAIN} deep ({chain})")]
    TooDeep {
        /// What it stands in.
        chain: SkillChain,
    },
}

impl RecursionError {
    /// What a person can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            RecursionError::Itself { .. } => {
                "the agent has the skill's text already: let it go on, or take the skill's own name out of its text"
            }
            RecursionError::TooDeep { .. } => "let one of the skills run in the conversation: `context: inline`",
        }
    }
}

impl SkillChain {
    /// The chain of what runs in no fork.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The chain of a fork of this skill.
    ///
    /// # Errors
    /// A [`RecursionError`] when the skill stands in the chain, or the chain is as long as it may be.
    pub fn enter(&self, skill: &SkillId) -> Result<Self, RecursionError> {
        if self.0.contains(skill) {
            return Err(RecursionError::Itself { skill: skill.clone(), chain: self.clone() });
        }
        if self.0.len() >= MAX_CHAIN {
            return Err(RecursionError::TooDeep { chain: self.clone() });
        }
        let mut chain = self.clone();
        chain.0.push(skill.clone());
        Ok(chain)
    }

    /// The skills, the outermost first.
    #[must_use]
    pub fn skills(&self) -> &[SkillId] {
        &self.0
    }

    /// Whether a skill stands in it.
    #[must_use]
    pub fn holds(&self, skill: &SkillId) -> bool {
        self.0.contains(skill)
    }
}

impl fmt::Display for SkillChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, skill) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" > ")?;
            }
            write!(f, "{skill}")?;
        }
        Ok(())
    }
}
