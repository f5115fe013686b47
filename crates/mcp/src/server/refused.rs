//! What a client is told when a skill is not invoked: the rule, and what would allow it.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};
use serde_json::{Value, json};
use skillgate_policy::{RefusalReason, SkillRefusal};
use skillgate_runtime::InvokeError;

const BUSY: &str = "busy";

/// Why a call gives no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused {
    /// A short, stable name.
    code: &'static str,
    /// The number of the Skill tool's error, for what has one.
    number: Option<u8>,
    message: String,
    /// The rule that refused.
    rule: Option<String>,
    /// The ways out.
    help: Vec<String>,
}

impl Refused {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, number: None, message: message.into(), rule: None, help: Vec::new() }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub(super) fn of(error: &InvokeError) -> Self {
        let mut refused = Self::new(error.code(), error.to_string());
        refused.number = error.number();
        match error {
            InvokeError::Unknown { nearest, .. } => {
                refused.help = if nearest.is_empty() {
                    vec!["the tool DiscoverSkills finds the names that there are".to_owned()]
                } else {
                    nearest.iter().map(|name| format!("near: `{name}`")).collect()
                };
            }
            InvokeError::Skill(refusal) => {
                refused.rule = Some(refusal.rule());
                refused.help = match refusal {
                    SkillRefusal::Unanswered { .. } => {
                        refusal.suggestions().iter().map(|rule| allowing(rule)).collect()
                    }
                    _ => Vec::new(),
                };
            }
            InvokeError::Refused(refusal) | InvokeError::RightMissing { refusal, .. } => {
                refused.rule = Some(refusal.reason.rule());
                refused.help = match (&refusal.reason, &refusal.remedy) {
                    (RefusalReason::Declined(_), _) => vec!["somebody was asked and said no".to_owned()],
                    (_, Some(pattern)) => vec![allowing(pattern)],
                    (_, None) => vec!["no grant of the host changes this".to_owned()],
                };
                if !refusal.already_ran.is_empty() {
                    let ran: Vec<String> = refusal.already_ran.iter().map(|vector| vector.join(" ")).collect();
                    refused.help.push(format!("before that had run: {}", ran.join("; ")));
                }
            }
            InvokeError::Untrusted { project, .. } => {
                refused.help =
                    vec![format!("the user can trust the project: skillgate trust add '{}'", project.display())];
            }
            InvokeError::UntrustedPlugin { root, .. } => {
                refused.help = vec![format!("the user can trust the plugin: skillgate trust add '{}'", root.display())];
            }
            InvokeError::Disabled { pattern, .. } => refused.rule = Some(format!("skills.disable `{pattern}`")),
            InvokeError::LeftOut { .. } => refused.rule = Some("skills.only".to_owned()),
            InvokeError::CallBody { error, .. } => refused.help.extend(error.form().map(str::to_owned)),
            InvokeError::Broken { findings, .. } => refused.help.clone_from(findings),
            InvokeError::Failed(failed) if !failed.output.is_empty() => {
                refused.help = vec![format!("it printed:\n{}", failed.output)];
            }
            _ => {}
        }
        refused
    }

    /// As many requests of the client are open as may be.
    pub(super) fn busy(most: usize) -> Self {
        let message = format!("this client has {most} requests open, which is the most");
        Self::new(BUSY, message).help("send it again when one of them is answered")
    }

    fn json(&self) -> Value {
        json!({"code": self.code, "number": self.number, "message": self.message, "rule": self.rule, "help": self.help})
    }

    /// As the result of a tool: the model reads the text, a program the structure.
    pub(super) fn tool_result(&self) -> CallToolResult {
        let mut text = self.message.clone();
        if let Some(rule) = &self.rule {
            text.push_str("\nrule: ");
            text.push_str(rule);
        }
        for help in &self.help {
            text.push_str("\nhelp: ");
            text.push_str(help);
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(json!({"error": self.json()}));
        result
    }

    /// As the error of a request.
    pub(super) fn error(&self) -> ErrorData {
        let message = match &self.rule {
            Some(rule) => format!("{} (rule: {rule})", self.message),
            None => self.message.clone(),
        };
        // Nothing is wrong with a request that may come again.
        let code = if self.code == BUSY { ErrorCode(-32000) } else { ErrorCode::INVALID_PARAMS };
        ErrorData::new(code, message, Some(self.json()))
    }
}

fn allowing(pattern: &str) -> String {
    format!("the host can allow it: --allow '{pattern}' behind `skillgate mcp serve`, or that rule in its policy")
}
