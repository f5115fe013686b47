use serde::Serialize;
use skillgate_core::Digest;
use skillgate_runtime::HeldSkill;

/// What a remote skill is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteKind {
    /// A `SKILL.md`.
    Skill,
    /// A prompt without arguments that it needs.
    Prompt,
}

impl RemoteKind {
    /// The kind as it is written in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RemoteKind::Skill => "skill",
            RemoteKind::Prompt => "prompt",
        }
    }
}

/// A skill of a server: its text, and where it is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteSkill {
    /// The name it is invoked by: `mcp__SERVER__NAME`.
    pub name: String,
    /// The resource's URI, or the prompt's name.
    pub uri: String,
    /// What it is made of.
    pub kind: RemoteKind,
    /// The whole text, as of a `SKILL.md`.
    pub text: String,
    /// Digest of the text.
    pub digest: Digest,
}

impl RemoteSkill {
    /// The skill for a catalogue. Its origin names the server and the resource wherever the skill is shown.
    pub(crate) fn held(&self, server: &str) -> HeldSkill {
        let kind = match self.kind {
            RemoteKind::Skill => "",
            RemoteKind::Prompt => "prompt ",
        };
        HeldSkill {
            name: self.name.clone(),
            text: self.text.clone().into(),
            origin: format!("mcp {server}: {kind}{}", self.uri),
        }
    }
}
