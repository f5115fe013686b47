//! Reading the file system: status and listings through the import of ours that has mode, inode and change time, contents
//! through the standard library.

use bstr::{BString, ByteSlice as _};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What git looks at in a file's status.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) kind: Kind,
    /// Whether the owner may execute it.
    pub(crate) executable: bool,
    pub(crate) size: u64,
    pub(crate) modified: (i64, u32),
    pub(crate) changed: (i64, u32),
    pub(crate) inode: u64,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

/// A byte string of git as a path of the system.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    bytes.to_path_lossy().into_owned()
}

/// A path of the system as git's byte string.
pub(crate) fn bytes(path: &Path) -> BString {
    <[u8]>::from_path(path).map_or_else(|| path.to_string_lossy().into_owned().into(), BString::from)
}

/// The whole content, `None` when there is no such file.
pub(crate) fn read_optional(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a link points, as written in it.
pub(crate) fn read_link(path: &Path) -> io::Result<BString> {
    fs::read_link(path).map(|target| bytes(&target))
}

/// Whether the error says that nothing is at the path.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(crate) fn is_directory(path: &Path) -> bool {
    system::status(path, true).is_ok_and(|status| status.kind == Kind::Directory)
}

pub(crate) fn exists(path: &Path) -> bool {
    system::status(path, false).is_ok()
}

/// The status of what a path names, a link's own.
pub(crate) fn status(path: &Path) -> io::Result<Status> {
    system::status(path, false)
}

/// The entries of a directory, each with its own status.
type Entries = Vec<(BString, Status)>;

thread_local! {
    /// What was listed. A command changes nothing and ends soon, and `status` looks at every directory twice: for the files that
    /// are tracked, and for those that are not.
    static LISTED: RefCell<HashMap<PathBuf, Entries>> = RefCell::default();
}

/// The entries of a directory with their own status, by name.
pub(crate) fn list(path: &Path) -> io::Result<Entries> {
    if let Some(entries) = LISTED.with_borrow(|listed| listed.get(path).cloned()) {
        return Ok(entries);
    }
    let mut entries = system::list(path)?;
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    LISTED.with_borrow_mut(|listed| listed.insert(path.to_owned(), entries.clone()));
    Ok(entries)
}

#[cfg(target_os = "wasi")]
mod system {
    use super::{Kind, Status};
    use bindings::skillgate::files::posix;
    use bstr::BString;
    use std::io;
    use std::path::Path;

    mod bindings {
        wit_bindgen::generate!({ path: "../../../wit/files", world: "files" });
    }

    /// Numbers of errors that are looked at.
    const ENOENT: u32 = 2;
    const EACCES: u32 = 13;
    const ENOTDIR: u32 = 20;

    fn error(number: u32) -> io::Error {
        io::Error::from(match number {
            ENOENT => io::ErrorKind::NotFound,
            EACCES => io::ErrorKind::PermissionDenied,
            ENOTDIR => io::ErrorKind::NotADirectory,
            _ => io::ErrorKind::Other,
        })
    }

    fn converted(status: &posix::Status) -> Status {
        let (mode, _, owner, group, _, inode, size, _, _, modified, changed) = *status;
        let kind = match mode & 0o170_000 {
            0o100_000 => Kind::File,
            0o040_000 => Kind::Directory,
            0o120_000 => Kind::Link,
            _ => Kind::Other,
        };
        Status { kind, executable: mode & 0o100 != 0, size, modified, changed, inode, owner, group }
    }

    fn absolute(path: &Path) -> io::Result<String> {
        let text = path.to_str().ok_or(io::ErrorKind::NotFound)?;
        if text.starts_with('/') {
            return Ok(text.to_owned());
        }
        let here = std::env::current_dir()?;
        Ok(format!("{}/{text}", here.to_string_lossy()))
    }

    pub(super) fn status(path: &Path, follow: bool) -> io::Result<Status> {
        posix::stat(&absolute(path)?, follow).map(|status| converted(&status)).map_err(error)
    }

    pub(super) fn list(path: &Path) -> io::Result<Vec<(BString, Status)>> {
        let entries = posix::read_directory(&absolute(path)?).map_err(error)?;
        Ok(entries.into_iter().map(|(name, status)| (name.into(), converted(&status))).collect())
    }
}

/// The same on the machine that the guest is developed on.
#[cfg(not(target_os = "wasi"))]
mod system {
    use super::{Kind, Status};
    use bstr::BString;
    use std::os::unix::ffi::OsStringExt as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::{fs, io};

    fn converted(status: &fs::Metadata) -> Status {
        let kind = status.file_type();
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Other
        };
        let nanoseconds = |value: i64| u32::try_from(value).unwrap_or_default();
        Status {
            kind,
            executable: status.mode() & 0o100 != 0,
            size: status.size(),
            modified: (status.mtime(), nanoseconds(status.mtime_nsec())),
            changed: (status.ctime(), nanoseconds(status.ctime_nsec())),
            inode: status.ino(),
            owner: status.uid(),
            group: status.gid(),
        }
    }

    pub(super) fn status(path: &Path, follow: bool) -> io::Result<Status> {
        let metadata = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        metadata.map(|metadata| converted(&metadata))
    }

    pub(super) fn list(path: &Path) -> io::Result<Vec<(BString, Status)>> {
        let entries = fs::read_dir(path)?.map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().into_vec().into(), converted(&entry.metadata()?)))
        });
        entries.collect()
    }
}
