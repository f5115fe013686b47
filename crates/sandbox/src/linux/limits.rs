//! Stage `limits`.

use super::failure::{Failure, OrCannot as _};
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::Stage;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Processes of the run that are not the program's: process 1.
const OWN_PROCESSES: u64 = 1;

pub(super) fn apply(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Limits)?;
    let limits = &plan.limits;
    let all = [
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
        (Resource::As, limits.memory_bytes),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Stack, limits.stack_bytes),
        (Resource::Nproc, limits.processes.saturating_add(OWN_PROCESSES)),
    ];
    for (resource, number) in all {
        // Where the machine allows less, less it is.
        let number = getrlimit(resource).maximum.map_or(number, |maximum| maximum.min(number));
        setrlimit(resource, Rlimit { current: Some(number), maximum: Some(number) })
            .or_cannot(Stage::Limits, format!("limiting {resource:?} to {number}"))?;
    }
    Ok(format!(
        "{} bytes of address space for each of {} processes, so {} for all together (no cgroup, so no lower bound), {} s of \
         processor time, files of {} bytes, {} descriptors",
        limits.memory_bytes,
        limits.processes,
        limits.memory_bytes.saturating_mul(limits.processes),
        limits.cpu_seconds,
        limits.file_bytes,
        limits.open_files
    ))
}
