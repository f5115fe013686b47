//! `skillgate check PATH…`

mod fix;
mod human;
mod read;
mod sarif;

use crate::args::{CheckVerb, Format, Global};
use crate::exit::{Failure, Status};
use crate::output::{CheckOutput, CheckedFile, DiagnosticOutput};
use crate::progress;
use crate::text::{self, Style};
use fix::Outcome;
use read::Checked;
use serde_json::Value;
use skillgate_format::{Document, Fields, export_standard};
use skillgate_loader::SkillFile;

pub(crate) fn run(global: &Global, verb: &CheckVerb) -> Result<Status, Failure> {
    let files = read::find(&verb.paths)?;
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
        let Part { failed, fixed, findings, output } = part?;
        total.failed |= failed;
        total.fixed += usize::from(fixed);
        total.findings += findings;
        printed.add(output);
    }
    printed.print()?;
    if global.format == Format::Human {
        text::complain(&total.words(files.len(), verb));
    }
    Ok(if total.failed { Status::Findings } else { Status::Done })
}

/// Prints one file in the form of the open standard, and what was found in it on standard error.
fn export(global: &Global, files: &[SkillFile]) -> Status {
    let [file] = files else {
        text::complain(&format!("error: `--export` takes one file, and the paths name {}", files.len()));
        return if files.is_empty() { Status::NotFound } else { Status::Usage };
    };
    let checked = Checked::read(global.profile.into(), file);
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
    findings: usize,
}

impl Total {
    fn words(&self, files: usize, verb: &CheckVerb) -> String {
        let (fixed, findings) = (self.fixed, self.findings);
        match (verb.fix, verb.dry_run) {
            (false, _) => format!("{files} files, {findings} findings"),
            (true, false) => format!("{files} files, {fixed} fixed, {findings} findings left"),
            (true, true) => format!("{files} files, {fixed} would be fixed, {findings} findings would be left"),
        }
    }
}

/// What one file adds to the output.
struct Part {
    failed: bool,
    fixed: bool,
    findings: usize,
    output: Printed,
}

impl Part {
    fn of(global: &Global, verb: &CheckVerb, file: &SkillFile) -> Result<Self, serde_json::Error> {
        let mut checked = Checked::read(global.profile.into(), file);
        let outcome = if verb.fix { fix::apply(&mut checked, verb.dry_run) } else { Outcome::default() };
        Ok(Self {
            failed: checked.has_errors() || outcome.refused.is_some(),
            fixed: !outcome.fixed.is_empty(),
            findings: checked.diagnostics.len(),
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
                let words =
                    human::outcome(checked, &outcome) + &human::findings(Style::of(global), global.verbose, checked);
                let diff = outcome.diff.as_deref().map(fix::shown).unwrap_or_default();
                // The output of a dry run is a patch and nothing else.
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
        description: document.and_then(|document| document.description().map(|found| found.text.clone())),
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
