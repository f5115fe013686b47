//! Faults on request, in builds for tests.

#[cfg(target_os = "linux")]
use crate::plan::Plan;
#[cfg(target_os = "linux")]
use crate::stage::{Stage, Unavailable};

/// Whether this build can be told to fail a stage. It is never on in what is distributed.
pub const FAULT_INJECTION: bool = cfg!(feature = "fault-injection");

/// Fails when the plan asks for this stage to fail and the build can. Every stage calls it first.
#[cfg(target_os = "linux")]
pub(crate) fn injected(plan: &Plan, stage: Stage) -> Result<(), Unavailable> {
    if FAULT_INJECTION && plan.fault == Some(stage) {
        return Err(Unavailable::new(stage, "made to fail by a test"));
    }
    Ok(())
}
