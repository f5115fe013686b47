//! The checks and calls on a Unix: everything is relative to a handle and follows no link.

mod walk;

use crate::StateError;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Permission bits that let group or others in.
const OTHERS: u32 = 0o077;
/// Permission bits that let anybody write.
const WRITE: u32 = 0o222;

/// The handle of a directory that was checked.
#[derive(Debug)]
pub(crate) struct DirHandle(OwnedFd);

impl DirHandle {
    /// Opens an absolute path, creating what is missing.
    pub(crate) fn open_ambient(path: &Path) -> Result<Self, StateError> {
        let (parent, name) = walk::open_parent(path)?;
        open_checked_dir(&parent, Path::new(&name), path)
    }

    pub(crate) fn open_dir(&self, name: &str, path: &Path) -> Result<Self, StateError> {
        open_checked_dir(&self.0, Path::new(name), path)
    }

    pub(crate) fn open_read(&self, name: &str, path: &Path) -> Result<Option<File>, StateError> {
        // Without NONBLOCK a fifo would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => checked_file(fd, path).map(Some),
            Err(Errno::NOENT) => Ok(None),
            // A socket cannot be opened at all.
            Err(Errno::NXIO) => Err(StateError::NotRegular { path: path.to_path_buf() }),
            Err(error) => Err(refused(error, "open", path)),
        }
    }

    pub(crate) fn open_lock(&self, name: &str, path: &Path) -> Result<File, StateError> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => checked_file(fd, path),
            Err(Errno::ISDIR | Errno::NXIO) => Err(StateError::NotRegular { path: path.to_path_buf() }),
            Err(error) => Err(refused(error, "open", path)),
        }
    }

    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Names that are text; nothing of this crate has another name.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.0)? {
            if let Ok(name) = entry?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match fs::fsync(&self.0) {
            // Some network and FUSE file systems know no sync of a directory; there is nothing more to do there.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Opens a log to append to and to read the end of.
pub(crate) fn open_log(path: &Path) -> Result<File, StateError> {
    let flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        // Without NONBLOCK a fifo would wait for a reader.
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let fd = match fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => fd,
        Err(Errno::ISDIR | Errno::NXIO) => return Err(StateError::NotRegular { path: path.to_path_buf() }),
        Err(error) => return Err(refused(error, "open", path)),
    };
    let stat = fs::fstat(&fd).map_err(|error| StateError::io("inspect", path, error))?;
    if file_type(&stat) != FileType::RegularFile {
        return Err(StateError::NotRegular { path: path.to_path_buf() });
    }
    check_owner(&stat, path)?;
    let mode = permissions(&stat);
    // Who may read a log is its owner's choice.
    if mode & OTHERS & WRITE != 0 {
        return Err(StateError::Accessible { path: path.to_path_buf(), mode, directory: false });
    }
    Ok(File::from(fd))
}

/// Opens a file that nobody but the user and root can have written; `None` when it is not there.
pub(crate) fn open_guarded(path: &Path) -> Result<Option<(File, PathBuf)>, StateError> {
    let Some((fd, real)) = walk::open_file(path)? else { return Ok(None) };
    let stat = fs::fstat(&fd).map_err(|error| StateError::io("inspect", &real, error))?;
    if file_type(&stat) != FileType::RegularFile {
        return Err(StateError::NotRegular { path: real });
    }
    match walk::writable_fault(&stat) {
        Some(reason) => Err(StateError::Writable { path: real, reason }),
        None => Ok(Some((File::from(fd), real))),
    }
}

fn open_checked_dir(parent: &OwnedFd, name: &Path, path: &Path) -> Result<DirHandle, StateError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || fs::openat(parent, name, flags, Mode::empty());
    let fd = match open() {
        Err(Errno::NOENT) => {
            make_dir(parent, name, path)?;
            open()
        }
        other => other,
    };
    let fd = fd.map_err(|error| match error {
        // A link gives NOTDIR on Linux and LOOP elsewhere.
        Errno::NOTDIR | Errno::LOOP => match fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if file_type(&stat) == FileType::Symlink => StateError::Symlink { path: path.to_path_buf() },
            _ => StateError::NotDirectory { path: path.to_path_buf() },
        },
        error => StateError::io("open", path, error),
    })?;
    let stat = fs::fstat(&fd).map_err(|error| StateError::io("inspect", path, error))?;
    check_owner_only(&stat, path, true)?;
    Ok(DirHandle(fd))
}

/// Makes a directory for the owner alone; one that appeared meanwhile is as good, since it is checked when it is opened.
fn make_dir(parent: &OwnedFd, name: &Path, path: &Path) -> Result<(), StateError> {
    match fs::mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(StateError::io("create", path, error)),
    }
}

fn checked_file(fd: OwnedFd, path: &Path) -> Result<File, StateError> {
    let stat = fs::fstat(&fd).map_err(|error| StateError::io("inspect", path, error))?;
    if file_type(&stat) != FileType::RegularFile {
        return Err(StateError::NotRegular { path: path.to_path_buf() });
    }
    check_owner_only(&stat, path, false)?;
    Ok(File::from(fd))
}

fn check_owner(stat: &Stat, path: &Path) -> Result<(), StateError> {
    let expected = rustix::process::geteuid().as_raw();
    if stat.st_uid == expected {
        return Ok(());
    }
    Err(StateError::NotOwned { path: path.to_path_buf(), owner: stat.st_uid, expected })
}

fn check_owner_only(stat: &Stat, path: &Path, directory: bool) -> Result<(), StateError> {
    check_owner(stat, path)?;
    let mode = permissions(stat);
    if mode & OTHERS != 0 {
        return Err(StateError::Accessible { path: path.to_path_buf(), mode, directory });
    }
    Ok(())
}

fn refused(error: Errno, action: &'static str, path: &Path) -> StateError {
    let path: PathBuf = path.to_path_buf();
    if error == Errno::LOOP { StateError::Symlink { path } } else { StateError::io(action, path, error) }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The permission bits, the sticky bit included. `mode_t` has 16 bits on some systems and 32 on others.
#[expect(clippy::useless_conversion, reason = "the width of `mode_t` depends on the platform")]
fn permissions(stat: &Stat) -> u32 {
    u32::from(stat.st_mode) & 0o7777
}
