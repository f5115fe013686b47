use skillgate_exec::Run;
use std::sync::Arc;
use wasmtime::ResourceLimiter;

/// Core instances, tables and memories of one guest. A component that a toolchain makes has a module of its own, one or two of
/// its adapters and some that only pass on calls.
const INSTANCES: usize = 32;
const TABLES: usize = 32;
const MEMORIES: usize = 8;
/// Bytes one table element costs the host.
const TABLE_ELEMENT: u64 = 8;

/// Bounds the sum of all memories and tables of all guests of a run, not each by itself.
#[derive(Debug)]
pub(crate) struct Limiter {
    run: Arc<Run>,
    taken: u64,
    /// Whether a growth was refused, which is why a guest that then fails is not at fault but at its limit.
    pub(crate) hit: bool,
}

impl Limiter {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run, taken: 0, hit: false }
    }

    /// Takes memory that the host needs for the guest; `false` when there is not as much left.
    pub(crate) fn charge(&mut self, bytes: u64) -> bool {
        self.grow(bytes)
    }

    /// Gives back what [`Self::charge`] took.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.taken -= bytes;
        self.run.give_memory(bytes);
    }

    fn grow(&mut self, bytes: u64) -> bool {
        let granted = self.run.take_memory(bytes);
        if granted {
            self.taken += bytes;
        } else {
            self.hit = true;
        }
        granted
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current) as u64))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grow(TABLE_ELEMENT.saturating_mul(desired.saturating_sub(current) as u64)))
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        self.run.give_memory(self.taken);
    }
}
