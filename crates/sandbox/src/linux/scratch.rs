//! The private file system of a run: in memory, bounded, gone with the last descriptor. It holds `/tmp`, the home, copies of the
//! directories that may be written, and of a project that cannot be shown otherwise.

use super::failure::{Failure, OrCannot as _, describe};
use super::namespaces::INSIDE;
use super::sources::Source;
use crate::message::SourceFault;
use crate::plan::{Plan, RunUser, WritableDirectory};
use crate::stage::Stage;
use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Timestamps, Uid, chownat, fchown, fstat, futimens,
    mkdirat, openat, openat2, readlinkat, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen};
use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Directories in each other that are copied.
const MAX_DEPTH: usize = 128;
/// Bytes copied at once.
const PIECE: usize = 1 << 16;

/// The file system, not attached anywhere yet.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) mount: OwnedFd,
}

/// What the directory of a private path is called.
pub(super) fn private_name(at: usize) -> String {
    format!("private-{at}")
}

/// What hides a file, and a directory.
pub(super) const NOTHING_FILE: &str = "nothing-file";
pub(super) const NOTHING_DIRECTORY: &str = "nothing-directory";

/// A new file system in memory, not attached yet.
pub(super) fn tmpfs(stage: Stage, options: &[(&str, String)]) -> Result<OwnedFd, Failure> {
    let doing = "a file system in memory";
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).or_cannot(stage, doing)?;
    for (name, value) in options {
        fsconfig_set_string(context.as_fd(), *name, value.as_str()).or_cannot(stage, format!("{doing}: {name}"))?;
    }
    fsconfig_create(context.as_fd()).or_cannot(stage, doing)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).or_cannot(stage, doing)
}

impl Scratch {
    /// Makes it; as root for `user`, else for the one user of the namespace.
    pub(super) fn create(plan: &Plan, user: Option<RunUser>) -> Result<Self, Failure> {
        let (uid, gid) = user.map_or((INSIDE, INSIDE), |user| (user.uid, user.gid));
        let mount = tmpfs(
            Stage::Sources,
            &[
                ("size", plan.scratch.bytes.to_string()),
                ("nr_inodes", plan.scratch.inodes.to_string()),
                ("mode", "0700".to_owned()),
                ("uid", uid.to_string()),
                ("gid", gid.to_string()),
            ],
        )?;
        Ok(Self { mount })
    }

    /// Makes the directories of the plan, and copies what may be written.
    ///
    /// `shown` is what the mounts of the plan show, in their order: what is copied is found below what was opened, so that a link
    /// of a project leads nowhere else, whoever follows it.
    pub(super) fn fill(&self, plan: &Plan, shown: &[Source], user: Option<RunUser>) -> Result<(), Failure> {
        let root = self.mount.as_fd();
        for at in 0..plan.private.len() {
            directory(root, &private_name(at), 0o700, user)?;
        }
        if plan.mounts.iter().any(|mount| !mount.hidden.is_empty()) {
            directory(root, NOTHING_DIRECTORY, 0, user)?;
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(root, NOTHING_FILE, flags, Mode::empty()).map_err(|errno| full(errno, "an empty file"))?;
        }
        for (at, writable) in plan.writable.iter().enumerate() {
            let Some(mount) = plan.mount_of(&writable.path) else { continue };
            let Some(mount_at) = plan.mounts.iter().position(|other| std::ptr::eq(other, mount)) else { continue };
            let below = writable.path.strip_prefix(mount.target.as_str()).unwrap_or_default().trim_start_matches('/');
            let hidden = mount.hidden.iter().filter_map(|path| {
                if below.is_empty() { Some(path.as_str()) } else { path.strip_prefix(below)?.strip_prefix('/') }
            });
            let hidden: Vec<String> = hidden.map(str::to_owned).collect();
            let source = format!("{}/{below}", mount.source);
            let from = self.open_below(&shown[mount_at], below).map_err(|errno| match errno {
                Errno::NOENT => Failure::source(Stage::Sources, &SourceFault::Vanished(source.clone())),
                Errno::NOTDIR | Errno::LOOP | Errno::XDEV => Failure::source(
                    Stage::Sources,
                    &SourceFault::Kind(source.clone(), "a directory without a link on its way"),
                ),
                errno => Failure::refused(Stage::Sources, format!("`{source}` cannot be read: {}", describe(errno))),
            })?;
            self.copy_into(&source, from.as_fd(), &WritableDirectory::copy_name(at), &hidden, user)?;
        }
        Ok(())
    }

    /// Opens a directory of what a mount shows, with no link on the way.
    fn open_below(&self, shown: &Source, below: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let below = if below.is_empty() { "." } else { below };
        match shown {
            Source::Tree(tree) => openat2(tree, below, flags, Mode::empty(), resolve),
            Source::Copy(name) => {
                let copy = openat(
                    self.mount.as_fd(),
                    name.as_str(),
                    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                    Mode::empty(),
                )?;
                openat2(copy, below, flags, Mode::empty(), resolve)
            }
        }
    }

