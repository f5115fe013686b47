use serde::Serialize;
use skillgate_core::Digest;
use skillgate_runtime::HeldSkill;

/// What a remote skill is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteKind {
    /// A `SKILL.md`.
    Skill,
    /// A prompt. The text of one with arguments is made by its server when it is called.
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

/// An argument of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteArgument {
    /// Its name.
    pub name: String,
    /// Whether it has to be given.
    pub required: bool,
    /// What it is for, as the server says.
    pub description: Option<String>,
}

impl RemoteArgument {
    /// How a call's arguments are written.
    pub(crate) fn form(arguments: &[Self]) -> String {
        let hint = Self::hint(arguments);
        format!("write them as `{hint}`, each one word, with quotes where it has blanks, or by name: `NAME=value`")
    }

    /// The arguments in their order: `<needed> [other]`.
    pub(crate) fn hint(arguments: &[Self]) -> String {
        let written = |argument: &Self| {
            if argument.required { format!("<{}>", argument.name) } else { format!("[{}]", argument.name) }
        };
        arguments.iter().map(written).collect::<Vec<_>>().join(" ")
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
    /// The arguments of a prompt. One that has any is asked for its text with each call.
    pub arguments: Vec<RemoteArgument>,
    /// The whole text, as of a `SKILL.md`; of a prompt with arguments, what is known of it before a call.
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
