//! Entries of a header's tool lists that no tool answers to, as the gate reads them.

use skillgate_core::{Code, Diagnostic, Field};
use skillgate_format::Document;
use skillgate_policy::ToolPattern;

/// Entries that are no pattern, and names in the wrong case. A name that is not known at all may be a tool of the host's own.
pub(super) fn findings(document: &Document) -> Vec<Diagnostic> {
    let front = document.frontmatter();
    let lists = [front.allowed_tools.present(), front.disallowed_tools.present()];
    let entries = lists.into_iter().flatten().flat_map(|list| list.iter());
    // The reader and the scan say more of a placeholder.
    entries.filter(|entry| !entry.value.contains(['<', '{'])).filter_map(finding).collect()
}

fn finding(entry: &Field<String>) -> Option<Diagnostic> {
    let (message, instead) = match ToolPattern::parse(&entry.value) {
        Err(error) => (error.to_string(), error.suggestion()),
        Ok(pattern) => {
            let unknown = pattern.unknown_tool()?;
            let instead = unknown.suggestion.filter(|instead| instead.eq_ignore_ascii_case(pattern.text()))?;
            (format!("no tool is called `{}`; the case of letters counts", unknown.name), Some(instead))
        }
    };
    let found = Diagnostic::new(Code::ToolPatternInvalid, message).at(entry.span);
    Some(match instead {
        Some(instead) => found.help(format!("write `{instead}`")),
        None => found.help("write a tool, such as `Read` or `Bash(git status:*)`"),
    })
}
