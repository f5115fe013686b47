use super::{Activation, SAVE_VERSION, SaveError, SavedConversation, SpentHook};
use crate::invoked::{AgentId, InvokedSkill, Presence, Slot, UnloadReason};
use crate::scope::{ActiveSkill, ActiveSkills};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillgate_core::{CommandName, Digest, Effort, SkillId, Source};
use skillgate_policy::{Authority, Caveat, History, Host};
use std::collections::{BTreeMap, BTreeSet};

/// What `format` says.
const FORMAT: &str = "skillgate-conversation";

/// Skills, agents, names and hooks of one conversation; more are none.
const MAX_ITEMS: usize = 10_000;

/// What a save can say that a reader has to know, and this one does. The first version needs nothing beyond itself.
const UNDERSTOOD: &[&str] = &[];

/// A save as it is written. Keys that are not known are kept and written again; those of `scopes` are errors, because a key
/// there might take something away.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Form {
    format: String,
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    must_understand: Vec<String>,
    #[serde(default)]
    pub(super) saved_by: String,
    #[serde(default)]
    pub(super) saved_at_ms: u64,
    #[serde(default)]
    pub(super) session_id: Option<String>,
    #[serde(default)]
    pub(super) invoked: Vec<InvokedForm>,
    #[serde(default)]
    pub(super) scopes: Vec<ScopeForm>,
    #[serde(default)]
    pub(super) activation: ActivationForm,
    #[serde(default)]
    pub(super) usage: BTreeMap<String, u64>,
    #[serde(default)]
    pub(super) spent_hooks: BTreeSet<SpentHook>,
    #[serde(flatten)]
    pub(super) carried: Map<String, Value>,
}

