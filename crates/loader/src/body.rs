use crate::file::{self, OpenFile, ReadFault};
use crate::links::Places;
use crate::root::{OpenRoot, RootState};
use crate::stamp::{self, Stamp};
use crate::{LoadOptions, SkillRoots, document, texts};
use cap_std::fs::{Dir, File};
use skillgate_core::{Code, Diagnostic, Digest, Skill};
use skillgate_format::{Document, ReadOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a skill's text cannot be used now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The file is not the one that was loaded.
    #[error("`{}` changed since it was loaded", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Digest of what was loaded, [`Skill::head_digest`].
        expected: Digest,
        /// The same of what is there now.
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

/// A skill's text as it is when it is used, and what a decision on it is bound to.
#[derive(Clone, Debug)]
pub struct DecidedText {
    /// The text; its body is what is expanded.
    pub document: Document,
    /// Digest of the file's bytes.
    pub digest: Digest,
}

/// What tells, without opening it, whether a skill's file is still the one that its text was read from: device, inode, size
/// and times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextStamp(pub(crate) Stamp);

impl SkillRoots {
    /// The skill's file as a document, read again and with the options of the load.
    ///
    /// # Errors
    /// As [`SkillRoots::read`].
    pub fn document(&self, skill: &Skill, options: &LoadOptions) -> Result<Document, BodyError> {
        let bytes = self.read(skill, options)?;
        Ok(texts::for_source(skill.id.source, Document::read_owned(bytes, &self.read_options(skill, options))))
    }

    /// [`SkillRoots::document`] with the digest of the whole file, for whoever decides on it.
    ///
    /// # Errors
    /// As [`SkillRoots::read`].
    pub fn text(&self, skill: &Skill, options: &LoadOptions) -> Result<DecidedText, BodyError> {
        Ok(self.stamped_text(skill, options)?.0)
    }

    /// [`SkillRoots::text`] with the stamp of the file that was read: as long as [`SkillRoots::text_stamp`] gives the same, it
    /// is what would be read again. `None` where that cannot be told: a file that was written so lately that another write
    /// could leave its times as they are, and a skill that is no file.
    ///
    /// # Errors
    /// As [`SkillRoots::read`].
    pub fn stamped_text(
        &self,
        skill: &Skill,
        options: &LoadOptions,
    ) -> Result<(DecidedText, Option<TextStamp>), BodyError> {
        let begun = stamp::now();
        let (bytes, stamp) = self.read_stamped(skill, options)?;
        let digest = Digest::of(&bytes);
        let document = Document::read_owned(bytes, &self.read_options(skill, options));
        let document = texts::for_source(skill.id.source, document);
        let stamp = stamp.filter(|stamp| cfg!(unix) && !stamp.may_be_followed(begun)).map(TextStamp);
        Ok((DecidedText { document, digest }, stamp))
    }

    /// The stamp of the skill's file as it is now; `None` for what is no regular file in its own place, such as a link.
    #[must_use]
    pub fn text_stamp(&self, skill: &Skill) -> Option<TextStamp> {
        let (root, dir, _) = self.root_of(skill)?;
        Stamp::of_regular(dir, skill.path.strip_prefix(&root.spec.path).ok()?).map(TextStamp)
    }

    fn read_options(&self, skill: &Skill, options: &LoadOptions) -> ReadOptions {
        match self.held(skill) {
            Some(held) => texts::read_options(&held.text, options),
            None => document::read_options(skill.loaded_from, &skill.path, options),
        }
    }

    /// The whole file of a skill, read again under the rules it was loaded by, if what was loaded of it is still the same: a
    /// header that describes the skill, or else all of it. A body is decided on when it is read, so another one is no fault.
    ///
    /// # Errors
    /// A [`BodyError`]; [`BodyError::Changed`] when its digest is not [`Skill::head_digest`].
    pub fn read(&self, skill: &Skill, options: &LoadOptions) -> Result<Vec<u8>, BodyError> {
        Ok(self.read_stamped(skill, options)?.0)
    }

    fn read_stamped(&self, skill: &Skill, options: &LoadOptions) -> Result<(Vec<u8>, Option<Stamp>), BodyError> {
        let path = || skill.path.clone();
        if let Some(held) = self.held(skill) {
            let found = Digest::of(held.text.text.as_bytes());
            if found != skill.head_digest {
                return Err(BodyError::Changed { path: path(), expected: skill.head_digest, found });
            }
            let unreadable = |reason: String| BodyError::Unreadable {
                path: path(),
                diagnostic: Box::new(Diagnostic::new(Code::FileUnreadable, reason)),
            };
            let bytes = held.whole().map_err(|reason| unreadable(format!("its text cannot be made: {reason}")))?;
            let too_large = bytes.len() as u64 > options.max_file_bytes;
            return if too_large {
                Err(unreadable("its text is larger than a skill may be".to_owned()))
            } else {
                Ok((bytes, None))
            };
        }
        let (root, dir, places) = self.root_of(skill).ok_or_else(|| BodyError::NotOurs { path: path() })?;
        let read = |file| {
            let file = OpenFile::new(file, options.max_file_bytes)?;
            Ok((file.read_on(&[], options.max_file_bytes)?, file.stamp))
        };
        let (bytes, stamp) =
            open_along(dir, places, &root.spec.path, skill).and_then(read).map_err(|fault| match fault {
                Fault::Read(ReadFault::NotFound) => BodyError::Gone { path: path() },
                Fault::Read(fault) => BodyError::Unreadable { path: path(), diagnostic: Box::new(fault.diagnostic()) },
                Fault::Link(diagnostic) => BodyError::Unreadable { path: path(), diagnostic },
            })?;
        let found = document::head_digest(&bytes, &document::read_options(skill.loaded_from, &skill.path, options));
        if found == skill.head_digest {
            Ok((bytes, Some(stamp)))
        } else {
            Err(BodyError::Changed { path: path(), expected: skill.head_digest, found })
        }
    }

    /// The root that the skill was loaded from, while it is open.
    fn root_of(&self, skill: &Skill) -> Option<(&OpenRoot, &Arc<Dir>, &Places)> {
        let is_of = |root: &&OpenRoot| {
            root.spec.source == skill.id.source
                && root.spec.kind.loaded_from() == skill.loaded_from
                && skill.path.starts_with(&root.spec.path)
        };
        let root = self.roots.iter().find(is_of)?;
        match &root.state {
            RootState::Open { dir, places } => Some((root, dir, places)),
            _ => None,
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
