//! Findings for a person.

use super::fix::Outcome;
use super::read::Checked;
use crate::exit::excerpt;
use crate::text::{self, Style};
use skillgate_core::Severity;
use std::fmt::Write as _;

/// The findings of a file, each with its line; those that are only worth knowing with `verbose`.
pub(super) fn findings(style: Style, verbose: bool, checked: &Checked<'_>) -> String {
    let mut out = String::new();
    let lines = checked.lines();
    for found in checked.diagnostics.iter().filter(|found| found.severity > Severity::Info || verbose) {
        let position = found.span.zip(lines.as_ref()).map(|(span, lines)| lines.position(span.start));
        let place = position.map(|position| format!(":{position}")).unwrap_or_default();
        let severity = match found.severity {
            Severity::Error => style.error("error"),
            Severity::Warning => style.warning("warning"),
            Severity::Info => style.help("info"),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "{}{place}: {severity}[{}]: {}",
            checked.shown_path(),
            text::shown(&found.code.to_string()),
            text::shown(&found.message)
        );
        if let Some((span, document)) = found.span.zip(checked.document.as_ref()) {
            let _ = writeln!(out, "{}", excerpt(document.source(), span.start));
        }
        if let Some(help) = &found.help {
            let _ = writeln!(out, "  {} {}", style.help("help:"), text::shown(help));
        }
    }
    out
}

/// What became of a file's fixes, in one line.
pub(super) fn outcome(checked: &Checked<'_>, outcome: &Outcome) -> String {
    let path = checked.shown_path();
    let codes = || text::shown(&outcome.fixed.join(", "));
    match outcome {
        Outcome { refused: Some(reason), .. } => format!("{path}: not fixed: {}\n", text::shown(reason)),
        Outcome { fixed, .. } if fixed.is_empty() => String::new(),
        Outcome { diff: Some(_), .. } => format!("{path}: would fix {}\n", codes()),
        Outcome { .. } => format!("{path}: fixed {}\n", codes()),
    }
}
