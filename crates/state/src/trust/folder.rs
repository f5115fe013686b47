use super::FolderFault;
#[cfg(unix)]
use super::repository;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which directory it is, whatever is in it. Another directory at the same path, and the same one at another path, are others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectoryId {
    /// Its path without links.
    pub path: String,
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// When it was made, nanoseconds since 1970, where the file system says so. A number that is free is given again at once.
    pub born: Option<u64>,
}

/// What trust in a folder is bound to. Nothing in it comes from what a file of the folder says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderId {
    /// The folder.
    pub folder: DirectoryId,
    /// For git, the directory that holds the repository: `.git` of the folder itself; or, for a worktree that names a repository
    /// and is named by it, the repository's.
    pub repository: Option<DirectoryId>,
}

impl FolderId {
    /// The identity of the folder that is at `path` now. Links are followed to the folder, and it is opened by a handle in
    /// which no component is a link any more.
    ///
    /// # Errors
    /// A [`FolderFault`].
    pub fn of_ambient(path: impl AsRef<Path>) -> Result<Self, FolderFault> {
        let path = path.as_ref();
        #[cfg(unix)]
        {
            let folder = opened::OpenDir::ambient(path).map_err(|error| FolderFault::unreadable(path, error))?;
            let id = folder.id()?;
            let repository = repository::of(&folder, &id);
            Ok(Self { folder: id, repository })
        }
        #[cfg(not(unix))]
        Err(FolderFault::Unsupported { path: path.to_path_buf() })
    }

    /// Whether trust that was given to this identity covers `now`: the same folder with the repository it had; or another
    /// working tree of the same repository.
    #[must_use]
    pub fn covers(&self, now: &FolderId) -> bool {
        let same_repository = self.repository == now.repository;
        if self.folder.path == now.folder.path {
            self.folder == now.folder && (same_repository || self.repository.is_none())
        } else {
            self.repository.is_some() && same_repository
        }
    }
}

#[cfg(unix)]
pub(super) mod opened {
    use super::{DirectoryId, FolderFault};
    use rustix::fs::{self, Mode, OFlags};
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Component, Path, PathBuf};
    use std::time::SystemTime;

    /// A directory by its handle, and the path on which no link stood when it was opened.
    #[derive(Debug)]
    pub(in crate::trust) struct OpenDir {
        handle: OwnedFd,
        pub(in crate::trust) path: PathBuf,
    }

    // A handle to pass through needs no right to list.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    const PASS_THROUGH: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    const PASS_THROUGH: OFlags = OFlags::RDONLY;
    const DIRECTORY: OFlags = PASS_THROUGH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    impl OpenDir {
        pub(in crate::trust) fn ambient(path: &Path) -> io::Result<Self> {
            let real = path.canonicalize()?;
            let mut handle = fs::open("/", DIRECTORY, Mode::empty())?;
            // Component by component: a link that appeared since is refused, so the handle is what the path says.
            for component in real.components() {
                if let Component::Normal(name) = component {
                    handle = fs::openat(&handle, name, DIRECTORY, Mode::empty())?;
                }
            }
            Ok(Self { handle, path: real })
        }

        /// A directory directly inside, which is no link.
        pub(in crate::trust) fn inside(&self, name: &str) -> io::Result<Self> {
            let handle = fs::openat(&self.handle, name, DIRECTORY, Mode::empty())?;
            Ok(Self { handle, path: self.path.join(name) })
        }

        /// A small regular file directly inside, which is no link: its text and its owner.
        pub(in crate::trust) fn text(&self, name: &str, max: u64) -> Option<(String, u32)> {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let file = File::from(fs::openat(&self.handle, name, flags, Mode::empty()).ok()?);
            let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let mut text = String::new();
            file.take(max + 1).read_to_string(&mut text).ok()?;
            (text.len() as u64 <= max).then_some((text, metadata.uid()))
        }

        pub(in crate::trust) fn owner(&self) -> io::Result<u32> {
            Ok(fs::fstat(&self.handle)?.st_uid)
        }

        pub(in crate::trust) fn id(&self) -> Result<DirectoryId, FolderFault> {
            let unreadable = |error| FolderFault::unreadable(&self.path, error);
            let path = self.path.to_str().ok_or_else(|| FolderFault::NotText { path: self.path.clone() })?;
            let file = File::from(self.handle.try_clone().map_err(unreadable)?);
            let metadata = file.metadata().map_err(unreadable)?;
            let since = metadata.created().ok().and_then(|born| born.duration_since(SystemTime::UNIX_EPOCH).ok());
            let born = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
            Ok(DirectoryId { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino(), born })
        }
    }
}
