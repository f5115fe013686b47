//! From the file system's root to the directory above ours, one checked component at a time.
//!
//! Whoever can rename a directory above ours can put another in its place, so each one has to be as safe as ours. Links are
//! resolved here and not by the system, because the directory that holds the link decides who can change it.

use super::{file_type, make_dir, permissions};
use crate::StateError;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Links on one path before it counts as a loop; Linux allows as many.
const MAX_LINKS: usize = 40;
const STICKY: u32 = 0o1000;
const GROUP_WRITE: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const PASS_THROUGH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const PASS_THROUGH: OFlags = OFlags::RDONLY;

/// The handle of the directory above `path` and the last component's name. Missing directories are made with mode 0700.
pub(super) fn open_parent(path: &Path) -> Result<(OwnedFd, OsString), StateError> {
    let (Some(parent), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
        return Err(StateError::PathNotUsable { path: path.to_path_buf() });
    };
    let mut walk = Walk::from_root(Missing::Make)?;
    walk.enqueue(parent);
    walk.finish()?;
    Ok((walk.dir, name.to_owned()))
}

/// The handle of a file that exists, and where it really is; every directory and link on the way is as safe as for
/// [`open_parent`]. `None` when the file or a directory above it is not there.
pub(super) fn open_file(path: &Path) -> Result<Option<(OwnedFd, PathBuf)>, StateError> {
    let (Some(parent), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
        return Err(StateError::PathNotUsable { path: path.to_path_buf() });
    };
    let mut walk = Walk::from_root(Missing::Fail)?;
    walk.enqueue(parent);
    let mut name = name.to_owned();
    loop {
        match walk.finish() {
            Ok(()) => {}
            Err(StateError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let at = walk.at.join(&name);
        // Without NONBLOCK a fifo would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match fs::openat(&walk.dir, &name, flags, Mode::empty()) {
            Ok(file) => return Ok(Some((file, at))),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => {
                let target = walk.target(&name, at)?;
                let (Some(parent), Some(Component::Normal(last))) = (target.parent(), target.components().next_back())
                else {
                    return Err(StateError::PathNotUsable { path: target });
                };
                walk.enqueue(parent);
                name = last.to_owned();
            }
            Err(Errno::NXIO) => return Err(StateError::NotRegular { path: at }),
            Err(error) => return Err(StateError::io("open", &at, error)),
        }
    }
}

/// What happens to a directory that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    Fail,
}

struct Walk {
    dir: OwnedFd,
    /// Where `dir` is, for messages.
    at: PathBuf,
    todo: VecDeque<OsString>,
    links: usize,
    missing: Missing,
}

impl Walk {
    fn from_root(missing: Missing) -> Result<Self, StateError> {
        let at = PathBuf::from("/");
        let dir = fs::open(&at, PASS_THROUGH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| StateError::io("open", &at, error))?;
        let walk = Self { dir, at, todo: VecDeque::new(), links: 0, missing };
        walk.check_here()?;
        Ok(walk)
    }

    /// Enters every directory that is still to do.
    fn finish(&mut self) -> Result<(), StateError> {
        while let Some(step) = self.todo.pop_front() {
            self.enter(&step)?;
        }
        Ok(())
    }

    /// Puts the components of `path` before what is still to do.
    fn enqueue(&mut self, path: &Path) {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.todo.push_front(name.to_owned()),
                Component::ParentDir => self.todo.push_front("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), StateError> {
        let next =
            if name == ".." { self.at.parent().unwrap_or(Path::new("/")).to_path_buf() } else { self.at.join(name) };
        let flags = PASS_THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || fs::openat(&self.dir, name, flags, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if self.missing == Missing::Make => {
                make_dir(&self.dir, Path::new(name), &next)?;
                open()
            }
            other => other,
        };
        match opened {
            Ok(dir) => {
                self.dir = dir;
                self.at = next;
                self.check_here()
            }
            Err(Errno::NOTDIR | Errno::LOOP) => self.follow(name, next),
            Err(error) => Err(StateError::io("open", &next, error)),
        }
    }

    /// Goes on at the target of a link.
    fn follow(&mut self, name: &OsStr, link: PathBuf) -> Result<(), StateError> {
        let target = self.target(name, link)?;
        self.enqueue(&target);
        Ok(())
    }

    /// The target of a link that only the user or root can have made; an absolute one begins again at the root.
    fn target(&mut self, name: &OsStr, link: PathBuf) -> Result<PathBuf, StateError> {
        let stat = fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| StateError::io("inspect", &link, error))?;
        if file_type(&stat) != FileType::Symlink {
            return Err(StateError::NotDirectory { path: link });
        }
        if !is_trusted(stat.st_uid) {
            let reason = format!("the link belongs to user {}", stat.st_uid);
            return Err(StateError::UnsafeParent { path: link, reason });
        }
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(StateError::io("open", &link, Errno::LOOP));
        }
        let target = fs::readlinkat(&self.dir, name, Vec::new())
            .map_err(|error| StateError::io("read the link", &link, error))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            let root = Self::from_root(self.missing)?;
            self.dir = root.dir;
            self.at = root.at;
        }
        Ok(target)
    }

    fn check_here(&self) -> Result<(), StateError> {
        let stat = fs::fstat(&self.dir).map_err(|error| StateError::io("inspect", &self.at, error))?;
        match fault(&stat) {
            Some(reason) => Err(StateError::UnsafeParent { path: self.at.clone(), reason }),
            None => Ok(()),
        }
    }
}

fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

/// Why somebody other than the user and root could rename what is in this directory.
fn fault(stat: &Stat) -> Option<String> {
    if is_trusted(stat.st_uid) && permissions(stat) & STICKY != 0 {
        return None;
    }
    writable_fault(stat)
}

/// Why somebody other than the user and root could write to this.
pub(super) fn writable_fault(stat: &Stat) -> Option<String> {
    if !is_trusted(stat.st_uid) {
        return Some(format!("it belongs to user {}", stat.st_uid));
    }
    let mode = permissions(stat);
    if mode & OTHERS_WRITE != 0 {
        return Some(format!("everybody can write to it, mode {mode:04o}"));
    }
    // Many systems give each user a group of the same number and a umask of 002.
    let private_group = stat.st_gid == 0 || stat.st_gid == rustix::process::geteuid().as_raw();
    if mode & GROUP_WRITE != 0 && !private_group {
        return Some(format!("group {} can write to it, mode {mode:04o}", stat.st_gid));
    }
    None
}
