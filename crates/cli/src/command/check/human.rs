//! Findings for a person.

use super::fix::Outcome;
use super::read::Checked;
use crate::report::{Excerpt, Report};
use crate::text::{self, Style};
use skillgate_core::{Diagnostic, Fix, Severity};

/// Characters of a replacement that are shown; what is longer is seen with `--dry-run`.
const SHOWN_FIX: usize = 160;

/// The findings of a file, each with its line; those that are only worth knowing with `verbose`.
pub(super) fn findings(style: Style, verbose: bool, checked: &Checked<'_>) -> String {
    let lines = checked.lines();
    let path = checked.file.path.display().to_string();
    let mut out = String::new();
    for found in checked.diagnostics.iter().filter(|found| found.severity > Severity::Info || verbose) {
        let place = found.span.zip(checked.document.as_ref()).zip(lines.as_ref());
        let excerpt = place.map(|((span, document), lines)| Excerpt::new(&path, document.source(), lines, span));
        // What is about the whole file names it in its message.
        let message = match excerpt {
            Some(_) => found.message.clone(),
            None => format!("{path}: {}", found.message),
        };
        let code = found.code.to_string();
        let report =
            Report { severity: found.severity, code: Some(&code), message: &message, excerpt, help: help(found) };
        out.push_str(&report.draw(style));
        out.push('\n');
    }
    out
}

/// What the author can do, and what `--fix` would.
fn help(found: &Diagnostic) -> Vec<String> {
    found.help.iter().cloned().chain(found.fix.as_ref().map(fix)).collect()
}

fn fix(fix: &Fix) -> String {
    let text = fix.replacement.trim_end();
    if text.is_empty() {
        "`--fix` removes it".to_owned()
    } else if text.contains(['\n', '\r']) || text.chars().count() > SHOWN_FIX {
        "`--fix` does this; `--fix --dry-run` shows how".to_owned()
    } else {
        format!("`--fix` writes: {text}")
    }
}

/// What became of a file's fixes, in one line.
pub(super) fn outcome(checked: &Checked<'_>, outcome: &Outcome) -> String {
    let path = checked.shown_path();
    let codes = || text::escaped(&outcome.fixed.join(", "));
    match outcome {
        Outcome { refused: Some(reason), .. } => format!("{path}: not fixed: {}\n", text::escaped(reason)),
        Outcome { fixed, .. } if fixed.is_empty() => String::new(),
        Outcome { diff: Some(_), .. } => format!("{path}: would fix {}\n", codes()),
        Outcome { .. } => format!("{path}: fixed {}\n", codes()),
    }
}
