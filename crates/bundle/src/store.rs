//! Installed packs: a file for each, named by its digest, and a lock file that says which are in use.

mod diff;
mod error;
mod install;
mod lock_file;

pub use diff::{FileChange, FileDiff, PackDiff};
pub use error::StoreError;
pub use install::{Change, Consent, Outcome};
pub use lock_file::{LOCK_VERSION, LockFile, LockedPack, PackSource, PreviousPack};

use crate::{Extraction, Pack, PackLimits};
use skillgate_core::Digest;
use skillgate_state::{Lock, OwnerDir};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The lock file's name.
const LOCK_FILE: &str = "skills.lock";

/// Bytes of the lock file.
const MAX_LOCK_BYTES: u64 = 4 << 20;

/// The directory of the packs' files, and that of their trees.
const OBJECTS: &str = "objects";
const TREES: &str = "trees";

/// The packs that are installed for one user. Values of this type may be used by several processes at once: whoever changes
/// something holds the lock of `skills.lock`, which is replaced whole when everything it names is on the disk.
#[derive(Debug)]
pub struct PackStore {
    directory: OwnerDir,
    objects: OwnerDir,
    limits: PackLimits,
    trees: OnceLock<Extraction>,
}

/// An installed pack as it is now.
#[derive(Debug)]
pub struct InstalledPack {
    /// What the lock file says.
    pub locked: LockedPack,
    /// The pack, whole and checked, or why it is not used.
    pub pack: Result<Pack, StoreError>,
}

