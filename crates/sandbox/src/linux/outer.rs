//! A run's first process: everything up to the new namespaces, then it watches over process 1 in them.

use super::control::Control;
use super::failure::{Failure, OrCannot as _};
use super::sys::{self, Forked};
use super::{init, namespaces, sources, user};
use crate::fault::injected;
use crate::message::Reply;
use crate::plan::Plan;
use crate::stage::{Stage, StageReport, Unavailable};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use std::os::fd::{AsFd as _, OwnedFd};

/// Goes through the run that the control socket is about.
pub(super) fn run(control: &Control) -> i32 {
    // So that the host can end this process too, whatever it waits for.
    if let Ok(own) = pidfd_open(rustix::process::getpid(), PidfdFlags::empty()) {
        let _host_may_be_gone = control.give(&Reply::Watcher, own.as_fd());
    }
    let (plan, input) = match control.read_plan() {
        Ok(read) => read,
        Err(error) => {
            let reason = format!("the plan cannot be read: {error}");
            control.tell(&Failure::from(Unavailable::new(Stage::Helper, reason)).into_reply());
            return 0;
        }
    };
    match start(control, &plan, input) {
        Ok(child) => watch(control, child),
        Err(failure) => control.tell(&failure.into_reply()),
    }
    0
}

/// Goes through the stages before the fork, and forks process 1, which goes through the rest.
fn start(control: &Control, plan: &Plan, input: Option<OwnedFd>) -> Result<Pid, Failure> {
    let mut reports = Vec::new();
    let mut enforced = |stage, detail: String| reports.push(StageReport { stage, detail });
    injected(plan, Stage::Helper)?;
    plan.validate().map_err(|error| Failure::refused(Stage::Helper, format!("the plan: {error}")))?;
    enforced(Stage::Helper, "a process of its own with one thread and a plan without contradictions".to_owned());
    injected(plan, Stage::Descriptors)?;
    enforced(Stage::Descriptors, "only the standard streams and the control socket are open".to_owned());
    rustix::process::umask(rustix::fs::Mode::empty());

    let as_root = rustix::process::geteuid().is_root();
    // Root may open mounts before it has namespaces of its own, and must before it gives up being root.
    let opened = if as_root { Some(sources::open(plan, Some(plan.user))?) } else { None };
    if let Some((_, detail)) = &opened {
        enforced(Stage::Sources, detail.clone());
    }
    enforced(Stage::User, user::become_unprivileged(plan, as_root)?);
    enforced(Stage::Namespaces, namespaces::enter(plan)?);
    let (sources, detail) = match opened {
        Some(opened) => opened,
        None => sources::open(plan, None)?,
    };
    if !as_root {
        enforced(Stage::Sources, detail);
    }
    match sys::fork().or_cannot(Stage::Init, "starting process 1")? {
        Forked::Parent(child) => Ok(child),
        Forked::Child => sys::exit_now(init::run(control, plan, sources, input, reports)),
    }
}

/// Waits until process 1 is gone, or kills it when the host goes away. With it, all of its namespace dies.
fn watch(control: &Control, child: Pid) {
    // The streams are the program's from here on: their ends are seen when nobody has them any more.
    sys::close_outputs();
    match pidfd_open(child, PidfdFlags::empty()) {
        Ok(process) => loop {
            let mut set =
                [PollFd::new(&process, PollFlags::IN), PollFd::from_borrowed_fd(control.as_fd(), PollFlags::RDHUP)];
            if retry_on_intr(|| poll(&mut set, None)).is_err() || !set[1].revents().is_empty() {
                let _may_be_gone = kill_process(child, Signal::KILL);
                break;
            }
            if !set[0].revents().is_empty() {
                break;
            }
        },
        Err(_) => {
            let _may_be_gone = kill_process(child, Signal::KILL);
        }
    }
    let _reaped = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
}
