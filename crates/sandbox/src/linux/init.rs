//! Process 1 of the namespace: it confines itself, starts the program, and reaps until that one ends. When it ends, the kernel
//! ends every other process of the namespace.

use super::control::Control;
use super::failure::{Failure, OrCannot as _};
use super::sources::Sources;
use super::sys::{self, Forked};
use super::{canary, landlock, limits, lock, mounts, privileges, program, root, seccomp};
use crate::fault::injected;
use crate::message::{Ending, Reply};
use crate::plan::{Action, Plan};
use crate::stage::{Stage, StageReport};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait};
use std::os::fd::{AsFd as _, OwnedFd};

pub(super) fn run(
    control: &Control,
    plan: &Plan,
    sources: Sources,
    input: Option<OwnedFd>,
    mut reports: Vec<StageReport>,
) -> i32 {
    match confine(control, plan, sources, input, &mut reports).and_then(|()| begin(control, plan, reports)) {
        Ok(Some(ending)) => control.tell(&Reply::Ended(ending)),
        Ok(None) => {}
        Err(failure) => control.tell(&failure.into_reply()),
    }
    0
}

/// Every stage between the new namespaces and the program, for this process and what it starts.
fn confine(
    control: &Control,
    plan: &Plan,
    sources: Sources,
    input: Option<OwnedFd>,
    reports: &mut Vec<StageReport>,
) -> Result<(), Failure> {
    let mut enforced = |stage, detail: String| reports.push(StageReport { stage, detail });
    die_with_the_helper(control)?;
    let (new_root, detail) = mounts::build(control, plan, sources)?;
    enforced(Stage::Mounts, detail);
    enforced(Stage::Root, root::pivot(plan, new_root.as_fd())?);
    drop(new_root);
    enforced(Stage::Lock, lock::second_namespace(plan)?);
    enforced(Stage::Init, session(plan, input)?);
    enforced(Stage::Limits, limits::apply(plan)?);
    enforced(Stage::Privileges, privileges::give_up(plan)?);
    // A change of privileges takes the signal back.
    die_with_the_helper(control)?;
    enforced(Stage::Landlock, landlock::restrict(plan)?);
    enforced(Stage::Seccomp, seccomp::apply(plan)?);
    Ok(())
}

/// Ties this process to the helper's life. The helper may be gone before the kernel is told; then the host's end of the socket
/// is closed too, because the host closes it before it kills.
fn die_with_the_helper(control: &Control) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).or_cannot(Stage::Init, "dying with the helper")?;
    if control.is_closed() {
        return Err(Failure::refused(Stage::Init, "the host is gone"));
    }
    Ok(())
}

fn session(plan: &Plan, input: Option<OwnedFd>) -> Result<String, Failure> {
    injected(plan, Stage::Init)?;
    rustix::process::setsid().or_cannot(Stage::Init, "a session without a terminal")?;
    let input = match input {
        Some(input) => input,
        None => rustix::fs::openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .or_cannot(Stage::Init, "opening /dev/null")?,
    };
    rustix::stdio::dup2_stdin(&input).or_cannot(Stage::Init, "giving the program its input")?;
    rustix::process::chdir(&*plan.directory).map_err(|errno| {
        Failure::refused(Stage::Init, format!("entering `{}`: {}", plan.directory, super::failure::describe(errno)))
    })?;
    rustix::process::umask(Mode::from_raw_mode(0o077));
    Ok("process 1, which dies with the helper; a session without a terminal; umask 077".to_owned())
}

/// Starts the program and reaps until it has ended; `None` when it told the host itself what there is to tell.
fn begin(control: &Control, plan: &Plan, reports: Vec<StageReport>) -> Result<Option<Ending>, Failure> {
    injected(plan, Stage::Program)?;
    control.tell(&Reply::Enforced(reports));
    let child = start(control, plan).or_cannot(Stage::Program, "starting the program's process")?;
    sys::close_outputs();
    let ending = loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((pid, status))) if pid == child => {
                if let Some(signal) = status.terminating_signal() {
                    break Ending::Signalled(signal);
                }
                if let Some(code) = status.exit_status() {
                    break Ending::Exited(u8::try_from(code & 0xff).unwrap_or(u8::MAX));
                }
            }
            Ok(_) => {}
            Err(errno) => return Err(Failure::cannot(Stage::Program, "waiting for the program", errno)),
        }
    };
    end_all()?;
    Ok(Some(ending))
}

fn start(control: &Control, plan: &Plan) -> Result<Pid, Errno> {
    match &plan.action {
        Action::Run(action) => sys::start_executing(&mut || control.tell(&program::execute(action).into_reply())),
        Action::SelfTest(test) => match sys::fork()? {
            Forked::Parent(child) => Ok(child),
            Forked::Child => {
                control.tell(&Reply::Reached(canary::reach(plan, test)));
                sys::exit_now(0)
            }
        },
    }
}

/// Ends every other process of the namespace. The kernel would do it when this one ends, but the host need not wait for that.
fn end_all() -> Result<(), Failure> {
    loop {
        match sys::kill_everything() {
            Ok(()) => {}
            Err(Errno::SRCH) => return Ok(()),
            Err(errno) => return Err(Failure::cannot(Stage::Program, "ending what the program started", errno)),
        }
        // Until there is none left, not even one that a process started while it was killed.
        while retry_on_intr(|| wait(WaitOptions::empty())).is_ok() {}
    }
}
