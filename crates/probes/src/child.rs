//! Processes of a probe's own, so that what one act does to its process ends with it.

use crate::answer::{Answer, last_error};
use std::ffi::CString;

/// How a child ended.
pub(crate) enum End {
    Status(i32),
    Signal(i32),
}

/// Runs `act` in a child and gives its status: 0 to 255.
pub(crate) fn of(act: impl FnOnce() -> i32) -> Result<End, i32> {
    let pid = fork(act)?;
    wait(pid)
}

/// Starts a child that ends with what `act` gives.
pub(crate) fn fork(act: impl FnOnce() -> i32) -> Result<i32, i32> {
    // SAFETY: the process has one thread, so the child's copy of every lock is free; the child ends in `_exit` and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(last_error()),
        0 => {
            let status = act();
            // SAFETY: ends this process, without handlers that belong to the parent.
            unsafe { libc::_exit(status) }
        }
        pid => Ok(pid),
    }
}

/// Waits for a child.
pub(crate) fn wait(pid: i32) -> Result<End, i32> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place for the kernel to write to.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        match waited {
            -1 if last_error() == libc::EINTR => {}
            -1 => return Err(last_error()),
            _ if libc::WIFSIGNALED(status) => return Ok(End::Signal(libc::WTERMSIG(status))),
            _ => return Ok(End::Status(libc::WEXITSTATUS(status))),
        }
    }
}

/// What a child's end says of the act in it: the status is the error's number.
pub(crate) fn answer(end: Result<End, i32>) -> Result<Answer, String> {
    match end {
        Ok(End::Status(0)) => Ok(Ok(String::new())),
        Ok(End::Status(number)) => Ok(Err(number)),
        Ok(End::Signal(signal)) => Err(signal_name(signal)),
        Err(number) => Ok(Err(number)),
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSYS => "SIGSYS".to_owned(),
        libc::SIGKILL => "SIGKILL".to_owned(),
        libc::SIGSEGV => "SIGSEGV".to_owned(),
        libc::SIGABRT => "SIGABRT".to_owned(),
        other => format!("signal {other}"),
    }
}

/// A string for the kernel. A NUL in it is cut off with what follows, as C does.
pub(crate) fn text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Waits for some seconds, at most a minute, so that what is left behind ends by itself.
pub(crate) fn sleep(seconds: u64) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds.min(60));
    while let Some(left) = end.checked_duration_since(std::time::Instant::now()) {
        std::thread::sleep(left);
    }
}
