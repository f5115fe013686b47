use crate::rule::{Effect, Rule};
use skillgate_core::SkillId;
use std::fmt;

/// The policy said no: to what, which rule, and what would allow it. Never an ordinary exit status, so that a program cannot
/// hide it behind `||`.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{action}: {reason}")]
pub struct Refusal {
    /// What was refused, as a person would write it.
    pub action: String,
    /// Why.
    pub reason: RefusalReason,
    /// What the host could add to allow it; `None` when nothing a host adds would.
    pub remedy: Option<String>,
    /// The vectors that had run by then, when it was decided late.
    pub already_ran: Vec<Vec<String>>,
}

impl Refusal {
    pub(crate) fn new(action: String, reason: RefusalReason, remedy: Option<String>) -> Self {
        Self { action, reason, remedy, already_ran: Vec::new() }
    }

    /// The rule that wants an answer, when that is all that stands against the action.
    #[must_use]
    pub fn asking(&self) -> Option<&Rule> {
        match &self.reason {
            RefusalReason::Unanswered(rule) => Some(rule),
            _ => None,
        }
    }

    /// The refusal after somebody was asked and said no.
    #[must_use]
    pub fn declined(mut self) -> Self {
        if let RefusalReason::Unanswered(rule) = self.reason {
            self.reason = RefusalReason::Declined(rule);
            self.remedy = None;
        }
        self
    }
}

/// Why the gate refused.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RefusalReason {
    /// A rule of the host denies it.
    Denied(Rule),
    /// A rule of the host asks, and nobody answered.
    Unanswered(Rule),
    /// A rule of the host asks, and the answer was no.
    Declined(Rule),
    /// No rule of the host grants it.
    NotGranted,
    /// A prefix pattern matches, but the command runs other programs and needs a grant of its own.
    Carrier {
        /// What the command does, as the rest of a sentence.
        does: &'static str,
    },
    /// A skill took it away.
    Narrowed {
        /// The skill.
        skill: SkillId,
        /// What the skill's header says, as a sentence.
        says: String,
    },
    /// A word that a glob or a substitution produced begins with `-` and would be an option that nobody wrote.
    ProducedOption {
        /// The word.
        word: String,
    },
    /// A text that is made while the program runs would become a program itself.
    ProducedProgram,
    /// The command would change a path.
    Write {
        /// The path as the command named it.
        path: String,
    },
    /// A rule hides a file that the command names.
    Hidden {
        /// The path as the command named it.
        path: String,
        /// The rule.
        rule: Rule,
    },
    /// The command runs without a grant of its own, so nothing is mounted, and it named a path.
    Unmounted {
        /// The path as the command named it.
        path: String,
        /// The skill whose own list leaves the command out, when the host grants it.
        narrowed_by: Option<SkillId>,
    },
    /// The managed policy lists what can be allowed at most, and this is not in it.
    OutsideCeiling {
        /// What it lists.
        listed: Vec<String>,
    },
    /// The grant was revoked after the command was approved.
    Revoked,
}

impl RefusalReason {
    /// The rule that decided, in the form `effect pattern (place)`.
    #[must_use]
    pub fn rule(&self) -> String {
        match self {
            RefusalReason::Denied(rule) | RefusalReason::Unanswered(rule) | RefusalReason::Declined(rule) => {
                rule.to_string()
            }
            RefusalReason::Hidden { rule, .. } => rule.to_string(),
            RefusalReason::Narrowed { skill, says } => format!("{skill}: {says}"),
            RefusalReason::NotGranted | RefusalReason::Carrier { .. } => "no rule grants it".to_owned(),
            RefusalReason::ProducedOption { .. } => "a produced word is never an option".to_owned(),
            RefusalReason::ProducedProgram => "a produced text is never a program".to_owned(),
            RefusalReason::Write { .. } => "writing needs a grant".to_owned(),
            RefusalReason::Unmounted { .. } => "a command without a grant of its own sees no files".to_owned(),
            RefusalReason::OutsideCeiling { .. } => "the managed policy does not list it".to_owned(),
            RefusalReason::Revoked => "revoked".to_owned(),
        }
    }

    /// The decision this refusal comes from.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            RefusalReason::Unanswered(_) | RefusalReason::Declined(_) => Effect::Ask,
            _ => Effect::Deny,
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefusalReason::Denied(rule) => write!(f, "denied by the rule `{}` ({})", rule.pattern(), rule.place()),
            RefusalReason::Unanswered(rule) => {
                write!(f, "the rule `{rule}` wants an answer, and there is nobody to ask")
            }
            RefusalReason::Declined(rule) => write!(f, "the rule `{rule}` wants an answer, and the answer was no"),
            RefusalReason::NotGranted => f.write_str("no rule grants it"),
            RefusalReason::Carrier { does } => {
                write!(f, "a prefix pattern does not cover it, because it {does}")
            }
            RefusalReason::Narrowed { skill, says } => write!(f, "the skill {skill} narrows it away: {says}"),
            RefusalReason::ProducedProgram => f.write_str(
                "it would run a text that is made while the program runs, so that nobody wrote what it does",
            ),
            RefusalReason::ProducedOption { word } => {
                write!(f, "the word `{word}` comes from a glob or a substitution and would be an option nobody wrote")
            }
            RefusalReason::Write { path } if path.starts_with('/') => {
                write!(f, "writing `{path}` needs a grant, and it is outside the project, where none can be given")
            }
            RefusalReason::Write { path } if crate::paths::is_protected(path) => {
                write!(f, "`{path}` is never written, because other programs act on it")
            }
            RefusalReason::Write { path } => write!(f, "writing `{path}` needs a grant"),
            RefusalReason::Hidden { path, rule } => {
                write!(f, "`{path}` is hidden by the rule `{} {}` ({})", rule.effect(), rule.pattern(), rule.place())
            }
            RefusalReason::Unmounted { path, narrowed_by: None } => {
                write!(f, "it runs without a grant of its own, so it sees no files, and it named `{path}`")
            }
            RefusalReason::Unmounted { path, narrowed_by: Some(skill) } => write!(
                f,
                "the skill {skill} does not list it in its `allowed-tools`, so it sees no files, and it named `{path}`"
            ),
            RefusalReason::OutsideCeiling { listed } if listed.is_empty() => {
                f.write_str("the managed policy lets nothing be allowed")
            }
            RefusalReason::OutsideCeiling { listed } => write!(
                f,
                "the managed policy lets nothing be allowed but {}; only who manages this machine can change that",
                listed.join(", ")
            ),
            RefusalReason::Revoked => f.write_str("the grant was revoked before it ran"),
        }
    }
}

