//! Exit statuses, and every failure's words.

use crate::args::{Format, Global};
use crate::output::ErrorOutput;
use crate::text::{self, Style};
use skillgate_core::LineIndex;
use skillgate_exec::RunError;
use skillgate_policy::{PatternError, Refusal, SkillRefusal};
use skillgate_runtime::{InvokeError, OpenError};
use std::process::ExitCode;

/// The exit statuses that are documented in the help text and tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Done,
    Findings,
    Usage,
    NotFound,
    Denied,
    Limit,
    Unavailable,
    Bug,
    /// A sandboxed program's own.
    Program(u8),
}

impl Status {
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::Findings => 1,
            Status::Usage => 2,
            Status::NotFound => 3,
            Status::Denied => 4,
            Status::Limit => 5,
            Status::Unavailable => 6,
            Status::Bug => 70,
            Status::Program(code) => code,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

/// What a verb failed with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{pattern}: {error}")]
    Pattern { pattern: String, error: PatternError },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Invoke(Box<InvokeError>),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{reason}")]
    Program { reason: String, source_text: String, offset: usize },
    #[error("the wasm backend: {0}")]
    Backend(#[from] skillgate_exec_wasm::BackendError),
    #[error("there is no file or directory `{0}`")]
    NoSuchPath(String),
    #[error("{doing}: {error}")]
    Io { doing: String, error: std::io::Error },
    #[error("the output cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<InvokeError> for Failure {
    fn from(error: InvokeError) -> Self {
        Failure::Invoke(Box::new(error))
    }
}

impl Failure {
    pub(crate) fn status(&self) -> Status {
        match self {
            Failure::Pattern { .. } => Status::Usage,
            Failure::Open(_) | Failure::NoSuchPath(_) => Status::NotFound,
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Unknown { .. } => Status::NotFound,
                InvokeError::Untrusted { .. }
                | InvokeError::Disabled { .. }
                | InvokeError::Skill(_)
                | InvokeError::Refused(_)
                | InvokeError::HooksUnsupported { .. } => Status::Denied,
                InvokeError::Run { error, .. } => run_status(error),
                InvokeError::Mount { .. } => Status::Unavailable,
                _ => Status::Findings,
            },
            Failure::Run(error) => run_status(error),
            Failure::Program { .. } | Failure::Io { .. } => Status::Findings,
            Failure::Backend(_) => Status::Unavailable,
            Failure::Json(_) => Status::Bug,
        }
    }

    /// A short, stable name of the failure, for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self.status() {
            Status::Usage => "usage",
            Status::NotFound => "not-found",
            Status::Denied => "denied",
            Status::Limit => "limit",
            Status::Unavailable => "unavailable",
            Status::Bug => "bug",
            Status::Done | Status::Findings | Status::Program(_) => "failed",
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Refused(refusal) => Some(refusal),
                InvokeError::Run { error: RunError::Refused(refusal), .. } => Some(refusal),
                _ => None,
            },
            Failure::Run(RunError::Refused(refusal)) => Some(refusal),
            _ => None,
        }
    }

    /// The ways out, one a line.
    fn hints(&self) -> Vec<String> {
        if let Some(refusal) = self.refusal() {
            let mut hints = vec![match &refusal.remedy {
                Some(pattern) => format!("the host can grant it: --allow '{pattern}'"),
                None => "no grant of the host changes this".to_owned(),
            }];
            if !refusal.already_ran.is_empty() {
                let ran: Vec<String> = refusal.already_ran.iter().map(|vector| vector.join(" ")).collect();
                hints.push(format!("before that had run: {}", ran.join("; ")));
            }
            return hints;
        }
        match self {
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Unknown { nearest, .. } if nearest.is_empty() => {
                    vec!["`skillgate list` shows the skills there are".to_owned()]
                }
                InvokeError::Unknown { nearest, .. } => {
                    let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
                    vec![format!("near: {}", names.join(", "))]
                }
                InvokeError::Untrusted { project, .. } => vec![format!(
                    "look at the skills of `{}` first; then `--trust` trusts the project for this run",
                    project.display()
                )],
                InvokeError::Skill(SkillRefusal::Unanswered { suggestions, .. }) => {
                    suggestions.iter().map(|rule| format!("the host can allow it: --allow '{rule}'")).collect()
                }
                InvokeError::Failed(failed) if !failed.output.is_empty() => {
                    vec![format!("it printed:\n{}", failed.output)]
                }
                InvokeError::Broken { findings, .. } => findings.clone(),
                InvokeError::Unreadable(failure) => failure.diagnostic.help.iter().cloned().collect(),
                _ => Vec::new(),
            },
            Failure::Open(_) => vec!["name a directory that exists".to_owned()],
            _ => Vec::new(),
        }
    }

    fn rule(&self) -> Option<String> {
        match self {
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Skill(SkillRefusal::Denied { rule, .. }) => return Some(rule.to_string()),
                _ => self.refusal(),
            },
            _ => self.refusal(),
        }
        .map(|refusal| refusal.reason.rule())
    }

    /// Says what failed on standard error, as text or as JSON.
    pub(crate) fn report(&self, global: &Global) {
        if global.format == Format::Json {
            let output = ErrorOutput {
                code: self.code().to_owned(),
                message: self.to_string(),
                rule: self.rule(),
                help: self.hints(),
            };
            text::complain_json(&output);
            return;
        }
        let style = Style::of(global);
        text::complain(&format!("{} {}", style.error("error:"), text::safe(&self.to_string())));
        if let Some((source, offset)) = self.place() {
            text::complain(&excerpt(source, offset));
        }
        for hint in self.hints() {
            text::complain(&format!("{} {}", style.help("help:"), text::safe(&hint)));
        }
    }

    /// A program's text and the place in it that is meant.
    fn place(&self) -> Option<(&str, usize)> {
        match self {
            Failure::Program { source_text, offset, .. } => Some((source_text, *offset)),
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Program { error, source_text, .. } => Some((source_text, error.span.start)),
                _ => None,
            },
            _ => None,
        }
    }
}

fn run_status(error: &RunError) -> Status {
    match error {
        RunError::Refused(_) => Status::Denied,
        RunError::Stopped { .. } | RunError::Fault { .. } => Status::Limit,
        RunError::Unavailable { .. } => Status::Unavailable,
        _ => Status::Findings,
    }
}

/// The line of a text that holds an offset, with a mark under it.
pub(crate) fn excerpt(source: &str, offset: usize) -> String {
    let position = LineIndex::new(source).position(offset);
    let line = source.lines().nth(position.line - 1).unwrap_or_default();
    let shown: String = line.chars().skip(position.column.saturating_sub(60)).take(100).collect();
    let mark = " ".repeat(position.column.saturating_sub(1).min(59));
    format!(
        "  {} | {}\n  {} | {mark}^",
        position.line,
        text::shown(&shown),
        " ".repeat(position.line.to_string().len())
    )
}
