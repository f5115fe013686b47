use super::DiagnosticOutput;
use schemars::JsonSchema;
use serde::Serialize;
use skillgate_core::Span;
use skillgate_exec::{CommandRecord, PlannedCommand};
use skillgate_runtime::{AuthorityReport, InjectionReport, Message, Role};

/// What `run` did, or with `--dry-run` would do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunOutput {
    /// The skill, as `source:name`.
    pub(crate) skill: String,
    /// `inline` or `fork`.
    pub(crate) mode: String,
    /// Whether this is a plan: nothing ran.
    pub(crate) dry_run: bool,
    /// The decision on the skill itself.
    pub(crate) decision: String,
    /// The messages for the model; none in a plan.
    pub(crate) messages: Vec<MessageOutput>,
    /// The authority it runs under.
    pub(crate) authority: AuthorityOutput,
    /// The model the skill asks for.
    pub(crate) model: Option<String>,
    /// The effort the skill asks for.
    pub(crate) effort: Option<String>,
    /// The hooks that were registered.
    pub(crate) hooks: Vec<String>,
    /// The injections in order.
    pub(crate) injections: Vec<InjectionOutput>,
    /// Findings on the way.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}

/// One message for the model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MessageOutput {
    /// `user`.
    pub(crate) role: String,
    /// Whether the runtime put it in.
    pub(crate) is_meta: bool,
    /// The text.
    pub(crate) content: String,
}

/// Whose rules hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuthorityOutput {
    /// The host's rules.
    pub(crate) host: Vec<String>,
    /// What skills took away.
    pub(crate) caveats: Vec<CaveatOutput>,
    /// The host's patterns that survive.
    pub(crate) effective: Vec<EffectiveOutput>,
}

/// One skill's caveat.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CaveatOutput {
    /// The skill.
    pub(crate) skill: String,
    /// SHA-256 of the text it was read from.
    pub(crate) digest: String,
    /// Its patterns.
    pub(crate) patterns: Vec<String>,
}

/// One pattern of the host that still permits something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EffectiveOutput {
    /// The pattern.
    pub(crate) pattern: String,
    /// The patterns that narrow it, one list per caveat.
    pub(crate) narrowed_by: Vec<Vec<String>>,
}

/// One injection.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InjectionOutput {
    /// The program as the author wrote it.
    pub(crate) source: String,
    /// Its commands.
    pub(crate) commands: Vec<CommandOutput>,
    /// Why it cannot be run.
    pub(crate) error: Option<String>,
    /// The program's status; absent in a plan.
    pub(crate) exit_code: Option<u8>,
    /// Bytes it printed, before anything was cut.
    pub(crate) stdout_bytes: Option<u64>,
    /// Whether something was cut.
    pub(crate) truncated: bool,
    /// Wall time, microseconds.
    pub(crate) duration_us: Option<u64>,
}

/// One command with its decision.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommandOutput {
    /// The argument vector; unknown words of a plan are `{"unknown": span}`.
    pub(crate) argv: Vec<WordOutput>,
    /// `allow`, `ask` or `deny`; `missing` for a command that nobody offers, which ends with status 127.
    pub(crate) decision: String,
    /// The rule that decided.
    pub(crate) rule: String,
    /// The backend that runs it: `wasm`, `shell` for built-ins, `none` for a command nobody offers.
    pub(crate) backend: Option<String>,
    /// What would allow it.
    pub(crate) help: Option<String>,
    /// Its status.
    pub(crate) status: Option<u8>,
    /// Wall time, microseconds.
    pub(crate) duration_us: Option<u64>,
}

/// A word of a vector.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WordOutput {
    /// The word.
    Known(String),
    /// It is known only when the program runs.
    Unknown {
        /// Where it stands in the injection's source.
        unknown: SpanOutput,
    },
}

/// Bytes of a text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SpanOutput {
    /// First byte.
    pub(crate) start: usize,
    /// After the last byte.
    pub(crate) end: usize,
}

impl From<Span> for SpanOutput {
    fn from(span: Span) -> Self {
        Self { start: span.start, end: span.end }
    }
}

impl AuthorityOutput {
    pub(crate) fn of(report: &AuthorityReport) -> Self {
        Self {
            host: report.host.clone(),
            caveats: report
                .caveats
                .iter()
                .map(|caveat| CaveatOutput {
                    skill: caveat.skill.to_string(),
                    digest: caveat.digest.to_string(),
                    patterns: caveat.patterns.clone(),
                })
                .collect(),
            effective: report
                .effective
                .iter()
                .map(|entry| EffectiveOutput { pattern: entry.pattern.clone(), narrowed_by: entry.narrowed_by.clone() })
                .collect(),
        }
    }
}

impl MessageOutput {
    pub(crate) fn of(message: &Message) -> Self {
        let role = match message.role {
            Role::User => "user",
        };
        Self { role: role.to_owned(), is_meta: message.is_meta, content: message.content.clone() }
    }
}

impl InjectionOutput {
    /// One that ran.
    pub(crate) fn ran(report: &InjectionReport) -> Self {
        Self {
            source: report.source.clone(),
            commands: report.commands.iter().map(CommandOutput::ran).collect(),
            error: None,
            exit_code: Some(report.exit_code),
            stdout_bytes: Some(report.stdout_bytes),
            truncated: report.truncated,
            duration_us: Some(report.duration_us),
        }
    }
}

impl CommandOutput {
    pub(crate) fn planned(command: &PlannedCommand) -> Self {
        let word = |word: &Result<String, Span>| match word {
            Ok(text) => WordOutput::Known(text.clone()),
            Err(span) => WordOutput::Unknown { unknown: (*span).into() },
        };
        let (decision, rule, help) = match &command.verdict {
            Ok(verdict) => ("allow".to_owned(), verdict.rule.clone(), None),
            Err(refusal) => (refusal.reason.effect().to_string(), refusal.reason.rule(), refusal.remedy.clone()),
        };
        let missing = command.backend == Some("none");
        let decision = if missing { "missing".to_owned() } else { decision };
        Self {
            argv: command.words.iter().map(word).collect(),
            decision,
            rule,
            backend: command.backend.map(str::to_owned),
            help,
            status: None,
            duration_us: None,
        }
    }

    pub(crate) fn ran(record: &CommandRecord) -> Self {
        Self {
            argv: record.argv.iter().cloned().map(WordOutput::Known).collect(),
            decision: "allow".to_owned(),
            rule: record.rule.clone(),
            backend: Some(record.backend.to_owned()),
            help: None,
            status: record.status,
            duration_us: Some(record.duration_us),
        }
    }
}
