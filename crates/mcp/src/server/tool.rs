//! The tools `Skill` and `DiscoverSkills`.

use super::fork;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skillgate_core::Context;
use skillgate_registry::{Catalogue, ListingOptions, SKILL_TOOL_GUIDANCE};
use skillgate_runtime::{DiscoveredSkills, Invocation};
use std::sync::Arc;

pub(super) const SKILL: &str = "Skill";
pub(super) const DISCOVER: &str = "DiscoverSkills";

/// The longest arguments of a skill, bytes.
const MAX_ARGUMENTS: usize = 1 << 16;

/// The input of the tool `Skill`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillInput {
    pub(super) skill: String,
    #[serde(default)]
    pub(super) args: Option<String>,
}

/// Both tools. What a client knows of MCP only, it learns of the skills here: the listing stands in the description.
pub(super) fn definitions(catalogue: &Catalogue) -> Vec<Tool> {
    let listing = catalogue.listing(&ListingOptions::default());
    let description = if listing.text.is_empty() {
        format!("{SKILL_TOOL_GUIDANCE}\nThere is no skill.")
    } else {
        format!("{SKILL_TOOL_GUIDANCE}\nSkills:\n{}", listing.text)
    };
    let skill = json!({
        "type": "object",
        "properties": {
            "skill": {"type": "string", "minLength": 1, "description": "The name of the skill, as it stands in the list."},
            "args": {"type": "string", "maxLength": MAX_ARGUMENTS, "description": "The arguments, as a user would type them behind the name."},
        },
        "required": ["skill"],
        "additionalProperties": false,
    });
    let discover = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "minLength": 1, "description": "What is to be done, in a sentence."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many skills at most. Default 5."},
        },
        "required": ["description"],
        "additionalProperties": false,
    });
    vec![
        Tool::new(
            DISCOVER,
            "Finds skills by what they are for. Use it when the list of skills is cut, or when no name in it fits the task.",
            schema(discover),
        )
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false)),
        Tool::new(SKILL, description, schema(skill)),
    ]
}

fn schema(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Reads the input of a tool.
pub(super) fn input<T: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<T, ErrorData> {
    let value = Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(value)
        .map_err(|error| ErrorData::invalid_params(format!("the arguments of {tool}: {error}"), None))
}

impl SkillInput {
    /// The name and the arguments, checked.
    pub(super) fn checked(self) -> Result<(String, Option<String>), ErrorData> {
        if self.args.as_ref().is_some_and(|args| args.len() > MAX_ARGUMENTS) {
            let message = format!("`args` has more than {MAX_ARGUMENTS} bytes");
            return Err(ErrorData::invalid_params(message, None));
        }
        let name = self.skill.trim();
        if name.is_empty() || name == "/" {
            return Err(ErrorData::invalid_params("`skill` is empty", None));
        }
        Ok((name.to_owned(), self.args))
    }
}

/// What the tool `Skill` gives: the text, and beside it what a program may want to know.
pub(super) fn invoked(invocation: &Invocation) -> CallToolResult {
    let mode = match invocation.mode {
        Context::Inline => "inline",
        Context::Fork => "fork",
    };
    let injections: Vec<Value> = invocation
        .injections
        .iter()
        .map(|injection| {
            json!({
                "source": injection.source,
                "exit_code": injection.exit_code,
                "stdout_bytes": injection.stdout_bytes,
                "truncated": injection.truncated,
            })
        })
        .collect();
    let prompt = invocation.messages.iter().map(|message| ContentBlock::text(message.content.clone()));
    let content = fork::instruction(invocation).map(ContentBlock::text).into_iter().chain(prompt).collect();
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(json!({
        "skill": invocation.skill.to_string(),
        "mode": mode,
        "fork": fork::wanted(invocation),
        "model": invocation.model,
        "authority": invocation.authority,
        "injections": injections,
        "diagnostics": invocation.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }));
    result
}

/// What the tool `DiscoverSkills` gives.
pub(super) fn discovered(found: &DiscoveredSkills) -> CallToolResult {
    let mut text = String::new();
    for skill in &found.results {
        text.push_str("- ");
        text.push_str(&skill.name);
        if let Some(description) = &skill.description {
            text.push_str(": ");
            text.push_str(description);
        }
        text.push('\n');
    }
    if text.is_empty() {
        text.push_str("No skill fits.\n");
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(found).ok();
    result
}
