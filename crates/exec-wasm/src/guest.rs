use crate::component::Origin;
use crate::limiter::Limiter;
use crate::nested::Asking;
use skillgate_exec::{Bound, Input, Mounts, Output, Run, RunError, Stop};
use skillgate_policy::{PathRules, Refusal, Sight, Withheld};
use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use wasmtime::component::{Resource, ResourceTable, ResourceTableError};

/// Resources one guest may hold at once, so that it cannot make the host keep what it never drops.
pub(crate) const MAX_RESOURCES: u32 = 4_096;
/// How often one guest may write nothing: it costs the host a call and nobody else anything, so it is bounded by itself.
const MAX_EMPTY_WRITES: u64 = 1_000_000;

/// Everything the host keeps for one running command.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
    pub(crate) origin: Origin,
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
    /// Who runs the commands that it asks for; nobody, unless its vector says that it runs others.
    pub(crate) nested: Option<Asking>,
    /// Files that are open for this guest.
    pub(crate) open_files: Arc<AtomicU32>,
    pub(crate) empty_writes: u64,
    pub(crate) run: Arc<Run>,
    pub(crate) started: Instant,
}

impl Guest {
    pub(crate) fn table() -> ResourceTable {
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(MAX_RESOURCES).unwrap_or(usize::MAX));
        table
    }

    /// Keeps something that the guest has a handle of. What the host keeps for a guest is the guest's memory.
    pub(crate) fn keep<T: Kept>(&mut self, value: T) -> wasmtime::Result<Resource<T>> {
        let bytes = cost(&value);
        if !self.limiter.charge(bytes) {
            return Err(Ended::Stopped(Stop::Bound(Bound::Memory(self.run.limits().memory_bytes))).into());
        }
        self.table.push(value).map_err(|error| match error {
            ResourceTableError::Full => Ended::Stopped(Stop::Bound(Bound::Handles(MAX_RESOURCES))).into(),
            error => error.into(),
        })
    }

    /// Forgets something that the guest has no handle of any more.
    pub(crate) fn release<T: Kept>(&mut self, resource: Resource<T>) -> wasmtime::Result<T> {
        let value = self.table.delete(resource)?;
        self.limiter.release(cost(&value));
        Ok(value)
    }

    /// Counts a write of nothing.
    pub(crate) fn count_empty_write(&mut self) -> Result<(), Stop> {
        self.empty_writes += 1;
        if self.empty_writes > MAX_EMPTY_WRITES {
            return Err(Stop::Bound(Bound::EmptyWrites(MAX_EMPTY_WRITES)));
        }
        Ok(())
    }
}

/// What stands behind a guest's handle.
pub(crate) trait Kept: Send + 'static {
    /// Bytes beyond the value's own size; the same as long as it is kept.
    fn bytes(&self) -> usize {
        0
    }
}

/// What a table needs for an entry beside the value.
const ENTRY_BYTES: usize = 64;

fn cost<T: Kept>(value: &T) -> u64 {
    (ENTRY_BYTES + size_of::<T>() + value.bytes()) as u64
}

/// A file of a guest: open until nothing of the guest refers to it any more, whether descriptor or stream.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: File,
    open: Arc<AtomicU32>,
}

impl OpenFile {
    /// One more open file, of at most `limit`.
    pub(crate) fn new(file: File, open: &Arc<AtomicU32>, limit: u32) -> Result<Arc<Self>, Bound> {
        if open.fetch_add(1, Ordering::Relaxed) >= limit {
            open.fetch_sub(1, Ordering::Relaxed);
            return Err(Bound::OpenFiles(limit));
        }
        Ok(Arc::new(Self { file, open: Arc::clone(open) }))
    }
}

impl Deref for OpenFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
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
    /// A command that it ran ended the run.
    Nested(Box<RunError>),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "exit {code}"),
            Ended::Refused(refusal) => refusal.fmt(f),
            Ended::Stopped(stop) => stop.fmt(f),
            Ended::Nested(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Ended {}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Ended::Stopped(stop)
    }
}
