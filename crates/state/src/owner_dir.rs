use crate::atomic::TempFile;
use crate::name::{EntryName, LOCK, RESERVED};
use crate::{Lock, StateError, leftover, platform};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A directory that only its owner can enter, held by its handle.
///
/// Names are single components; a link in their place is refused, never followed. Values of this type may be shared
/// between threads, and several processes may use the same directory.
#[derive(Debug)]
pub struct OwnerDir {
    handle: platform::DirHandle,
    path: PathBuf,
}

impl OwnerDir {
    /// Opens the directory, creating it and what is missing above it with mode 0700.
    ///
    /// Every directory and link on the way must belong to the effective user or to root and must not be writable by
    /// anybody else, unless it is sticky as `/tmp` is; group write is accepted where the group is root's or the user's own
    /// private one. The directory itself must be no link, belong to the effective user, and be closed to group and others.
    ///
    /// Files that an interrupted writer left behind are removed: those with the crate's own prefix, of this user, older
    /// than an hour and not locked by a writer.
    ///
    /// # Errors
    /// A [`StateError`] that names the path that was refused; [`StateError::Unsupported`] where the platform has no such
    /// checks.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self, StateError> {
        let given = path.as_ref();
        let path = std::path::absolute(given).map_err(|error| StateError::io("find", given, error))?;
        let handle = platform::DirHandle::open_ambient(&path)?;
        leftover::remove(&handle, &path);
        Ok(Self { handle, path })
    }

    /// Opens a directory inside this one, creating it with mode 0700. The same rules hold for it.
    ///
    /// # Errors
    /// As [`OwnerDir::open_ambient`], and [`StateError::InvalidName`].
    pub fn open_dir(&self, name: &str) -> Result<Self, StateError> {
        let path = self.path_of(name)?;
        let handle = self.handle.open_dir(name, &path)?;
        leftover::remove(&handle, &path);
        Ok(Self { handle, path })
    }

    /// Where the directory is, for messages and for [`OwnerDir::path_of`].
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file here, for code that can only open by path, such as a memory map.
    ///
    /// What the path names is what the handle names as long as nobody but the owner and root changes the directories
    /// above, which is what opening checked. Call [`OwnerDir::open_read`] first, so that the file itself is checked too.
    ///
    /// # Errors
    /// [`StateError::InvalidName`] when `name` is not a single component or is reserved.
    pub fn path_of(&self, name: &str) -> Result<PathBuf, StateError> {
        Ok(self.path.join(EntryName::new(name)?.as_str()))
    }

    /// Replaces the file `name` by `bytes`, as a whole.
    ///
    /// The bytes go to a new file of mode 0600, which reaches the disk before it takes the name. Killed at any step, `name`
    /// is the old file or the new one. A link at `name` is replaced, not followed.
    ///
    /// # Errors
    /// [`StateError::InvalidName`] or [`StateError::Io`]; the old file is then still in place.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> Result<(), StateError> {
        self.write_atomic_with(name, |file| file.write_all(bytes))
    }

    /// As [`OwnerDir::write_atomic`], with the contents written by `write`. When `write` fails nothing changes.
    ///
    /// # Errors
    /// As [`OwnerDir::write_atomic`]; an error of `write` is the source of the [`StateError::Io`].
    pub fn write_atomic_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), StateError> {
        let path = self.path_of(name)?;
        let mut temp = TempFile::create(&self.handle, &self.path)?;
        write(temp.file()).map_err(|error| StateError::io("write", &path, error))?;
        temp.sync()?;
        temp.persist(name, &path)?;
        self.sync()
    }

    /// The file's bytes; `None` when there is no such file.
    ///
    /// # Errors
    /// [`StateError::TooLarge`] above `max` bytes (nothing is cut), and what [`OwnerDir::open_read`] refuses.
    pub fn read(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>, StateError> {
        let Some(file) = self.open_read(name)? else { return Ok(None) };
        let path = self.path_of(name)?;
        let fail = |error| StateError::io("read", &path, error);
        let size = file.metadata().map_err(fail)?.len();
        if size > max {
            return Err(StateError::TooLarge { path, limit: max });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > max {
            return Err(StateError::TooLarge { path, limit: max });
        }
        Ok(Some(bytes))
    }

    /// Opens the file for reading; `None` when there is no such file. Never blocks, whatever stands at `name`.
    ///
    /// # Errors
    /// [`StateError::Symlink`], [`StateError::NotRegular`], [`StateError::NotOwned`], [`StateError::Accessible`] (group or
    /// others have any right to it), [`StateError::InvalidName`] or [`StateError::Io`].
    pub fn open_read(&self, name: &str) -> Result<Option<File>, StateError> {
        let path = self.path_of(name)?;
        self.handle.open_read(name, &path)
    }

    /// Takes the lock `name`, waiting for whoever holds it. It is released when the [`Lock`] is dropped or the process ends.
    ///
    /// The lock is a file of its own beside `name`, so that replacing `name` does not lose it; it is advisory, and each call
    /// competes with every other, also inside one process.
    ///
    /// # Errors
    /// As [`OwnerDir::open_read`] for the lock file.
    pub fn lock(&self, name: &str) -> Result<Lock, StateError> {
        let (file, path) = self.lock_file(name)?;
        Lock::wait(file, &path)
    }

    /// As [`OwnerDir::lock`]; `None` when somebody holds it.
    ///
    /// # Errors
    /// As [`OwnerDir::lock`].
    pub fn try_lock(&self, name: &str) -> Result<Option<Lock>, StateError> {
        let (file, path) = self.lock_file(name)?;
        Lock::attempt(file, &path)
    }

    /// Removes the file; says whether there was one. A link is removed, not what it names.
    ///
    /// # Errors
    /// [`StateError::InvalidName`] or [`StateError::Io`].
    pub fn remove(&self, name: &str) -> Result<bool, StateError> {
        let path = self.path_of(name)?;
        match self.handle.remove(name) {
            Ok(()) => self.sync().map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StateError::io("remove", &path, error)),
        }
    }

    /// The names here, sorted, without the crate's own files and without names that are not text.
    ///
    /// # Errors
    /// [`StateError::Io`].
    pub fn list(&self) -> Result<Vec<String>, StateError> {
        let mut names = self.handle.names().map_err(|error| StateError::io("list", &self.path, error))?;
        names.retain(|name| !name.starts_with(RESERVED));
        names.sort_unstable();
        Ok(names)
    }

    fn lock_file(&self, name: &str) -> Result<(File, PathBuf), StateError> {
        let name = format!("{LOCK}{}", EntryName::new(name)?.as_str());
        let path = self.path.join(&name);
        Ok((self.handle.open_lock(&name, &path)?, path))
    }

    fn sync(&self) -> Result<(), StateError> {
        self.handle.sync().map_err(|error| StateError::io("sync", &self.path, error))
    }
}
