use skillgate_exec::Run;
use std::sync::Arc;
use wasmtime::ResourceLimiter;

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
}

impl Drop for Limiter {
    fn drop(&mut self) {
        self.run.give_memory(self.taken);
    }
}
