//! Stage `mounts`: the new root is put together from what was opened.
//!
//! Every place is found beneath the new root, without following a link: a project may hold links that lead anywhere, and the old
//! root is still there.

use super::control::Control;
use super::failure::{Failure, OrCannot as _, describe};
use super::scratch::{self, NOTHING_DIRECTORY, NOTHING_FILE, Scratch, private_name};
use super::sources::{Source, Sources};
use super::sys;
use crate::fault::injected;
use crate::message::Reply;
use crate::plan::{MountKind, Plan, WritableDirectory};
use crate::stage::Stage;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, move_mount, open_tree,
};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Where the new root is attached until it is the root. It is there on every machine, and its own content is not needed from
/// here on.
const ATTACHED_AT: &str = "/proc";
/// Links in /dev, as programs expect them. They lead to a process's own descriptors only.
const DEV_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Puts the root together and gives its descriptor.
pub(super) fn build(control: &Control, plan: &Plan, sources: Sources) -> Result<(OwnedFd, String), Failure> {
    injected(plan, Stage::Mounts)?;
    let scratch = sources.scratch;
    let root = Root::create(&scratch)?;
    for link in &plan.links {
        let (parent, name) = root.parent(&link.path)?;
        symlinkat(&link.to, &parent, name).or_cannot(Stage::Mounts, format!("the link `{}`", link.path))?;
    }
    // First, so that a project below /tmp is seen in the private one.
    for (at, path) in plan.private.iter().enumerate() {
        root.attach(scratch_directory(&scratch, &private_name(at), false)?.as_fd(), path, MountKind::Directory)?;
    }
    for (mount, source) in plan.mounts.iter().zip(sources.mounts) {
        let tree = match source {
            Source::Tree(tree) => tree,
            Source::Copy(name) => {
                let tree = scratch_directory(&scratch, &name, mount.executable)?;
                sys::set_mount_attributes(tree.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false, None)
                    .or_cannot(Stage::Mounts, format!("making the copy of `{}` read-only", mount.source))?;
                tree
            }
        };
        root.attach(tree.as_fd(), &mount.target, mount.kind)?;
        for path in &mount.hidden {
            root.hide(&format!("{}/{path}", mount.target), &scratch)?;
        }
    }
    for file in &plan.files {
        root.write(&file.path, &file.content)?;
    }
    for (at, writable) in plan.writable.iter().enumerate() {
        let tree = scratch_directory(&scratch, &WritableDirectory::copy_name(at), writable.executable)?;
        root.attach(tree.as_fd(), &writable.path, MountKind::Directory)?;
    }
    for (name, device) in sources.devices {
        root.attach(device.as_fd(), &format!("/dev/{name}"), MountKind::File)?;
    }
    for (name, to) in DEV_LINKS {
        let path = format!("/dev/{name}");
        let (parent, name) = root.parent(&path)?;
        symlinkat(to, &parent, name).or_cannot(Stage::Mounts, format!("the link `{path}`"))?;
    }
    root.attach(proc()?.as_fd(), "/proc", MountKind::Directory)?;
    if !plan.writable.is_empty() {
        control
            .give(&Reply::Scratch, scratch.mount.as_fd())
            .map_err(|_| Failure::refused(Stage::Mounts, "the host is gone"))?;
    }
    let detail = format!(
        "{} read-only mounts, {} private and {} writable directories, /proc of this namespace, four devices",
        plan.mounts.len(),
        plan.private.len(),
        plan.writable.len()
    );
    Ok((root.0, detail))
}

struct Root(OwnedFd);

impl Root {
    /// Attaches the root, and the scratch file system below it: only of what is attached can directories be mounted elsewhere,
    /// and there it goes away with the old root.
    fn create(scratch: &Scratch) -> Result<Self, Failure> {
        let options = [("size", "1m".to_owned()), ("nr_inodes", "4096".to_owned()), ("mode", "0755".to_owned())];
        let root = scratch::tmpfs(Stage::Mounts, &options)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        for (mount, doing) in [(&scratch.mount, "attaching the private file system"), (&root, "attaching the new root")]
        {
            move_mount(mount, "", CWD, ATTACHED_AT, flags).or_cannot(Stage::Mounts, doing)?;
        }
        Ok(Self(root))
    }

