use serde::Serialize;
use skillgate_core::{Context, Diagnostic, Digest, SkillId};
use skillgate_exec::CommandRecord;
use skillgate_policy::{Authority, EffectiveEntry};

/// Who a message speaks as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user of the conversation.
    User,
}

/// What a message is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MessageKind {
    /// It says which command follows, in a `<command-name>` tag.
    Command,
    /// A skill's expanded text.
    Prompt,
}

/// One message for the model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What it is for.
    pub kind: MessageKind,
    /// Whether the message was put in by the runtime and not typed.
    pub is_meta: bool,
    /// The text.
    pub content: String,
    /// The id of the tool's call that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

/// What a skill's caveat says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CaveatReport {
    /// The skill.
    pub skill: SkillId,
    /// Digest of the content it was read from.
    pub digest: Digest,
    /// Its patterns; `not P` for one that removes.
    pub patterns: Vec<String>,
}

/// The authority an invocation ran under.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuthorityReport {
    /// The host's rules.
    pub host: Vec<String>,
    /// What skills took away.
    pub caveats: Vec<CaveatReport>,
    /// The host's patterns that survive, with the caveats that narrow each.
    pub effective: Vec<EffectiveEntry>,
}

impl AuthorityReport {
    /// The report of an authority.
    #[must_use]
    pub fn of(authority: &Authority) -> Self {
        let caveat = |caveat: &skillgate_policy::Caveat| CaveatReport {
            skill: caveat.skill.clone(),
            digest: caveat.digest,
            patterns: caveat.pattern_texts(),
        };
        Self {
            host: authority.host().all_rules().map(ToString::to_string).collect(),
            caveats: authority.caveats().iter().map(caveat).collect(),
            effective: authority.effective(),
        }
    }
}

/// One injection that ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InjectionReport {
    /// The program as the author wrote it.
    pub source: String,
    /// Every command that ran.
    pub commands: Vec<CommandRecord>,
    /// The program's status.
    pub exit_code: u8,
    /// Bytes it printed, before anything was cut.
    pub stdout_bytes: u64,
    /// Whether something was cut.
    pub truncated: bool,
    /// Wall time, microseconds.
    pub duration_us: u64,
}

/// A skill that was invoked: what goes to the model, and everything about how it came to be.
#[derive(Clone, PartialEq, Debug)]
pub struct Invocation {
    /// The skill.
    pub skill: SkillId,
    /// Inline or fork.
    pub mode: Context,
    /// The messages.
    pub messages: Vec<Message>,
    /// The authority it ran under.
    pub authority: AuthorityReport,
    /// The kind of agent that the skill asks for, which is used where it runs in one of its own.
    pub agent: Option<String>,
    /// The model the skill asks for.
    pub model: Option<String>,
    /// The effort the skill asks for.
    pub effort: Option<skillgate_core::Effort>,
    /// The injections in order.
    pub injections: Vec<InjectionReport>,
    /// Findings on the way.
    pub diagnostics: Vec<Diagnostic>,
}

impl Invocation {
    /// The text of all messages.
    #[must_use]
    pub fn text(&self) -> String {
        self.messages.iter().map(|message| message.content.as_str()).collect()
    }
}
