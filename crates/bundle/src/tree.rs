use rustix::fd::AsFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

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
