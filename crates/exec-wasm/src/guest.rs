use crate::limiter::Limiter;
use skillgate_exec::{Input, Mounts, Output, Run, Stop};
use skillgate_policy::{PathRules, Refusal, Sight, Withheld};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::ResourceTable;

/// Resources one guest may hold at once, so that it cannot make the host keep what it never drops.
const MAX_RESOURCES: usize = 4_096;

/// Everything the host keeps for one running command.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
    pub(crate) vector: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: Option<String>,
    pub(crate) stdin: Input,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    pub(crate) mounts: Arc<Mounts>,
    pub(crate) rules: Arc<PathRules>,
    pub(crate) sight: Sight,
    pub(crate) withheld: Withheld,
    pub(crate) open_files: u32,
    pub(crate) run: Arc<Run>,
    pub(crate) started: Instant,
}

impl Guest {
    pub(crate) fn table() -> ResourceTable {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        table
    }
}

/// Why a guest was ended from outside, carried through wasmtime as its error.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It called exit.
    Exit(u8),
    /// It tried what the policy refuses.
    Refused(Box<Refusal>),
    /// Its run is over.
    Stopped(Stop),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "exit {code}"),
            Ended::Refused(refusal) => refusal.fmt(f),
            Ended::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Ended {}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Ended::Stopped(stop)
    }
}
