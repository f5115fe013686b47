//! Stage `seccomp`: which system calls are refused. The rules are data (`table.rs`), one reason each.

mod filter;
mod table;

use super::failure::Failure;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::{Stage, Unavailable};

pub(super) fn apply(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Seccomp)?;
    let unavailable = |reason: String| Failure::from(Unavailable::new(Stage::Seccomp, reason));
    let Some(architecture) = table::Architecture::NATIVE else {
        return Err(unavailable("there is no table of system calls for this architecture".to_owned()));
    };
    let program = filter::program(architecture, libc::EPERM.unsigned_abs()).map_err(unavailable)?;
    filter::apply(&program).map_err(unavailable)?;
    Ok(format!("{} rules; another architecture's calls kill the process", table::RULES.len()))
}
