//! User namespaces that say how a mount shows the owners of its files.

use super::failure::{Failure, OrCannot as _};
use super::sys::{self, Forked};
use crate::plan::RunUser;
use crate::stage::Stage;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::os::fd::OwnedFd;

/// A user namespace that maps an owner of files to the run's user. As root only.
///
/// Nobody ever runs in it. It is made by a process of its own, which ends here.
pub(super) fn mapping((uid, gid): (u32, u32), user: RunUser) -> Result<OwnedFd, Failure> {
    let cannot = "a namespace that maps owners";
    let (ready, tell_ready) = pipe_with(PipeFlags::CLOEXEC).or_cannot(Stage::Sources, cannot)?;
    let (wait, release) = pipe_with(PipeFlags::CLOEXEC).or_cannot(Stage::Sources, cannot)?;
    let child = match sys::fork().or_cannot(Stage::Sources, cannot)? {
        Forked::Parent(child) => child,
        Forked::Child => {
            drop((ready, release));
            let made = sys::unshare(libc::CLONE_NEWUSER).is_ok();
            let _parent_sees_the_end = write(&tell_ready, &[u8::from(made)]);
            // Until the parent has what it wants, or is gone.
            let _end = retry_on_intr(|| rustix::io::read(&wait, &mut [0; 1]));
            sys::exit_now(0)
        }
    };
    drop((tell_ready, wait));
    let mapped = map(&ready, child, (uid, gid), user).or_cannot(Stage::Sources, cannot);
    drop(release);
    let _may_be_gone = kill_process(child, Signal::KILL);
    let _reaped = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
    mapped
}

fn map(ready: &OwnedFd, child: Pid, (uid, gid): (u32, u32), user: RunUser) -> Result<OwnedFd, Errno> {
    let mut made = [0; 1];
    if retry_on_intr(|| rustix::io::read(ready, &mut made))? != 1 || made != [1] {
        return Err(Errno::NOSPC);
    }
    let proc = format!("/proc/{}", child.as_raw_nonzero());
    for (file, (from, to)) in [("gid_map", (gid, user.gid)), ("uid_map", (uid, user.uid))] {
        let file = open(format!("{proc}/{file}"), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        write(&file, format!("{from} {to} 1").as_bytes())?;
    }
    open(format!("{proc}/ns/user"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}
