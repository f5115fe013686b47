use crate::guest::{Ended, Guest, Kept, MAX_RESOURCES, OpenFile};
use skillgate_exec::{Input, Stop, WriteError};
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::{Resource, ResourceTableError};
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};
use wasmtime_wasi_io::bindings::wasi::io::error;

/// Bytes one call moves at most.
const CHUNK: usize = 65_536;
/// The status of a command that ended by SIGPIPE, as a shell reports it.
const SIGPIPE: u8 = 128 + 13;
/// How long a wait for several things at once goes without looking at them.
const GLANCE: Duration = Duration::from_millis(1);

/// What a guest reads.
#[derive(Clone, Debug)]
pub(super) enum GuestInput {
    Stdin(Input),
    File { file: Arc<OpenFile>, offset: u64 },
    Nothing,
}

/// Where a guest writes.
#[derive(Clone, Debug)]
pub(super) enum GuestOutput {
    Stdout,
    Stderr,
    /// `/dev/null`.
    Null,
    /// A file, from an offset on; without one, at its end.
    File {
        file: Arc<OpenFile>,
        offset: Option<u64>,
    },
}

/// What a guest can wait for.
#[derive(Clone, Debug)]
pub(super) enum Readiness {
    Now,
    Input(Input),
    At(Instant),
    Never,
}

impl Kept for GuestInput {}
impl Kept for GuestOutput {}
impl Kept for Readiness {}
impl Kept for wasmtime_wasi_io::streams::Error {
    /// A system's error with what is around it.
    fn bytes(&self) -> usize {
        256
    }
}

impl Readiness {
    fn is_ready(&self) -> bool {
        match self {
            Readiness::Now => true,
            Readiness::Input(input) => input.is_ready(),
            Readiness::At(when) => Instant::now() >= *when,
            Readiness::Never => false,
        }
    }
}

fn ended(stop: Stop) -> StreamError {
    StreamError::Trap(Ended::Stopped(stop).into())
}

fn table(error: ResourceTableError) -> StreamError {
    StreamError::Trap(error.into())
}

fn borrowed<T, U: 'static>(resource: &Resource<U>) -> Resource<T>
where
    T: 'static,
{
    Resource::new_borrow(resource.rep())
}

impl error::Host for Guest {}
impl error::HostError for Guest {
    fn to_debug_string(&mut self, error: Resource<error::Error>) -> wasmtime::Result<String> {
        Ok(self.table.get(&error)?.to_string())
    }

    fn drop(&mut self, error: Resource<error::Error>) -> wasmtime::Result<()> {
        self.release(error).map(drop)
    }
}

impl poll::Host for Guest {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            return Err(wasmtime::format_err!("an empty list to wait for"));
        }
        if pollables.len() as u64 > u64::from(MAX_RESOURCES) {
            return Err(wasmtime::format_err!("a list of more than {MAX_RESOURCES} things to wait for"));
        }
        let waits = pollables
            .iter()
            .map(|pollable| self.table.get(&borrowed::<Readiness, _>(pollable)).cloned())
            .collect::<Result<Vec<_>, _>>()?;
        loop {
            let ready: Vec<u32> = (0_u32..).zip(&waits).filter(|(_, wait)| wait.is_ready()).map(|(i, _)| i).collect();
            if !ready.is_empty() {
                return Ok(ready);
            }
            self.run.check().map_err(Ended::Stopped)?;
            let until = waits.iter().filter_map(|wait| match wait {
                Readiness::At(when) => Some(when.saturating_duration_since(Instant::now())),
                _ => None,
            });
            let only_time = waits.iter().all(|wait| matches!(wait, Readiness::At(_) | Readiness::Never));
            let glance = if only_time { 20 * GLANCE } else { GLANCE };
            std::thread::sleep(until.min().unwrap_or(glance).min(glance).min(self.run.remaining()));
        }
    }
}

impl poll::HostPollable for Guest {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&borrowed::<Readiness, _>(&pollable))?.is_ready())
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::Host::poll(self, vec![pollable]).map(drop)
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.release(Resource::<Readiness>::new_own(pollable.rep())).map(drop)
    }
}

impl streams::Host for Guest {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        match error {
            StreamError::Closed => Ok(streams::StreamError::Closed),
            StreamError::LastOperationFailed(error) => Ok(streams::StreamError::LastOperationFailed(self.keep(error)?)),
            StreamError::Trap(error) => Err(error),
        }
    }
}

