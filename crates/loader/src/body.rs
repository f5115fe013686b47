use crate::file::{self, ReadFault};
use crate::links::Places;
use crate::root::{OpenRoot, RootState};
use crate::{LoadOptions, SkillRoots, document};
use cap_std::fs::{Dir, File};
use skillgate_core::{Diagnostic, Digest, Skill};
use skillgate_format::Document;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a skill's text cannot be used now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The file is not the one that was decided on.
    #[error("`{}` changed since it was loaded", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Digest of what was decided on.
        expected: Digest,
        /// Digest of what is there now.
        found: Digest,
    },
    /// The file is gone.
    #[error("`{}` is gone since it was loaded", .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read any more.
    #[error("`{}`: {}", .path.display(), .diagnostic.message)]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        diagnostic: Box<Diagnostic>,
    },
    /// The skill was not loaded from these roots.
    #[error("`{}` is not below a directory of skills that is open", .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
}

impl SkillRoots {
    /// The skill's file as a document, read again and with the options of the load; its body is what is expanded.
    ///
    /// # Errors
    /// As [`SkillRoots::read`].
    pub fn document(&self, skill: &Skill, options: &LoadOptions) -> Result<Document, BodyError> {
        let bytes = self.read(skill, options)?;
        Ok(Document::read(&bytes, &document::read_options(skill.loaded_from, &skill.path, options)))
    }

    /// The whole file of a skill, read again under the rules it was loaded by, if it is still the text that was loaded.
    ///
    /// # Errors
    /// A [`BodyError`]; [`BodyError::Changed`] when the digest differs from [`Skill::digest`].
    pub fn read(&self, skill: &Skill, options: &LoadOptions) -> Result<Vec<u8>, BodyError> {
        let path = || skill.path.clone();
        let is_of = |root: &&OpenRoot| {
            root.spec.source == skill.id.source
                && root.spec.kind.loaded_from() == skill.loaded_from
                && skill.path.starts_with(&root.spec.path)
        };
        let root = self.roots.iter().find(is_of).ok_or_else(|| BodyError::NotOurs { path: path() })?;
        let RootState::Open { dir, places } = &root.state else { return Err(BodyError::NotOurs { path: path() }) };
        let bytes = open_along(dir, places, &root.spec.path, skill)
            .and_then(|file| Ok(file::read(file, options.max_file_bytes)?.bytes))
            .map_err(|fault| match fault {
                Fault::Read(ReadFault::NotFound) => BodyError::Gone { path: path() },
                Fault::Read(fault) => BodyError::Unreadable { path: path(), diagnostic: Box::new(fault.diagnostic()) },
                Fault::Link(diagnostic) => BodyError::Unreadable { path: path(), diagnostic },
            })?;
        let found = Digest::of(&bytes);
        if found == skill.digest {
            Ok(bytes)
        } else {
            Err(BodyError::Changed { path: path(), expected: skill.digest, found })
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Read(#[from] ReadFault),
    #[error("{}", .0.message)]
    Link(Box<Diagnostic>),
}

/// Opens the skill's file component by component from the root's handle, each link checked as at the load.
fn open_along(root: &Arc<Dir>, places: &Places, root_path: &Path, skill: &Skill) -> Result<File, Fault> {
    let rel = skill.path.strip_prefix(root_path).unwrap_or(&skill.path);
    let mut components = rel.components();
    let Some(name) = components.next_back().map(|name| Path::new(name.as_os_str())) else {
        return Err(ReadFault::NotFound.into());
    };
    let mut dir = Arc::clone(root);
    let mut path = root_path.to_path_buf();
    for component in components {
        path.push(component);
        dir = match dir.open_dir(component) {
            Ok(inner) => Arc::new(inner),
            Err(error) if is_link(&dir, Path::new(component.as_os_str())) => match places.open_dir(&path) {
                Ok(Some((inner, _))) => inner,
                Ok(None) => return Err(file::fault(error).into()),
                Err(diagnostic) => return Err(Fault::Link(diagnostic)),
            },
            Err(error) => return Err(file::fault(error).into()),
        };
    }
    match file::open(&dir, name) {
        Err(_) if is_link(&dir, name) => {
            let own = skill.directory.as_deref();
            let path = own.map_or_else(|| skill.path.clone(), |own| own.join(name));
            places.open_file(&path, own, &file::options()).map_err(Fault::Link)
        }
        opened => Ok(opened.map_err(file::fault)?),
    }
}

fn is_link(dir: &Dir, name: &Path) -> bool {
    dir.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink())
}
