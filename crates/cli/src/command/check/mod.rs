//! `skillgate check PATH…`

mod fix;
mod human;
mod read;
mod sarif;
mod tools;

use crate::args::{CheckVerb, Format, Global};
use crate::exit::{Failure, Status};
use crate::output::{CheckOutput, CheckedFile, DiagnosticOutput};
use crate::progress;
use crate::text::{self, Style};
use fix::Outcome;
use read::Checked;
use serde_json::Value;
use skillgate_core::Severity;
use skillgate_format::{Document, Fields, export_standard};
use skillgate_loader::SkillFile;

pub(crate) fn run(global: &Global, verb: &CheckVerb) -> Result<Status, Failure> {
    let (files, mut failures) = read::find(&verb.paths);
    if files.is_empty() && !failures.is_empty() {
        // The last one is reported by whoever called.
        let last = failures.pop();
        failures.iter().for_each(|failure| failure.report(global));
        return last.map_or(Ok(Status::NotFound), Err);
    }
    failures.iter().for_each(|failure| failure.report(global));
    if verb.export {
        return Ok(export(global, &files));
    }
    let bar = progress::of_files(files.len());
    let parts = read::in_order(&files, |file| {
        let part = Part::of(global, verb, file);
        bar.inc(1);
        part
    });
    bar.finish_and_clear();
    let mut total = Total::default();
    let mut printed = Printed::new(global.format);
    for part in parts {
        let Part { failed, fixed, errors, warnings, notes, output } = part?;
        total.failed |= failed;
        total.fixed += usize::from(fixed);
        total.errors += errors;
        total.warnings += warnings;
        total.notes += notes;
        printed.add(output);
    }
    printed.print()?;
    if global.format == Format::Human {
        text::complain(&total.words(files.len(), verb, global.verbose));
    }
    Ok(match (total.failed, failures.is_empty()) {
        (true, _) => Status::Findings,
        (false, true) => Status::Done,
        (false, false) => Status::NotFound,
    })
}

/// Prints one file in the form of the open standard, and what was found in it on standard error.
fn export(global: &Global, files: &[SkillFile]) -> Status {
    let [file] = files else {
        text::complain(&format!("error: `--export` takes one file, and the paths name {}", files.len()));
        return if files.is_empty() { Status::NotFound } else { Status::Usage };
    };
    let checked = Checked::read(global.profile(), file);
    let findings = human::findings(Style::of(global), global.verbose, &checked);
    if !findings.is_empty() {
        text::complain(findings.trim_end());
    }
    if let Some(document) = &checked.document {
        text::data(&export_standard(document));
    }
    if checked.has_errors() { Status::Findings } else { Status::Done }
}

/// All files together.
#[derive(Debug, Default)]
struct Total {
    failed: bool,
    fixed: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Total {
    fn words(&self, files: usize, verb: &CheckVerb, verbose: bool) -> String {
        let fixed = match (verb.fix, verb.dry_run) {
            (false, _) => String::new(),
            (true, false) => format!(", {} fixed", self.fixed),
            (true, true) => format!(", {} would be fixed", self.fixed),
        };
        let left = if verb.fix { " left" } else { "" };
        let mut found: Vec<String> = [(self.errors, "error"), (self.warnings, "warning")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| text::counted(count, word))
            .collect();
        let notes = text::counted(self.notes, "note");
        let hidden = match (self.notes, verbose) {
            (0, _) => String::new(),
            (_, true) => {
                found.push(notes);
                String::new()
            }
            (_, false) => format!("; {notes} with --verbose"),
        };
        let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") + left };
        format!("{}{fixed}: {found}{hidden}", text::counted(files, "file"))
    }
}

/// What one file adds to the output.
struct Part {
    failed: bool,
    fixed: bool,
    errors: usize,
    warnings: usize,
    notes: usize,
    output: Printed,
}

impl Part {
    fn of(global: &Global, verb: &CheckVerb, file: &SkillFile) -> Result<Self, serde_json::Error> {
        let mut checked = Checked::read(global.profile(), file);
        let outcome = if verb.fix { fix::apply(&mut checked, verb.dry_run) } else { Outcome::default() };
        Ok(Self {
            failed: checked.has_errors() || outcome.refused.is_some(),
            fixed: !outcome.fixed.is_empty(),
            errors: checked.count(Severity::Error),
            warnings: checked.count(Severity::Warning),
            notes: checked.count(Severity::Info),
            output: Printed::of(global, verb, &checked, outcome)?,
        })
    }
}

/// Output in the form that was asked for, so that no file's text is kept longer than it is looked at.
enum Printed {
    Human { data: String, messages: String },
    Json(Vec<CheckedFile>),
    Sarif(Vec<Value>),
}

impl Printed {
    fn new(format: Format) -> Self {
        match format {
            Format::Human => Printed::Human { data: String::new(), messages: String::new() },
            Format::Json => Printed::Json(Vec::new()),
            Format::Sarif => Printed::Sarif(Vec::new()),
        }
    }

