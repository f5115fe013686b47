//! A conversation between two runs of the program: what is kept of it, how it is written, and what of it may come back.
//!
//! A save holds what skills took away and what they said, never what was granted: restoring computes every authority again,
//! under the host as it is then. So whatever became of a save in between, it gives no more than the host gives now.

mod canonical;
mod error;
mod form;
mod restore;
#[cfg(test)]
mod tests;

pub use error::SaveError;
pub use restore::{NarrowedSkill, RefusedSkill, RestoreReport, RestoredSkill, Standing};

use crate::invoked::{AgentId, InvokedSkills};
use crate::scope::TurnScopes;
use form::Form;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillgate_core::Digest;
use skillgate_state::{OwnerDir, StateError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The version of a save that this program writes, and the highest it reads. A higher one is written only when a reader that
/// does not know it would misread it; what a reader may leave aside is a new key, and what it may not is named in
/// `must_understand`.
pub const SAVE_VERSION: u32 = 1;

/// Bytes of a save.
pub const MAX_SAVE_BYTES: u64 = 64 * 1024 * 1024;

/// Which skills waited for a file and wait no more, and which directories of skills were found on the way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Activation {
    /// Qualified names of the skills.
    pub skills: BTreeSet<String>,
    /// The directories, as paths.
    pub directories: BTreeSet<String>,
    /// The files that were touched last, from the project's root, the newest last; for explanations.
    pub touched: Vec<String>,
    pub(crate) carried: Map<String, Value>,
}

/// A hook that runs once and has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpentHook {
    /// Whose it was.
    pub agent: AgentId,
    /// The skill, as `source:name`.
    pub skill: String,
    /// The event.
    pub event: String,
    /// Digest of what the handler says.
    pub handler: Digest,
}

/// Everything that is kept of a conversation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SavedConversation {
    /// Its id.
    pub session_id: Option<String>,
    /// The skills that were invoked in it.
    pub invoked: InvokedSkills,
    /// The skills in use.
    pub scopes: TurnScopes,
    /// What touched files brought.
    pub activation: Activation,
    /// How often each skill was used, by its qualified name.
    pub usage: BTreeMap<String, u64>,
    /// The hooks that do not run again.
    pub spent_hooks: BTreeSet<SpentHook>,
    /// Keys of the save it was restored from that this version does not know; they are written again.
    pub(crate) carried: Map<String, Value>,
}

/// A conversation in the form that is written, with its digest.
#[derive(Clone, PartialEq, Debug)]
pub struct Save {
    form: Form,
    value: Value,
    digest: Digest,
}

impl SavedConversation {
    /// The form that is written; `at_ms` is the host's clock, in milliseconds since 1970.
    ///
    /// # Errors
    /// [`SaveError::Malformed`] when a part cannot be written as JSON, which no value that was restored is.
    pub fn save(&self, at_ms: u64) -> Result<Save, SaveError> {
        let form = Form::of(self, at_ms);
        let value = serde_json::to_value(&form).map_err(SaveError::of_json)?;
        let digest = canonical::digest(&value);
        let value = with_digest(value, digest);
        Ok(Save { form, value, digest })
    }
}

fn with_digest(mut value: Value, digest: Digest) -> Value {
    if let Value::Object(members) = &mut value {
        members.insert("digest".to_owned(), Value::String(digest.to_string()));
    }
    value
}

impl Save {
    /// Reads a save.
    ///
    /// # Errors
    /// A [`SaveError`] that says what is wrong with it and where; nothing of it is used then.
    pub fn parse(bytes: &[u8]) -> Result<Self, SaveError> {
        if bytes.len() as u64 > MAX_SAVE_BYTES {
            return Err(SaveError::TooLarge { limit: MAX_SAVE_BYTES });
        }
        Self::from_value(serde_json::from_slice(bytes).map_err(SaveError::of_json)?)
    }

    /// As [`Save::parse`], for one that was read as JSON already.
    ///
    /// # Errors
    /// As [`Save::parse`].
    pub fn from_value(value: Value) -> Result<Self, SaveError> {
        let Value::Object(mut members) = value else { return Err(SaveError::NotASave) };
        form::check_version(&members)?;
        let stated = members.remove("digest");
        let stated = stated.as_ref().and_then(Value::as_str).and_then(|text| text.parse().ok());
        let value = Value::Object(members);
        let digest = canonical::digest(&value);
        match stated {
            Some(stated) if stated == digest => {}
            _ => return Err(SaveError::Changed { stated, found: digest }),
        }
        let form = Form::deserialize(&value).map_err(SaveError::of_json)?;
        form.check()?;
        Ok(Self { form, value: with_digest(value, digest), digest })
    }

    /// What the conversation had activated.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.form.activation.clone().into()
    }

    /// The digest of all that it says. Who keeps it apart from the save can tell whether the save is the one that was written.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The save as JSON.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The save as it is written.
    ///
    /// # Errors
    /// [`SaveError::TooLarge`]: nobody could read it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        let mut bytes = self.value.to_string().into_bytes();
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_SAVE_BYTES {
            return Err(SaveError::TooLarge { limit: MAX_SAVE_BYTES });
        }
        Ok(bytes)
    }

    /// Replaces the file `name` of a directory by the save, as a whole.
    ///
    /// # Errors
    /// [`SaveError::TooLarge`] or [`SaveError::State`]; the file is then what it was.
    pub fn write(&self, directory: &OwnerDir, name: &str) -> Result<(), SaveError> {
        Ok(directory.write_atomic(name, &self.to_bytes()?)?)
    }

    /// Reads the file `name` of a directory; `None` when there is none.
    ///
    /// # Errors
    /// As [`Save::parse`], and [`SaveError::State`] for a file that others can reach.
    pub fn read(directory: &OwnerDir, name: &str) -> Result<Option<Self>, SaveError> {
        match directory.read(name, MAX_SAVE_BYTES) {
            Ok(bytes) => bytes.as_deref().map(Self::parse).transpose(),
            Err(StateError::TooLarge { limit, .. }) => Err(SaveError::TooLarge { limit }),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the save to a path. Its directory is made for the owner alone where it is not there, and refused where others can
    /// reach it: a save holds what was said.
    ///
    /// # Errors
    /// As [`Save::write`].
    pub fn write_ambient(&self, path: &Path) -> Result<(), SaveError> {
        let (directory, name) = place_of(path)?;
        self.write(&directory, name)
    }

    /// Reads the save at a path; `None` when there is none.
    ///
    /// # Errors
    /// As [`Save::read`].
    pub fn read_ambient(path: &Path) -> Result<Option<Self>, SaveError> {
        let (directory, name) = place_of(path)?;
        Self::read(&directory, name)
    }
}

fn place_of(path: &Path) -> Result<(OwnerDir, &str), SaveError> {
    let unusable = || StateError::PathNotUsable { path: path.to_path_buf() };
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).ok_or_else(unusable)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((OwnerDir::open_ambient(parent.unwrap_or(Path::new(".")))?, name))
}
