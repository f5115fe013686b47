//! Replacing one regular file whole, so that a reader sees the old text or the new one.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a file was not replaced; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceFault {
    /// It is a link; what it leads to may belong to somebody else.
    #[error("it is a symbolic link; name the file it leads to instead")]
    Link,
    /// It is a directory, fifo, socket or device.
    #[error("it is not a regular file")]
    NotRegular,
    /// The system refused.
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Says whether [`replace_file_ambient`] would try.
///
/// # Errors
/// A [`ReplaceFault`].
pub fn replaceable_ambient(path: impl AsRef<Path>) -> Result<(), ReplaceFault> {
    Place::open(path.as_ref()).map(drop)
}

/// Gives the regular file at `path` a new text: a new file beside it takes its permissions, reaches the disk, and takes its
/// name. A link is refused, and other hard links of the file keep the old text.
///
/// # Errors
/// A [`ReplaceFault`]; the file is as it was, and nothing is left beside it.
pub fn replace_file_ambient(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), ReplaceFault> {
    let place = Place::open(path.as_ref())?;
    let (temporary, file) = place.create()?;
    let written = place.write(file, bytes).and_then(|()| place.dir.rename(&temporary, &place.dir, place.name));
    if let Err(error) = written {
        // Nothing more can be done about a file that cannot be removed; the error that matters is the first.
        let _ = place.dir.remove_file(&temporary);
        return Err(error.into());
    }
    Ok(())
}

/// A regular file in its directory.
struct Place<'a> {
    dir: Dir,
    name: &'a OsStr,
    metadata: Metadata,
}

impl<'a> Place<'a> {
    fn open(path: &'a Path) -> Result<Self, ReplaceFault> {
        let name = path.file_name().ok_or(ReplaceFault::NotRegular)?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = Dir::open_ambient_dir(above, ambient_authority())?;
        let metadata = dir.symlink_metadata(name)?;
        if metadata.is_symlink() {
            return Err(ReplaceFault::Link);
        }
        if !metadata.is_file() {
            return Err(ReplaceFault::NotRegular);
        }
        Ok(Self { dir, name, metadata })
    }

    /// A new file beside it that only its owner can read.
    fn create(&self) -> io::Result<(OsString, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        for _ in 0..16 {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let mut name = OsString::from(".");
            name.push(self.name);
            name.push(format!(".{}-{count}.tmp", std::process::id()));
            match self.dir.open_with(&name, &options) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn write(&self, mut file: File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)?;
        file.set_permissions(self.metadata.permissions())?;
        file.sync_all()
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "the test looks at what was left on disk")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_file_is_replaced_whole_with_its_permissions_and_nothing_else_is() {
        let tree = tempfile::tempdir().expect("temporary directory");
        let at = |name: &str| tree.path().join(name);
        fs::write(at("file"), "old").expect("file");
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).expect("mode");
        symlink("file", at("link")).expect("link");
        fs::create_dir(at("dir")).expect("directory");

        assert!(matches!(replace_file_ambient(at("link"), b"new"), Err(ReplaceFault::Link)));
        assert!(matches!(replace_file_ambient(at("dir"), b"new"), Err(ReplaceFault::NotRegular)));
        assert!(matches!(replace_file_ambient(at("none"), b"new"), Err(ReplaceFault::Io(_))));
        assert_eq!(fs::read(at("file")).expect("file"), b"old");

        replace_file_ambient(at("file"), b"new").expect("it is regular");
        assert_eq!(fs::read(at("file")).expect("file"), b"new");
        assert_eq!(fs::metadata(at("file")).expect("file").permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_dir(tree.path()).expect("list").count(), 3, "nothing is left beside it");
    }
}
