//! The user's trust: where it is kept, and what it says of a project.

use crate::args::Global;
use crate::context;
use crate::exit::Failure;
use crate::text;
use skillgate_policy::file::Policy;
use skillgate_runtime::ProjectTrust;
use skillgate_state::{FolderId, TrustError, TrustRecord, TrustStore};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

/// The directory of the store that holds the trust.
const DIRECTORY: &str = "trust";

/// The trust store; made when it is not there.
pub(crate) fn store(global: &Global, policy: &Policy) -> Result<TrustStore, Failure> {
    let store = context::store(global, policy).ok_or(Failure::NoHome)?;
    Ok(TrustStore::open_ambient(store.join(DIRECTORY))?)
}

/// How far the project is trusted. Where that cannot be found out it is not, and the user is told why.
pub(crate) fn of_project(global: &Global, policy: &Policy, root: &Path) -> ProjectTrust {
    if global.trust {
        return ProjectTrust::Session;
    }
    match looked_up(global, policy, root) {
        Ok(Some(record)) => ProjectTrust::Folder(record),
        Ok(None) => ProjectTrust::Unknown,
        Err(error) => {
            text::complain(&format!("skillgate: no project is trusted: {}", text::safe(&error.to_string())));
            if let Some(help) = error.help() {
                text::complain(&format!("help: {}", text::safe(&help)));
            }
            ProjectTrust::Unknown
        }
    }
}

/// How the user trusts a plugin's directory for good. Where that cannot be found out it is not trusted.
pub(crate) fn of_plugin(global: &Global, policy: &Policy, root: &Path) -> Option<TrustRecord> {
    looked_up(global, policy, root).ok().flatten()
}

fn looked_up(global: &Global, policy: &Policy, root: &Path) -> Result<Option<TrustRecord>, TrustError> {
    // A folder that trust cannot be given to has none, and without a home nothing is kept.
    let (Ok(now), Some(store)) = (FolderId::of_ambient(root), context::store(global, policy)) else { return Ok(None) };
    TrustStore::open_ambient(store.join(DIRECTORY))?.covering(&now)
}

/// Asks the person at the terminal; without one, and for every answer but a clear yes, the answer is no.
pub(crate) fn agrees(global: &Global, question: &str) -> bool {
    if global.no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let asked = write!(io::stderr(), "{question}? [yes/no] ").and_then(|()| io::stderr().flush());
    let mut line = String::new();
    asked.is_ok() && io::stdin().lock().read_line(&mut line).is_ok() && matches!(line.trim(), "yes" | "y")
}

/// A word as a shell reads it back.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '@' | '%' | ',');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The command that gives trust in a folder.
pub(crate) fn add_command(folder: &Path) -> String {
    command("add", folder)
}

/// The command that shows what changed in a folder.
pub(crate) fn review_command(folder: &Path) -> String {
    command("review", folder)
}

fn command(verb: &str, folder: &Path) -> String {
    format!("skillgate trust {verb} {}", shell_word(&folder.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_quoted_where_a_shell_would_read_it_otherwise() {
        for (folder, written) in [
            ("/home/ada/garden", "/home/ada/garden"),
            ("/home/ada/my garden", "'/home/ada/my garden'"),
            ("/x/$(touch y)", "'/x/$(touch y)'"),
            ("/it's", r"'/it'\''s'"),
            ("/~x", "'/~x'"),
        ] {
            assert_eq!(add_command(Path::new(folder)), format!("skillgate trust add {written}"));
        }
    }
}
