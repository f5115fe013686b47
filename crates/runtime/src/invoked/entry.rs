use super::AgentId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillgate_core::{Digest, SkillId};
use skillgate_policy::Caveat;

/// How much of a skill's text the conversation holds. Only a compaction takes any away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// All of it.
    #[default]
    Whole,
    /// Its beginning.
    Cut,
    /// None of it; it was named.
    Omitted,
}

/// The latest invocation of one skill by one agent.
#[derive(Clone, PartialEq, Debug)]
pub struct InvokedSkill {
    /// Who invoked it.
    pub agent: AgentId,
    /// The skill.
    pub skill: SkillId,
    /// Its file, for people and models.
    pub path: String,
    /// The text as it entered the conversation: arguments filled in, injections run.
    pub text: String,
    /// Digest of the content that was decided on.
    pub digest: Digest,
    /// When, in milliseconds since 1970 by the host's clock.
    pub at_ms: u64,
    /// What the skill takes away while it is active.
    pub caveats: Vec<Caveat>,
    /// The arguments as they were given.
    pub arguments: Option<String>,
    pub(crate) sequence: u64,
    pub(crate) presence: Presence,
    /// Keys of a saved form that this version does not know.
    pub(crate) carried: Map<String, Value>,
}

impl InvokedSkill {
    /// An invocation of the main agent that takes nothing away and had no arguments.
    #[must_use]
    pub fn new(skill: SkillId, path: impl Into<String>, text: impl Into<String>, digest: Digest, at_ms: u64) -> Self {
        Self {
            agent: AgentId::MAIN,
            skill,
            path: path.into(),
            text: text.into(),
            digest,
            at_ms,
            caveats: Vec::new(),
            arguments: None,
            sequence: 0,
            presence: Presence::Whole,
            carried: Map::new(),
        }
    }

    /// The same by another agent.
    #[must_use]
    pub fn by(mut self, agent: AgentId) -> Self {
        self.agent = agent;
        self
    }

    /// The same with what the skill takes away.
    #[must_use]
    pub fn with_caveats(mut self, caveats: impl IntoIterator<Item = Caveat>) -> Self {
        self.caveats = caveats.into_iter().collect();
        self
    }

    /// The same with arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Option<String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Its place among all invocations of the conversation; later ones are larger.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How much of the text the conversation holds.
    #[must_use]
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Whether the conversation holds what this new invocation would add.
    pub(super) fn stands_as(&self, new: &Self) -> bool {
        self.presence == Presence::Whole && self.digest == new.digest && self.text == new.text
    }

    pub(super) fn unchanged_note(&self) -> String {
        format!(
            "The skill `{}` is loaded already and its text is unchanged: follow what it said earlier in this conversation.",
            self.skill.called()
        )
    }
}

/// Why a skill is not loaded any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnloadReason {
    /// Somebody asked for it.
    Asked,
    /// It was taken back while it was in use.
    Revoked,
    /// The conversation was restored, and the skill cannot be used any more.
    Refused {
        /// Why not.
        because: String,
    },
}

/// What is kept of a skill that is not loaded any more, so that a compaction still says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnloadedSkill {
    /// Whose it was.
    pub agent: AgentId,
    /// The skill.
    pub skill: SkillId,
    /// Its file.
    pub path: String,
    /// Why it is not loaded.
    pub reason: UnloadReason,
    pub(crate) sequence: u64,
}

impl UnloadedSkill {
    pub(crate) fn of(skill: &InvokedSkill, reason: UnloadReason) -> Self {
        Self {
            agent: skill.agent.clone(),
            skill: skill.skill.clone(),
            path: skill.path.clone(),
            reason,
            sequence: skill.sequence,
        }
    }

    /// What the model is told, in one line.
    #[must_use]
    pub fn mark(&self) -> String {
        let name = self.skill.called();
        match &self.reason {
            UnloadReason::Asked => {
                format!("[The skill `{name}` was unloaded; its instructions do not apply any more.]")
            }
            UnloadReason::Revoked => {
                format!("[The skill `{name}` was revoked; its instructions must not be followed any more.]")
            }
            UnloadReason::Refused { because } => format!(
                "[The skill `{name}` cannot be used any more ({}); its instructions do not apply.]",
                because.split_whitespace().collect::<Vec<_>>().join(" ")
            ),
        }
    }
}
