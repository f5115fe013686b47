//! Where the status comes from.

#[cfg(target_os = "wasi")]
pub(crate) use sandbox::{list, status};
#[cfg(not(target_os = "wasi"))]
pub(crate) use unix::{list, status};

#[cfg(target_os = "wasi")]
mod sandbox {
    use crate::Status;
    use bindings::skillgate::files::posix;
    use std::io;
    use std::path::Path;

    mod bindings {
        wit_bindgen::generate!({ path: "../../../wit/files", world: "files" });
    }

    /// Numbers of errors on Linux.
    const ENOENT: u32 = 2;
    const EACCES: u32 = 13;
    const ENOTDIR: u32 = 20;
    const ELOOP: u32 = 40;

    fn error(number: u32) -> io::Error {
        match number {
            ENOENT => io::ErrorKind::NotFound.into(),
            EACCES => io::ErrorKind::PermissionDenied.into(),
            ENOTDIR => io::ErrorKind::NotADirectory.into(),
            ELOOP => io::Error::other("Too many levels of symbolic links"),
            _ => io::Error::other("Input/output error"),
        }
    }

    fn converted(status: &posix::Status) -> Status {
        let (mode, links, owner, group, device, inode, size, blocks, accessed, modified, changed) = *status;
        Status { mode, links, owner, group, device, inode, size, blocks, accessed, modified, changed }
    }

    fn absolute(path: &Path) -> io::Result<String> {
        let text = path.to_str().ok_or(io::ErrorKind::NotFound)?;
        if text.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if text.starts_with('/') {
            return Ok(text.to_owned());
        }
        let here = std::env::current_dir()?;
        Ok(format!("{}/{text}", here.to_string_lossy().trim_end_matches('/')))
    }

    pub(crate) fn status(path: &Path, follow: bool) -> io::Result<Status> {
        let text = absolute(path)?;
        // What ends with a slash is the directory that a link leads to.
        let directory = text.len() > 1 && text.ends_with('/');
        let found = posix::stat(&text, follow || directory).map(|status| converted(&status)).map_err(error)?;
        if directory && found.kind() != crate::Kind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(found)
    }

    pub(crate) fn list(path: &Path) -> io::Result<Vec<(Vec<u8>, Status)>> {
        let entries = posix::read_directory(&absolute(path)?).map_err(error)?;
        Ok(entries.into_iter().map(|(name, status)| (name.into_bytes(), converted(&status))).collect())
    }
}

#[cfg(not(target_os = "wasi"))]
mod unix {
    use crate::Status;
    use std::os::unix::ffi::OsStringExt as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::{fs, io};

    fn converted(status: &fs::Metadata) -> Status {
        let nanoseconds = |value: i64| u32::try_from(value).unwrap_or_default();
        Status {
            mode: status.mode(),
            links: status.nlink(),
            owner: status.uid(),
            group: status.gid(),
            device: status.dev(),
            inode: status.ino(),
            size: status.size(),
            blocks: status.blocks(),
            accessed: (status.atime(), nanoseconds(status.atime_nsec())),
            modified: (status.mtime(), nanoseconds(status.mtime_nsec())),
            changed: (status.ctime(), nanoseconds(status.ctime_nsec())),
        }
    }

    pub(crate) fn status(path: &Path, follow: bool) -> io::Result<Status> {
        let metadata = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        metadata.map(|metadata| converted(&metadata))
    }

    pub(crate) fn list(path: &Path) -> io::Result<Vec<(Vec<u8>, Status)>> {
        let entries = fs::read_dir(path)?.map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().into_vec(), converted(&entry.metadata()?)))
        });
        entries.collect()
    }
}
