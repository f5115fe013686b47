//! Skills as the protocol names them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use skillgate_core::{Skill, Source};
use skillgate_registry::{Catalogue, Entry, State};
use std::sync::Arc;

/// What stands in a segment of a URI as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// `skill://NAME/SKILL.md`.
pub(super) fn uri(skill: &Skill) -> String {
    format!("skill://{}/SKILL.md", segment(skill.id.command.as_str()))
}

/// The URI of a file of the skill.
pub(super) fn file_uri(skill: &Skill, path: &str) -> String {
    let path: Vec<String> = path.split('/').map(segment).collect();
    format!("skill://{}/{}", segment(skill.id.command.as_str()), path.join("/"))
}

/// The skill and the path in it that a URI names, when a model is told of that skill.
pub(super) fn of_uri(catalogue: &Catalogue, uri: &str) -> Option<(Arc<Skill>, String)> {
    let (name, path) = uri.strip_prefix("skill://")?.split_once('/')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    let (name, path) = (decoded(name)?, decoded(path)?);
    let entry = catalogue.named(&name).iter().find(|entry| entry.is_offered_to_model())?;
    Some((Arc::clone(entry.skill()), path))
}

/// The skills that a model is told of, by name.
pub(super) fn offered(catalogue: &Catalogue) -> Vec<Arc<Skill>> {
    catalogue.offered_to_model().map(|entry| Arc::clone(entry.skill())).collect()
}

/// The skills whose name a user can type, by name.
pub(super) fn typed(catalogue: &Catalogue) -> Vec<Arc<Skill>> {
    let leads_to_it = |entry: &&Arc<Entry>| matches!(entry.state(), State::Active | State::Conditional);
    let open = catalogue.entries().iter().filter(leads_to_it).filter(|entry| entry.is_open_to_user());
    open.map(|entry| Arc::clone(entry.skill())).collect()
}

/// What a person reads as the name of a skill. One from a server is called what it is invoked by, with where it is from: its own
/// title is the server's word.
pub(super) fn title(skill: &Skill) -> String {
    if skill.id.source != Source::Mcp {
        return skill.label.as_str().to_owned();
    }
    let name = skill.id.command.as_str();
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, _)) => format!("{name} (from the MCP server {server})"),
        None => format!("{name} (from an MCP server)"),
    }
}

/// The key of a skill in a list.
pub(super) fn key(skill: &Arc<Skill>) -> String {
    skill.id.command.to_string()
}