impl Guest {
    fn read_stream(&mut self, stream: &Resource<DynInputStream>, len: u64, wait: bool) -> StreamResult<Vec<u8>> {
        let len = usize::try_from(len).unwrap_or(CHUNK).min(CHUNK);
        if len == 0 {
            return Ok(Vec::new());
        }
        let bytes = match self.table.get_mut(&borrowed::<GuestInput, _>(stream)).map_err(table)? {
            GuestInput::Nothing => Vec::new(),
            GuestInput::Stdin(input) => {
                if !wait && !input.is_ready() {
                    return Ok(Vec::new());
                }
                input.read(len).map_err(ended)?
            }
            GuestInput::File { file, offset } => {
                let mut bytes = vec![0; len];
                let count = read_at(file, &mut bytes, *offset)
                    .map_err(|error| StreamError::LastOperationFailed(error.into()))?;
                bytes.truncate(count);
                *offset += count as u64;
                bytes
            }
        };
        if bytes.is_empty() { Err(StreamError::Closed) } else { Ok(bytes) }
    }

    fn write_stream(&mut self, stream: &Resource<DynOutputStream>, bytes: &[u8]) -> StreamResult<()> {
        if bytes.is_empty() {
            self.count_empty_write().map_err(ended)?;
        }
        let output = match self.table.get_mut(&borrowed::<GuestOutput, _>(stream)).map_err(table)? {
            GuestOutput::Null => return Ok(()),
            GuestOutput::Stdout => &self.stdout,
            GuestOutput::Stderr => &self.stderr,
            GuestOutput::File { file, offset } => {
                self.run.count_written(bytes.len() as u64).map_err(ended)?;
                let failed = |error: std::io::Error| StreamError::LastOperationFailed(error.into());
                let at = match offset {
                    Some(offset) => *offset,
                    None => file.metadata().map_err(failed)?.len(),
                };
                write_at(file, bytes, at).map_err(failed)?;
                if let Some(offset) = offset {
                    *offset += bytes.len() as u64;
                }
                return Ok(());
            }
        };
        match output.write(bytes) {
            Ok(()) => Ok(()),
            // A writer whose reader is gone ends there, silently, as it would by SIGPIPE.
            Err(WriteError::Closed) if output.reader_is_gone() => Err(StreamError::Trap(Ended::Exit(SIGPIPE).into())),
            Err(WriteError::Closed) => Err(StreamError::Closed),
            Err(WriteError::Stop(stop)) => Err(ended(stop)),
        }
    }

    fn subscribe(&mut self, readiness: Readiness) -> wasmtime::Result<Resource<DynPollable>> {
        Ok(Resource::new_own(self.keep(readiness)?.rep()))
    }
}

#[cfg(unix)]
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

#[cfg(unix)]
pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        match std::os::windows::fs::FileExt::seek_write(file, &bytes[written..], offset + written as u64)? {
            0 => return Err(std::io::Error::from(std::io::ErrorKind::WriteZero)),
            count => written += count,
        }
    }
    Ok(())
}

impl streams::HostInputStream for Guest {
    fn read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        self.read_stream(&stream, len, false)
    }

    fn blocking_read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        self.read_stream(&stream, len, true)
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Ok(self.read_stream(&stream, len, false)?.len() as u64)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Ok(self.read_stream(&stream, len, true)?.len() as u64)
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        let readiness = match self.table.get(&borrowed::<GuestInput, _>(&stream))? {
            GuestInput::Stdin(input) => Readiness::Input(input.clone()),
            GuestInput::File { .. } | GuestInput::Nothing => Readiness::Now,
        };
        Guest::subscribe(self, readiness)
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        self.release(Resource::<GuestInput>::new_own(stream.rep())).map(drop)
    }
}

impl streams::HostOutputStream for Guest {
    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        self.table.get(&borrowed::<GuestOutput, _>(&stream)).map_err(table)?;
        // A write that fits here may still wait for its reader; it looks at the run's deadline while it does.
        Ok(CHUNK as u64)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        self.write_stream(&stream, &bytes)
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        self.write_stream(&stream, &bytes)
    }

    fn flush(&mut self, _: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn blocking_flush(&mut self, _: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn subscribe(&mut self, _: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Guest::subscribe(self, Readiness::Now)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        let len = usize::try_from(len).ok().filter(|len| *len <= CHUNK);
        let len = len.ok_or_else(|| StreamError::trap("more zeroes than a write may hold"))?;
        self.write_stream(&stream, &vec![0; len])
    }

    fn blocking_write_zeroes_and_flush(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        streams::HostOutputStream::write_zeroes(self, stream, len)
    }

    fn splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        let bytes = self.read_stream(&from, len, false)?;
        self.write_stream(&stream, &bytes)?;
        Ok(bytes.len() as u64)
    }

    fn blocking_splice(
        &mut self,
        stream: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        let bytes = self.read_stream(&from, len, true)?;
        self.write_stream(&stream, &bytes)?;
        Ok(bytes.len() as u64)
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        self.release(Resource::<GuestOutput>::new_own(stream.rep())).map(drop)
    }
}
