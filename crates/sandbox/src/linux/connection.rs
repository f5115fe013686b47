//! The host's end of the helper's process: it is started when it is first needed, and asked for each run.

use super::server::RUN;
use crate::reentry::HELPER_NAME;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The helper's process, once there is one.
#[derive(Debug, Default)]
pub(crate) struct Server(Mutex<Option<Arc<Connection>>>);

/// A helper's process that can be asked. With the last of its runs it is killed; the runs' own processes are others.
#[derive(Debug)]
pub(crate) struct Connection {
    requests: OwnedFd,
    process: Child,
}

impl Server {
    /// Asks for a run with this control socket, standard output and standard error. What comes back is kept until the run is over.
    pub(super) fn ask(&self, helper: &Path, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<Arc<Connection>> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that somebody killed is replaced.
        if let Some(connection) = current.as_ref()
            && connection.ask(descriptors).is_ok()
        {
            return Ok(Arc::clone(connection));
        }
        let connection = Arc::new(Connection::start(helper)?);
        connection.ask(descriptors)?;
        *current = Some(Arc::clone(&connection));
        Ok(connection)
    }
}

impl Connection {
    fn start(helper: &Path) -> io::Result<Self> {
        let (requests, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        #[expect(clippy::disallowed_methods, reason = "starting the helper is what this crate is for")]
        let mut command = Command::new(helper);
        command.arg0(HELPER_NAME).env_clear().stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { requests, process: command.spawn()? })
    }

    fn ask(&self, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        rustix::io::retry_on_intr(|| {
            sendmsg(&self.requests, &[IoSlice::new(&RUN)], &mut ancillary, SendFlags::NOSIGNAL)
        })?;
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // No run is left that it could have something to do for.
        let _may_be_gone = self.process.kill();
        let _has_no_other_parent = self.process.wait();
    }
}
