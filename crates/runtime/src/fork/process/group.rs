use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// The process group that a child leads. It is named by the child's number, which nobody else has until the child was waited
/// for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group(Pid);

impl Group {
    /// Makes the child that the command starts the leader of a group.
    pub(super) fn lead(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        number.map(Self).ok_or_else(|| io::Error::other("the process has no number"))
    }

    /// Waits until the leader has ended, and leaves it to be waited for.
    pub(super) fn wait_for_leader(self) {
        // Whatever else the system answers, there is nothing to wait for.
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(self.0), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
    }

    /// Asks every process of the group to end.
    pub(super) fn ask_to_end(self) {
        // One that is gone has ended.
        let _gone = kill_process_group(self.0, Signal::TERM);
    }

    /// Ends every process of the group.
    pub(super) fn kill(self) {
        let _gone = kill_process_group(self.0, Signal::KILL);
    }
}