impl PackStore {
    /// Opens the store, and makes it when it is not there.
    ///
    /// # Errors
    /// [`StoreError::State`] when the directory cannot be kept for the owner alone.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let directory = OwnerDir::open_ambient(path)?;
        let objects = directory.open_dir(OBJECTS)?;
        Ok(Self { directory, objects, limits: PackLimits::default(), trees: OnceLock::new() })
    }

    /// Opens the store when there is one. Nothing is made.
    ///
    /// # Errors
    /// As [`PackStore::open_ambient`].
    pub fn existing_ambient(path: impl AsRef<Path>) -> Result<Option<Self>, StoreError> {
        // What a link leads to is for the opening to refuse.
        let lock = path.as_ref().join(LOCK_FILE);
        if lock.symlink_metadata().is_ok() { Self::open_ambient(path).map(Some) } else { Ok(None) }
    }

    /// Where the store is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// What the lock file says.
    ///
    /// # Errors
    /// [`StoreError::Lock`] when it cannot be understood.
    pub fn lock_file(&self) -> Result<LockFile, StoreError> {
        match self.directory.read(LOCK_FILE, MAX_LOCK_BYTES)? {
            None => Ok(LockFile::default()),
            Some(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| StoreError::Lock("it is not UTF-8".to_owned()))?;
                LockFile::parse(&text)
            }
        }
    }

    /// Every installed pack, checked whole: its digest against the lock file, its files against its manifest, its signatures, and
    /// the keys that it was installed with.
    ///
    /// # Errors
    /// When the lock file cannot be read; a pack that does not hold is in the list with its reason.
    pub fn installed(&self) -> Result<Vec<InstalledPack>, StoreError> {
        let lock = self.lock_file()?;
        Ok(lock.packs.into_iter().map(|locked| InstalledPack { pack: self.read(&locked), locked }).collect())
    }

    /// One installed pack.
    ///
    /// # Errors
    /// [`StoreError::NotInstalled`], and when the lock file cannot be read.
    pub fn get(&self, name: &str) -> Result<InstalledPack, StoreError> {
        let lock = self.lock_file()?;
        let locked = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        Ok(InstalledPack { pack: self.read(&locked), locked })
    }

    /// The file of a pack with this digest.
    #[must_use]
    pub fn object_path(&self, digest: Digest) -> PathBuf {
        self.objects.path().join(object_name(digest))
    }

    /// Where the skills of a pack will be when they are used.
    #[must_use]
    pub fn tree_of(&self, digest: Digest) -> PathBuf {
        self.directory.path().join(TREES).join(digest.to_string())
    }

    /// Takes the files of a pack to disk, the first time, and gives their directory. What is there is compared whole before it is
    /// given, and replaced where it is something else.
    ///
    /// # Errors
    /// [`StoreError::Extract`] with the step and the path.
    pub fn materialise(&self, pack: &Pack) -> Result<PathBuf, StoreError> {
        self.extract(&pack.digest().to_string(), pack.files())
    }

    /// Takes files that a program brings itself to disk, as [`PackStore::materialise`] does for those of a pack. Changing the packs
    /// leaves them there.
    ///
    /// # Errors
    /// As [`PackStore::materialise`].
    pub fn materialise_bundled<'f>(
        &self,
        digest: Digest,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<PathBuf, StoreError> {
        self.extract(&bundled_name(digest), files)
    }

    fn extract<'f>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<PathBuf, StoreError> {
        let _alone = self.directory.lock(TREES)?;
        let trees = match self.trees.get() {
            Some(trees) => trees,
            None => {
                let directory = self.directory.open_dir(TREES)?;
                let opened = Extraction::kept_ambient(directory.path())?;
                self.trees.get_or_init(|| opened)
            }
        };
        trees.forget();
        Ok(trees.extract(name, files)?)
    }

    /// The pack that the lock file means, if it is still that.
    fn read(&self, locked: &LockedPack) -> Result<Pack, StoreError> {
        let pack = self.object(locked.digest)?;
        let keys = pack.check_signatures()?;
        match locked.keys.iter().find(|key| !keys.contains(key)) {
            Some(missing) => Err(StoreError::SignatureGone { name: locked.name.clone(), key: *missing }),
            None => Ok(pack),
        }
    }

    fn object(&self, digest: Digest) -> Result<Pack, StoreError> {
        let name = object_name(digest);
        let bytes = self.objects.read(&name, self.limits.archive_bytes())?;
        let bytes = bytes.ok_or_else(|| StoreError::Gone { path: self.objects.path().join(&name) })?;
        let pack = Pack::read_owned(bytes, &self.limits)?;
        if pack.digest() == digest {
            Ok(pack)
        } else {
            Err(StoreError::OtherPack { path: self.objects.path().join(&name), found: pack.digest() })
        }
    }

    fn alone(&self) -> Result<Lock, StoreError> {
        Ok(self.directory.lock(LOCK_FILE)?)
    }

    /// Makes this the lock file, and takes away what it does not name any more.
    fn switch(&self, lock: &LockFile) -> Result<(), StoreError> {
        self.directory.write_atomic(LOCK_FILE, lock.to_text().as_bytes())?;
        let named = |name: &str| {
            let digests = lock.packs.iter().flat_map(|pack| {
                std::iter::once(pack.digest).chain(pack.previous.as_ref().map(|previous| previous.digest))
            });
            digests.map(|digest| digest.to_string()).any(|digest| name.strip_prefix(&digest).is_some())
        };
        for name in self.objects.list()? {
            if name.ends_with(ENDING) && !named(&name) {
                self.objects.remove(&name)?;
            }
        }
        self.remove_trees(named)
    }

    fn remove_trees(&self, named: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        if self.directory.path().join(TREES).symlink_metadata().is_err() {
            return Ok(());
        }
        let _alone = self.directory.lock(TREES)?;
        let trees = self.directory.open_dir(TREES)?;
        let handle = Extraction::kept_ambient(trees.path())?;
        let unused = |name: &String| !named(name) && !name.starts_with(BUNDLED);
        for name in trees.list()?.into_iter().filter(unused) {
            handle.remove(&name)?;
        }
        Ok(())
    }
}

const ENDING: &str = ".skillpack";

/// How the trees of bundled skills begin.
const BUNDLED: &str = "bundled-";

/// Where files that a program brings itself will be when they are used from the store in this directory, by a digest over them. The
/// store need not be there.
#[must_use]
pub fn bundled_tree(store: &Path, digest: Digest) -> PathBuf {
    let store = std::path::absolute(store).unwrap_or_else(|_| store.to_path_buf());
    store.join(TREES).join(bundled_name(digest))
}

fn bundled_name(digest: Digest) -> String {
    format!("{BUNDLED}{digest}")
}

fn object_name(digest: Digest) -> String {
    format!("{digest}{ENDING}")
}

fn not_installed(lock: &LockFile, name: &str) -> StoreError {
    let known = lock.packs.iter().map(|pack| pack.name.clone()).collect();
    StoreError::NotInstalled { name: name.to_owned(), known }
}
