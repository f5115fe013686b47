use schemars::JsonSchema;
use serde::Serialize;
use skillgate_policy::file::PolicyError;
use skillgate_policy::{Place, Rule};

/// Where a setting or a rule stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlaceOutput {
    /// `built-in`, `flag`, `file` or `host`.
    pub(crate) kind: String,
    /// The option of the command line.
    pub(crate) flag: Option<String>,
    /// The file.
    pub(crate) path: Option<String>,
    /// The line, from 1.
    pub(crate) line: Option<usize>,
}

impl PlaceOutput {
    pub(crate) fn of(place: &Place) -> Self {
        let of_kind = |kind: &str| Self { kind: kind.to_owned(), flag: None, path: None, line: None };
        match place {
            Place::BuiltIn => of_kind("built-in"),
            Place::Flag { flag } => Self { flag: Some(flag.clone()), ..of_kind("flag") },
            Place::File { path, line } => {
                Self { path: Some(path.display().to_string()), line: Some(*line), ..of_kind("file") }
            }
            Place::Host => of_kind("host"),
        }
    }
}

/// A rule of a policy.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RuleOutput {
    /// `allow`, `ask` or `deny`.
    pub(crate) effect: String,
    /// The tool pattern.
    pub(crate) pattern: String,
    /// Where it stands.
    pub(crate) origin: PlaceOutput,
}

impl RuleOutput {
    pub(crate) fn of(rule: &Rule) -> Self {
        Self {
            effect: rule.effect().to_string(),
            pattern: rule.pattern().to_string(),
            origin: PlaceOutput::of(rule.place()),
        }
    }
}

/// The policy in force.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyShowOutput {
    /// The files that were looked for, from the strongest.
    pub(crate) files: Vec<PolicyFileOutput>,
    /// Every setting, in the order of the documentation.
    pub(crate) settings: Vec<SettingOutput>,
    /// The rules: the managed ones, the user's, this run's, the project's. The strictest that matches decides.
    pub(crate) rules: Vec<PolicyRuleOutput>,
    /// Whether nothing can be granted that the managed rules do not allow.
    pub(crate) closed: bool,
}

/// A place of a policy file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyFileOutput {
    /// `managed`, `user` or `project`.
    pub(crate) level: String,
    /// The file.
    pub(crate) path: String,
    /// Whether it is there.
    pub(crate) found: bool,
}

/// One setting in force.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SettingOutput {
    /// The table and the key, such as `limits.depth` or `programs.gh.path`.
    pub(crate) key: String,
    /// The value, as it is written in a policy.
    pub(crate) value: String,
    /// Where it stands.
    pub(crate) origin: PlaceOutput,
}

/// One rule in force, and what it can do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyRuleOutput {
    /// `managed`, `user`, `run` or `project`.
    pub(crate) level: String,
    /// The rule.
    #[serde(flatten)]
    pub(crate) rule: RuleOutput,
}

/// What `policy check` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyCheckOutput {
    /// The file.
    pub(crate) path: String,
    /// `managed`, `user` or `project`.
    pub(crate) level: String,
    /// Every mistake, in the order of the file.
    pub(crate) errors: Vec<MistakeOutput>,
}

/// One mistake.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MistakeOutput {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in characters, from 1.
    pub(crate) column: usize,
    /// What is wrong.
    pub(crate) message: String,
    /// What to write instead, or where.
    pub(crate) help: Option<String>,
    /// The line's text.
    pub(crate) text: String,
}

impl MistakeOutput {
    pub(crate) fn of(error: &PolicyError) -> Self {
        Self {
            line: error.position.line,
            column: error.position.column,
            message: error.message.clone(),
            help: error.help.clone(),
            text: error.line.clone(),
        }
    }
}

/// What `policy explain` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyExplainOutput {
    /// The action that was asked about.
    pub(crate) action: String,
    /// The skill it was decided for.
    pub(crate) skill: Option<String>,
    /// The strictest decision of all parts: `allow`, `ask` or `deny`.
    pub(crate) decision: String,
    /// The parts: each command of a shell program, or the action itself.
    pub(crate) parts: Vec<ExplainedOutput>,
}

/// One part of an action.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainedOutput {
    /// The action, in the form of a tool pattern.
    pub(crate) action: String,
    /// `allow`, `ask` or `deny`.
    pub(crate) decision: String,
    /// The rule that decides, when a rule does.
    pub(crate) rule: Option<RuleOutput>,
    /// Why, as a sentence.
    pub(crate) reason: String,
    /// What the host could add to allow it.
    pub(crate) remedy: Option<String>,
}

/// The rules of another tool's settings.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyImportOutput {
    /// The settings file.
    pub(crate) path: String,
    /// The rules that have an equal here, without those the user's policy has already.
    pub(crate) rules: Vec<ImportedOutput>,
    /// What has none, and what means something else.
    pub(crate) notes: Vec<ImportNoteOutput>,
    /// The rules as a policy.
    pub(crate) policy: String,
    /// Where they were written.
    pub(crate) written: Option<String>,
}

/// One rule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportedOutput {
    /// `allow`, `ask` or `deny`.
    pub(crate) effect: String,
    /// The tool pattern.
    pub(crate) pattern: String,
    /// Its line in the settings file.
    pub(crate) line: usize,
}

/// One entry that was not taken as it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportNoteOutput {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in characters, from 1.
    pub(crate) column: usize,
    /// The entry.
    pub(crate) entry: String,
    /// What is different.
    pub(crate) message: String,
}
