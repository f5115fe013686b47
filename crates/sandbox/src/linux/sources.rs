//! Stage `sources`: everything that is mounted is opened once, compared with what was approved, and made read-only. What is
//! mounted later is what was opened here, whatever the path names by then.

use super::failure::{Failure, OrCannot as _};
use super::scratch::Scratch;
use super::{idmap, sys};
use crate::fault::injected;
use crate::message::SourceFault;
use crate::plan::{Identity, Mount, MountKind, Plan, RunUser};
use crate::stage::Stage;
use rustix::fs::{CWD, FileType, Mode, Stat, fstat};
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, OpenTreeFlags, open_tree};
use std::os::fd::{AsFd as _, OwnedFd};

/// The devices of the sandbox: name and device number.
const DEVICES: [(&str, (u32, u32)); 4] = [("null", (1, 3)), ("zero", (1, 5)), ("full", (1, 7)), ("urandom", (1, 9))];

/// What is going to be mounted, in the order of the plan.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) mounts: Vec<Source>,
    pub(super) devices: Vec<(&'static str, OwnedFd)>,
    pub(super) scratch: Scratch,
}

#[derive(Debug)]
pub(super) enum Source {
    /// A copy of the mount.
    Tree(OwnedFd),
    /// A directory of the scratch file system, into which the content was copied.
    Copy(String),
}

/// Opens everything. As root, `user` is who the files are for.
pub(super) fn open(plan: &Plan, user: Option<RunUser>) -> Result<(Sources, String), Failure> {
    injected(plan, Stage::Sources)?;
    let scratch = Scratch::create(plan, user)?;
    let mut mounts = Vec::new();
    let mut copied = Vec::new();
    for (at, mount) in plan.mounts.iter().enumerate() {
        let source = open_mount(mount, at, user, &scratch)?;
        if matches!(source, Source::Copy(_)) {
            copied.push(mount.target.as_str());
        }
        mounts.push(source);
    }
    scratch.fill(plan, &mounts, user)?;
    let mut devices = Vec::new();
    for (name, number) in DEVICES {
        devices.push((name, open_device(name, number)?));
    }
    let detail = match copied.as_slice() {
        [] => format!("{} mounts opened, compared and read-only", mounts.len()),
        copied => format!(
            "{} mounts opened, compared and read-only; copied, because the file system maps no owners: {}",
            mounts.len(),
            copied.join(", ")
        ),
    };
    Ok((Sources { mounts, devices, scratch }, detail))
}

fn tree(path: &str, flags: OpenTreeFlags) -> Result<OwnedFd, Errno> {
    open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | flags)
}

fn open_mount(mount: &Mount, at: usize, user: Option<RunUser>, scratch: &Scratch) -> Result<Source, Failure> {
    let path = mount.source.as_str();
    let mut flags = OpenTreeFlags::empty();
    if mount.kind == MountKind::Directory {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    if mount.identity.is_none() {
        // Nothing says where a link should lead.
        flags |= OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    }
    let tree = tree(path, flags).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR => Failure::source(Stage::Sources, &SourceFault::Vanished(path.to_owned())),
        errno => Failure::cannot(Stage::Sources, format!("opening `{path}` as a mount"), errno),
    })?;
    let stat = fstat(&tree).or_cannot(Stage::Sources, format!("looking at `{path}`"))?;
    let fault = |fault: SourceFault| Err(Failure::source(Stage::Sources, &fault));
    match (mount.kind, FileType::from_raw_mode(stat.st_mode)) {
        (MountKind::Directory, FileType::Directory) | (MountKind::File, FileType::RegularFile) => {}
        (_, FileType::Symlink) => return fault(SourceFault::Link(path.to_owned())),
        (MountKind::Directory, _) => return fault(SourceFault::Kind(path.to_owned(), "a directory")),
        (MountKind::File, _) => return fault(SourceFault::Kind(path.to_owned(), "a file")),
    }
    if mount.identity.is_some_and(|approved| !approved.is_met_by(&identity_of(&stat))) {
        return fault(SourceFault::Replaced(path.to_owned()));
    }
    let mut attributes =
        MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    if !mount.executable {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
    }
    let recursive = mount.kind == MountKind::Directory;
    if let Some(user) = user.filter(|_| mount.owned) {
        match show_to(&tree, &stat, attributes, recursive, user)? {
            Shown::Mapped => return Ok(Source::Tree(tree)),
            Shown::Unmapped => {}
            Shown::Closed => {
                let name = format!("copy-{at}");
                scratch.copy(path, tree.as_fd(), &name, &mount.hidden, user)?;
                return Ok(Source::Copy(name));
            }
        }
    }
    sys::set_mount_attributes(tree.as_fd(), attributes, recursive, None)
        .or_cannot(Stage::Sources, format!("making `{path}` read-only (mount_setattr, Linux 5.12)"))?;
    Ok(Source::Tree(tree))
}

/// How a mount that belongs to somebody else can be shown to the run's user.
enum Shown {
    /// Its owner is mapped to the user, and its attributes are set.
    Mapped,
    /// The file system maps no owners, and everybody may read it.
    Unmapped,
    /// The file system maps no owners, and only its owner may read it.
    Closed,
}

fn show_to(
    tree: &OwnedFd,
    stat: &Stat,
    attributes: MountAttrFlags,
    recursive: bool,
    user: RunUser,
) -> Result<Shown, Failure> {
    let mapping = idmap::mapping((stat.st_uid, stat.st_gid), user)?;
    match sys::set_mount_attributes(tree.as_fd(), attributes, recursive, Some(mapping.as_fd())) {
        Ok(()) => Ok(Shown::Mapped),
        // The file system, or one mounted below, does not know it; or a container keeps its root from it.
        Err(Errno::INVAL | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
            let others = if recursive { Mode::ROTH | Mode::XOTH } else { Mode::ROTH };
            let open = Mode::from_raw_mode(stat.st_mode).contains(others);
            Ok(if open { Shown::Unmapped } else { Shown::Closed })
        }
        Err(errno) => Err(Failure::cannot(Stage::Sources, "mapping the owner of a mount", errno)),
    }
}

fn open_device(name: &'static str, (major, minor): (u32, u32)) -> Result<OwnedFd, Failure> {
    let path = format!("/dev/{name}");
    let doing = || format!("opening `{path}`");
    let device = tree(&path, OpenTreeFlags::AT_SYMLINK_NOFOLLOW).or_cannot(Stage::Sources, doing())?;
    let stat = fstat(&device).or_cannot(Stage::Sources, doing())?;
    let number = rustix::fs::makedev(major, minor);
    if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice || stat.st_rdev != number {
        return Err(Failure::source(Stage::Sources, &SourceFault::Kind(path, "the device of that name")));
    }
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    sys::set_mount_attributes(device.as_fd(), attributes, false, None).or_cannot(Stage::Sources, doing())?;
    Ok(device)
}

/// Who a file is, with its content.
pub(super) fn identity_of(stat: &Stat) -> Identity {
    let changed = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    Identity { device: stat.st_dev, inode: stat.st_ino, content: Some((size, changed)) }
}

impl Identity {
    /// Whether a file that was found is this one, as far as this says.
    pub(super) fn is_met_by(&self, found: &Identity) -> bool {
        (self.device, self.inode) == (found.device, found.inode)
            && (self.content.is_none() || self.content == found.content)
    }
}
