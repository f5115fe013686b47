//! Exit statuses, and every failure's words.

use crate::args::{Format, Global};
use crate::command::pack::PackFailure;
use crate::components::Clash;
use crate::output::ErrorOutput;
use crate::report::{Excerpt, Report};
use crate::text::{self, Style};
use crate::trust;
use skillgate_core::{LineIndex, Position, Severity, Span};
use skillgate_exec::RunError;
use skillgate_policy::file::{Level, PolicyError};
use skillgate_policy::{PatternError, Place, Refusal, RefusalReason, SkillRefusal};
use skillgate_runtime::{InvokeError, OpenError};
use skillgate_state::{FolderFault, TrustError};
use std::path::PathBuf;
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
    #[error("{}", mistakes(.path, *.level, .errors))]
    Policy { path: PathBuf, level: Level, errors: Vec<PolicyError> },
    #[error("the policy `{}` cannot be read, so nothing runs: {reason}", .path.display())]
    UnreadablePolicy { path: PathBuf, reason: String, help: Option<String> },
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
    #[error("the component `{name}` of the policy cannot be used ({}): {}", .clash.place, .clash.reason)]
    Component { name: String, clash: Box<Clash> },
    #[error("the settings `{}` cannot be read: {reason}", .path.display())]
    Settings { path: PathBuf, reason: String },
    #[error("the policy `{}` was not written: {reason}", .path.display())]
    PolicyNotWritten { path: PathBuf, reason: String },
    #[error("the queries `{}`{}: {reason}", .path.display(), .place.map(|place| format!(", line {}, column {}", place.line, place.column)).unwrap_or_default())]
    Triggers { path: PathBuf, place: Option<Position>, reason: String },
    #[error("there is no case of the suite for what was chosen")]
    NoCase,
    #[error("the browser needs a terminal for its input and its output")]
    NoTerminal,
    #[error("there is no home directory")]
    NoHome,
    #[error("`{text}` is not an action")]
    Action { text: String },
    #[error("there is no file or directory `{0}`")]
    NoSuchPath(String),
    #[error("there is no SKILL.md and no command file in `{0}`")]
    NoSkillFile(String),
    #[error("the policy has no set `{name}`")]
    NoSuchSet { name: String, known: Vec<String> },
    #[error("{doing}: {error}")]
    Io { doing: String, error: std::io::Error },
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Folder(#[from] FolderFault),
    #[error("no right can be bound to `{name}`: {fault}")]
    NoContent { name: String, fault: String },
    #[error("`{}` is not trusted", .0.display())]
    NotTrusted(PathBuf),
    #[error("what changed in `{}` is not accepted", .0.display())]
    NotAccepted(PathBuf),
    #[error("the trust in `{}` or what it covers changed meanwhile", .0.display())]
    TrustMoved(PathBuf),
    #[error("the servers `{}` cannot be read: {error}", .path.display())]
    McpConfig { path: PathBuf, error: skillgate_mcp::ConfigError },
    #[error("the servers `{}` cannot be read: {reason}", .path.display())]
    McpConfigUnreadable { path: PathBuf, reason: String },
    #[error(transparent)]
    HookEvent { error: skillgate_runtime::hook::UnknownEvent },
    #[error("the event's data `{path}` cannot be used: {reason}")]
    HookInput { path: String, reason: String },
    #[error("the configuration has no server `{name}`")]
    NoSuchServer { name: String, known: Vec<String> },
    #[error("serving over HTTP needs a token: {reason}")]
    McpToken { reason: String },
    #[error(transparent)]
    McpServe(skillgate_mcp::ServeError),
    #[error(transparent)]
    Save(#[from] skillgate_runtime::SaveError),
    #[error("a hook keeps it from being said: {reason}")]
    Held { reason: String },
    #[error("the agent's program cannot be used: {error}")]
    AgentProgram { error: skillgate_runtime::ProcessRunnerError },
    #[error(transparent)]
    Pack(Box<PackFailure>),
    #[error("the output cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<PackFailure> for Failure {
    fn from(failure: PackFailure) -> Self {
        Failure::Pack(Box::new(failure))
    }
}

impl From<InvokeError> for Failure {
    fn from(error: InvokeError) -> Self {
        Failure::Invoke(Box::new(error))
    }
}

impl Failure {
    pub(crate) fn status(&self) -> Status {
        match self {
            Failure::Pattern { .. }
            | Failure::Policy { .. }
            | Failure::UnreadablePolicy { .. }
            | Failure::Component { .. }
            | Failure::Triggers { .. }
            | Failure::McpConfig { .. }
            | Failure::McpToken { .. }
            | Failure::McpServe(skillgate_mcp::ServeError::NotLoopback(_))
            | Failure::NoTerminal => Status::Usage,
            Failure::McpServe(skillgate_mcp::ServeError::TooLarge { .. }) => Status::Limit,
            Failure::Folder(_)
            | Failure::Open(_)
            | Failure::NoSuchPath(_)
            | Failure::NoSkillFile(_)
            | Failure::McpConfigUnreadable { .. }
            | Failure::NoSuchServer { .. }
            | Failure::NoSuchSet { .. } => Status::NotFound,
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Unknown { .. } => Status::NotFound,
                InvokeError::SkillsOff { .. }
                | InvokeError::Untrusted { .. }
                | InvokeError::UntrustedPlugin { .. }
                | InvokeError::RightMissing { .. }
                | InvokeError::Disabled { .. }
                | InvokeError::LeftOut { .. }
                | InvokeError::Skill(_)
                | InvokeError::Refused(_)
                | InvokeError::Unrecorded(_)
                | InvokeError::Hooks(_)
                | InvokeError::HeldBack { .. }
                | InvokeError::Revoked { .. } => Status::Denied,
                InvokeError::ArgumentsTooLong { .. } | InvokeError::Recursion(_) | InvokeError::TooManyForks { .. } => {
                    Status::Limit
                }
                InvokeError::HostAction { .. } => Status::Usage,
                InvokeError::CallBody { error, .. } if error.form().is_some() => Status::Usage,
                InvokeError::Run { error, .. } => run_status(error),
                InvokeError::Mount { .. } => Status::Unavailable,
                _ => Status::Findings,
            },
            Failure::Run(error) => run_status(error),
            Failure::Pack(failure) => failure.status(),
            Failure::NotTrusted(_) | Failure::NotAccepted(_) | Failure::Held { .. } => Status::Denied,
            Failure::Program { .. }
            | Failure::Trust(_)
            | Failure::NoContent { .. }
            | Failure::TrustMoved(_)
            | Failure::Io { .. }
            | Failure::Settings { .. }
            | Failure::McpServe(_)
            | Failure::Save(_)
            | Failure::PolicyNotWritten { .. } => Status::Findings,
            Failure::HookEvent { .. } | Failure::HookInput { .. } => Status::Usage,
            Failure::NoHome | Failure::NoCase | Failure::Action { .. } | Failure::AgentProgram { .. } => Status::Usage,
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
            let by_own_rule = refusal.asking().is_some_and(|rule| *rule.place() != Place::BuiltIn);
            let mut hints = vec![match (&refusal.reason, &refusal.remedy) {
                (RefusalReason::Declined(_), _) => "run it again to be asked again".to_owned(),
                _ if by_own_rule => {
                    "run it at a terminal to be asked, or take the rule back: no allowing rule stands over it"
                        .to_owned()
                }
                (_, Some(pattern)) => format!("the host can grant it: --allow '{pattern}'"),
                (_, None) => "no grant of the host changes this".to_owned(),
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
                    "look at it first (`skillgate show`); then trust the project for this run with --trust, or for good: {}",
                    trust::add_command(project)
                )],
                InvokeError::UntrustedPlugin { root, .. } => {
                    vec![format!("look at it first; then: {}", trust::add_command(root))]
                }
                InvokeError::RightMissing { folder, lapsed: true, .. } => {
                    vec![format!("see what changed, and accept it: {}", trust::review_command(folder))]
                }
                InvokeError::RightMissing { name, right, folder, .. } => vec![format!(
                    "look at it first; then grant it for its present content: {} --rights {right} --skill {}",
                    trust::add_command(folder),
                    trust::shell_word(name)
                )],
                InvokeError::Skill(SkillRefusal::Unanswered { suggestions, .. }) => {
                    suggestions.iter().map(|rule| format!("the host can allow it: --allow '{rule}'")).collect()
                }
                InvokeError::Failed(failed) if !failed.output.is_empty() => {
                    vec![format!("it printed:\n{}", failed.output)]
                }
                InvokeError::Broken { findings, .. } => findings.clone(),
                InvokeError::Hooks(refusal) => refusal.help(),
                InvokeError::Recursion(error) => vec![error.help().to_owned()],
                InvokeError::TooManyForks { error, .. } => vec![error.help().to_owned()],
                InvokeError::Files { error, .. } => error.help.iter().cloned().collect(),
                InvokeError::CallBody { error, .. } => error.form().map(str::to_owned).into_iter().collect(),
                InvokeError::Unreadable(failure) => failure.diagnostic.help.iter().cloned().collect(),
                _ => Vec::new(),
            },
            Failure::Pack(failure) => failure.hints(),
            Failure::NoSuchSet { known, .. } if known.is_empty() => {
                vec!["sets are written in a policy: [skills] sets = { review = [\"review-*\"] }".to_owned()]
            }
            Failure::NoSuchSet { known, .. } => vec![format!("it has {}", known.join(", "))],
            Failure::NoSkillFile(_) => {
                vec!["name a SKILL.md, a directory with skills below it, or a `commands` directory".to_owned()]
            }
            Failure::Open(_) => vec!["name a directory that exists".to_owned()],
            Failure::Action { .. } => vec![
                "write it as a tool form: 'Bash(git push origin)', 'Read(.env)', 'Skill(review)', `mcp__server__tool`"
                    .to_owned(),
            ],
            Failure::Trust(error) => error.help().into_iter().collect(),
            Failure::NotTrusted(folder) => vec![format!("trust it: {}", trust::add_command(folder))],
            Failure::NotAccepted(folder) => vec![format!("accept it: {} --accept", trust::review_command(folder))],
            Failure::TrustMoved(folder) => vec![format!("look again: {}", trust::review_command(folder))],
            Failure::Triggers { .. } => vec![
                "the file is TOML: `within`, `min-precision`, `min-recall`, and a [[case]] with `query` and `expect` for each query"
                    .to_owned(),
            ],
            Failure::HookEvent { error } => match error.nearest.first() {
                Some(near) => vec![format!("near: `{near}`")],
                None => vec!["docs/hooks.md lists the events".to_owned()],
            },
            Failure::HookInput { .. } => vec!["name a file with the JSON object that hooks are to read".to_owned()],
            Failure::NoCase => vec!["`skillgate audit --plan` shows the cases there are".to_owned()],
            Failure::Component { clash, .. } => vec![clash.help.clone()],
            Failure::NoTerminal => vec!["elsewhere, `skillgate list` and `skillgate show NAME` print the same".to_owned()],
            Failure::McpConfig { error, .. } => vec![error.help().to_owned()],
            Failure::McpConfigUnreadable { .. } => vec!["name a file with an object `mcpServers`".to_owned()],
            Failure::NoSuchServer { known, .. } if known.is_empty() => {
                vec!["name a configuration with --mcp-config".to_owned()]
            }
            Failure::NoSuchServer { known, .. } => vec![format!("it has {}", known.join(", "))],
            Failure::McpToken { .. } => vec![
                "make one, and give it to the agent too: (umask 077; openssl rand -hex 32 > token), then --token-file token".to_owned(),
            ],
            Failure::McpServe(skillgate_mcp::ServeError::NotLoopback(_)) => {
                vec!["name an address of this machine, such as 127.0.0.1:8931".to_owned()]
            }
            Failure::McpServe(skillgate_mcp::ServeError::TooLarge { .. }) => {
                vec!["the client has to start the server again, and to say less at once".to_owned()]
            }
            Failure::NoHome => vec!["name one with --home".to_owned()],
            Failure::Save(error) => error.help().into_iter().collect(),
            Failure::Held { .. } => vec!["begin a conversation without the skill whose hook it is: name another file".to_owned()],
            Failure::AgentProgram { .. } => vec!["name it by its whole path: --agent /usr/local/bin/my-agent".to_owned()],
            Failure::UnreadablePolicy { help, .. } => help.iter().cloned().collect(),
            Failure::Policy { path, level, .. } => vec![format!(
                "mend it; `skillgate policy check --level {level} '{}'` says when it is right",
                path.display()
            )],
            _ => Vec::new(),
        }
    }

    /// The mistakes of a policy file, one a line.
    fn mistakes(&self) -> impl Iterator<Item = String> {
        let errors = match self {
            Failure::Policy { errors, .. } => errors.as_slice(),
            _ => &[],
        };
        errors.iter().map(|error| match &error.help {
            Some(help) => format!("{error} ({help})"),
            None => error.to_string(),
        })
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

    /// The failure for programs.
    pub(crate) fn output(&self) -> ErrorOutput {
        let number = match self {
            Failure::Invoke(error) => error.number(),
            _ => None,
        };
        ErrorOutput {
            code: self.code().to_owned(),
            number,
            message: self.to_string(),
            rule: self.rule(),
            help: self.mistakes().chain(self.hints()).collect(),
        }
    }

    /// Says what failed on standard error, as text or as JSON.
    pub(crate) fn report(&self, global: &Global) {
        if global.format == Format::Json {
            text::complain_json(&self.output());
            return;
        }
        let style = Style::of(global);
        if let Some((source, span)) = self.place() {
            let report = Report {
                severity: Severity::Error,
                code: None,
                message: &self.to_string(),
                excerpt: Some(Excerpt::new("program", source, &LineIndex::new(source), span)),
                help: self.hints(),
            };
            text::complain(report.draw(style).trim_end());
            return;
        }
        text::complain(&format!("{} {}", style.error("error:"), text::safe(&self.to_string())));
        if let Failure::Policy { errors, .. } = self {
            for error in errors {
                text::complain(&text::safe(&error.excerpt().to_string()));
            }
        }
        for hint in self.hints() {
            text::complain(&format!("{} {}", style.help("help:"), text::safe(&hint)));
        }
    }

    /// A program's text and the place in it that is meant.
    fn place(&self) -> Option<(&str, Span)> {
        match self {
            Failure::Program { source_text, offset, .. } => Some((source_text, Span::at(*offset))),
            Failure::Invoke(error) => match error.as_ref() {
                InvokeError::Program { error, source_text, .. } => Some((source_text, error.span)),
                _ => None,
            },
            _ => None,
        }
    }
}

fn mistakes(path: &std::path::Path, level: Level, errors: &[PolicyError]) -> String {
    let count = match errors.len() {
        1 => "a mistake".to_owned(),
        count => format!("{count} mistakes"),
    };
    format!("the {level} policy `{}` has {count}, so nothing runs", path.display())
}

fn run_status(error: &RunError) -> Status {
    match error {
        RunError::Refused(_) | RunError::Unrecorded(_) => Status::Denied,
        RunError::Stopped { .. } | RunError::Fault { .. } => Status::Limit,
        RunError::Unavailable { .. } => Status::Unavailable,
        _ => Status::Findings,
    }
}
