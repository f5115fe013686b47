//! The texts of skills as resources, their index, and the lists of the skills extension. Reading runs nothing, and what the rules say
//! about a skill holds for its text too: the lists leave out what may not be read.

use super::refused::Refused;
use super::skill_entry::{file_uri, of_uri, offered, title, uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    ReadResourceResult, Resource, ResourceContents, Skill as Listed, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::json;
use skillgate_core::{Digest, Skill};
use skillgate_runtime::{InvokeError, Session};
use std::sync::Arc;

pub(super) const INDEX: &str = "skill://index.json";
const MARKDOWN: &str = "text/markdown";
/// The largest file of a skill that is given, bytes.
const MAX_FILE: usize = 4 << 20;

/// The index, as a resource of the first page.
pub(super) fn index_resource() -> Resource {
    Resource::new(INDEX, "index").with_title("Index of skills").with_mime_type("application/json")
}

pub(super) fn resource(skill: &Skill) -> Resource {
    let resource = Resource::new(uri(skill), skill.id.command.to_string())
        .with_title(title(skill))
        .with_mime_type(MARKDOWN)
        .with_size(skill.bytes);
    match &skill.description {
        Some(description) => resource.with_description(description.as_str()),
        None => resource,
    }
}

/// Reads a resource: the index, a skill's own text, or another file of its directory.
pub(super) fn read(session: &Session, wanted: &str) -> Result<ReadResourceResult, ErrorData> {
    if wanted == INDEX {
        let contents = ResourceContents::text(index(session), INDEX).with_mime_type("application/json");
        return Ok(ReadResourceResult::new(vec![contents]));
    }
    let unknown =
        || ErrorData::resource_not_found(format!("there is no resource `{}`", crate::finding::shown(wanted)), None);
    let (skill, path) = of_uri(&session.catalogue(), wanted).ok_or_else(unknown)?;
    session.decide_reading(&skill).map_err(|error| refused(&error))?;
    if path == "SKILL.md" {
        let text = text(session, &skill)?;
        return Ok(ReadResourceResult::new(vec![ResourceContents::text(text, wanted).with_mime_type(MARKDOWN)]));
    }
    let content = session
        .roots()
        .content(&skill, session.load_options())
        .map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
    // The first is the skill's own text, which has a URI already.
    let file = content.files.into_iter().skip(1).find(|file| file.path == path).ok_or_else(unknown)?;
    if file.bytes.len() > MAX_FILE {
        let message = format!("the file has {} bytes; at most {MAX_FILE} are given", file.bytes.len());
        return Err(ErrorData::invalid_params(message, None));
    }
    let contents = match String::from_utf8(file.bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(text, wanted).with_mime_type(mime(&path)),
        Ok(text) => ResourceContents::blob(STANDARD.encode(text), wanted),
        Err(bytes) => ResourceContents::blob(STANDARD.encode(bytes.as_bytes()), wanted),
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => MARKDOWN,
        Some("json") => "application/json",
        _ => "text/plain",
    }
}

fn refused(error: &InvokeError) -> ErrorData {
    Refused::of(error).error()
}

/// The whole text of a skill's file, as the author wrote it.
fn text(session: &Session, skill: &Skill) -> Result<String, ErrorData> {
    let decided = session.roots().text(skill, session.load_options());
    let decided = decided.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(decided.document.source().to_owned())
}

/// The index in the form of the drafts, which older clients read.
fn index(session: &Session) -> String {
    let skills: Vec<_> = offered(&session.catalogue())
        .iter()
        .filter(|skill| session.may_read(skill).is_ok())
        .filter_map(|skill| {
            // One that is gone since it was listed is not in the index.
            let text = text(session, skill).ok()?;
            Some(json!({
                "name": skill.id.command,
                "type": "skill-md",
                "description": skill.description,
                "url": uri(skill),
                "digest": format!("sha256:{}", Digest::of(text.as_bytes())),
            }))
        })
        .collect();
    json!({"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": skills}).to_string()
}

/// What `skills/get` gives. `None` as in [`listed`].
pub(super) fn got(session: &Session, skill: &Arc<Skill>) -> Result<Option<Listed>, ErrorData> {
    session.decide_reading(skill).map_err(|error| refused(&error))?;
    Ok(listed(session, skill))
}

/// An entry of `skills/list`. `None` for a skill that does not keep the rules of the extension, such as one whose label is not
/// its name; it is still a resource and in the index.
pub(super) fn listed(session: &Session, skill: &Arc<Skill>) -> Option<Listed> {
    let header = &skill.frontmatter;
    let (name, description) = (header.name.as_ref()?, header.description.as_ref()?);
    let content = session.roots().content(skill, session.load_options()).ok()?;
    let files = content.files.iter().enumerate().map(|(position, file)| {
        let uri = if position == 0 { uri(skill) } else { file_uri(skill, &file.path) };
        SkillResource::from_bytes(uri, &file.bytes)
    });
    let mut frontmatter = SkillFrontmatter::new(name.value.clone(), description.value.clone());
    let document = session.roots().text(skill, session.load_options()).ok()?.document;
    for entry in document.entries().iter().filter(|entry| entry.key != "name" && entry.key != "description") {
        frontmatter = frontmatter.with_field(entry.key.clone(), serde_json::to_value(&entry.value).ok()?);
    }
    let listed = Listed::new(uri(skill), frontmatter, SkillResources::Files(files.collect()));
    listed.validate().is_ok().then_some(listed)
}