    fn of(
        global: &Global,
        verb: &CheckVerb,
        checked: &Checked<'_>,
        outcome: Outcome,
    ) -> Result<Self, serde_json::Error> {
        Ok(match global.format {
            Format::Json => Printed::Json(vec![json(checked, outcome)?]),
            Format::Sarif => Printed::Sarif(sarif::results(checked)),
            Format::Human => {
                // The output of a dry run is a patch and nothing else, and the words are messages.
                let style = if verb.dry_run { Style::of(global) } else { Style::of_data(global) };
                let words = human::outcome(checked, &outcome) + &human::findings(style, global.verbose, checked);
                let diff = outcome.diff.as_deref().map(fix::shown).unwrap_or_default();
                let (data, messages) = if verb.dry_run { (diff, words) } else { (words, String::new()) };
                Printed::Human { data, messages }
            }
        })
    }

    fn add(&mut self, other: Self) {
        match (self, other) {
            (Printed::Human { data, messages }, Printed::Human { data: more, messages: words }) => {
                data.push_str(&more);
                messages.push_str(&words);
            }
            (Printed::Json(files), Printed::Json(more)) => files.extend(more),
            (Printed::Sarif(results), Printed::Sarif(more)) => results.extend(more),
            // Every file is printed in the one form that was asked for.
            _ => {}
        }
    }

    fn print(self) -> Result<(), serde_json::Error> {
        match self {
            Printed::Human { data, messages } => {
                text::data(&data);
                if !messages.is_empty() {
                    text::complain(messages.trim_end());
                }
                Ok(())
            }
            Printed::Json(files) => text::json(&CheckOutput { files }),
            Printed::Sarif(results) => text::json(&sarif::log(results)),
        }
    }
}

fn json(checked: &Checked<'_>, outcome: Outcome) -> Result<CheckedFile, serde_json::Error> {
    let document = checked.document.as_ref();
    let lines = checked.lines();
    let fields = match document.map(|document| serde_json::to_value(Fields(document.frontmatter()))).transpose()? {
        Some(Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    let state = document.map(|document| serde_json::to_value(document.header_state())).transpose()?;
    let diagnostics = checked.diagnostics.iter();
    Ok(CheckedFile {
        path: checked.file.path.display().to_string(),
        frontmatter: state.and_then(|state| state.as_str().map(str::to_owned)),
        name: document.map(|document| document.label().to_owned()),
        command: document.and_then(|document| document.command().map(str::to_owned)),
        description: document.and_then(|document| document.description().map(|found| found.text.to_owned())),
        fields,
        body_first_line: document.and_then(Document::body_first_line),
        diagnostics: diagnostics
            .map(|found| DiagnosticOutput::new(found, |at| lines.as_ref().map(|lines| lines.position(at))))
            .collect(),
        fixed: outcome.fixed,
        not_fixed: outcome.refused,
        diff: outcome.diff,
    })
}
