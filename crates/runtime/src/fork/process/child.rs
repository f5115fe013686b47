use super::ProcessRunner;
use super::group::Group;
use crate::cancel::CancelToken;
use crate::fork::{AgentError, AgentOutput, ForkProgress, ForkRequest};
use skillgate_exec::sanitise;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long streams may stay open after every process of the group has ended: one that left the group may hold them.
const DRAIN: Duration = Duration::from_secs(1);

/// Characters of the end of standard error that a failure tells.
const MAX_SAID_CHARS: usize = 1_000;

/// Bytes that are read at once.
const CHUNK: usize = 16 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

/// What the threads of a run tell the one that waits.
enum Seen {
    Bytes(Stream, Vec<u8>),
    /// The stream is longer than it may be; the rest is not read.
    TooMuch,
    Closed,
    LeaderEnded,
    Cancelled,
}

impl ProcessRunner {
    pub(super) fn run_program(
        &self,
        request: &ForkRequest,
        progress: &(dyn Fn(ForkProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        if cancel.is_cancelled() {
            return Err(AgentError::Cancelled);
        }
        let mut child = self.start(request).map_err(unavailable)?;
        let begun = Group::of(&child).and_then(|group| {
            let (tell, seen) = channel();
            attend(&mut child, group, &request.prompt, self.max_output_bytes, &tell)?;
            Ok((group, tell, seen))
        });
        let (group, tell, seen) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                // Without the threads there is nobody to end it later.
                let _gone = child.kill();
                let _status = child.wait();
                return Err(unavailable(error));
            }
        };
        // A token of the run's own: the caller's forgets it when the run is over.
        let own = cancel.child();
        own.on_cancel(move || {
            let _over = tell.send(Seen::Cancelled);
        });
        progress(ForkProgress::Started);
        let mut watch = Watch { progress, out: Lines::default(), err: Lines::default(), open: 2 };
        let stopped = self.watch(&mut watch, group, &seen);
        // The leader is not waited for yet, so its number is still the group's.
        group.kill();
        let status = child.wait();
        watch.drain(&seen, stopped.is_none());
        match stopped {
            Some(stopped) => Err(stopped),
            None => ended(&status.map_err(unavailable)?, &watch),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the host names the program; no skill chooses it or a word of it")]
    fn start(&self, request: &ForkRequest) -> io::Result<Child> {
        let (program, words) = self.words();
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(self.variables(request));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group::lead(&mut command);
        command.spawn()
    }

    /// Waits until the leader has ended. Gives why it was stopped, when it was.
    fn watch(&self, watch: &mut Watch<'_>, group: Group, seen: &Receiver<Seen>) -> Option<AgentError> {
        // A time that cannot be reckoned is as good as none.
        let far = || Instant::now() + Duration::from_secs(86_400);
        let mut until = Instant::now().checked_add(self.deadline).unwrap_or_else(far);
        let mut stopped: Option<AgentError> = None;
        loop {
            let next = seen.recv_timeout(until.saturating_duration_since(Instant::now()));
            let stop = match next {
                Ok(Seen::LeaderEnded) | Err(RecvTimeoutError::Disconnected) => return stopped,
                Ok(Seen::Bytes(stream, bytes)) => {
                    if stopped.is_none() {
                        watch.take(stream, &bytes);
                    }
                    continue;
                }
                Ok(Seen::Closed) => {
                    watch.open -= 1;
                    continue;
                }
                Ok(Seen::TooMuch) => AgentError::TooMuch { limit: self.max_output_bytes },
                Ok(Seen::Cancelled) => AgentError::Cancelled,
                Err(RecvTimeoutError::Timeout) if stopped.is_some() => {
                    group.kill();
                    until = far();
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => AgentError::TooLong { seconds: self.deadline.as_secs() },
            };
            if stopped.is_none() {
                stopped = Some(stop);
                group.ask_to_end();
                until = Instant::now().checked_add(self.grace).unwrap_or_else(far);
            }
        }
    }
}

fn unavailable(error: io::Error) -> AgentError {
    AgentError::Unavailable { reason: error.to_string() }
}

/// Starts the threads of a run: one that writes the prompt, one for each stream, and one that waits for the leader.
fn attend(child: &mut Child, group: Group, prompt: &str, most: u64, tell: &Sender<Seen>) -> io::Result<()> {
    let thread = |name: &str| std::thread::Builder::new().name(format!("skillgate-agent-{name}"));
    if let Some(mut stdin) = child.stdin.take() {
        let prompt = prompt.to_owned();
        // An agent that does not read all of it is free to.
        thread("stdin").spawn(move || {
            let _reader_gone = stdin.write_all(prompt.as_bytes());
        })?;
    }
    if let Some(stdout) = child.stdout.take() {
        let tell = tell.clone();
        thread("stdout").spawn(move || read(stdout, Stream::Out, most, &tell))?;
    }
    if let Some(stderr) = child.stderr.take() {
        let tell = tell.clone();
        thread("stderr").spawn(move || read(stderr, Stream::Err, most, &tell))?;
    }
    let tell = tell.clone();
    thread("wait").spawn(move || {
        group.wait_for_leader();
        let _over = tell.send(Seen::LeaderEnded);
    })?;
    Ok(())
}

fn read(mut from: impl Read, stream: Stream, most: u64, tell: &Sender<Seen>) {
    let mut buffer = vec![0; CHUNK];
    let mut total: u64 = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
            Ok(length) => {
                total = total.saturating_add(length as u64);
                if total > most {
                    let _over = tell.send(Seen::TooMuch);
                    break;
                }
                let bytes = buffer.get(..length).unwrap_or_default().to_vec();
                if tell.send(Seen::Bytes(stream, bytes)).is_err() {
                    break;
                }
            }
        }
    }
    let _over = tell.send(Seen::Closed);
}

struct Watch<'a> {
    progress: &'a (dyn Fn(ForkProgress) + Sync),
    out: Lines,
    err: Lines,
    /// Streams that are not closed.
    open: usize,
}

impl Watch<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let lines = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let Some(text) = lines.take(bytes) else { return };
        (self.progress)(match stream {
            Stream::Out => ForkProgress::Message { text },
            Stream::Err => ForkProgress::Log { text },
        });
    }

    /// Takes what is still in the streams.
    fn drain(&mut self, seen: &Receiver<Seen>, wanted: bool) {
        let until = Instant::now() + DRAIN;
        while self.open > 0 {
            match seen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Seen::Bytes(stream, bytes)) if wanted => self.take(stream, &bytes),
                Ok(Seen::Closed) => self.open -= 1,
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }
}

/// What a stream gave, and how much of it was told line by line.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    told: usize,
}

impl Lines {
    /// The lines that these bytes complete.
    fn take(&mut self, bytes: &[u8]) -> Option<String> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = start + bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
        let lines = self.bytes.get(self.told..end).map(sanitise)?;
        self.told = end;
        Some(lines)
    }

    fn text(&self) -> String {
        sanitise(&self.bytes)
    }
}

fn ended(status: &ExitStatus, watch: &Watch<'_>) -> Result<AgentOutput, AgentError> {
    if status.success() {
        return Ok(AgentOutput { messages: vec![watch.out.text()] });
    }
    let said = watch.err.text();
    let said = said.trim();
    let skipped = said.chars().count().saturating_sub(MAX_SAID_CHARS);
    let end: String = said.chars().skip(skipped).collect();
    Err(AgentError::Failed { status: status.to_string(), said: (!end.is_empty()).then_some(end) })
}
