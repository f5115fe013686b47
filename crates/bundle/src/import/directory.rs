//! A directory of files, read through handles: what is swapped while it is read is read as it was opened, or refused.

use super::ImportError;
use super::collect::{Collector, too_large};
use crate::tree::stat_of;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Directories inside one another.
const MAX_DEPTH: usize = 32;

/// What a path names.
pub(super) enum Opened {
    Directory(OwnedFd),
    File(File),
}

/// Opens what a person named; a link there is followed, since it is the person's.
pub(super) fn open_ambient(path: &Path) -> Result<Opened, ImportError> {
    let fail = at(path);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let kind = FileType::from_raw_mode(statat(rustix::fs::CWD, path, AtFlags::empty()).map_err(&fail)?.st_mode);
    if !matches!(kind, FileType::RegularFile | FileType::Directory) {
        return Err(ImportError::NotAFile { path: path.display().to_string(), found: name_of(kind) });
    }
    let opened = openat(rustix::fs::CWD, path, flags, Mode::empty()).map_err(&fail)?;
    match stat_of(&opened).map_err(&fail)?.kind {
        FileType::Directory => Ok(Opened::Directory(opened)),
        FileType::RegularFile => Ok(Opened::File(File::from(opened))),
        kind => Err(ImportError::NotAFile { path: path.display().to_string(), found: name_of(kind) }),
    }
}

/// The bytes of a file, at most so many.
pub(super) fn read_file(file: File, path: &Path, most: u64) -> Result<Vec<u8>, ImportError> {
    let too_large = || too_large(format!("`{}`", path.display()), most);
    // What the system says of the size saves reading, and is not believed otherwise.
    let size = stat_of(&file).map_err(at(path))?.size;
    if size > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    let read = read.map_err(|source| ImportError::Io { path: path.to_path_buf(), source })?;
    if read as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Takes in every file below the directory. `.git` is not part of it.
pub(super) fn read(directory: &OwnedFd, path: &Path, collector: &mut Collector<'_>) -> Result<(), ImportError> {
    Walk { top: path.to_path_buf(), collector }.directory(directory, "", 0)
}

struct Walk<'c, 'l> {
    top: PathBuf,
    collector: &'c mut Collector<'l>,
}

impl Walk<'_, '_> {
    fn directory(&mut self, directory: &OwnedFd, prefix: &str, depth: usize) -> Result<(), ImportError> {
        let here = self.top.join(prefix);
        if depth > MAX_DEPTH {
            return Err(too_large(format!("the depth of `{}`", here.display()), MAX_DEPTH as u64));
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(directory).map_err(at(&here))? {
            let entry = entry.map_err(at(&here))?;
            let name = entry.file_name();
            match name.to_str() {
                Ok("." | ".." | ".git") => {}
                Ok(name) => {
                    self.collector.entry()?;
                    names.push(name.to_owned());
                }
                Err(_) => {
                    let path = format!("{prefix}{}", name.to_string_lossy());
                    return Err(ImportError::NotAFile { path, found: "a name that is not UTF-8" });
                }
            }
        }
        names.sort_unstable();
        for name in names {
            self.entry(directory, &name, &format!("{prefix}{name}"), depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, directory: &OwnedFd, name: &str, path: &str, depth: usize) -> Result<(), ImportError> {
        let here = self.top.join(path);
        let refused = |found| ImportError::NotAFile { path: path.to_owned(), found };
        // Opening a device can do something, so it is looked at before, and again when it is open.
        let kind = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(at(&here))?;
        let kind = FileType::from_raw_mode(kind.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Directory) {
            return Err(refused(name_of(kind)));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match openat(directory, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(refused("a link")),
            opened => opened.map_err(at(&here))?,
        };
        let stat = stat_of(&opened).map_err(at(&here))?;
        match stat.kind {
            FileType::Directory => self.directory(&opened, &format!("{path}/"), depth + 1),
            FileType::RegularFile if stat.links > 1 => Err(refused("a file with a second name elsewhere (hard link)")),
            FileType::RegularFile if stat.mode.as_raw_mode() & 0o6000 != 0 => {
                Err(refused("a program that runs as its owner (setuid)"))
            }
            FileType::RegularFile => {
                self.collector.may_have(path, stat.size)?;
                self.collector.file(path, File::from(opened)).map(drop)
            }
            kind => Err(refused(name_of(kind))),
        }
    }
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "neither a file nor a directory",
    }
}

fn at(path: &Path) -> impl Fn(Errno) -> ImportError + use<> {
    let path = path.to_path_buf();
    move |errno| ImportError::Io { path: path.clone(), source: errno.into() }
}
