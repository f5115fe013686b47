//! `skillgate mcp list` and `skillgate mcp inspect`

use crate::args::{Format, Global, McpInspectVerb};
use crate::exit::{Failure, Status};
use crate::output::{McpListOutput, McpServerOutput};
use crate::{mcp, text};
use skillgate_mcp::ServerState;
use std::fmt::Write as _;

pub(crate) fn list(global: &Global) -> Result<Status, Failure> {
    let config = mcp::read(global)?;
    let servers = mcp::connect(global, &config.config)?.reports();
    let output = McpListOutput::of(&config, &servers, false);
    let failed = servers.iter().any(|server| server.state == ServerState::Failed);
    let status =
        if failed || config.problems().any(|(_, problem)| problem.is_error) { Status::Findings } else { Status::Done };
    if global.format == Format::Json {
        text::json(&output)?;
        return Ok(status);
    }
    complain(&output);
    if output.servers.is_empty() && output.disabled.is_empty() {
        text::complain("skillgate: there is no server");
        for path in mcp::files(global) {
            text::complain(&format!("help: name servers in {}, as `{{ \"mcpServers\": {{ … }} }}`", path.display()));
        }
    }
    text::human(&output.servers.iter().map(summary).collect::<String>());
    Ok(status)
}

pub(crate) fn inspect(global: &Global, verb: &McpInspectVerb) -> Result<Status, Failure> {
    let all = mcp::read(global)?;
    let known: Vec<String> = all.config.servers.iter().map(|server| server.name.clone()).collect();
    // The others are not started.
    let config = all.of_server(&verb.server);
    let servers = mcp::connect(global, &config.config)?.reports();
    let output = McpListOutput::of(&config, &servers, true);
    if global.format == Format::Json
        && !(servers.is_empty() && config.config.problems.is_empty() && config.config.disabled.is_empty())
    {
        text::json(&output)?;
    } else {
        complain(&output);
        text::human(&output.servers.iter().map(whole).collect::<String>());
    }
    match servers.first() {
        Some(server) if server.state == ServerState::Failed => Ok(Status::Findings),
        Some(_) => Ok(Status::Done),
        None if !config.config.problems.is_empty() => Ok(Status::Findings),
        None if !config.config.disabled.is_empty() => Ok(Status::Done),
        None => Err(Failure::NoSuchServer { name: verb.server.clone(), known }),
    }
}

fn complain(output: &McpListOutput) {
    for problem in &output.problems {
        let level = if problem.is_error { "error" } else { "note" };
        text::complain(&text::safe(&format!(
            "{level}: {}:{}:{}: server `{}`: {}",
            problem.path, problem.line, problem.column, problem.server, problem.message
        )));
        if let Some(help) = &problem.help {
            text::complain(&text::safe(&format!("help: {help}")));
        }
    }
    for name in &output.disabled {
        text::complain(&text::safe(&format!("note: server `{name}`: the configuration switches it off")));
    }
}

/// A server with its skills, one a line.
fn summary(server: &McpServerOutput) -> String {
    let mut out = head(server);
    for skill in &server.skills {
        let name = text::shown(&skill.name);
        let _infallible = writeln!(out, "  {name:<40} {:<6} {}", skill.kind, text::shown(&skill.uri));
        if let Some(description) = &skill.description {
            let line: String = text::shown(description).chars().take(100).collect();
            let _infallible = writeln!(out, "      {line}");
        }
    }
    out.push_str(&findings(server));
    out
}

/// A server with its skills' texts.
fn whole(server: &McpServerOutput) -> String {
    let mut out = head(server);
    out.push_str(&findings(server));
    for skill in &server.skills {
        let _infallible = writeln!(
            out,
            "\n{} ({}, {} bytes, sha256 {})",
            text::shown(&skill.name),
            text::shown(&skill.uri),
            skill.bytes,
            skill.digest
        );
        for line in skill.text.iter().flat_map(|text| text.lines()) {
            let _infallible = writeln!(out, "  | {}", text::escaped_line(line));
        }
    }
    out
}

fn head(server: &McpServerOutput) -> String {
    let own = server.implementation.as_ref();
    let own = own
        .map(|own| format!(", {} {}", text::shown(&own.name), text::shown(&own.version)).trim_end().to_owned())
        .unwrap_or_default();
    let protocol = server.protocol.as_ref().map(|version| format!(", protocol {version}")).unwrap_or_default();
    format!("{} ({}, {}{own}{protocol})\n", text::shown(&server.name), server.transport, server.state)
}

fn findings(server: &McpServerOutput) -> String {
    let mut out = String::new();
    for finding in &server.findings {
        let about = finding.about.as_ref().map(|about| format!("{}: ", text::shown(about))).unwrap_or_default();
        let _infallible =
            writeln!(out, "  {}[{}]: {about}{}", finding.severity, finding.code, text::shown(&finding.message));
        if let Some(help) = &finding.help {
            let _infallible = writeln!(out, "    help: {}", text::shown(help));
        }
    }
    out
}
