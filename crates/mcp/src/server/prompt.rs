//! Skills that a user may invoke, as prompts.

use super::fork;
use super::skill_entry::title;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;
use skillgate_core::Skill;
use skillgate_runtime::Invocation;

/// The name of the one argument of a skill that names none.
const ARGUMENTS: &str = "arguments";

pub(super) fn definition(skill: &Skill) -> Prompt {
    let header = &skill.frontmatter;
    let hint = header.argument_hint.as_ref().map(|hint| hint.value.clone());
    let arguments = if header.arguments.is_empty() {
        let description = hint.unwrap_or_else(|| "What is typed behind the name.".to_owned());
        vec![PromptArgument::new(ARGUMENTS).with_description(description).with_required(false)]
    } else {
        let argument = |name: &skillgate_core::Field<String>| {
            let argument = PromptArgument::new(name.value.clone()).with_required(false);
            match &hint {
                Some(hint) => argument.with_description(hint.clone()),
                None => argument,
            }
        };
        header.arguments.iter().map(argument).collect()
    };
    Prompt::new(skill.id.command.to_string(), skill.description.as_deref().map(str::to_owned), Some(arguments))
        .with_title(title(skill))
}

/// The arguments as a user would have typed them: named ones in their order, each one word. `by_name`: the skill takes them as
/// `NAME=value`, in which nothing can be taken for another one.
pub(super) fn typed(skill: &Skill, given: Option<&JsonObject>, by_name: bool) -> Result<Option<String>, ErrorData> {
    let names: Vec<&str> = skill.frontmatter.arguments.iter().map(|name| name.value.as_str()).collect();
    let known = |name: &str| if names.is_empty() { name == ARGUMENTS } else { names.contains(&name) };
    let given: Vec<(&String, &Value)> = given.iter().flat_map(|given| given.iter()).collect();
    let mut values = std::collections::BTreeMap::new();
    for (name, value) in given {
        let Some(text) = value.as_str().filter(|_| known(name)) else {
            let message =
                format!("`{}` is no argument of this prompt, or its value is no text", crate::finding::shown(name));
            return Err(ErrorData::invalid_params(message, None));
        };
        values.insert(name.as_str(), text);
    }
    if names.is_empty() {
        return Ok(values.get(ARGUMENTS).map(|text| (*text).to_owned()));
    }
    if by_name {
        let words: Vec<String> = values.iter().map(|(name, value)| quoted(&format!("{name}={value}"))).collect();
        return Ok((!words.is_empty()).then(|| words.join(" ")));
    }
    let Some(last) = names.iter().rposition(|name| values.contains_key(name)) else { return Ok(None) };
    let words: Vec<String> =
        names[..=last].iter().map(|name| quoted(values.get(name).copied().unwrap_or_default())).collect();
    Ok(Some(words.join(" ")))
}

/// One word of the arguments, whatever stands in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

pub(super) fn result(skill: &Skill, invocation: &Invocation) -> GetPromptResult {
    let texts = invocation.messages.iter().map(|message| message.content.clone());
    let texts = fork::instruction(invocation).into_iter().chain(texts);
    let messages = texts.map(|text| PromptMessage::new_text(Role::User, text)).collect();
    let result = GetPromptResult::new(messages);
    match &skill.description {
        Some(description) => result.with_description(description.as_str()),
        None => result,
    }
}
