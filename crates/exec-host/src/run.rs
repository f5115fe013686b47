//! One run: the streams passed on within their bounds, until it is over or has to be.

use skillgate_exec::{Bound, Input, Job, Output, Stop, WriteError};
use skillgate_sandbox::{Ending, Event, Refused, Reply, Running, StageReport, Stream, Unavailable};
use std::fs::File;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

/// The longest time without a look at the run's deadline.
const GLANCE: Duration = Duration::from_millis(20);
/// How long what was killed has to be gone.
const DRAIN: Duration = Duration::from_millis(1_000);
/// Bytes of both streams together, as a multiple of what is kept of one. What writes more than that is not read to its end.
const OUTPUT_FACTOR: u64 = 64;
/// Bytes of input passed on at once.
const PIECE: usize = 1 << 16;

/// How a run on the host ended. The kinds are never mixed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HostOutcome {
    /// By itself, with this status.
    Exited(u8),
    /// By this signal.
    Signalled(i32),
    /// Its time was over, or somebody took it back.
    Stopped(Stop),
    /// It wrote more than it may.
    OutputCapped(u64),
    /// The plan did not fit what was found.
    Refused(Refused),
    /// A stage cannot do its part on this machine.
    Unavailable(Unavailable),
}

/// What a run gave besides its streams.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) outcome: HostOutcome,
    pub(crate) scratch: Option<File>,
}

/// Passes streams on until the run is over, for at most `wall_ms` milliseconds.
pub(crate) fn drive(running: &mut Running, job: &Job<'_>, wall_ms: u64) -> io::Result<Ran> {
    let until = Instant::now() + Duration::from_millis(wall_ms);
    let left = || until.saturating_duration_since(Instant::now()).min(job.run.remaining());
    let check = || match job.run.check() {
        Ok(()) if left().is_zero() => Err(Stop::Bound(Bound::WallTime(wall_ms))),
        checked => checked,
    };
    if let Some(pipe) = running.input() {
        feed(job.stdin.clone(), pipe)?;
    }
    let cap = job.run.limits().output_bytes.saturating_mul(OUTPUT_FACTOR);
    let mut written: u64 = 0;
    let mut outcome = None;
    let mut killed: Option<Instant> = None;
    loop {
        if killed.is_none()
            && let Err(stop) = check()
        {
            outcome = Some(HostOutcome::Stopped(stop));
            running.kill();
            killed = Some(Instant::now());
        }
        if killed.is_some_and(|killed| killed.elapsed() > DRAIN) {
            break;
        }
        match running.next(GLANCE.min(left()).max(Duration::from_millis(1)))? {
            Event::Over => break,
            Event::Quiet => {}
            // What comes after the end was decided is not passed on.
            Event::Output(..) if killed.is_some() => {}
            Event::Output(stream, bytes) => {
                written = written.saturating_add(bytes.len() as u64);
                let output = if stream == Stream::Stdout { &job.stdout } else { &job.stderr };
                let end = if written > cap { Some(HostOutcome::OutputCapped(cap)) } else { pass(output, &bytes) };
                match end {
                    None => {}
                    // As for a program whose reader is gone: its next write fails.
                    Some(HostOutcome::Signalled(_)) => running.close(stream),
                    Some(end) => {
                        outcome = Some(end);
                        running.kill();
                        killed = Some(Instant::now());
                    }
                }
            }
            Event::Reply(reply) => {
                if outcome.is_none() {
                    outcome = concluded(reply);
                }
            }
        }
    }
    let outcome = outcome.ok_or_else(|| io::Error::other("the sandbox ended without saying how"))?;
    Ok(Ran { outcome, scratch: running.scratch() })
}

/// What a reply says about the end.
pub(crate) fn concluded(reply: Reply) -> Option<HostOutcome> {
    match reply {
        Reply::Ended(Ending::Exited(status)) => Some(HostOutcome::Exited(status)),
        Reply::Ended(Ending::Signalled(signal)) => Some(HostOutcome::Signalled(signal)),
        Reply::Refused(refused) => Some(HostOutcome::Refused(refused)),
        Reply::Unavailable(unavailable) => Some(HostOutcome::Unavailable(unavailable)),
        _ => None,
    }
}

const SIGPIPE: i32 = 13;

fn pass(output: &Output, bytes: &[u8]) -> Option<HostOutcome> {
    match output.write(bytes) {
        Ok(()) => None,
        Err(WriteError::Closed) => Some(HostOutcome::Signalled(SIGPIPE)),
        Err(WriteError::Stop(Stop::Bound(Bound::Output(limit)))) => Some(HostOutcome::OutputCapped(limit)),
        Err(WriteError::Stop(stop)) => Some(HostOutcome::Stopped(stop)),
    }
}

/// Passes input on from a thread of its own, which ends with the input, with the program, or with the run.
fn feed(input: Input, mut pipe: File) -> io::Result<()> {
    let copy = move || {
        while let Ok(bytes) = input.read(PIECE) {
            if bytes.is_empty() || pipe.write_all(&bytes).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("skillgate-feed".to_owned()).spawn(copy).map(drop)
}

/// Whether a program is given a pipe to read from.
pub(crate) fn has_input(input: &Input) -> bool {
    !matches!(input, Input::Empty)
}

/// What the stages of a run say, until it is over; its output is dropped.
pub(crate) fn listen(running: &mut Running, most: Duration) -> io::Result<Heard> {
    let until = Instant::now() + most;
    let mut heard = Heard::default();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            running.kill();
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        match running.next(left)? {
            Event::Over => return Ok(heard),
            Event::Reply(Reply::Enforced(reports)) => heard.reports = reports,
            Event::Reply(Reply::Reached(reached)) => heard.reached = Some(reached),
            Event::Reply(reply) => heard.outcome = heard.outcome.take().or(concluded(reply)),
            Event::Output(..) | Event::Quiet => {}
        }
    }
}

/// What a self-test said.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) reports: Vec<StageReport>,
    pub(crate) reached: Option<Vec<String>>,
    pub(crate) outcome: Option<HostOutcome>,
}
