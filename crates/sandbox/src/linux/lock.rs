//! Stage `lock`: a second user and mount namespace. Mounts that were brought in from outside are not locked in the namespace that
//! brought them, so that a capability won there could make them writable; in a copy that belongs to a lesser user they are.

use super::failure::{Failure, OrCannot as _};
use super::namespaces::{INSIDE, map};
use super::sys;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::MountAttrFlags;
use std::os::fd::AsFd as _;

pub(super) fn second_namespace(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Lock)?;
    let cannot = "a second user and mount namespace";
    sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).or_cannot(Stage::Lock, cannot)?;
    map(INSIDE, INSIDE).or_cannot(Stage::Lock, "mapping the one user again")?;
    // Only now: the maps are written through /proc.
    let proc = rustix::fs::openat(CWD, "/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .or_cannot(Stage::Lock, "opening /proc")?;
    sys::set_mount_attributes(proc.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false, None)
        .or_cannot(Stage::Lock, "making /proc read-only")?;
    Ok("every mount is locked as it is".to_owned())
}
