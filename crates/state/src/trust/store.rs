use super::{FolderId, TrustError, TrustRecord};
use crate::OwnerDir;
use serde::{Deserialize, Serialize};
use skillgate_core::Digest;
use std::collections::BTreeSet;
use std::path::Path;

/// The file with the trusted folders.
const FILE: &str = "folders.json";
/// The directory with the accepted files, each named by its digest.
const TEXTS: &str = "accepted";
/// The form of the file that this version writes, and the newest that it reads.
const VERSION: u64 = 1;
/// The largest file with folders, and the largest accepted file.
const MAX_BYTES: u64 = 16 << 20;

/// The trust that the user gave, in a directory for the owner alone.
///
/// Every answer is read anew. A change is made under a lock and replaces the file as a whole; accepted texts are on the disk
/// before the file names them, and those that nothing names are removed by the next change.
#[derive(Debug)]
pub struct TrustStore {
    dir: OwnerDir,
    texts: OwnerDir,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u64,
    written_by: String,
    folders: Vec<TrustRecord>,
}

/// What every form of the file says of itself.
#[derive(Deserialize)]
struct Form {
    version: u64,
    #[serde(default)]
    written_by: String,
}

impl TrustStore {
    /// Opens the store, making it when it is not there.
    ///
    /// # Errors
    /// [`TrustError::State`] when somebody else could have written it.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self, TrustError> {
        let dir = OwnerDir::open_ambient(path)?;
        let texts = dir.open_dir(TEXTS)?;
        Ok(Self { dir, texts })
    }

    /// Every folder that is trusted, by its path.
    ///
    /// # Errors
    /// A [`TrustError`]; a file that is there and cannot be understood is never an empty one.
    pub fn records(&self) -> Result<Vec<TrustRecord>, TrustError> {
        let path = self.dir.path_of(FILE)?;
        let Some(bytes) = self.dir.read(FILE, MAX_BYTES)? else { return Ok(Vec::new()) };
        let corrupt = |error: serde_json::Error| TrustError::Corrupt { path: path.clone(), reason: error.to_string() };
        let form: Form = serde_json::from_slice(&bytes).map_err(corrupt)?;
        if form.version > VERSION {
            let (version, written_by) = (form.version, form.written_by);
            return Err(TrustError::Newer { path, written_by, version, known: VERSION });
        }
        let contents: Contents = serde_json::from_slice(&bytes).map_err(corrupt)?;
        Ok(contents.folders)
    }

    /// The trust that covers a folder now: the folder's own, else that of another working tree of its repository.
    ///
    /// # Errors
    /// As [`TrustStore::records`].
    pub fn covering(&self, now: &FolderId) -> Result<Option<TrustRecord>, TrustError> {
        let mut covering: Vec<_> = self.records()?.into_iter().filter(|record| record.identity.covers(now)).collect();
        covering.sort_by_key(|record| record.identity.folder.path != now.folder.path);
        Ok(covering.into_iter().next())
    }

    /// Changes the records as `change` says, with nobody else changing them meanwhile, and keeps the accepted `texts`.
    ///
    /// # Errors
    /// A [`TrustError`]; the records are then what they were.
    pub fn update<T>(&self, texts: &[&[u8]], change: impl FnOnce(&mut Vec<TrustRecord>) -> T) -> Result<T, TrustError> {
        let _lock = self.dir.lock(FILE)?;
        let mut folders = self.records()?;
        let result = change(&mut folders);
        for text in texts {
            let name = Digest::of(text).to_string();
            if self.texts.open_read(&name)?.is_none() {
                self.texts.write_atomic(&name, text)?;
            }
        }
        folders.sort_by(|a, b| a.identity.cmp(&b.identity));
        let named: BTreeSet<String> = named(&folders).map(|digest| digest.to_string()).collect();
        let contents = Contents { version: VERSION, written_by: env!("CARGO_PKG_VERSION").to_owned(), folders };
        self.dir.write_atomic_with(FILE, |file| Ok(serde_json::to_writer_pretty(file, &contents)?))?;
        for name in self.texts.list()?.into_iter().filter(|name| !named.contains(name)) {
            self.texts.remove(&name)?;
        }
        Ok(result)
    }

    /// The bytes of an accepted file; `None` when they are not kept.
    ///
    /// # Errors
    /// [`TrustError::Text`] when what is kept is not that file.
    pub fn text(&self, digest: Digest) -> Result<Option<Vec<u8>>, TrustError> {
        let name = digest.to_string();
        match self.texts.read(&name, MAX_BYTES)? {
            Some(bytes) if Digest::of(&bytes) != digest => Err(TrustError::Text { path: self.texts.path_of(&name)? }),
            bytes => Ok(bytes),
        }
    }
}

fn named(folders: &[TrustRecord]) -> impl Iterator<Item = Digest> {
    folders.iter().flat_map(|record| &record.skills).flat_map(|skill| &skill.files).map(|file| file.digest)
}

#[cfg(all(test, unix))]
#[path = "store_tests.rs"]
mod tests;
