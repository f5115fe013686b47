//! The host's end of a run: it asks for it, gives it the plan, and listens.

use super::connection::Connection;
use super::control::send_all;
use crate::message::{Reply, encode, take_frame};
use crate::plan::Plan;
use crate::stage::{Stage, Unavailable};
use crate::start::{Event, Helper, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, Shutdown, SocketFlags, SocketType, recvmsg,
    shutdown, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes read at once.
const PIECE: usize = 1 << 16;

/// How long a run has to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// A run of the helper.
#[derive(Debug)]
pub(crate) struct Started {
    /// The process that was asked for the run stays for as long as it lasts.
    _server: Arc<Connection>,
    /// Until the run ended.
    control: Option<OwnedFd>,
    /// The run's first process, as soon as it said who it is.
    watcher: Option<OwnedFd>,
    heard: Vec<u8>,
    /// Descriptors that came, and that no reply that was read is about.
    given: VecDeque<OwnedFd>,
    stdout: Option<File>,
    stderr: Option<File>,
    input: Option<File>,
    scratch: Option<File>,
    /// The stream that was read last, so that one does not starve the other.
    last: Stream,
}

pub(crate) fn start(helper: &Helper, plan: &Plan, with_input: bool) -> Result<Started, Unavailable> {
    let failed = |doing: &str, error: io::Error| Unavailable::new(Stage::Helper, format!("{doing}: {error}"));
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|errno| failed("a socket for the helper", errno.into()))?;
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed("a pipe for the program", errno.into()));
    let (reading, writing) =
        if with_input { pipe().map(|(reading, writing)| (Some(reading), Some(writing)))? } else { (None, None) };
    let (stdout, their_stdout) = pipe()?;
    let (stderr, their_stderr) = pipe()?;
    let server = helper
        .server
        .ask(helper.program(), [theirs.as_fd(), their_stdout.as_fd(), their_stderr.as_fd()])
        .map_err(|error| failed(&format!("starting the helper `{}`", helper.program().display()), error))?;
    drop((theirs, their_stdout, their_stderr));
    let mut started = Started {
        _server: server,
        control: Some(ours),
        watcher: None,
        heard: Vec::new(),
        given: VecDeque::new(),
        stdout: Some(stdout.into()),
        stderr: Some(stderr.into()),
        input: writing.map(File::from),
        scratch: None,
        last: Stream::Stderr,
    };
    let told = encode(plan).and_then(|frame| {
        let control = started.control.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(send_all(control.as_fd(), &frame, reading.as_ref().map(AsFd::as_fd))?)
    });
    if let Err(error) = told {
        started.kill();
        started.reap();
        return Err(failed("giving the helper its plan", error));
    }
    Ok(started)
}

impl Started {
    pub(crate) fn next(&mut self, wait: Duration) -> io::Result<Event> {
        if let Some(reply) = self.take_reply()? {
            return Ok(Event::Reply(reply));
        }
        if self.control.is_none() && self.stdout.is_none() && self.stderr.is_none() {
            self.reap();
            return Ok(Event::Over);
        }
        let [control, stdout, stderr] = self.ready(wait)?;
        if control {
            return self.listen();
        }
        let first = if self.last == Stream::Stdout { Stream::Stderr } else { Stream::Stdout };
        let turns = match first {
            Stream::Stdout => [(Stream::Stdout, stdout), (Stream::Stderr, stderr)],
            Stream::Stderr => [(Stream::Stderr, stderr), (Stream::Stdout, stdout)],
        };
        match turns.into_iter().find(|(_, ready)| *ready) {
            Some((stream, _)) => self.read(stream),
            None => Ok(Event::Quiet),
        }
    }

    /// Which of control socket, standard output and standard error have something.
    fn ready(&self, wait: Duration) -> io::Result<[bool; 3]> {
        let mut set = Vec::with_capacity(3);
        let mut at = [None; 3];
        let watched = [
            self.control.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for (index, descriptor) in watched.into_iter().enumerate() {
            if let Some(descriptor) = descriptor {
                at[index] = Some(set.len());
                set.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
            }
        }
        let wait =
            Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX), tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut set, Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(at.map(|at| at.is_some_and(|at| !set[at].revents().is_empty())))
    }

