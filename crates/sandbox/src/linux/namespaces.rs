//! Stage `namespaces`: new ones of every kind, and the one user in them.

use super::failure::{Failure, OrCannot as _};
use super::sys;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::mount::{MountPropagationFlags, mount_change};

/// The user and group inside: neither root, nor the overflow id that an unmapped owner is shown as.
pub(super) const INSIDE: u32 = 1000;

const ALL: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

pub(super) fn enter(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Namespaces)?;
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    sys::unshare(ALL).or_cannot(
        Stage::Namespaces,
        "new user, mount, pid, net, ipc, uts and cgroup namespaces (is kernel.unprivileged_userns_clone, \
         user.max_user_namespaces or a security module in the way?)",
    )?;
    map(uid, gid).or_cannot(Stage::Namespaces, "mapping the one user")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .or_cannot(Stage::Namespaces, "keeping mounts from spreading")?;
    rustix::system::sethostname(b"sandbox").or_cannot(Stage::Namespaces, "naming the host")?;
    Ok("user, mount, pid, net (no interface but a loopback that is down), ipc, uts and cgroup".to_owned())
}

/// Maps the one user and group, seen from the namespace outside, to the one inside.
pub(super) fn map(uid: u32, gid: u32) -> Result<(), Errno> {
    for (file, content) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/gid_map", format!("{INSIDE} {gid} 1")),
        ("/proc/self/uid_map", format!("{INSIDE} {uid} 1")),
    ] {
        let file = open(file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        // The kernel takes a map in one write or not at all.
        write(&file, content.as_bytes())?;
    }
    Ok(())
}
