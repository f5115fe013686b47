//! `skillgate policy check FILE`

use crate::args::{Format, Global, PolicyCheckVerb};
use crate::exit::{Failure, Status};
use crate::output::{MistakeOutput, PolicyCheckOutput};
use crate::{components, policy, text};
use skillgate_loader::{ReadFault, read_file_ambient};
use skillgate_policy::Place;
use skillgate_policy::file::{Level, MAX_POLICY_BYTES, PolicyError, PolicyFile};

pub(crate) fn run(global: &Global, verb: &PolicyCheckVerb) -> Result<Status, Failure> {
    let level = Level::from(verb.level);
    // Whoever wrote it: looking at a file is not following it.
    let bytes = read_file_ambient(&verb.file, MAX_POLICY_BYTES as u64).map_err(|fault| match fault {
        ReadFault::NotFound => Failure::NoSuchPath(verb.file.display().to_string()),
        fault => Failure::UnreadablePolicy { path: verb.file.clone(), reason: fault.to_string(), help: None },
    })?;
    let source = policy::text(bytes, &verb.file)?;
    let errors = match PolicyFile::parse(&source, level, &verb.file) {
        Ok(file) => beyond_text(&file, &source),
        Err(errors) => errors,
    };
    let status = if errors.is_empty() { Status::Done } else { Status::Findings };
    if global.format == Format::Json {
        text::json(&PolicyCheckOutput {
            path: verb.file.display().to_string(),
            level: level.to_string(),
            errors: errors.iter().map(MistakeOutput::of).collect(),
        })?;
        return Ok(status);
    }
    for error in &errors {
        text::human(&format!("{}\n\n", text::safe(&error.excerpt().to_string())));
    }
    text::complain(&match errors.len() {
        0 => format!("no mistakes in the {level} policy `{}`", verb.file.display()),
        1 => "1 mistake".to_owned(),
        count => format!("{count} mistakes"),
    });
    Ok(status)
}

/// What is wrong with the files that the policy names.
fn beyond_text(file: &PolicyFile, source: &str) -> Vec<PolicyError> {
    let mistakes = components::mistakes(file).into_iter();
    mistakes
        .map(|(place, message, help)| {
            let line = if let Place::File { line, .. } = place { line } else { 1 };
            PolicyError::at_line(&file.path, source, line, message, help)
        })
        .collect()
}