/// A skill that was invoked; without a text it was unloaded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct InvokedForm {
    pub(super) agent: AgentId,
    pub(super) source: Source,
    pub(super) command: CommandName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) apart: Option<Box<str>>,
    pub(super) path: String,
    pub(super) sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unloaded: Option<UnloadReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) loaded: Option<LoadedForm>,
    #[serde(flatten)]
    pub(super) carried: Map<String, Value>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct LoadedForm {
    pub(super) text: String,
    pub(super) digest: Digest,
    pub(super) at_ms: u64,
    #[serde(default)]
    pub(super) arguments: Option<String>,
    #[serde(default)]
    pub(super) presence: Presence,
    pub(super) history: History,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScopeForm {
    pub(super) agent: AgentId,
    pub(super) inherited: Vec<ActiveForm>,
    pub(super) own: Vec<ActiveForm>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActiveForm {
    pub(super) source: Source,
    pub(super) command: CommandName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) apart: Option<Box<str>>,
    pub(super) digest: Digest,
    pub(super) model: Option<String>,
    pub(super) effort: Option<EffortForm>,
    pub(super) history: History,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EffortForm {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
    Number(u64),
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ActivationForm {
    #[serde(default)]
    skills: BTreeSet<String>,
    #[serde(default)]
    directories: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    touched: Vec<String>,
    #[serde(flatten)]
    pub(super) carried: Map<String, Value>,
}

/// Whether the members are those of a save that this version reads. Before anything else is looked at, because a save of a later
/// version may have any other form.
pub(super) fn check_version(members: &Map<String, Value>) -> Result<(), SaveError> {
    if members.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(SaveError::NotASave);
    }
    match members.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(SAVE_VERSION) => {}
        Some(found) if found > u64::from(SAVE_VERSION) => return Err(SaveError::FromTheFuture { found }),
        _ => return Err(SaveError::NotASave),
    }
    let needed = members.get("must_understand").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let understood = |feature: &&Value| feature.as_str().is_some_and(|feature| UNDERSTOOD.contains(&feature));
    match needed.iter().find(|feature| !understood(feature)) {
        Some(feature) => {
            let feature = feature.as_str().map_or_else(|| feature.to_string(), str::to_owned);
            Err(SaveError::NotUnderstood { feature })
        }
        None => Ok(()),
    }
}

impl Form {
    pub(super) fn of(conversation: &SavedConversation, at_ms: u64) -> Self {
        let scope = |(agent, active): (&AgentId, &ActiveSkills)| ScopeForm {
            agent: agent.clone(),
            inherited: active.inherited().iter().map(ActiveForm::of).collect(),
            own: active.own().iter().map(ActiveForm::of).collect(),
        };
        let Activation { skills, directories, touched, carried } = conversation.activation.clone();
        Self {
            format: FORMAT.to_owned(),
            version: SAVE_VERSION,
            must_understand: Vec::new(),
            saved_by: env!("CARGO_PKG_VERSION").to_owned(),
            saved_at_ms: at_ms,
            session_id: conversation.session_id.clone(),
            invoked: conversation.invoked.slots().map(InvokedForm::of).collect(),
            scopes: conversation.scopes.agents().map(scope).collect(),
            activation: ActivationForm { skills, directories, touched, carried },
            usage: conversation.usage.clone(),
            spent_hooks: conversation.spent_hooks.clone(),
            carried: conversation.carried.clone(),
        }
    }

    /// Whether there is no more of anything than a conversation has.
    pub(super) fn check(&self) -> Result<(), SaveError> {
        let active = self.scopes.iter().map(|scope| scope.inherited.len() + scope.own.len()).sum();
        for (what, found) in [
            ("invoked skills", self.invoked.len()),
            ("agents", self.scopes.len()),
            ("skills in use", active),
            ("activated skills", self.activation.skills.len()),
            ("directories", self.activation.directories.len()),
            ("touched files", self.activation.touched.len()),
            ("counted skills", self.usage.len()),
            ("hooks", self.spent_hooks.len()),
        ] {
            if found > MAX_ITEMS {
                return Err(SaveError::TooMany { what, found, limit: MAX_ITEMS });
            }
        }
        Ok(())
    }

    /// The keys that this version does not know, by where they stand.
    pub(super) fn unknown_fields(&self) -> Vec<String> {
        let mut unknown: Vec<String> = self.carried.keys().cloned().collect();
        unknown.extend(self.activation.carried.keys().map(|key| format!("activation.{key}")));
        for (at, invoked) in self.invoked.iter().enumerate() {
            unknown.extend(invoked.carried.keys().map(|key| format!("invoked[{at}].{key}")));
        }
        unknown
    }
}

impl InvokedForm {
    fn of(slot: &Slot) -> Self {
        match slot {
            Slot::Loaded(skill) => Self {
                agent: skill.agent.clone(),
                source: skill.skill.source,
                command: skill.skill.command.clone(),
                apart: skill.skill.apart.clone(),
                path: skill.path.clone(),
                sequence: skill.sequence,
                unloaded: None,
                loaded: Some(LoadedForm::of(skill)),
                carried: skill.carried.clone(),
            },
            Slot::Unloaded(skill) => Self {
                agent: skill.agent.clone(),
                source: skill.skill.source,
                command: skill.skill.command.clone(),
                apart: skill.skill.apart.clone(),
                path: skill.path.clone(),
                sequence: skill.sequence,
                unloaded: Some(skill.reason.clone()),
                loaded: None,
                carried: Map::new(),
            },
        }
    }

    pub(super) fn id(&self) -> SkillId {
        SkillId { apart: self.apart.clone(), ..SkillId::new(self.source, self.command.clone()) }
    }
}

impl LoadedForm {
    fn of(skill: &InvokedSkill) -> Self {
        Self {
            text: skill.text.clone(),
            digest: skill.digest,
            at_ms: skill.at_ms,
            arguments: skill.arguments.clone(),
            presence: skill.presence,
            history: history_of(&skill.caveats),
        }
    }
}

impl ActiveForm {
    fn of(active: &ActiveSkill) -> Self {
        Self {
            source: active.skill.source,
            command: active.skill.command.clone(),
            apart: active.skill.apart.clone(),
            digest: active.digest,
            model: active.model.clone(),
            effort: active.effort.as_ref().map(EffortForm::of),
            history: history_of(&active.caveats),
        }
    }

    pub(super) fn id(&self) -> SkillId {
        SkillId { apart: self.apart.clone(), ..SkillId::new(self.source, self.command.clone()) }
    }
}

impl EffortForm {
    fn of(effort: &Effort) -> Self {
        match effort {
            Effort::Low => EffortForm::Low,
            Effort::Medium => EffortForm::Medium,
            Effort::High => EffortForm::High,
            Effort::Xhigh => EffortForm::Xhigh,
            Effort::Max => EffortForm::Max,
            Effort::Number(number) => EffortForm::Number(*number),
        }
    }

    pub(super) fn effort(&self) -> Effort {
        match self {
            EffortForm::Low => Effort::Low,
            EffortForm::Medium => Effort::Medium,
            EffortForm::High => Effort::High,
            EffortForm::Xhigh => Effort::Xhigh,
            EffortForm::Max => Effort::Max,
            EffortForm::Number(number) => Effort::Number(*number),
        }
    }
}

impl From<ActivationForm> for Activation {
    fn from(form: ActivationForm) -> Self {
        let ActivationForm { skills, directories, touched, carried } = form;
        Self { skills, directories, touched, carried }
    }
}

/// Caveats in the form that is saved. A history has no host, so none is written.
fn history_of(caveats: &[Caveat]) -> History {
    let nothing = Authority::of(Host::granting([]));
    History::of(&caveats.iter().cloned().fold(nothing, Authority::with))
}