    /// What a path beneath the root names, without following links.
    fn find(&self, path: &str) -> Result<OwnedFd, Errno> {
        let below = path.trim_start_matches('/');
        let below = if below.is_empty() { "." } else { below };
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.0, below, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty(), how)
    }

    /// The directory that a path lies in, made when it is not there, and the path's last name.
    fn parent<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str), Failure> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Ok(found) = self.find(above) {
            return Ok((found, name));
        }
        let (parent, directory) = self.parent(above)?;
        let found = || {
            match mkdirat(&parent, directory, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            self.find(above)
        };
        found().map(|found| (found, name)).map_err(|errno| {
            Failure::refused(
                Stage::Mounts,
                format!("`{above}` cannot be a directory of the sandbox: {}", describe(errno)),
            )
        })
    }

    /// Attaches a mount at a path, which is made when it is not there.
    fn attach(&self, tree: BorrowedFd<'_>, path: &str, kind: MountKind) -> Result<(), Failure> {
        let place = match self.find(path) {
            Ok(place) => place,
            Err(_) => {
                self.make(path, kind)?;
                self.find(path).or_cannot(Stage::Mounts, format!("the place of `{path}`"))?
            }
        };
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(tree, "", &place, "", flags).or_cannot(Stage::Mounts, format!("mounting `{path}`"))
    }

    fn make(&self, path: &str, kind: MountKind) -> Result<(), Failure> {
        let (parent, name) = self.parent(path)?;
        let made = match kind {
            MountKind::Directory => mkdirat(&parent, name, Mode::from_raw_mode(0o755)),
            MountKind::File => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                openat(&parent, name, flags, Mode::from_raw_mode(0o644)).map(drop)
            }
        };
        made.map_err(|errno| {
            Failure::refused(Stage::Mounts, format!("`{path}` is no place to mount something: {}", describe(errno)))
        })
    }

    fn write(&self, path: &str, content: &str) -> Result<(), Failure> {
        let (parent, name) = self.parent(path)?;
        let write = || {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = openat(&parent, name, flags, Mode::from_raw_mode(0o644))?;
            let mut rest = content.as_bytes();
            while !rest.is_empty() {
                rest = &rest[rustix::io::retry_on_intr(|| rustix::io::write(&file, rest))?..];
            }
            Ok(())
        };
        write().or_cannot(Stage::Mounts, format!("writing `{path}`"))
    }

    /// Covers a path with something empty that cannot be opened. What is not there needs no cover.
    fn hide(&self, path: &str, scratch: &Scratch) -> Result<(), Failure> {
        let doing = || format!("hiding `{path}`");
        let place = match self.find(path) {
            Ok(place) => place,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(errno) => return Err(Failure::cannot(Stage::Mounts, doing(), errno)),
        };
        let kind = FileType::from_raw_mode(fstat(&place).or_cannot(Stage::Mounts, doing())?.st_mode);
        let name = match kind {
            FileType::Directory => NOTHING_DIRECTORY,
            // A link leads to a file, which is hidden itself if it is to be.
            FileType::Symlink => return Ok(()),
            _ => NOTHING_FILE,
        };
        let nothing = scratch_directory(scratch, name, false)?;
        sys::set_mount_attributes(nothing.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false, None)
            .or_cannot(Stage::Mounts, doing())?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&nothing, "", &place, "", flags).or_cannot(Stage::Mounts, doing())
    }
}

/// A mount of one directory of the scratch file system, or of what hides a file.
fn scratch_directory(scratch: &Scratch, name: &str, executable: bool) -> Result<OwnedFd, Failure> {
    let doing = "a mount of a private directory";
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(&scratch.mount, name, flags).or_cannot(Stage::Mounts, doing)?;
    if !executable {
        sys::set_mount_attributes(tree.as_fd(), MountAttrFlags::MOUNT_ATTR_NOEXEC, false, None)
            .or_cannot(Stage::Mounts, doing)?;
    }
    Ok(tree)
}

/// The processes of this namespace and nothing else: `subset=pid` leaves out what is about the machine.
fn proc() -> Result<OwnedFd, Failure> {
    let doing = "a /proc of this namespace (a container that covers parts of /proc does not allow it)";
    let make = || {
        let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(context.as_fd(), "subset", "pid")?;
        fsconfig_create(context.as_fd())?;
        let attributes =
            MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    make().or_cannot(Stage::Mounts, doing)
}
