use serde::Serialize;

/// Whether the call that begins an agent waits for its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "kebab-case")]
pub enum ForkMode {
    /// The call is answered at once, and the result comes later.
    Background,
    /// The call is answered with the result.
    Wait {
        /// Why, where the skill would have it otherwise; nothing is changed without being said.
        because: WaitReason,
    },
}

/// Why a call waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WaitReason {
    /// The skill says `background: false`.
    Skill,
    /// The host cannot deliver a result later.
    HostCannotDeliver,
    /// The same skill is still running in the background.
    SameSkillRuns,
}

impl WaitReason {
    /// The reason in words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            WaitReason::Skill => "the skill says `background: false`",
            WaitReason::HostCannotDeliver => "the host cannot deliver a result later",
            WaitReason::SameSkillRuns => "the same skill is still running in the background",
        }
    }
}

/// How an agent is run: in the background unless the skill says no, the host cannot deliver later, or the same skill runs.
#[must_use]
pub fn fork_mode(background: Option<bool>, delivers_later: bool, same_skill_runs: bool) -> ForkMode {
    let wait = |because| ForkMode::Wait { because };
    match (background, delivers_later, same_skill_runs) {
        (Some(false), _, _) => wait(WaitReason::Skill),
        (_, false, _) => wait(WaitReason::HostCannotDeliver),
        (_, true, true) => wait(WaitReason::SameSkillRuns),
        (_, true, false) => ForkMode::Background,
    }
}
