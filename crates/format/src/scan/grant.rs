//! `allowed-tools` that gives more than the text uses, and tool lists that were never filled in.

use super::MAX_FINDINGS;
use crate::document::Document;
use crate::lines::lines;
use crate::markdown::Markdown;
use skillgate_core::{Code, Diagnostic, Field, Span};

/// What stands in templates where a tool belongs.
const STAND_INS: [&str; 6] = ["TODO", "FIXME", "TBD", "XXX", "CHANGEME", "PLACEHOLDER"];

/// Reports both.
pub(super) fn scan(document: &Document, markdown: &Markdown, found: &mut Vec<Diagnostic>) {
    let Some(tools) = document.frontmatter().allowed_tools.present() else { return };
    for tool in tools.iter().filter(|tool| is_stand_in(&tool.value)).take(MAX_FINDINGS) {
        // The reader has reported what it knows as a template's leftover.
        let reported = |finding: &Diagnostic| {
            finding.code == Code::TemplatePlaceholder && finding.span.is_some_and(|span| overlap(span, tool.span))
        };
        if !document.diagnostics().iter().any(reported) {
            found.push(
                Diagnostic::new(Code::ToolsPlaceholder, format!("`{}` is a placeholder, not a tool", tool.value))
                    .at(tool.span)
                    .help("name the tool, or remove the entry"),
            );
        }
    }
    let Some(wide) = tools.iter().find(|tool| is_whole_shell(&tool.value)) else { return };
    if !shows_commands(&document.body(), markdown) {
        found.push(wide_grant(wide));
    }
}

fn wide_grant(tool: &Field<String>) -> Diagnostic {
    Diagnostic::new(Code::WideGrant, format!("`{}` asks for every command, and the text shows no command", tool.value))
        .at(tool.span)
        .help("remove it, or name the commands: `Bash(git log *)`")
}

fn overlap(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

fn is_stand_in(tool: &str) -> bool {
    let bracketed = |open: &str, close: &str| tool.find(open).is_some_and(|at| tool[at..].contains(close));
    let word = |word: &str| STAND_INS.iter().any(|stand_in| word.eq_ignore_ascii_case(stand_in));
    let outside = tool.split('(').next().unwrap_or(tool);
    bracketed("{{", "}}")
        || (outside.starts_with('<') && outside.ends_with('>'))
        || outside.split(|c: char| !c.is_ascii_alphabetic()).any(word)
        || tool.split_once('(').is_some_and(|(_, inner)| {
            let inner = inner.trim_end_matches(')').trim();
            inner.starts_with('<') && inner.ends_with('>') || word(inner)
        })
}

/// Whether the entry stands for every command: `Bash`, `Bash()`, `Bash(*)`, `Bash(:*)`, `*`.
fn is_whole_shell(tool: &str) -> bool {
    let rest = tool.strip_prefix("Bash").unwrap_or(if tool == "*" { "" } else { tool });
    rest.bytes().all(|byte| matches!(byte, b'(' | b')' | b'*' | b':' | b' '))
}

/// Whether the body holds anything that could be a command: a fence, an injection, or a code span of more than one word or
/// with a path.
fn shows_commands(body: &str, Markdown { fences, spans }: &Markdown) -> bool {
    let content = |span: Span| span.slice(body).unwrap_or_default().trim_matches(['`', ' ']);
    !fences.is_empty()
        || spans.iter().any(|span| span.injection.is_some() || content(span.whole).contains([' ', '/']))
        || lines(body, Span::new(0, body.len())).any(|line| line.text(body).starts_with("    "))
}
