//! What a skill asks for, read from its text as the loader reads it.

use crate::pack::skill_paths;
use crate::{PackFile, RequestedAuthority};
use skillgate_core::{Guarded, Severity};
use skillgate_format::{Document, Fields, ReadOptions, Template, TemplateOptions, Values};

/// What a SKILL.md asks for, or why that cannot be said.
pub(crate) struct Described {
    pub(crate) requests: RequestedAuthority,
    pub(crate) fault: Option<Fault>,
}

/// A header that cannot be read.
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// What the only skill of some files says of itself.
pub(crate) struct OwnWords {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
}

/// What the text of a skill asks for. What cannot be read asks for nothing that anybody could grant.
#[must_use]
pub fn requested_authority(text: &[u8]) -> RequestedAuthority {
    of("SKILL.md", text).requests
}

pub(crate) fn of(path: &str, text: &[u8]) -> Described {
    let document = Document::read(text, &ReadOptions::default());
    let header = document.frontmatter();
    let tools = match &header.allowed_tools {
        Guarded::Absent => None,
        Guarded::Present(entries) => Some(entries.value.iter().map(|entry| entry.value.clone()).collect()),
        Guarded::Unreadable(_) => Some(Vec::new()),
    };
    let fields = serde_json::to_value(Fields(header)).unwrap_or_default();
    let hooks = match (fields.get("hooks"), header.hooks.is_absent()) {
        (None, _) | (_, true) => Vec::new(),
        (Some(serde_json::Value::Object(events)), _) => {
            events.iter().map(|(event, hook)| format!("{event}: {hook}")).collect()
        }
        (Some(other), _) => vec![other.to_string()],
    };
    let body = document.body();
    let filled = Template::parse(&body, &TemplateOptions::default());
    let filled = filled.fill(&Values::default());
    let injections = filled.injections().iter().map(|injection| injection.source.clone()).collect();
    let error = document.diagnostics().iter().find(|found| found.severity == Severity::Error);
    let lost = document.header_state().is_lost();
    let fault = error.filter(|_| lost).map(|found| {
        let place = document.position(found.span.map_or(0, |span| span.start));
        Fault { path: path.to_owned(), line: place.line, column: place.column, message: found.message.clone() }
    });
    Described { requests: RequestedAuthority { tools, injections, hooks }, fault }
}

/// The words of the one skill that some files have; `None` when they have none or several.
pub(crate) fn only_skill(files: &[PackFile]) -> Option<OwnWords> {
    let mut paths = skill_paths(files.iter().map(|file| file.path.as_str()));
    let (Some(path), None) = (paths.pop(), paths.pop()) else { return None };
    let file = files.iter().find(|file| file.path == path)?;
    let document = Document::read(&file.bytes, &ReadOptions::default());
    let header = document.frontmatter();
    let is_version = |text: &String| crate::PackInfo::new("x", text.as_str()).is_ok();
    let is_name = |text: &String| crate::PackInfo::new(text.as_str(), "0.0.0").is_ok();
    Some(OwnWords {
        name: header.name.as_ref().map(|field| field.value.clone()).filter(is_name),
        version: header.version.as_ref().map(|field| field.value.clone()).filter(is_version),
    })
}
