//! The self-test, from inside: what of the host can be reached. It runs where the program would, confined as the program is.

use super::sys;
use crate::plan::{Plan, SelfTest};
use rustix::fs::{CWD, Mode, OFlags, openat, stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, ipproto, socket};
use rustix::process::{Pid, test_kill_process};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Processes that there are inside: process 1 and the one that tests.
const OWN_PROCESSES: usize = 2;

/// Everything that could be reached and must not be, for people.
pub(super) fn reach(plan: &Plan, test: &SelfTest) -> Vec<String> {
    let mut reached = Vec::new();
    let mut found = |what: &str, yes: bool| {
        if yes {
            reached.push(what.to_owned());
        }
    };
    let opens = |path: &str, flags| openat(CWD, path, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o600)).is_ok();
    found("a file of the host", stat(test.file.as_str()).is_ok() || opens(&test.file, OFlags::RDONLY));
    found(
        "a socket of the host, by its path",
        stat(test.socket.as_str()).is_ok() || connects(SocketAddrUnix::new(test.socket.as_str())),
    );
    found(
        "an abstract socket of the host",
        connects(SocketAddrUnix::new_abstract_name(test.abstract_socket.as_bytes())),
    );
    found("a port of the host", connects_to_port(test.port));
    let of_host = i32::try_from(test.process).ok().and_then(Pid::from_raw);
    // A small number may be one of ours.
    let of_host = of_host.filter(|pid| pid.as_raw_nonzero().get() > 8);
    found(
        "a process of the host, by its number",
        of_host.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH))),
    );
    found("processes of the host, in /proc", processes().is_none_or(|count| count > OWN_PROCESSES));
    found("the environment of process 1", opens("/proc/1/environ", OFlags::RDONLY));
    for place in plan.mounts.iter().map(|mount| mount.target.as_str()).chain(["", "/proc", "/dev"]) {
        let new = format!("{place}/skillgate-canary");
        found(&format!("writing below `{place}/`"), opens(&new, OFlags::WRONLY | OFlags::CREATE));
    }
    found("a namespace of its own", sys::unshare(libc::CLONE_NEWUSER).is_ok());
    found("new privileges", !rustix::thread::no_new_privs().unwrap_or(false));
    found(
        "a capability",
        rustix::thread::capabilities(None)
            .map_or(true, |sets| !(sets.effective | sets.permitted | sets.inheritable).is_empty()),
    );
    reached
}

fn connects(address: Result<SocketAddrUnix, Errno>) -> bool {
    let Ok(address) = address else { return false };
    socket(AddressFamily::UNIX, SocketType::STREAM, None).is_ok_and(|socket| connect(&socket, &address).is_ok())
}

fn connects_to_port(port: u16) -> bool {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))
        .is_ok_and(|socket| connect(&socket, &address).is_ok())
}

/// How many processes /proc shows; `None` when it cannot be read, which it can.
fn processes() -> Option<usize> {
    let proc = openat(CWD, "/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let entries = rustix::fs::Dir::new(proc).ok()?;
    let number = |entry: &rustix::fs::DirEntry| entry.file_name().to_bytes().first().is_some_and(u8::is_ascii_digit);
    Some(entries.filter_map(Result::ok).filter(number).count())
}
