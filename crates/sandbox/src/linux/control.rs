//! The socket between helper and host, at the helper's end.

use crate::message::{LENGTH_BYTES, Reply, announced, decode, encode};
use crate::plan::Plan;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Where the control socket lies, above the standard streams.
pub(super) const CONTROL: i32 = 3;

/// The helper's end.
#[derive(Debug)]
pub(super) struct Control(OwnedFd);

impl Control {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads the plan, and the descriptor that the program is to read from when one comes with it.
    pub(super) fn read_plan(&self) -> io::Result<(Plan, Option<OwnedFd>)> {
        let mut length = [0; LENGTH_BYTES];
        let mut input = None;
        self.read_exactly(&mut length, &mut input)?;
        let mut body = vec![0; announced(length)?];
        self.read_exactly(&mut body, &mut input)?;
        Ok((decode(&body)?, input))
    }

    fn read_exactly(&self, mut into: &mut [u8], descriptor: &mut Option<OwnedFd>) -> io::Result<()> {
        while !into.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let received = retry_on_intr(|| {
                recvmsg(&self.0, &mut [IoSliceMut::new(into)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
            })?;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    *descriptor = descriptors.last().or(descriptor.take());
                }
            }
            if received.bytes == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            into = &mut into[received.bytes..];
        }
        Ok(())
    }

    /// Tells the host. When it cannot be told it is gone, and then the run ends anyway.
    pub(super) fn tell(&self, reply: &Reply) {
        if let Ok(frame) = encode(reply) {
            let _host_may_be_gone = self.send(&frame, None);
        }
    }

    /// Tells the host, and gives it a descriptor.
    pub(super) fn give(&self, reply: &Reply, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(self.send(&encode(reply)?, Some(descriptor))?)
    }

    fn send(&self, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
        send_all(self.0.as_fd(), bytes, descriptor)
    }

    /// Whether the host closed its end: it is gone, or wants the run to end.
    pub(super) fn is_closed(&self) -> bool {
        let mut set = [PollFd::new(&self.0, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match retry_on_intr(|| poll(&mut set, Some(&now))) {
            Ok(_) => set[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR),
            Err(_) => true,
        }
    }
}

/// Writes all of `bytes` to a socket, with a descriptor beside the first of them.
pub(super) fn send_all(socket: BorrowedFd<'_>, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let first = rest.len() == bytes.len();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let given = descriptor.filter(|_| first).map(|descriptor| [descriptor]);
        if let Some(given) = &given {
            ancillary.push(SendAncillaryMessage::ScmRights(given));
        }
        let sent = retry_on_intr(|| sendmsg(socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL))?;
        rest = &rest[sent..];
    }
    Ok(())
}
