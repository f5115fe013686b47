//! Stage `privileges`: nothing to use and nothing to gain.

use super::failure::{Failure, OrCannot as _};
use super::sys;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs};

/// More capabilities than any kernel has.
const CAPABILITIES: libc::c_ulong = 64;

pub(super) fn give_up(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Privileges)?;
    set_no_new_privs(true).or_cannot(Stage::Privileges, "no new privileges")?;
    clear_ambient_capability_set().or_cannot(Stage::Privileges, "clearing the ambient capabilities")?;
    for capability in 0..CAPABILITIES {
        match sys::drop_from_bounding_set(capability) {
            Ok(()) => {}
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(Failure::cannot(Stage::Privileges, "emptying the bounding set", errno)),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .or_cannot(Stage::Privileges, "dropping every capability")?;
    // Process 1 holds the control socket; nobody inside may look at it through /proc.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).or_cannot(Stage::Privileges, "hiding process 1")?;
    Ok("no capability in any set, no new privileges, process 1 not dumpable".to_owned())
}
