//! Streams between the stages of a pipeline and their ends: bounded, aware of the run's deadline, and countable.

use crate::run::{Bound, Run, Stop};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes a pipe holds before its writer waits, as a Linux pipe does.
const PIPE_BYTES: usize = 65_536;
/// The longest time a waiting end goes without looking at the run.
const GLANCE: Duration = Duration::from_millis(50);

/// Why a write did not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteError {
    /// Nobody reads the stream any more.
    Closed,
    /// The run has to end.
    Stop(Stop),
}

#[derive(Debug, Default)]
struct PipeState {
    bytes: VecDeque<u8>,
    writers: usize,
    readers: usize,
}

#[derive(Debug)]
struct PipeInner {
    state: Mutex<PipeState>,
    changed: Condvar,
    run: Arc<Run>,
}

impl PipeInner {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        // A panic while the lock is held leaves bytes and counts that are still consistent with each other.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, PipeState>) -> MutexGuard<'a, PipeState> {
        let (state, _) =
            self.changed.wait_timeout(state, self.run.remaining().min(GLANCE)).unwrap_or_else(PoisonError::into_inner);
        state
    }
}

/// The reading end of a pipe; shared by everybody who reads it.
pub struct PipeReader(Arc<PipeInner>);

/// The writing end of a pipe; the reader sees the end when the last one is gone.
pub struct PipeWriter(Arc<PipeInner>);

/// A bounded pipe of one run.
#[must_use]
pub fn pipe(run: &Arc<Run>) -> (PipeReader, PipeWriter) {
    let state = PipeState { bytes: VecDeque::new(), writers: 1, readers: 1 };
    let inner = Arc::new(PipeInner { state: Mutex::new(state), changed: Condvar::new(), run: Arc::clone(run) });
    (PipeReader(Arc::clone(&inner)), PipeWriter(inner))
}

impl PipeReader {
    /// Reads up to `size` bytes, waiting for the first; empty at the end of the stream.
    ///
    /// # Errors
    /// Why the run has to end.
    pub fn read(&self, size: usize) -> Result<Vec<u8>, Stop> {
        let mut state = self.0.lock();
        loop {
            if !state.bytes.is_empty() {
                let count = size.min(state.bytes.len());
                // Copied as a whole: the iterator of `drain` gives byte after byte.
                let (front, back) = state.bytes.as_slices();
                let mut bytes = Vec::with_capacity(count);
                bytes.extend_from_slice(&front[..count.min(front.len())]);
                bytes.extend_from_slice(&back[..count - bytes.len()]);
                state.bytes.drain(..count);
                self.0.changed.notify_all();
                return Ok(bytes);
            }
            if state.writers == 0 {
                return Ok(Vec::new());
            }
            self.0.run.check()?;
            state = self.0.wait(state);
        }
    }

    /// Whether a read would return at once.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let state = self.0.lock();
        !state.bytes.is_empty() || state.writers == 0
    }
}

impl PipeWriter {
    /// Writes all of `bytes`, waiting for room.
    ///
    /// # Errors
    /// [`WriteError::Closed`] when the last reader is gone, [`WriteError::Stop`] when the run has to end.
    pub fn write(&self, mut bytes: &[u8]) -> Result<(), WriteError> {
        let mut state = self.0.lock();
        while !bytes.is_empty() {
            if state.readers == 0 {
                return Err(WriteError::Closed);
            }
            let room = PIPE_BYTES.saturating_sub(state.bytes.len());
            if room > 0 {
                let (now, later) = bytes.split_at(room.min(bytes.len()));
                state.bytes.extend(now);
                bytes = later;
                self.0.changed.notify_all();
                continue;
            }
            self.0.run.check().map_err(WriteError::Stop)?;
            state = self.0.wait(state);
        }
        if state.readers == 0 { Err(WriteError::Closed) } else { Ok(()) }
    }

    /// Whether the last reader is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.lock().readers == 0
    }
}

impl Clone for PipeReader {
    fn clone(&self) -> Self {
        self.0.lock().readers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Clone for PipeWriter {
    fn clone(&self) -> Self {
        self.0.lock().writers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.readers -= 1;
        if state.readers == 0 {
            state.bytes = VecDeque::new();
        }
        self.0.changed.notify_all();
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.0.lock().writers -= 1;
        self.0.changed.notify_all();
    }
}

impl fmt::Debug for PipeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PipeReader")
    }
}

