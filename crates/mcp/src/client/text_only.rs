//! What a remote text says that has no effect here.

use super::skill::RemoteSkill;
use crate::finding::{Finding, FindingCode};
use skillgate_core::{LoadedFrom, Profile};
use skillgate_format::{Document, ReadOptions, Template, TemplateOptions};

/// Reads a text as the catalogue will.
pub(crate) fn document(name: &str, text: &str) -> Document {
    let options = ReadOptions {
        profile: Profile::Safe,
        max_file_bytes: text.len() as u64,
        max_header_bytes: text.len() as u64,
        directory_name: Some(name.to_owned()),
        file_name: None,
        loaded_from: LoadedFrom::Skills,
    };
    Document::read(text.as_bytes(), &options)
}

/// Says what of the skill is delivered as text and nothing else.
pub(super) fn report(skill: &RemoteSkill, findings: &mut Vec<Finding>) {
    let mut document = document(&skill.name, &skill.text);
    let ignored = document.without_effects();
    let body = document.body();
    let template = Template::parse(&body, &TemplateOptions { profile: Profile::Safe, arguments: Vec::new() });
    let mut report = |code, message: String| findings.push(Finding::new(code, message).about(&skill.uri));
    let count = template.injections().len();
    if count > 0 {
        let commands = if count == 1 { "a command".to_owned() } else { format!("{count} commands") };
        let message = format!("{commands} in its text will not run: the text is delivered as it stands");
        report(FindingCode::InjectionsLiteral, message);
    }
    for key in ignored {
        match key {
            "hooks" => report(FindingCode::HooksIgnored, "its hooks are not activated".to_owned()),
            "allowed-tools" => report(FindingCode::ToolsNotGranted, "its `allowed-tools` grants nothing".to_owned()),
            key => report(FindingCode::KeyIgnored, format!("its `{key}` has no effect: a remote skill is text only")),
        }
    }
    for variable in DIRECTORIES.iter().filter(|variable| body.contains(&format!("${{{variable}}}"))) {
        let message =
            format!("`${{{variable}}}` stays as it is: no directory of this machine is named to a remote text");
        report(FindingCode::DirectoryVariable, message);
    }
}

/// Variables that a local skill has its directories from.
const DIRECTORIES: [&str; 4] = ["CLAUDE_SKILL_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"];
