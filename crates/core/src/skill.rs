use crate::{CommandName, Diagnostic, Digest, HeaderState, KeptText, LazyFrontmatter, LoadedFrom, Source};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Names one skill among all sources.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct SkillId {
    /// Where it comes from.
    pub source: Source,
    /// What it is invoked by.
    pub command: CommandName,
    /// The name that tells it from the others, where its source has further skills that are invoked by the same word: `DIR:NAME` of
    /// one deeper in the project, `SOURCE:NAME#2` otherwise. A catalogue gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<Box<str>>,
}

impl SkillId {
    /// The only skill of this name in its source.
    #[must_use]
    pub const fn new(source: Source, command: CommandName) -> Self {
        Self { source, command, apart: None }
    }

    /// What people and models call it: the bare name while no other skill of its source has it.
    #[must_use]
    pub fn called(&self) -> &str {
        self.apart.as_deref().unwrap_or(self.command.as_str())
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.apart {
            Some(name) => f.write_str(name),
            None => write!(f, "{}:{}", self.source, self.command),
        }
    }
}

/// The plugin that brings a skill.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Plugin {
    /// Its name, which stands before the names of its skills: `NAME:skill`.
    pub name: String,
    /// Its directory.
    pub root: PathBuf,
    /// The directory for what it keeps between runs, which need not be there.
    pub data: Option<PathBuf>,
}

/// A skill that was found and read, also when something in it is broken: [`Skill::diagnostics`] says what.
///
/// The body is not kept, and not read before somebody uses it; [`Skill::head_digest`] says what is read later to belong to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Skill {
    /// Source and command name.
    pub id: SkillId,
    /// In what kind of file it was found.
    pub loaded_from: LoadedFrom,
    /// The file, for people; it is opened through a directory handle, never by this path.
    pub path: PathBuf,
    /// The skill's own directory, for skills that have one.
    pub directory: Option<PathBuf>,
    /// The plugin it belongs to, for skills of one.
    pub plugin: Option<Plugin>,
    /// The header's keys.
    pub frontmatter: LazyFrontmatter,
    /// What became of the header.
    pub header: HeaderState,
    /// The label: the header's `name`, else the command's name.
    pub label: KeptText,
    /// The description: the header's, or one taken from the body.
    pub description: Option<KeptText>,
    /// Digest of what the skill was made of: the header with its delimiters where that describes the skill, else the whole
    /// file. A decision is about a text, so it takes the digest of all of it, when it is read.
    pub head_digest: Digest,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

impl Skill {
    /// Whether a model may be offered the skill: it has a readable header or none at all, a description, and its author did
    /// not exclude models.
    #[must_use]
    pub fn model_invocable(&self) -> bool {
        use crate::Guarded;
        let excluded = match self.frontmatter.disable_model_invocation() {
            Guarded::Absent => false,
            Guarded::Present(field) => field.value,
            Guarded::Unreadable(_) => true,
        };
        !excluded && !self.header.is_lost() && self.description.is_some()
    }

    /// Whether a user may invoke the skill by typing its name.
    #[must_use]
    pub fn user_invocable(&self) -> bool {
        use crate::Guarded;
        match self.frontmatter.user_invocable() {
            Guarded::Absent => true,
            Guarded::Present(field) => field.value,
            Guarded::Unreadable(_) => false,
        }
    }
}

/// Something that should have been a skill and could not be read at all, kept with its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LoadFailure {
    /// Where it would have come from.
    pub source: Source,
    /// The name it would have had, as found on disk.
    pub name: String,
    /// The file or directory.
    pub path: PathBuf,
    /// Why it could not be read.
    pub diagnostic: Diagnostic,
}
