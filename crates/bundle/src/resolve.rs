#[cfg(target_os = "linux")]
use rustix::fs::{CWD, ResolveFlags, openat2};
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use skillgate_core::RelPath;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Directories are for their owner alone, and so are files.
pub(crate) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
pub(crate) const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// How a path below a handle is opened without following a link.
///
/// Both answer alike; the kernel's is used where there is one, and the other where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolver {
    /// `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`: one system call, Linux 5.6.
    #[cfg(target_os = "linux")]
    Kernel,
    /// One `openat` with `O_NOFOLLOW` for each part.
    Walk,
}

impl Resolver {
    /// The kernel's, where it has one.
    #[must_use]
    pub fn best() -> Self {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            if openat2(CWD, ".", flags, Mode::empty(), resolve_flags()).is_ok() {
                return Resolver::Kernel;
            }
        }
        Resolver::Walk
    }

    /// Opens a directory below `root`.
    ///
    /// # Errors
    /// The system's: `ELOOP` or `ENOTDIR` where a part is a link, `ENOENT` where it is not there.
    pub fn open_directory(self, root: BorrowedFd<'_>, path: &RelPath) -> Result<OwnedFd, Errno> {
        self.open(root, path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens a file below `root` for reading, without waiting for a writer of a fifo.
    ///
    /// # Errors
    /// As [`Resolver::open_directory`].
    pub fn open_file(self, root: BorrowedFd<'_>, path: &RelPath) -> Result<OwnedFd, Errno> {
        self.open(root, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    /// Makes a file that was not there.
    ///
    /// # Errors
    /// `EEXIST` where anything, also a link, has the name; else as [`Resolver::open_directory`].
    pub fn create_file(self, root: BorrowedFd<'_>, path: &RelPath) -> Result<OwnedFd, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self {
            #[cfg(target_os = "linux")]
            Resolver::Kernel => retry(|| openat2(root, path.as_str(), flags, FILE_MODE, resolve_flags())),
            Resolver::Walk => {
                let (parent, name) = self.parent(root, path)?;
                openat(parent.as_ref().map_or(root, AsFd::as_fd), name, flags, FILE_MODE)
            }
        }
    }

    /// Makes a directory that was not there and opens it.
    ///
    /// # Errors
    /// As [`Resolver::create_file`].
    pub fn create_directory(self, root: BorrowedFd<'_>, path: &RelPath) -> Result<OwnedFd, Errno> {
        let (parent, name) = self.parent(root, path)?;
        let parent = parent.as_ref().map_or(root, AsFd::as_fd);
        mkdirat(parent, name, DIRECTORY_MODE)?;
        openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    }

    fn open(self, root: BorrowedFd<'_>, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self {
            #[cfg(target_os = "linux")]
            Resolver::Kernel => retry(|| openat2(root, path.as_str(), flags, Mode::empty(), resolve_flags())),
            Resolver::Walk => {
                let (parent, name) = self.parent(root, path)?;
                openat(parent.as_ref().map_or(root, AsFd::as_fd), name, flags, Mode::empty())
            }
        }
    }

    /// The directory that holds the last part, and that part. `None` is the root itself.
    fn parent<'p>(self, root: BorrowedFd<'_>, path: &'p RelPath) -> Result<(Option<OwnedFd>, &'p str), Errno> {
        let Some((above, name)) = path.as_str().rsplit_once('/') else { return Ok((None, path.as_str())) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        if self == Resolver::Kernel {
            let parent = retry(|| openat2(root, above, flags, Mode::empty(), resolve_flags()))?;
            return Ok((Some(parent), name));
        }
        let mut open: Option<OwnedFd> = None;
        for part in above.split('/') {
            open = Some(openat(open.as_ref().map_or(root, AsFd::as_fd), part, flags, Mode::empty())?);
        }
        Ok((open, name))
    }
}

#[cfg(target_os = "linux")]
fn resolve_flags() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

/// The kernel says `EAGAIN` when something was renamed on the way and it cannot be sure.
#[cfg(target_os = "linux")]
fn retry<T>(mut open: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 0..64 {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) => {}
            decided => return decided,
        }
    }
    Err(Errno::AGAIN)
}
