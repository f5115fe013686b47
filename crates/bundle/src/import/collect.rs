use super::ImportError;
use crate::{PackError, PackFile, PackLimits, PathSet, portable};
use std::io::{self, Read};

/// Bytes that are read of a stream at once.
const CHUNK: usize = 64 << 10;

/// Below this, how often an archive grew does not matter.
const RATIO_FLOOR: u64 = 1 << 20;

/// The files of an archive, under the limits while they come.
pub(super) struct Collector<'l> {
    limits: &'l PackLimits,
    set: PathSet,
    files: Vec<PackFile>,
    entries: usize,
    total: u64,
    /// What all files together may have, by the size of the archive.
    grown: u64,
}

impl<'l> Collector<'l> {
    /// Takes files of an archive with this size.
    pub(super) fn new(limits: &'l PackLimits, stored: u64) -> Self {
        let grown = stored.saturating_mul(limits.ratio).max(RATIO_FLOOR);
        Self { limits, set: PathSet::default(), files: Vec::new(), entries: 0, total: 0, grown }
    }

    /// Counts an entry, whatever it is.
    pub(super) fn entry(&mut self) -> Result<(), ImportError> {
        self.entries += 1;
        // Directories are not kept, and a tree of nothing but them is counted all the same.
        let most = self.limits.files.saturating_mul(2);
        if self.entries > most { Err(too_large("the number of entries".to_owned(), most as u64)) } else { Ok(()) }
    }

    /// A directory, which is made where a file needs it; its name has to be one all the same.
    pub(super) fn directory(&mut self, path: &str) -> Result<(), ImportError> {
        self.entry()?;
        portable(path)?;
        Ok(())
    }

    /// Whether a file of this size could be taken. It saves reading, and the bytes are counted all the same.
    pub(super) fn may_have(&self, path: &str, size: u64) -> Result<(), ImportError> {
        if size > self.limits.file_bytes { Err(self.file_too_large(path)) } else { Ok(()) }
    }

    fn file_too_large(&self, path: &str) -> ImportError {
        too_large(format!("`{path}`"), self.limits.file_bytes)
    }

    /// Takes a file in, as far as the limits go, and gives its size.
    pub(super) fn file(&mut self, path: &str, mut reader: impl Read) -> Result<&[u8], ImportError> {
        self.entry()?;
        self.set.insert(path)?;
        if self.files.len() == self.limits.files {
            return Err(too_large("the number of files".to_owned(), self.limits.files as u64));
        }
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    return Err(ImportError::Ambiguous {
                        entry: Some(path.to_owned()),
                        reason: "its data is damaged or cut off",
                    });
                }
            };
            self.total += read as u64;
            if self.total > self.grown {
                return Err(too_large(
                    format!("the unpacked size of all files, {} times that of the archive,", self.limits.ratio),
                    self.grown,
                ));
            }
            if self.total > self.limits.total_bytes {
                return Err(too_large("the size of all files".to_owned(), self.limits.total_bytes));
            }
            if bytes.len() as u64 + read as u64 > self.limits.file_bytes {
                return Err(self.file_too_large(path));
            }
            bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        }
        self.files.push(PackFile::new(path, bytes));
        Ok(self.files.last().map(|file| file.bytes.as_slice()).unwrap_or_default())
    }

    pub(super) fn finish(self) -> Vec<PackFile> {
        self.files
    }
}

pub(super) fn too_large(what: String, limit: u64) -> ImportError {
    PackError::TooLarge { what, limit }.into()
}

/// What a mode of Unix says of an entry that is no plain file or directory; the type and the bits that change whose rights a
/// program has.
pub(super) fn special(mode: u32, directory: bool) -> Option<&'static str> {
    let found = match mode & 0o170_000 {
        0 => None,
        0o100_000 => directory.then_some("a file that is named as a directory"),
        0o040_000 => (!directory).then_some("a directory that is named as a file"),
        0o120_000 => Some("a link"),
        0o060_000 | 0o020_000 => Some("a device"),
        0o010_000 => Some("a pipe"),
        0o140_000 => Some("a socket"),
        _ => Some("of no kind that is known"),
    };
    // A set group id of a directory is inherited on many systems and means nothing here.
    let privileged = mode & 0o6_000 != 0 && !directory;
    found.or(privileged.then_some("a program that runs as its owner (setuid)"))
}
