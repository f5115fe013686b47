use crate::guest::Guest;
use wasmtime::format_err;
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

/// Random bytes a guest may ask for at once.
const MAX_BYTES: u64 = 65_536;

fn fill(len: u64) -> wasmtime::Result<Vec<u8>> {
    let len = usize::try_from(len).ok().filter(|_| len <= MAX_BYTES);
    let mut bytes = vec![0; len.ok_or_else(|| format_err!("more than {MAX_BYTES} random bytes at once"))?];
    getrandom::fill(&mut bytes).map_err(|error| format_err!("no randomness: {error}"))?;
    Ok(bytes)
}

fn number() -> wasmtime::Result<u64> {
    getrandom::u64().map_err(|error| format_err!("no randomness: {error}"))
}

impl random::Host for Guest {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        fill(len)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl insecure::Host for Guest {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        fill(len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl insecure_seed::Host for Guest {
    /// Seeds the guest's hash tables. The same in every run, so that the order of a hash table is not a source of difference;
    /// a guest floods nobody's tables but its own, within its limits.
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((0x736b_696c_6c67_6174, 0x6520_7365_6564_2031))
    }
}