/// Why a skill cannot be invoked; the numbers are those of the Skill tool's errors.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillRefusal {
    /// Error 2: a rule denies it.
    #[error("`{name}` is denied by the rule `{rule}`")]
    Denied {
        /// The skill.
        name: String,
        /// The rule.
        rule: Rule,
    },
    /// Error 3: somebody has to agree, and nobody did.
    #[error("`{name}` needs an agreement because of {because}, and there is nobody to ask")]
    Unanswered {
        /// The skill.
        name: String,
        /// What makes it need one.
        because: String,
        /// The rule that asks, when one does.
        rule: Option<Rule>,
        /// Rules that would allow it.
        suggestions: Vec<String>,
    },
    /// Error 3: somebody was asked to agree, and said no.
    #[error("`{name}` needs an agreement because of {because}, and the answer was no")]
    Declined {
        /// The skill.
        name: String,
        /// What makes it need one.
        because: String,
    },
    /// Error 1: there is no such skill.
    #[error("there is no skill `{name}`{}", nearest_names(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that are near.
        nearest: Vec<String>,
    },
    /// Error 5: the name is a command of the host, which is no skill.
    #[error("`{name}` is a command of the host and no skill; it has to be typed")]
    WrongType {
        /// The name.
        name: String,
    },
    /// Error 2: the managed policy lists what can be allowed at most, and this is not in it.
    #[error("`{name}` is not among what the managed policy lets be allowed{}", listed_skills(.listed))]
    OutsideCeiling {
        /// The skill.
        name: String,
        /// The rules about skills that it lists.
        listed: Vec<String>,
    },
    /// Error 4: the author keeps models from invoking it.
    #[error("`{name}` is not for models to invoke; ask the user to type it")]
    NotForModels {
        /// The skill.
        name: String,
    },
    /// Error 6: the author keeps users from invoking it.
    #[error("`{name}` is not for users to invoke")]
    NotForUsers {
        /// The skill.
        name: String,
    },
    /// Error 2: a part that decides over authority cannot be read.
    #[error("`{name}` cannot be invoked: {because}")]
    Broken {
        /// The skill.
        name: String,
        /// Which part.
        because: String,
    },
}

fn nearest_names(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean `{}`?", nearest.join("` or `")) }
}

fn listed_skills(listed: &[String]) -> String {
    if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) }
}

impl SkillRefusal {
    /// The number of the Skill tool's error.
    #[must_use]
    pub fn number(&self) -> u8 {
        match self {
            SkillRefusal::Unknown { .. } => 1,
            SkillRefusal::Denied { .. } | SkillRefusal::Broken { .. } | SkillRefusal::OutsideCeiling { .. } => 2,
            SkillRefusal::Unanswered { .. } | SkillRefusal::Declined { .. } => 3,
            SkillRefusal::NotForModels { .. } => 4,
            SkillRefusal::WrongType { .. } => 5,
            SkillRefusal::NotForUsers { .. } => 6,
        }
    }

    /// Whether somebody could agree to it, or nobody can.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            SkillRefusal::Unanswered { .. } | SkillRefusal::Declined { .. } => Effect::Ask,
            _ => Effect::Deny,
        }
    }

    /// The rule that decided, with its place, or what took its part.
    #[must_use]
    pub fn rule(&self) -> String {
        match self {
            SkillRefusal::Denied { rule, .. } => rule.to_string(),
            SkillRefusal::Unanswered { because, .. }
            | SkillRefusal::Declined { because, .. }
            | SkillRefusal::Broken { because, .. } => because.clone(),
            SkillRefusal::Unknown { .. } => "no such skill".to_owned(),
            SkillRefusal::WrongType { .. } => "a command of the host".to_owned(),
            SkillRefusal::OutsideCeiling { .. } => "the managed policy does not list it".to_owned(),
            SkillRefusal::NotForModels { .. } => "disable-model-invocation".to_owned(),
            SkillRefusal::NotForUsers { .. } => "user-invocable".to_owned(),
        }
    }

    /// Rules that would allow it.
    #[must_use]
    pub fn suggestions(&self) -> &[String] {
        match self {
            SkillRefusal::Unanswered { suggestions, .. } => suggestions,
            _ => &[],
        }
    }
}
