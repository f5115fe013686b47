//! Reading one regular file, bounded, without waiting for anybody.

use crate::stamp::Stamp;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use skillgate_core::{Code, Diagnostic};
use std::io::{self, Read};
use std::path::Path;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// It is a directory, fifo, socket or device.
    #[error("it is {0}, not a regular file")]
    NotRegular(&'static str),
    /// It is larger than the limit; nothing of it was used.
    #[error("it has more than {limit} bytes, the limit for a skill's file")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl ReadFault {
    /// The fault as a finding about the file.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, help) = match self {
            ReadFault::NotRegular(_) => (Code::FileNotRegular, "replace it by a text file"),
            ReadFault::TooLarge { .. } => {
                (Code::FileTooLarge, "move what is not needed at once into files beside it and name them in the text")
            }
            ReadFault::NotFound | ReadFault::Io(_) => (Code::FileUnreadable, "make the file readable"),
        };
        Diagnostic::new(code, self.to_string()).help(help)
    }
}

/// Bytes in which nearly every header ends; more is read only where they are not enough.
pub(crate) const HEAD: usize = 4096;

/// A regular file that is opened and not read yet.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: File,
    /// Its bytes when it was opened.
    pub(crate) size: u64,
    pub(crate) stamp: Stamp,
}

/// Which file it is, whatever it is called: all bits of device and inode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Whether other names of the same file exist on the disk.
    pub(crate) hard_linked: bool,
}

/// Reads a file that a person named, following links as the person's own shell would.
///
/// # Errors
/// A [`ReadFault`]; nothing is cut at the limit, and a fifo without a writer is refused, not waited for.
pub fn read_file_ambient(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>, ReadFault> {
    let file = File::open_ambient_with(path, &options(), ambient_authority()).map_err(fault)?;
    read(file, max_bytes)
}

/// Reads a file of a directory's own: a link is followed as long as it stays below `root`, and one that leads out is refused.
///
/// # Errors
/// A [`ReadFault`], as for [`read_file_ambient`].
pub fn read_file_below_ambient(root: impl AsRef<Path>, below: &str, max_bytes: u64) -> Result<Vec<u8>, ReadFault> {
    let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(fault)?;
    read(open(&dir, Path::new(below)).map_err(fault)?, max_bytes)
}

/// Opens beneath a handle; a link is followed as long as it stays there.
pub(crate) fn open(dir: &Dir, path: &Path) -> io::Result<File> {
    dir.open_with(path, &options())
}

pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        // A fifo would wait for its writer, and a terminal could become this process's own.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        #[expect(clippy::cast_possible_wrap, reason = "both flags are small positive numbers")]
        options.custom_flags(flags.bits() as i32);
    }
    options
}

/// The file's metadata, if it is a regular file of at most so many bytes.
fn checked(file: &File, max_bytes: u64) -> Result<Metadata, ReadFault> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(ReadFault::NotRegular(describe(&metadata)));
    }
    if metadata.len() > max_bytes {
        return Err(ReadFault::TooLarge { limit: max_bytes });
    }
    Ok(metadata)
}

/// Reads the whole file.
pub(crate) fn read(file: File, max_bytes: u64) -> Result<Vec<u8>, ReadFault> {
    let size = checked(&file, max_bytes)?.len();
    // One byte more than the size, so that the end is seen without growing the buffer.
    read_to_end(&file, Vec::with_capacity(usize::try_from(size).map_or(0, |size| size + 1)), max_bytes)
}

/// Reads to the end of the file, of which `bytes` are read. The file may have grown since it was looked at.
fn read_to_end(mut file: &File, mut bytes: Vec<u8>, max_bytes: u64) -> Result<Vec<u8>, ReadFault> {
    let left = max_bytes.saturating_add(1).saturating_sub(bytes.len() as u64);
    (&mut file).take(left).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(ReadFault::TooLarge { limit: max_bytes });
    }
    Ok(bytes)
}

impl OpenFile {
    /// Takes a file that is regular and not larger than the limit.
    pub(crate) fn new(file: File, max_bytes: u64) -> Result<Self, ReadFault> {
        let metadata = checked(&file, max_bytes)?;
        Ok(Self { size: metadata.len(), stamp: Stamp::of(&metadata), file })
    }

    /// The file's first bytes: as many as fit, or all.
    pub(crate) fn read_beginning<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8], ReadFault> {
        // A file that says it is empty may be one of the kernel's, which do not know their sizes.
        let said = usize::try_from(self.size).unwrap_or(usize::MAX);
        let wanted = if said == 0 { buffer.len() } else { buffer.len().min(said) };
        let mut length = 0;
        while length < wanted {
            match (&self.file).read(&mut buffer[length..]) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(&buffer[..length])
    }

    /// The whole file, whose beginning is read.
    pub(crate) fn read_on(&self, beginning: &[u8], max_bytes: u64) -> Result<Vec<u8>, ReadFault> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).map_or(0, |size| size + 1));
        bytes.extend_from_slice(beginning);
        read_to_end(&self.file, bytes, max_bytes)
    }
}

/// The fault of an open that failed.
pub(crate) fn fault(error: io::Error) -> ReadFault {
    // Opening a socket for reading gives `ENXIO`.
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
        return ReadFault::NotRegular("a socket or a device");
    }
    match error.kind() {
        io::ErrorKind::NotFound => ReadFault::NotFound,
        io::ErrorKind::IsADirectory => ReadFault::NotRegular("a directory"),
        _ => ReadFault::Io(error),
    }
}

fn describe(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a fifo";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such numbers")]
pub(crate) fn identity(metadata: &Metadata) -> Option<Identity> {
    use cap_std::fs::MetadataExt;
    Some(Identity { device: metadata.dev(), inode: metadata.ino(), hard_linked: metadata.nlink() > 1 })
}

#[cfg(not(unix))]
pub(crate) fn identity(_metadata: &Metadata) -> Option<Identity> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The kernel's own files say that they are empty, as a file does that grows after it was looked at.
    #[test]
    fn the_limit_holds_while_a_file_grows() {
        let open = || File::open_ambient_with("/proc/self/status", &options(), ambient_authority()).expect("open");
        assert_eq!(open().metadata().expect("metadata").len(), 0);
        assert!(matches!(read(open(), 10), Err(ReadFault::TooLarge { limit: 10 })));
        assert!(!read(open(), 1 << 20).expect("fits").is_empty(), "control");
        let mut buffer = [0; 7];
        for (limit, fits) in [(10, false), (1 << 20, true)] {
            let file = OpenFile::new(open(), limit).expect("nothing is read of it yet");
            let beginning = file.read_beginning(&mut buffer).expect("it can be read");
            let whole = file.read_on(beginning, limit);
            assert_eq!(whole.is_ok_and(|whole| whole.len() > 100 && whole.starts_with(b"Name:\t")), fits);
        }
    }
}
