//! Skills that a source holds itself, loaded like files.

use crate::load::{LoadOptions, Loaded};
use crate::sources::HeldSkill;
use crate::{SkillRoots, name};
use skillgate_core::{Code, Diagnostic, Digest, LoadFailure, LoadedFrom, Skill, SkillId};
use skillgate_format::{Document, ReadOptions};
use std::path::PathBuf;

impl SkillRoots {
    /// Reads the texts; what cannot be a skill is a failure, as it is for a file.
    pub(crate) fn load_texts(&self, options: &LoadOptions, loaded: &mut Loaded) {
        for (source, text) in &self.texts {
            let path = PathBuf::from(&text.origin);
            let failed =
                |diagnostic| LoadFailure { source: *source, name: text.name.clone(), path: path.clone(), diagnostic };
            match name::checked(&text.name) {
                _ if text.text.len() as u64 > options.max_file_bytes => {
                    let message = format!("it has more than {} bytes, the limit for a skill", options.max_file_bytes);
                    loaded.failures.push(failed(Diagnostic::new(Code::FileTooLarge, message)));
                }
                Err(diagnostic) => loaded.failures.push(failed(*diagnostic)),
                Ok(command) => {
                    let document = Document::read(text.text.as_bytes(), &read_options(text, options));
                    loaded.skills.push(Skill {
                        id: SkillId { source: *source, command },
                        loaded_from: LoadedFrom::Skills,
                        head_digest: Digest::of(text.text.as_bytes()),
                        bytes: text.text.len() as u64,
                        header: document.header_state(),
                        label: document.label().to_owned(),
                        description: document.description().map(|description| description.text.to_owned()),
                        diagnostics: document.diagnostics().to_vec(),
                        frontmatter: document.into_frontmatter(),
                        path,
                        directory: None,
                        plugin: None,
                    });
                }
            }
        }
    }

    /// The text of a skill that is no file, if it is one of these.
    pub(crate) fn text_of(&self, skill: &Skill) -> Option<&HeldSkill> {
        let is_of = |(source, text): &&(skillgate_core::Source, HeldSkill)| {
            *source == skill.id.source
                && text.name == skill.id.command.as_str()
                && skill.path.as_os_str() == text.origin.as_str()
        };
        self.texts.iter().find(is_of).map(|(_, text)| text)
    }
}

/// What the reader of the format is told about a text.
pub(crate) fn read_options(text: &HeldSkill, options: &LoadOptions) -> ReadOptions {
    ReadOptions {
        profile: options.profile,
        max_file_bytes: options.max_file_bytes,
        max_header_bytes: options.max_header_bytes,
        directory_name: Some(text.name.clone()),
        file_name: None,
        loaded_from: LoadedFrom::Skills,
    }
}