    fn listen(&mut self) -> io::Result<Event> {
        let Some(control) = &self.control else { return Ok(Event::Quiet) };
        let mut piece = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(control, &mut [IoSliceMut::new(&mut piece)], &mut ancillary, RecvFlags::CMSG_CLOEXEC);
        let count = match received {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::INTR) => return Ok(Event::Quiet),
            // A peer that is killed with something unread resets the socket: the end, as any other.
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(errno) => return Err(errno.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.given.extend(descriptors);
            }
        }
        if count == 0 {
            self.control = None;
            return Ok(Event::Quiet);
        }
        self.heard.extend_from_slice(&piece[..count]);
        Ok(self.take_reply()?.map_or(Event::Quiet, Event::Reply))
    }

    /// The next reply that was heard whole and that is not about this end alone.
    fn take_reply(&mut self) -> io::Result<Option<Reply>> {
        while let Some(reply) = take_frame(&mut self.heard)? {
            match reply {
                Reply::Watcher => self.watcher = self.given.pop_front(),
                Reply::Scratch => {
                    self.scratch = self.given.pop_front().map(File::from);
                    return Ok(Some(reply));
                }
                Reply::Ended(_) => {
                    // What is left are the helper's own processes, which have nothing more to say.
                    self.control = None;
                    return Ok(Some(reply));
                }
                reply => return Ok(Some(reply)),
            }
        }
        Ok(None)
    }

    fn read(&mut self, stream: Stream) -> io::Result<Event> {
        self.last = stream;
        let mut bytes = vec![0; PIECE];
        let read = match stream {
            Stream::Stdout => self.stdout.as_mut().map(|out| out.read(&mut bytes)),
            Stream::Stderr => self.stderr.as_mut().map(|out| out.read(&mut bytes)),
        };
        match read {
            Some(Ok(count @ 1..)) => {
                bytes.truncate(count);
                Ok(Event::Output(stream, bytes))
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(Event::Quiet),
            Some(Err(error)) => Err(error),
            Some(Ok(0)) | None => {
                self.close(stream);
                Ok(Event::Quiet)
            }
        }
    }

    pub(crate) fn close(&mut self, stream: Stream) {
        match stream {
            Stream::Stdout => self.stdout = None,
            Stream::Stderr => self.stderr = None,
        }
    }

    pub(crate) fn input(&mut self) -> Option<File> {
        self.input.take()
    }

    pub(crate) fn output(&mut self, stream: Stream) -> Option<File> {
        match stream {
            Stream::Stdout => self.stdout.take(),
            Stream::Stderr => self.stderr.take(),
        }
    }

    pub(crate) fn scratch(&mut self) -> Option<File> {
        self.scratch.take()
    }

    /// Asks the helper to kill process 1, with which everything in the namespace dies, and to end.
    pub(crate) fn kill(&mut self) {
        if let Some(control) = &self.control {
            let _may_be_closed = shutdown(control, Shutdown::Write);
        }
    }

    /// Waits for the run's end, and kills its first process when it does not come: it may still be at its first stages, with
    /// nothing to watch over. A process 1 that it leaves behind sees that the socket is closed, or dies with it.
    pub(crate) fn reap(&mut self) {
        let until = Instant::now() + GRACE;
        while self.control.is_some() {
            let left = until.saturating_duration_since(Instant::now());
            match self.ready(left) {
                Ok([true, ..]) => drop(self.listen()),
                Ok(_) if !left.is_zero() => self.drain(),
                Ok(_) | Err(_) => break,
            }
        }
        if self.control.take().is_some()
            && let Some(watcher) = &self.watcher
            && pidfd_send_signal(watcher, Signal::KILL).is_ok()
        {
            let grace = Timespec { tv_sec: 0, tv_nsec: i64::from(GRACE.subsec_nanos()) };
            let _may_be_stuck_in_the_kernel = poll(&mut [PollFd::new(watcher, PollFlags::IN)], Some(&grace));
        }
    }

    /// Takes what the program wrote out of the way.
    fn drain(&mut self) {
        if let Ok([_, stdout, stderr]) = self.ready(Duration::ZERO) {
            for stream in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)].into_iter().filter(|(_, ready)| *ready) {
                drop(self.read(stream.0));
            }
        }
    }
}