impl fmt::Debug for PipeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PipeWriter")
    }
}

/// What happens past the bound of a [`Capture`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// What is too much is counted and dropped.
    Drop,
    /// The run ends: the stream must arrive whole.
    Stop,
}

#[derive(Debug, Default)]
struct Captured {
    bytes: Vec<u8>,
    total: u64,
}

/// Keeps what is written to it, up to the run's `output_bytes`, and counts the rest.
#[derive(Debug)]
pub struct Capture {
    captured: Mutex<Captured>,
    keep: u64,
    overflow: Overflow,
}

impl Capture {
    /// A capture that keeps `keep` bytes.
    #[must_use]
    pub fn new(keep: u64, overflow: Overflow) -> Arc<Self> {
        Arc::new(Self { captured: Mutex::default(), keep, overflow })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.keep.saturating_sub(captured.bytes.len() as u64);
        let kept = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        captured.bytes.extend_from_slice(&bytes[..kept]);
        captured.total = captured.total.saturating_add(bytes.len() as u64);
        if kept < bytes.len() && self.overflow == Overflow::Stop {
            return Err(WriteError::Stop(Stop::Bound(Bound::Output(self.keep))));
        }
        Ok(())
    }

    /// Takes what was kept, and how many bytes were written in all.
    #[must_use]
    pub fn take(&self) -> (Vec<u8>, u64) {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut captured.bytes), captured.total)
    }
}

/// Something outside the sandbox that takes output, such as the terminal.
pub trait Sink: Send + Sync + fmt::Debug {
    /// Takes all of `bytes`.
    ///
    /// # Errors
    /// [`WriteError`], when nobody reads any more or the run has to end.
    fn write(&self, bytes: &[u8]) -> Result<(), WriteError>;
}

/// Where a command's output goes. Clones write to the same place.
#[derive(Clone, Debug)]
pub enum Output {
    /// Nowhere.
    Discard,
    /// Kept, up to a bound.
    Capture(Arc<Capture>),
    /// To the next stage.
    Pipe(PipeWriter),
    /// Into a file that the shell opened, where its writer left off.
    File(Arc<FileOutput>),
    /// Out of the sandbox.
    Sink(Arc<dyn Sink>),
    /// Where another output goes, with what is written counted.
    Counted(Arc<Counted>),
    /// Nowhere, because the stream was closed (`>&-`): every write fails.
    Closed,
}

/// An output that counts.
#[derive(Debug)]
pub struct Counted {
    output: Output,
    bytes: Arc<AtomicU64>,
}

impl Output {
    /// The same output, which adds the length of what it is given to `bytes`.
    #[must_use]
    pub fn counted(self, bytes: &Arc<AtomicU64>) -> Output {
        Output::Counted(Arc::new(Counted { output: self, bytes: Arc::clone(bytes) }))
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// [`WriteError`], when nobody reads any more or the run has to end.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        match self {
            Output::Discard => Ok(()),
            Output::Capture(capture) => capture.write(bytes),
            Output::Pipe(pipe) => pipe.write(bytes),
            Output::File(file) => file.write(bytes),
            Output::Sink(sink) => sink.write(bytes),
            Output::Counted(counted) => {
                counted.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                counted.output.write(bytes)
            }
            Output::Closed => Err(WriteError::Closed),
        }
    }

    /// Whether the stream leads to a reader that is gone, which ends a writer as SIGPIPE does. A stream that was closed for the
    /// writer (`>&-`) only fails its writes.
    #[must_use]
    pub fn reader_is_gone(&self) -> bool {
        match self {
            Output::Pipe(pipe) => pipe.is_closed(),
            Output::Counted(counted) => counted.output.reader_is_gone(),
            _ => false,
        }
    }
}

/// A file that takes a command's output.
#[derive(Debug)]
pub struct FileOutput {
    file: Mutex<std::fs::File>,
    run: Arc<Run>,
}

