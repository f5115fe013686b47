use crate::{ExtractError, Extraction, ExtractionName, remove_leftovers_ambient};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The directory of a process, made when the first skill is used. Where it will be is known before, and nothing is there then.
#[derive(Debug)]
pub struct LazyExtraction {
    name: ExtractionName,
    parent: PathBuf,
    begun: Mutex<Option<Extraction>>,
}

impl LazyExtraction {
    /// A directory inside `parent`, under a name that nobody can guess.
    ///
    /// # Errors
    /// [`ExtractError::Io`] when the system gives no random bytes.
    pub fn inside(parent: &Path) -> Result<Self, ExtractError> {
        Ok(Self { name: ExtractionName::reserve(parent)?, parent: parent.to_path_buf(), begun: Mutex::new(None) })
    }

    /// Where the files of a skill will be.
    #[must_use]
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.name.path().join(name)
    }

    /// As [`Extraction::extract`]; the directory is made when it is not there yet, and what dead processes left beside it goes.
    ///
    /// # Errors
    /// As [`Extraction::begin_ambient`] and [`Extraction::extract`]. After a failure to begin, the next use tries again.
    pub fn extract<'f>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<PathBuf, ExtractError> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let extraction = match begun.take() {
            Some(extraction) => extraction,
            None => {
                // Leftovers that cannot be listed or removed are in nobody's way.
                let _left_over = remove_leftovers_ambient(&self.parent);
                Extraction::begin_as_ambient(&self.name)?
            }
        };
        begun.insert(extraction).extract(name, files)
    }
}
