//! `--fix`: what a machine can put right, written back.

use super::read::Checked;
use crate::text;
use similar::TextDiff;
use skillgate_core::Diagnostic;
use skillgate_format::fix_all;
use skillgate_loader::{replace_file_ambient, replaceable_ambient};
use std::collections::HashMap;
use std::io::{self, IsTerminal as _};

/// What became of one file's fixes.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The rules whose findings are gone, in the order of the text.
    pub(super) fixed: Vec<String>,
    /// Why the file was left as it is.
    pub(super) refused: Option<String>,
    /// What would be changed; only of a dry run.
    pub(super) diff: Option<String>,
}

/// Applies every fix and writes the file, or with `dry_run` only says what that changes. `checked` then holds what is left.
pub(super) fn apply(checked: &mut Checked<'_>, dry_run: bool) -> Outcome {
    let Some(before) = &checked.document else { return Outcome::default() };
    if before.diagnostics().iter().all(|found| found.fix.is_none()) {
        return Outcome::default();
    }
    // Only a file that is UTF-8 has fixes, and its text is its bytes.
    let after = fix_all(before.source().as_bytes(), &checked.options);
    if after.source() == before.source() {
        return Outcome::default();
    }
    let path = &checked.file.path;
    let done = if dry_run { replaceable_ambient(path) } else { replace_file_ambient(path, after.source().as_bytes()) };
    if let Err(fault) = done {
        return Outcome { refused: Some(fault.to_string()), ..Outcome::default() };
    }
    let outcome = Outcome {
        fixed: gone(before.diagnostics(), after.diagnostics()),
        refused: None,
        diff: dry_run.then(|| diff(&checked.shown_path(), before.source(), after.source())),
    };
    checked.look_at(after);
    outcome
}

/// The codes that stand more often in `before` than in `after`.
fn gone(before: &[Diagnostic], after: &[Diagnostic]) -> Vec<String> {
    let mut left: HashMap<String, usize> = HashMap::new();
    for found in after {
        *left.entry(found.code.to_string()).or_default() += 1;
    }
    let mut gone = Vec::new();
    for code in before.iter().map(|found| found.code.to_string()) {
        match left.get_mut(&code) {
            Some(count @ 1..) => *count -= 1,
            _ if gone.contains(&code) => {}
            _ => gone.push(code),
        }
    }
    gone
}

/// A unified diff, as `patch -p0` takes it.
fn diff(path: &str, before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(path, path).to_string()
}

/// A diff as standard output shows it: on a terminal what is invisible, or would act on the terminal, is spelled out.
pub(super) fn shown(diff: &str) -> String {
    if io::stdout().is_terminal() { text::escaped_lines(diff) } else { diff.to_owned() }
}