impl FileOutput {
    /// Writes go to where the file stands; what is written counts for the run.
    #[must_use]
    pub fn new(file: std::fs::File, run: &Arc<Run>) -> Arc<Self> {
        Arc::new(Self { file: Mutex::new(file), run: Arc::clone(run) })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        use std::io::Write as _;
        self.run.count_written(bytes.len() as u64).map_err(WriteError::Stop)?;
        // A full disk ends the stream for its writer.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(bytes).map_err(|_| WriteError::Closed)
    }
}

/// Bytes known beforehand, read once by whoever comes first.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    at: Mutex<usize>,
}

impl Buffer {
    /// A stream of these bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self { bytes, at: Mutex::new(0) })
    }

    fn read(&self, size: usize) -> Vec<u8> {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let end = self.bytes.len().min(at.saturating_add(size));
        let bytes = self.bytes[*at..end].to_vec();
        *at = end;
        bytes
    }
}

/// Where a command's input comes from. Clones read the same stream.
#[derive(Clone, Debug)]
pub enum Input {
    /// Nothing: the end at once.
    Empty,
    /// Bytes known beforehand.
    Buffer(Arc<Buffer>),
    /// The stage before.
    Pipe(PipeReader),
    /// A file, opened by the shell.
    File(Arc<Mutex<std::fs::File>>),
}

impl Input {
    /// Reads up to `size` bytes, waiting for the first; empty at the end.
    ///
    /// # Errors
    /// Why the run has to end.
    pub fn read(&self, size: usize) -> Result<Vec<u8>, Stop> {
        match self {
            Input::Empty => Ok(Vec::new()),
            Input::Buffer(buffer) => Ok(buffer.read(size)),
            Input::Pipe(pipe) => pipe.read(size),
            Input::File(file) => {
                use std::io::Read as _;
                let mut bytes = vec![0; size.min(PIPE_BYTES)];
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // A file that fails while it is read ends there, as it does for a shell's reader.
                let count = file.read(&mut bytes).unwrap_or(0);
                bytes.truncate(count);
                Ok(bytes)
            }
        }
    }

    /// Whether a read would return at once.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match self {
            Input::Pipe(pipe) => pipe.is_ready(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::limits;

    #[test]
    fn a_pipe_carries_more_than_it_holds_and_ends_with_its_writer() {
        let (reader, writer) = pipe(&Run::start(limits()));
        std::thread::scope(|scope| {
            scope.spawn(move || writer.write(&vec![7; 3 * PIPE_BYTES]));
            let mut total = 0;
            loop {
                let bytes = reader.read(10_000).expect("the run goes on");
                if bytes.is_empty() {
                    break;
                }
                total += bytes.len();
            }
            assert_eq!(total, 3 * PIPE_BYTES);
        });
    }

    #[test]
    fn a_writer_whose_reader_is_gone_is_told() {
        let (reader, writer) = pipe(&Run::start(limits()));
        drop(reader);
        assert_eq!(writer.write(b"x"), Err(WriteError::Closed));
        assert!(Output::Pipe(writer).reader_is_gone());
    }

    #[test]
    fn a_waiting_end_stops_with_its_run() {
        let run = Run::start_within(limits(), 0);
        let (reader, writer) = pipe(&run);
        assert_eq!(reader.read(1), Err(Stop::Bound(Bound::WallTime(0))));
        assert_eq!(writer.write(&vec![0; PIPE_BYTES + 1]), Err(WriteError::Stop(Stop::Bound(Bound::WallTime(0)))));
        let run = Run::start(limits());
        let (reader, _writer) = pipe(&run);
        run.cancel();
        assert_eq!(reader.read(1), Err(Stop::Cancelled));
    }

    #[test]
    fn a_capture_keeps_its_bound_and_counts_all() {
        let capture = Capture::new(4, Overflow::Drop);
        let output = Output::Capture(Arc::clone(&capture));
        output.write(b"abc").expect("fits");
        output.write(b"def").expect("is dropped");
        assert_eq!(capture.take(), (b"abcd".to_vec(), 6));
        let whole = Output::Capture(Capture::new(2, Overflow::Stop));
        assert_eq!(whole.write(b"abc"), Err(WriteError::Stop(Stop::Bound(Bound::Output(2)))));
    }
}
