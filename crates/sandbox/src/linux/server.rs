//! The helper's process as the host starts it. It always has one copy of itself that waits for the next request, so that a run
//! begins without one being made first; a copy that took a request is the run's first process. It opens nothing of the host, knows
//! no plan, and ends with the host.

use super::control::{CONTROL, Control};
use super::failure::Failure;
use super::outer;
use super::sys::{self, Forked};
use crate::stage::Stage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, IntoRawFd as _, OwnedFd};

/// What asks for a run; its descriptors come beside it.
pub(super) const RUN: [u8; 1] = [b'r'];
/// The helper's own status when it has nobody to talk to.
const STATUS_NO_HOST: i32 = 71;

/// What a run is given.
struct Request {
    control: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

pub(crate) fn run_main() -> ! {
    let status = if serve().is_ok() { 0 } else { STATUS_NO_HOST };
    sys::exit_now(status)
}

/// Answers requests until the host closes its end.
fn serve() -> Result<(), Errno> {
    let requests = sys::move_to(rustix::stdio::stdin(), CONTROL)?;
    sys::close_from(CONTROL.unsigned_abs() + 1)?;
    rustix::stdio::dup2_stdin(&openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
    rustix::process::chdir("/")?;
    // What is typed at the host's terminal is the host's affair. Only a process that leads its group already cannot do it.
    let _may_lead_one = rustix::process::setsid();
    sys::forget_children(true);
    loop {
        let (taken, tell_taken) = pipe_with(PipeFlags::CLOEXEC)?;
        match sys::fork() {
            Ok(Forked::Child) => {
                drop(taken);
                sys::exit_now(stand_by(requests, tell_taken));
            }
            Ok(Forked::Parent(_)) => drop(tell_taken),
            // Whoever asks next is told.
            Err(errno) => {
                let Some(request) = next(&requests)? else { return Ok(()) };
                let failure = Failure::cannot(Stage::Helper, "starting a process for the run", errno);
                Control::new(request.control).tell(&failure.into_reply());
                continue;
            }
        }
        // Until the copy has something to do; or is gone, because the host is or because it was killed.
        if retry_on_intr(|| rustix::io::read(&taken, &mut [0; 1]))? == 0 && is_closed(&requests) {
            return Ok(());
        }
    }
}

fn is_closed(requests: &OwnedFd) -> bool {
    let mut set = [PollFd::new(requests, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    retry_on_intr(|| poll(&mut set, Some(&now))).map_or(true, |ready| ready > 0)
}

/// Waits for a request, and says that it was taken.
fn stand_by(requests: OwnedFd, tell_taken: OwnedFd) -> i32 {
    match next(&requests) {
        Ok(Some(request)) => {
            let _server_may_be_gone = rustix::io::write(&tell_taken, &[1]);
            drop(tell_taken);
            begin(requests, request)
        }
        Ok(None) => 0,
        Err(_) => STATUS_NO_HOST,
    }
}

/// The next request; `None` when the host is gone.
fn next(requests: &OwnedFd) -> Result<Option<Request>, Errno> {
    loop {
        let mut byte = [0; 1];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            recvmsg(requests, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let mut given = ancillary.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
            _ => Vec::new(),
        });
        // Without its descriptors (this process may have too many open) the host's end of them is closed, which it sees.
        if let (RUN, Some(control), Some(stdout), Some(stderr)) = (byte, given.next(), given.next(), given.next()) {
            return Ok(Some(Request { control, stdout, stderr }));
        }
    }
}

/// The process of one run, which has nothing of the server's.
fn begin(requests: OwnedFd, request: Request) -> i32 {
    sys::forget_children(false);
    let control = || {
        rustix::stdio::dup2_stdout(&request.stdout)?;
        rustix::stdio::dup2_stderr(&request.stderr)?;
        // Its place is taken by the control socket.
        let _replaced = requests.into_raw_fd();
        let control = sys::move_to(request.control.as_fd(), CONTROL)?;
        drop(request);
        sys::close_from(CONTROL.unsigned_abs() + 1)?;
        Ok::<_, Errno>(Control::new(control))
    };
    match control() {
        Ok(control) => outer::run(&control),
        Err(_) => STATUS_NO_HOST,
    }
}