    /// Copies what a mount shows.
    pub(super) fn copy(
        &self,
        path: &str,
        tree: BorrowedFd<'_>,
        name: &str,
        hidden: &[String],
        user: RunUser,
    ) -> Result<(), Failure> {
        self.copy_into(path, tree, name, hidden, Some(user))
    }

    fn copy_into(
        &self,
        path: &str,
        from: BorrowedFd<'_>,
        name: &str,
        hidden: &[String],
        user: Option<RunUser>,
    ) -> Result<(), Failure> {
        let to = directory(self.mount.as_fd(), name, 0o700, user)?;
        let mut piece = vec![0; PIECE];
        let mut copy = Copy { hidden, user, piece: &mut piece };
        copy.directory(from, to.as_fd(), "", 0).map_err(|errno| full(errno, &format!("copying `{path}`")))
    }
}

fn directory(root: BorrowedFd<'_>, name: &str, mode: u32, user: Option<RunUser>) -> Result<OwnedFd, Failure> {
    let make = || {
        mkdirat(root, name, Mode::from_raw_mode(mode))?;
        own(root, name, user)?;
        openat(root, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    };
    make().map_err(|errno| full(errno, "a private directory"))
}

fn own(root: BorrowedFd<'_>, name: &str, user: Option<RunUser>) -> Result<(), Errno> {
    match user {
        Some(user) => {
            let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
            chownat(root, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)
        }
        None => Ok(()),
    }
}

/// A copy that does not fit is the plan's fault, not the machine's.
fn full(errno: Errno, doing: &str) -> Failure {
    match errno {
        Errno::NOSPC => Failure::refused(
            Stage::Sources,
            format!("{doing}: it does not fit into what a run may write (native_file_bytes)"),
        ),
        Errno::LOOP => Failure::refused(Stage::Sources, format!("{doing}: its directories are too deep")),
        errno => Failure::refused(Stage::Sources, format!("{doing}: {}", describe(errno))),
    }
}

struct Copy<'a> {
    hidden: &'a [String],
    user: Option<RunUser>,
    piece: &'a mut [u8],
}

impl Copy<'_> {
    fn directory(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>, below: &str, depth: usize) -> Result<(), Errno> {
        if depth > MAX_DEPTH {
            return Err(Errno::LOOP);
        }
        // The descriptor may be one that only names the directory.
        let open = openat(from, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for entry in Dir::new(open)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let path = match name.to_str() {
                Ok(name) if below.is_empty() => name.to_owned(),
                Ok(name) => format!("{below}/{name}"),
                // What has no name in a policy cannot be hidden or granted; it is not there.
                Err(_) => continue,
            };
            if !self.hidden.contains(&path) {
                self.entry(from, to, name, &path, depth)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
        path: &str,
        depth: usize,
    ) -> Result<(), Errno> {
        let open = |flags| openat(from, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty());
        let named = match open(OFlags::PATH) {
            Ok(named) => named,
            // It went away meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let stat = fstat(&named)?;
        let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                mkdirat(to, name, Mode::RWXU)?;
                let made = openat(to, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
                self.directory(named.as_fd(), made.as_fd(), path, depth + 1)?;
                self.finish(&made, mode)?;
            }
            FileType::RegularFile => {
                let source = match open(OFlags::RDONLY | OFlags::NONBLOCK) {
                    Ok(source) => source,
                    // What the run's user could not read in place, it does not get in the copy either.
                    Err(Errno::ACCESS) => return Ok(()),
                    Err(errno) => return Err(errno),
                };
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let copy = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
                loop {
                    let count = rustix::io::retry_on_intr(|| rustix::io::read(&source, &mut *self.piece))?;
                    if count == 0 {
                        break;
                    }
                    let mut rest = &self.piece[..count];
                    while !rest.is_empty() {
                        rest = &rest[rustix::io::retry_on_intr(|| rustix::io::write(&copy, rest))?..];
                    }
                }
                self.finish(&copy, mode)?;
                // With its times, so that the host can tell what the program changed.
                let time = |seconds, nanoseconds| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
                let accessed = time(stat.st_atime, i64::try_from(stat.st_atime_nsec).unwrap_or_default());
                let modified = time(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or_default());
                futimens(&copy, &Timestamps { last_access: accessed, last_modification: modified })?;
            }
            FileType::Symlink => {
                let target = readlinkat(from, name, Vec::new())?;
                symlinkat(target, to, name)?;
                if let Some(user) = self.user {
                    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
                    chownat(to, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
                }
            }
            // Sockets, FIFOs and devices are nothing that a program is to find.
            _ => {}
        }
        Ok(())
    }

    fn finish(&self, copy: &OwnedFd, mode: Mode) -> Result<(), Errno> {
        if let Some(user) = self.user {
            fchown(copy, Some(Uid::from_raw(user.uid)), Some(Gid::from_raw(user.gid)))?;
        }
        rustix::fs::fchmod(copy, mode)
    }
}
