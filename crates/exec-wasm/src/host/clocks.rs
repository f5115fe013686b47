use super::io::Readiness;
use crate::guest::Guest;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};

/// What a guest can tell of time, so that it cannot measure its surroundings finely.
const WALL_RESOLUTION_S: u64 = 1;
const MONOTONIC_RESOLUTION_NS: u64 = 1_000_000;

impl wall_clock::Host for Guest {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(wall_clock::Datetime { seconds: now.as_secs(), nanoseconds: 0 })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: WALL_RESOLUTION_S, nanoseconds: 0 })
    }
}

impl Guest {
    fn ticks(&self) -> u64 {
        let nanos = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        nanos - nanos % MONOTONIC_RESOLUTION_NS
    }
}

impl monotonic_clock::Host for Guest {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        Ok(self.ticks())
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        Ok(MONOTONIC_RESOLUTION_NS)
    }

    fn subscribe_instant(&mut self, when: monotonic_clock::Instant) -> wasmtime::Result<Resource<DynPollable>> {
        let wait = when.saturating_sub(self.ticks());
        self.subscribe_duration(wait)
    }

    fn subscribe_duration(&mut self, wait: monotonic_clock::Duration) -> wasmtime::Result<Resource<DynPollable>> {
        let readiness = match Instant::now().checked_add(Duration::from_nanos(wait)) {
            Some(when) => Readiness::At(when),
            None => Readiness::Never,
        };
        Ok(Resource::new_own(self.keep(readiness)?.rep()))
    }
}
