//! Reading one resource, and whether it is what was promised.

use super::connection::{Connection, Trouble};
use super::index::Listed;
use super::text_only;
use crate::finding::{Finding, FindingCode, shown};
use rmcp::model::{ReadResourceRequestParams, ResourceContents};
use skillgate_core::Digest;

/// Reads the text of one resource.
pub(super) async fn text(connection: &Connection, uri: &str) -> Result<String, Trouble> {
    let what = format!("resources/read of `{}`", shown(uri));
    let answer = connection.ask(&what, connection.peer.read_resource(ReadResourceRequestParams::new(uri))).await?;
    let item = |finding: Finding| Trouble::Item(finding.about(uri));
    let mut found = None;
    for contents in answer.contents {
        match contents {
            ResourceContents::TextResourceContents { uri: of, text, .. } if of == uri && found.is_none() => {
                found = Some(text);
            }
            ResourceContents::TextResourceContents { uri: of, .. } if of == uri => {
                return Err(item(Finding::new(FindingCode::DuplicateUri, "the answer holds two texts for it")));
            }
            ResourceContents::BlobResourceContents { uri: of, .. } if of == uri => {
                return Err(item(Finding::new(FindingCode::Binary, "it is binary, and a skill is text")));
            }
            // What was not asked for.
            _ => {}
        }
    }
    let bound = connection.limits.skill_bytes;
    match found {
        None => {
            Err(item(Finding::new(FindingCode::Protocol, "the answer holds nothing for the URI that was asked for")))
        }
        Some(text) if text.len() > bound => Err(item(Finding::new(
            FindingCode::TooLarge,
            format!("it has {} bytes; a skill has at most {bound}", text.len()),
        ))),
        Some(text) if text.trim().is_empty() => Err(item(Finding::new(FindingCode::Empty, "there is no text in it"))),
        Some(text) => Ok(text),
    }
}

/// Whether a text is the one that was listed: by its size, its digest, and what its header says.
pub(super) fn verify(listed: &Listed, name: &str, text: &str) -> Result<(), Box<Finding>> {
    let changed = |message: String| Err(Box::new(Finding::new(FindingCode::Changed, message).about(&listed.uri)));
    if let Some(size) = listed.size
        && size != text.len() as u64
    {
        return changed(format!("it has {} bytes, and the list says {size}", text.len()));
    }
    if let Some(promised) = &listed.digest {
        let digest = format!("sha256:{}", Digest::of(text.as_bytes()));
        if digest != *promised {
            return changed(format!("its digest is {digest}, and the list says {}", shown(promised)));
        }
    }
    let document = text_only::document(name, text);
    let header = document.frontmatter();
    let differs = |key: &str, promised: &Option<String>, found: Option<&str>| {
        promised.as_deref().is_some_and(|promised| found != Some(promised)).then(|| key.to_owned())
    };
    let found = |field: &Option<skillgate_core::Field<String>>| field.as_ref().map(|field| field.value.clone());
    let differing = differs("name", &listed.name, found(&header.name).as_deref())
        .or_else(|| differs("description", &listed.description, found(&header.description).as_deref()));
    match differing {
        None => Ok(()),
        Some(key) => Err(Box::new(
            Finding::new(FindingCode::HeaderDiffers, format!("the list shows another `{key}` than its own text"))
                .about(&listed.uri)
                .help("the server shows people one thing and gives models another: do not use it"),
        )),
    }
}
