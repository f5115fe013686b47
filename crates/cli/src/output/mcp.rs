use crate::mcp::Configured;
use schemars::JsonSchema;
use serde::Serialize;
use skillgate_format::{Document, ReadOptions};
use skillgate_mcp::{RemoteArgument, RemoteSkill, ServerReport};
use std::path::Path;

/// The servers of `mcp list` and `mcp inspect`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpListOutput {
    /// The servers by name.
    pub(crate) servers: Vec<McpServerOutput>,
    /// Servers that the configuration switches off.
    pub(crate) disabled: Vec<String>,
    /// What is wrong with the configuration.
    pub(crate) problems: Vec<McpProblemOutput>,
}

/// One server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpServerOutput {
    /// Its name in the configuration.
    pub(crate) name: String,
    /// `stdio` or `http`.
    pub(crate) transport: String,
    /// `connected` or `failed`.
    pub(crate) state: String,
    /// What it calls itself.
    pub(crate) implementation: Option<McpImplementationOutput>,
    /// The version of the protocol that was agreed on.
    pub(crate) protocol: Option<String>,
    /// What it offers as skills.
    pub(crate) skills: Vec<McpSkillOutput>,
    /// What was found about it and about what it offers.
    pub(crate) findings: Vec<McpFindingOutput>,
}

/// What a server calls itself.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpImplementationOutput {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
}

/// A skill of a server. It is text only: nothing in it runs, grants or is activated.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpSkillOutput {
    /// What it is invoked by: `mcp__SERVER__NAME`.
    pub(crate) name: String,
    /// The resource's URI, or the prompt's name.
    pub(crate) uri: String,
    /// `skill` or `prompt`.
    pub(crate) kind: String,
    /// The arguments of a prompt. The server makes the text of one that has any when it is called.
    pub(crate) arguments: Vec<McpArgumentOutput>,
    /// What it does, as its own text says.
    pub(crate) description: Option<String>,
    /// Size of its text.
    pub(crate) bytes: usize,
    /// SHA-256 of its text.
    pub(crate) digest: String,
    /// Its text, for `mcp inspect`.
    pub(crate) text: Option<String>,
}

/// An argument of a prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpArgumentOutput {
    /// Its name.
    pub(crate) name: String,
    /// Whether it has to be given.
    pub(crate) required: bool,
    /// What it is for, as the server says.
    pub(crate) description: Option<String>,
}

/// What was found about a server or about one thing it offers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpFindingOutput {
    /// The kind, a short stable name.
    pub(crate) code: String,
    /// `info`, `warning` or `error`.
    pub(crate) severity: String,
    /// The resource or prompt it is about.
    pub(crate) about: Option<String>,
    /// What was found.
    pub(crate) message: String,
    /// The way out.
    pub(crate) help: Option<String>,
}

/// Something in the configuration that is wrong or not used.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpProblemOutput {
    /// The server.
    pub(crate) server: String,
    /// The file.
    pub(crate) path: String,
    /// Whether the server is left out because of it.
    pub(crate) is_error: bool,
    /// Where, from 1.
    pub(crate) line: usize,
    /// Where in the line, in characters from 1.
    pub(crate) column: usize,
    /// What is wrong.
    pub(crate) message: String,
    /// What to write instead.
    pub(crate) help: Option<String>,
}

impl McpListOutput {
    pub(crate) fn of(configured: &Configured, servers: &[ServerReport], with_texts: bool) -> Self {
        let problem = |(path, problem): (&Path, &skillgate_mcp::ConfigProblem)| McpProblemOutput {
            path: path.display().to_string(),
            server: problem.server.clone(),
            is_error: problem.is_error,
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
            help: problem.help.clone(),
        };
        Self {
            servers: servers.iter().map(|server| McpServerOutput::of(server, with_texts)).collect(),
            disabled: configured.config.disabled.clone(),
            problems: configured.problems().map(problem).collect(),
        }
    }
}

impl McpServerOutput {
    fn of(server: &ServerReport, with_texts: bool) -> Self {
        let own = |(name, version): &(String, String)| McpImplementationOutput {
            name: name.clone(),
            version: version.clone(),
        };
        let finding = |finding: &skillgate_mcp::Finding| McpFindingOutput {
            code: finding.code.to_string(),
            severity: finding.severity.to_string(),
            about: finding.about.clone(),
            message: finding.message.clone(),
            help: finding.help.clone(),
        };
        Self {
            name: server.name.clone(),
            transport: server.transport.to_owned(),
            state: server.state.as_str().to_owned(),
            implementation: server.implementation.as_ref().map(own),
            protocol: server.protocol.clone(),
            skills: server.skills.iter().map(|skill| McpSkillOutput::of(skill, with_texts)).collect(),
            findings: server.findings.iter().map(finding).collect(),
        }
    }
}

impl McpArgumentOutput {
    fn of(argument: &RemoteArgument) -> Self {
        Self { name: argument.name.clone(), required: argument.required, description: argument.description.clone() }
    }
}

impl McpSkillOutput {
    fn of(skill: &RemoteSkill, with_text: bool) -> Self {
        let options = ReadOptions { directory_name: Some(skill.name.clone()), ..ReadOptions::default() };
        let document = Document::read(skill.text.as_bytes(), &options);
        Self {
            name: skill.name.clone(),
            uri: skill.uri.clone(),
            kind: skill.kind.as_str().to_owned(),
            arguments: skill.arguments.iter().map(McpArgumentOutput::of).collect(),
            description: document.description().map(|description| description.text.to_owned()),
            bytes: skill.text.len(),
            digest: skill.digest.to_string(),
            text: with_text.then(|| skill.text.clone()),
        }
    }
}
