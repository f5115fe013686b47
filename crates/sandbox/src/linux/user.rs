//! Stage `user`: root becomes a user that owns nothing, because limits and the protections of /proc do not hold for root, and
//! because a user namespace that root made belongs to root.

use super::failure::{Failure, OrCannot as _};
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

pub(super) fn become_unprivileged(plan: &Plan, as_root: bool) -> Result<String, Failure> {
    injected(plan, Stage::User)?;
    let own = rustix::process::geteuid();
    if !as_root {
        return Ok(format!("started as the unprivileged user {}", own.as_raw()));
    }
    let (uid, gid) = (Uid::from_raw(plan.user.uid), Gid::from_raw(plan.user.gid));
    set_thread_groups(&[]).or_cannot(Stage::User, "leaving every group")?;
    set_thread_res_gid(gid, gid, gid).or_cannot(Stage::User, format!("taking the group {}", plan.user.gid))?;
    set_thread_res_uid(uid, uid, uid).or_cannot(Stage::User, format!("becoming user {}", plan.user.uid))?;
    // Changing users makes a process undumpable, and then /proc/self belongs to root: the maps could not be written.
    set_dumpable_behavior(DumpableBehavior::Dumpable).or_cannot(Stage::User, "keeping /proc/self")?;
    Ok(format!("from root to user {}, who owns nothing", plan.user.uid))
}
