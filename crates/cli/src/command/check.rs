//! `skillgate check PATH…`

use crate::args::{CheckVerb, Format, Global};
use crate::exit::{Failure, Status, excerpt};
use crate::output::{CheckOutput, CheckedFile, DiagnosticOutput};
use crate::text::{self, Style};
use skillgate_core::{Diagnostic, LoadedFrom, Severity};
use skillgate_format::{Document, Fields, ReadOptions};
use skillgate_loader::{SkillFile, find_skill_files_ambient, read_file_ambient};
use skillgate_policy::builtin_limits;

pub(crate) fn run(global: &Global, verb: &CheckVerb) -> Result<Status, Failure> {
    let mut files = Vec::new();
    for path in &verb.paths {
        let found = find_skill_files_ambient(path).map_err(|_| Failure::NoSuchPath(path.display().to_string()))?;
        if found.is_empty() {
            text::complain(&format!("skillgate: there is no SKILL.md in `{}`", path.display()));
        }
        files.extend(found);
    }
    let mut failed = false;
    let mut output = CheckOutput { files: Vec::new() };
    for file in &files {
        let (document, diagnostics) = read(global, file);
        failed |= diagnostics.iter().any(|found| found.severity == Severity::Error);
        if global.format == Format::Human {
            print(global, file, document.as_ref(), &diagnostics);
        }
        output.files.push(checked(file, document.as_ref(), &diagnostics)?);
    }
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        let findings: usize = output.files.iter().map(|file| file.diagnostics.len()).sum();
        text::complain(&format!("{} files, {findings} findings", output.files.len()));
    }
    Ok(if failed { Status::Findings } else { Status::Done })
}

fn read(global: &Global, file: &SkillFile) -> (Option<Document>, Vec<Diagnostic>) {
    let limits = builtin_limits();
    match read_file_ambient(&file.path, limits.skill_file_bytes) {
        Err(fault) => (None, vec![fault.diagnostic()]),
        Ok(bytes) => {
            let options = ReadOptions {
                profile: global.profile.into(),
                max_file_bytes: limits.skill_file_bytes,
                max_header_bytes: limits.header_bytes,
                directory_name: file.directory_name.clone(),
                file_name: file.path.file_name().map(|name| name.to_string_lossy().into_owned()),
                loaded_from: if file.is_skill { LoadedFrom::Skills } else { LoadedFrom::Commands },
            };
            let document = Document::read(&bytes, &options);
            let diagnostics = document.diagnostics().to_vec();
            (Some(document), diagnostics)
        }
    }
}

fn print(global: &Global, file: &SkillFile, document: Option<&Document>, diagnostics: &[Diagnostic]) {
    let style = Style::of(global);
    let mut out = String::new();
    for found in diagnostics.iter().filter(|found| found.severity > Severity::Info || global.verbose) {
        let position = found.span.zip(document).map(|(span, document)| document.position(span.start));
        let place = position.map(|position| format!(":{position}")).unwrap_or_default();
        let severity = match found.severity {
            Severity::Error => style.error("error"),
            Severity::Warning => style.warning("warning"),
            Severity::Info => style.help("info"),
        };
        out.push_str(&format!(
            "{}{place}: {severity}[{}]: {}\n",
            file.path.display(),
            found.code,
            text::shown(&found.message)
        ));
        if let Some((span, document)) = found.span.zip(document) {
            out.push_str(&excerpt(document.source(), span.start));
            out.push('\n');
        }
        if let Some(help) = &found.help {
            out.push_str(&format!("  {} {}\n", style.help("help:"), text::shown(help)));
        }
    }
    text::data(&out);
}

fn checked(file: &SkillFile, document: Option<&Document>, diagnostics: &[Diagnostic]) -> Result<CheckedFile, Failure> {
    let fields = match document.map(|document| serde_json::to_value(Fields(document.frontmatter()))).transpose()? {
        Some(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    let state = document.map(|document| serde_json::to_value(document.header_state())).transpose()?;
    Ok(CheckedFile {
        path: file.path.display().to_string(),
        frontmatter: state.and_then(|state| state.as_str().map(str::to_owned)),
        name: document.map(|document| document.label().to_owned()),
        command: document.and_then(|document| document.command().map(str::to_owned)),
        description: document.and_then(|document| document.description().map(|found| found.text.clone())),
        fields,
        body_first_line: document.and_then(Document::body_first_line),
        diagnostics: diagnostics
            .iter()
            .map(|found| DiagnosticOutput::new(found, |at| document.map(|document| document.position(at))))
            .collect(),
    })
}
