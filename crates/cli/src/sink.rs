//! The streams of `sandbox run`: out to the terminal or pipe, in from it.

use skillgate_exec::{Bound, Input, Run, Sanitiser, Sink, Stop, WriteError, pipe};
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Passes output through, up to the run's bound. What goes to a terminal is made safe for it first.
pub(crate) struct PassThrough<W> {
    state: Mutex<State<W>>,
    limit: u64,
}

struct State<W> {
    out: W,
    written: u64,
    sanitiser: Option<Sanitiser>,
}

impl<W: Write + io::IsTerminal> PassThrough<W> {
    pub(crate) fn new(out: W, limit: u64) -> Arc<Self> {
        let sanitiser = out.is_terminal().then(Sanitiser::new);
        Arc::new(Self { state: Mutex::new(State { out, written: 0, sanitiser }), limit })
    }
}

impl<W> std::fmt::Debug for PassThrough<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PassThrough")
    }
}

impl<W: Write + Send> Sink for PassThrough<W> {
    fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let room = usize::try_from(self.limit.saturating_sub(state.written)).unwrap_or(usize::MAX);
        let (now, rest) = bytes.split_at(room.min(bytes.len()));
        state.written += now.len() as u64;
        let safe = state.sanitiser.as_mut().map(|sanitiser| sanitiser.feed(now));
        let bytes = safe.as_ref().map_or(now, |text| text.as_bytes());
        // Whatever keeps the stream from being written, nobody reads it any more.
        state.out.write_all(bytes).and_then(|()| state.out.flush()).map_err(|_| WriteError::Closed)?;
        if rest.is_empty() { Ok(()) } else { Err(WriteError::Stop(Stop::Bound(Bound::Output(self.limit)))) }
    }
}

/// Our standard input as a stream of the run. A thread copies it, so that waiting for it ends with the run.
pub(crate) fn standard_input(run: &Arc<Run>) -> Input {
    if io::stdin().is_terminal() {
        // Nobody expects a sandboxed command to take keys.
        return Input::Empty;
    }
    let (reader, writer) = pipe(run);
    let copy = move || {
        let mut bytes = [0; 8192];
        while let Ok(count @ 1..) = io::stdin().lock().read(&mut bytes) {
            if writer.write(&bytes[..count]).is_err() {
                return;
            }
        }
    };
    match std::thread::Builder::new().name("skillgate-stdin".to_owned()).spawn(copy) {
        Ok(_) => Input::Pipe(reader),
        Err(_) => Input::Empty,
    }
}
