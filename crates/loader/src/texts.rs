//! Skills that a source holds itself, loaded like files.

use crate::load::{LoadOptions, Loaded};
use crate::sources::{CallBody, FilesError, HeldExtras, HeldSkill};
use crate::{SkillRoots, name};
use skillgate_core::{Code, Diagnostic, Digest, LoadFailure, LoadedFrom, RelPath, Skill, SkillId, Source};
use skillgate_format::{Document, ReadOptions};
use std::borrow::Cow;
use std::path::PathBuf;

/// A skill that a source holds itself.
#[derive(Debug)]
pub(crate) struct HeldText {
    pub(crate) source: Source,
    pub(crate) text: HeldSkill,
    pub(crate) extras: HeldExtras,
}

impl SkillRoots {
    /// Reads the texts; what cannot be a skill is a failure, as it is for a file.
    pub(crate) fn load_texts(&self, options: &LoadOptions, loaded: &mut Loaded) {
        loaded.failures.extend(self.failures.iter().cloned());
        for HeldText { source, text, extras } in &self.texts {
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
                    let document = for_source(*source, document);
                    loaded.skills.push(Skill {
                        id: SkillId::new(*source, command),
                        loaded_from: LoadedFrom::Skills,
                        head_digest: Digest::of(text.text.as_bytes()),
                        bytes: text.text.len() as u64,
                        header: document.header_state(),
                        label: document.label().into(),
                        description: document.description().map(|description| description.text.into()),
                        diagnostics: document.diagnostics().to_vec(),
                        frontmatter: document.into_frontmatter().into(),
                        path,
                        directory: extras.files.as_ref().map(|files| files.directory()),
                        plugin: None,
                    });
                }
            }
        }
    }

    /// The text of a skill that is no file, if it is one of these.
    pub(crate) fn held(&self, skill: &Skill) -> Option<&HeldText> {
        let is_of = |held: &&HeldText| {
            held.source == skill.id.source
                && held.text.name == skill.id.command.as_str()
                && skill.path.as_os_str() == held.text.origin.as_str()
        };
        self.texts.iter().find(is_of)
    }

    /// Takes the files beside a skill that is no file to disk, so that its directory can be named and mounted. A skill that is a
    /// file has them there.
    ///
    /// # Errors
    /// A [`FilesError`] with the step and the path; the skill is then not used.
    pub fn materialise(&self, skill: &Skill) -> Result<(), FilesError> {
        let files = self.held(skill).and_then(|held| held.extras.files.as_ref());
        files.map_or(Ok(()), |files| files.materialise())
    }

    /// What makes the text of each call out of its arguments, for a skill that has such a one.
    #[must_use]
    pub fn call_body(&self, skill: &Skill) -> Option<&CallBody> {
        self.held(skill).and_then(|held| held.extras.call.as_ref())
    }

    /// The ed25519 keys whose signatures a skill that is no file has.
    #[must_use]
    pub fn signers(&self, skill: &Skill) -> &[[u8; 32]] {
        self.held(skill).map_or(&[], |held| &held.extras.signers)
    }
}

impl HeldText {
    /// The whole text, its body made where it is not there yet.
    pub(crate) fn whole(&self) -> Result<Vec<u8>, String> {
        let mut bytes = self.text.text.as_bytes().to_vec();
        if let Some(body) = &self.extras.body {
            bytes.extend(body.make()?.into_bytes());
        }
        Ok(bytes)
    }

    /// The files beside it.
    pub(crate) fn beside(&self) -> Vec<(RelPath, Cow<'_, [u8]>)> {
        self.extras.files.as_ref().map(|files| files.contents()).unwrap_or_default()
    }
}

/// A document as its source may have it: what a server of others gives is text, whatever its header asks for.
pub(crate) fn for_source(source: Source, mut document: Document) -> Document {
    if source == Source::Mcp {
        document.without_effects();
    }
    document
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
