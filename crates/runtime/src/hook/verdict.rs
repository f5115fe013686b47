use super::event::HookEvent;
use super::set::HookKey;
use serde::Serialize;
use serde_json::Value;
use skillgate_core::{Diagnostic, SkillId};

/// What hooks make of an event. There is no *allow*: what they do not take away is decided by the host's rules and by nothing
/// else.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[must_use]
pub enum HookVerdict {
    /// No opinion.
    #[default]
    Pass,
    /// What would be allowed has to be asked about; the reasons, one for each hook that wants it.
    Ask(Vec<String>),
    /// It must not happen, or on an event that can only be held: the agent goes on; why.
    Deny(String),
}

impl HookVerdict {
    /// The strictest of both; of two refusals the first.
    pub fn meet(self, other: HookVerdict) -> HookVerdict {
        match (self, other) {
            (HookVerdict::Deny(reason), _) | (_, HookVerdict::Deny(reason)) => HookVerdict::Deny(reason),
            (HookVerdict::Ask(mut reasons), HookVerdict::Ask(more)) => {
                for reason in more {
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
                HookVerdict::Ask(reasons)
            }
            (HookVerdict::Ask(reasons), HookVerdict::Pass) | (HookVerdict::Pass, HookVerdict::Ask(reasons)) => {
                HookVerdict::Ask(reasons)
            }
            (HookVerdict::Pass, HookVerdict::Pass) => HookVerdict::Pass,
        }
    }

    /// `pass`, `ask` or `deny`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            HookVerdict::Pass => "pass",
            HookVerdict::Ask(_) => "ask",
            HookVerdict::Deny(_) => "deny",
        }
    }

    /// Whether it denies.
    #[must_use]
    pub const fn is_denied(&self) -> bool {
        matches!(self, HookVerdict::Deny(_))
    }
}

/// A text of a skill's hook.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HookText {
    /// The skill.
    pub skill: SkillId,
    /// The text, sanitised and cut.
    pub text: String,
}

/// What all hooks of one event came to.
#[derive(Clone, PartialEq, Debug, Default)]
#[must_use]
pub struct HookOutcome {
    /// The strictest verdict.
    pub verdict: HookVerdict,
    /// The tool's input that takes the place of the one that was given. Every hook has seen it or made it; the host's rules and
    /// the skills' caveats have not.
    pub rewritten_input: Option<Value>,
    /// What takes the place of the tool's output.
    pub rewritten_output: Option<Value>,
    /// Texts for the model.
    pub context: Vec<HookText>,
    /// Texts for the user.
    pub messages: Vec<HookText>,
    /// That everything is to end after this, and why.
    pub stop: Option<HookText>,
    /// One for each handler that was called.
    pub reports: Vec<HookReport>,
}

/// What became of one call of a handler.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HookReport {
    /// Whose handler of what.
    #[serde(flatten)]
    pub key: HookKey,
    /// The event it was called for.
    pub called_for: HookEvent,
    /// What was run, as a person would write it.
    pub handler: String,
    /// How it went.
    pub outcome: HandlerOutcome,
    /// The reason or the failure, for people.
    pub detail: Option<String>,
    /// Wall time, microseconds.
    pub duration_us: u64,
    /// Findings about its output.
    pub diagnostics: Vec<Diagnostic>,
}

/// How one call of a handler went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandlerOutcome {
    /// It ended with success and without an opinion.
    Passed,
    /// It wants somebody to be asked.
    Asked,
    /// It denies, or holds.
    Denied,
    /// It failed, and that denies.
    FailedAndDenied,
    /// It failed, and that changes nothing.
    Failed,
}

impl HandlerOutcome {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HandlerOutcome::Passed => "passed",
            HandlerOutcome::Asked => "asked",
            HandlerOutcome::Denied => "denied",
            HandlerOutcome::FailedAndDenied => "failed-and-denied",
            HandlerOutcome::Failed => "failed",
        }
    }

    /// Whether the handler did what it was meant to do.
    #[must_use]
    pub const fn is_success(self) -> bool {
        !matches!(self, HandlerOutcome::Failed | HandlerOutcome::FailedAndDenied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_verdict_holds_in_whatever_order() {
        let deny = || HookVerdict::Deny("no".to_owned());
        let ask = |text: &str| HookVerdict::Ask(vec![text.to_owned()]);
        for (a, b, meet) in [
            (HookVerdict::Pass, HookVerdict::Pass, "pass"),
            (HookVerdict::Pass, ask("x"), "ask"),
            (ask("x"), deny(), "deny"),
            (HookVerdict::Pass, deny(), "deny"),
        ] {
            assert_eq!(a.clone().meet(b.clone()).name(), meet);
            assert_eq!(b.meet(a).name(), meet);
        }
        let both = HookVerdict::Ask(vec!["x".to_owned(), "y".to_owned()]);
        assert_eq!(ask("x").meet(ask("y")).meet(ask("x")), both);
    }
}
