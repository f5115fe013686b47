//! Ways to talk to something outside the sandbox. Every address is of the machine itself.

use crate::answer::{Answer, done, last_error, of, say};
use crate::child::text;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, SocketAddr};

/// How long a connection may take, milliseconds.
const PATIENCE: i32 = 500;
/// What a datagram carries.
const PAYLOAD: &[u8] = b"skillgate-probe";

/// Connects or sends: `tcp=ADDR:PORT`, `udp=ADDR:PORT`, `unix=PATH`, `unix-datagram=PATH`, `abstract=NAME`.
pub(crate) fn connect(targets: &[&str]) -> Option<()> {
    for target in targets {
        let (kind, address) = target.split_once('=')?;
        let answer = match kind {
            "tcp" => internet(address.parse().ok()?, libc::SOCK_STREAM),
            "udp" => internet(address.parse().ok()?, libc::SOCK_DGRAM),
            "unix" => unix(address.as_bytes(), false, libc::SOCK_STREAM),
            "unix-datagram" => unix(address.as_bytes(), false, libc::SOCK_DGRAM),
            "abstract" => unix(address.as_bytes(), true, libc::SOCK_STREAM),
            _ => return None,
        };
        say(target, &answer);
    }
    Some(())
}

/// Only asks for sockets of kinds that reach further than a network card.
pub(crate) fn sockets() -> Option<()> {
    const KINDS: &[(&str, i32, i32, i32)] = &[
        ("netlink", libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE),
        ("vsock", libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        ("packet", libc::AF_PACKET, libc::SOCK_RAW, 0),
        ("bluetooth", libc::AF_BLUETOOTH, libc::SOCK_RAW, 1),
        ("alg", libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
        ("icmp", libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP),
        ("raw", libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        ("inet", libc::AF_INET, libc::SOCK_STREAM, 0),
        ("inet6", libc::AF_INET6, libc::SOCK_STREAM, 0),
        ("unix", libc::AF_UNIX, libc::SOCK_STREAM, 0),
    ];
    for (name, family, kind, protocol) in KINDS {
        let answer = socket(*family, *kind, *protocol).map(|fd| {
            close(fd);
            String::new()
        });
        say(name, &answer);
    }
    Some(())
}

fn socket(family: i32, kind: i32, protocol: i32) -> Result<i32, i32> {
    // SAFETY: takes numbers only.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 { Err(last_error()) } else { Ok(fd) }
}

fn close(fd: i32) {
    // SAFETY: the descriptor is ours and is used no more.
    unsafe { libc::close(fd) };
}

fn internet(address: SocketAddr, kind: i32) -> Answer {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let fd = socket(family, kind | libc::SOCK_NONBLOCK, 0)?;
    let answer = match address.ip() {
        IpAddr::V4(ip) => {
            // SAFETY: all zeroes is a value of this type.
            let mut to: libc::sockaddr_in = unsafe { zeroed() };
            to.sin_family = libc::sa_family_t::try_from(family).unwrap_or(0);
            to.sin_port = address.port().to_be();
            to.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
            reach(fd, kind, (&raw const to).cast(), size_of::<libc::sockaddr_in>())
        }
        IpAddr::V6(ip) => {
            // SAFETY: all zeroes is a value of this type.
            let mut to: libc::sockaddr_in6 = unsafe { zeroed() };
            to.sin6_family = libc::sa_family_t::try_from(family).unwrap_or(0);
            to.sin6_port = address.port().to_be();
            to.sin6_addr.s6_addr = ip.octets();
            reach(fd, kind, (&raw const to).cast(), size_of::<libc::sockaddr_in6>())
        }
    };
    close(fd);
    answer
}

fn unix(name: &[u8], is_abstract: bool, kind: i32) -> Answer {
    let fd = socket(libc::AF_UNIX, kind | libc::SOCK_NONBLOCK, 0)?;
    // SAFETY: all zeroes is a value of this type.
    let mut to: libc::sockaddr_un = unsafe { zeroed() };
    to.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).unwrap_or(0);
    let skip = usize::from(is_abstract);
    for (place, byte) in to.sun_path.iter_mut().skip(skip).zip(name) {
        *place = libc::c_char::from_ne_bytes([*byte]);
    }
    let length = size_of::<libc::sa_family_t>() + skip + name.len() + usize::from(!is_abstract);
    let answer = reach(fd, kind, (&raw const to).cast(), length.min(size_of::<libc::sockaddr_un>()));
    close(fd);
    answer
}

fn reach(fd: i32, kind: i32, to: *const libc::sockaddr, length: usize) -> Answer {
    let length = libc::socklen_t::try_from(length).unwrap_or(0);
    if kind == libc::SOCK_DGRAM {
        // SAFETY: the payload and the address are valid for their lengths.
        let sent = unsafe { libc::sendto(fd, PAYLOAD.as_ptr().cast(), PAYLOAD.len(), libc::MSG_NOSIGNAL, to, length) };
        return of(sent.try_into().unwrap_or(-1));
    }
    // SAFETY: the address is valid for its length.
    if unsafe { libc::connect(fd, to, length) } == 0 {
        return done();
    }
    match last_error() {
        libc::EINPROGRESS => connected(fd),
        number => Err(number),
    }
}

fn connected(fd: i32) -> Answer {
    let mut wait = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor is waited for.
    let ready = unsafe { libc::poll(&raw mut wait, 1, PATIENCE) };
    if ready == 0 {
        return Err(libc::ETIMEDOUT);
    }
    let mut number = 0i32;
    let mut length = libc::socklen_t::try_from(size_of::<i32>()).unwrap_or(0);
    // SAFETY: the kernel writes at most `length` bytes to a place of that size.
    let asked =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut number).cast(), &raw mut length) };
    match (asked, number) {
        (0, 0) => done(),
        (0, number) => Err(number),
        _ => Err(last_error()),
    }
}

/// Shared memory and a message queue: `make`, `find` and `remove` them.
pub(crate) fn ipc(verb: &str, key: i32, name: &str) -> Option<()> {
    let queue = text(name);
    // SAFETY: the name ends with NUL, and pointers that are not used are null; what is made is removed by `remove`.
    let (memory, queue): (i64, i64) = unsafe {
        match verb {
            "make" => (
                libc::shmget(key, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o666).into(),
                libc::mq_open(
                    queue.as_ptr(),
                    libc::O_RDWR | libc::O_CREAT | libc::O_EXCL,
                    0o666,
                    std::ptr::null::<libc::mq_attr>(),
                )
                .into(),
            ),
            "find" => (libc::shmget(key, 0, 0).into(), libc::mq_open(queue.as_ptr(), libc::O_RDONLY).into()),
            "remove" => {
                let id = libc::shmget(key, 0, 0);
                (libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()).into(), libc::mq_unlink(queue.as_ptr()).into())
            }
            _ => return None,
        }
    };
    // The error number is the last call's, so each is made again alone where it matters.
    say(
        "shared-memory",
        &ipc_answer(memory, || {
            // SAFETY: asks only.
            unsafe { libc::shmget(key, 0, 0) }.into()
        }),
    );
    say(
        "message-queue",
        &ipc_answer(queue, || {
            let queue = text(name);
            // SAFETY: the name ends with NUL.
            unsafe { libc::mq_open(queue.as_ptr(), libc::O_RDONLY) }.into()
        }),
    );
    Some(())
}

fn ipc_answer(result: i64, again: impl FnOnce() -> i64) -> Answer {
    if result >= 0 { done() } else { of(again()) }
}
