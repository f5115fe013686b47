use crate::resolve::{DIRECTORY_MODE, FILE_MODE};
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;
use skillgate_core::RelPath;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

/// Directories inside one another that are removed; what is deeper was not made by us.
const MAX_DEPTH: usize = 64;

/// What the checks look at.
pub(crate) struct Stat {
    pub(crate) kind: FileType,
    pub(crate) mode: Mode,
    pub(crate) owner: u32,
    pub(crate) links: u64,
    pub(crate) size: u64,
}

pub(crate) fn stat_of(file: impl AsFd) -> Result<Stat, Errno> {
    let stat = fstat(file)?;
    Ok(Stat {
        kind: FileType::from_raw_mode(stat.st_mode),
        mode: Mode::from_raw_mode(stat.st_mode),
        owner: stat.st_uid,
        #[expect(clippy::useless_conversion, reason = "its size is not the same on every system")]
        links: stat.st_nlink.into(),
        size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
    })
}

pub(crate) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether `name` of the directory is a tree of exactly these files, each with these bytes, all of it this user's alone.
pub(crate) fn is_tree(parent: &OwnedFd, name: &str, files: &[(RelPath, &[u8])]) -> bool {
    let mut left: BTreeMap<&str, &[u8]> = files.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = openat(parent, name, flags, Mode::empty());
    root.is_ok_and(|root| holds(&root, "", &mut left) == Ok(true)) && left.is_empty()
}

/// Takes what is found off what is wanted; `false` where something else stands.
fn holds(directory: &OwnedFd, prefix: &str, left: &mut BTreeMap<&str, &[u8]>) -> Result<bool, Errno> {
    let is_ours = |stat: &Stat, kind, mode: Mode| {
        stat.kind == kind && stat.owner == own_user() && stat.mode.as_raw_mode() & 0o7777 == mode.as_raw_mode()
    };
    if !is_ours(&stat_of(directory)?, FileType::Directory, DIRECTORY_MODE) {
        return Ok(false);
    }
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { return Ok(false) };
        if matches!(name, "." | "..") {
            continue;
        }
        let path = format!("{prefix}{name}");
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(directory, name, flags, Mode::empty())?;
        let stat = stat_of(&opened)?;
        if stat.kind == FileType::Directory {
            let below = format!("{path}/");
            // Only directories that a file needs.
            let needed = left.range(below.as_str()..).next().is_some_and(|(wanted, _)| wanted.starts_with(&below));
            if !needed || !holds(&opened, &below, left)? {
                return Ok(false);
            }
            continue;
        }
        let Some(wanted) = left.remove(path.as_str()) else { return Ok(false) };
        if !is_ours(&stat, FileType::RegularFile, FILE_MODE) || stat.links != 1 || stat.size != wanted.len() as u64 {
            return Ok(false);
        }
        let mut bytes = Vec::with_capacity(wanted.len());
        let read = File::from(opened).take(wanted.len() as u64 + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes != wanted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what `name` of the directory is, a link as a link, without leaving the directory whatever is renamed meanwhile.
pub(crate) fn remove_tree(parent: impl AsFd, name: &str) -> Result<(), Errno> {
    remove(parent.as_fd(), std::ffi::CString::new(name).map_err(|_| Errno::INVAL)?.as_c_str(), 0)
}

fn remove(parent: rustix::fd::BorrowedFd<'_>, name: &std::ffi::CStr, depth: usize) -> Result<(), Errno> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        done => return done,
    }
    if depth == MAX_DEPTH {
        return Err(Errno::NAMETOOLONG);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    for name in names {
        remove(directory.as_fd(), &name, depth + 1)?;
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}
