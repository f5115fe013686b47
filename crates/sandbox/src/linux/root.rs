//! Stage `root`: the new root becomes the root, and the old one is taken away.

use super::failure::{Failure, OrCannot as _};
use super::sys;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::mount::{MountAttrFlags, UnmountFlags, unmount};
use rustix::process::{chdir, fchdir, pivot_root};
use std::os::fd::BorrowedFd;

pub(super) fn pivot(plan: &Plan, root: BorrowedFd<'_>) -> Result<String, Failure> {
    injected(plan, Stage::Root)?;
    sys::set_mount_attributes(root, MountAttrFlags::MOUNT_ATTR_RDONLY, false, None)
        .or_cannot(Stage::Root, "making the new root read-only")?;
    fchdir(root).or_cannot(Stage::Root, "entering the new root")?;
    // The old root ends up on top of the new one at the same place, and is taken off there.
    pivot_root(".", ".").or_cannot(Stage::Root, "changing the root")?;
    unmount(".", UnmountFlags::DETACH).or_cannot(Stage::Root, "taking the old root away")?;
    chdir("/").or_cannot(Stage::Root, "standing in the new root")?;
    Ok("the old root is gone; the new one is read-only".to_owned())
}
