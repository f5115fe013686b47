//! From the name of a directory or a file to the name of a command.

use skillgate_core::{Code, CommandName, Diagnostic, Severity};
use std::ffi::OsStr;

/// The command's name.
pub(crate) fn command_name(name: &OsStr) -> Result<CommandName, Box<Diagnostic>> {
    match name.to_str() {
        Some(name) => checked(name),
        None => Err(not_text()),
    }
}

pub(crate) fn checked(name: &str) -> Result<CommandName, Box<Diagnostic>> {
    CommandName::new(name).map_err(|error| invalid(error.to_string()))
}

pub(crate) fn not_text() -> Box<Diagnostic> {
    invalid("the name is not UTF-8".into())
}

/// What there is to know about a name with a colon, which stands between a source and a name where skills are called.
pub(crate) fn only_in_full(name: &CommandName) -> Option<Diagnostic> {
    name.as_str().contains(':').then(|| {
        Diagnostic::new(
            Code::CommandNameInvalid,
            format!("`{name}` holds `:`, which stands between a source and a name; the skill has to be called in full"),
        )
        .severity(Severity::Warning)
        .help("rename it, or call it with its source, for example `project:NAME`")
    })
}

fn invalid(reason: String) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new(Code::CommandNameInvalid, reason).help("rename it; the name is what the skill is called by"),
    )
}
