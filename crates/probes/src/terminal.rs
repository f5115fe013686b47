//! Terminals: what is typed into one is run by whoever reads it.

use crate::answer::{Answer, last_error, of, say};
use crate::child;

/// Pastes into the console; harmless with a pointer to nowhere.
const TIOCLINUX: libc::c_ulong = 0x541c;

/// The terminal that this process was given, if it was.
pub(crate) fn given() -> Option<()> {
    say("TIOCSTI", &type_into(0));
    // SAFETY: the kernel is given an address that is not mapped.
    say("TIOCLINUX", &of(unsafe { libc::ioctl(0, TIOCLINUX, 1usize) }.into()));
    // High bits that the kernel does not look at must not hide the request from a filter.
    let hidden = libc::TIOCSTI | 0xffff_0000_0000_0000;
    // SAFETY: as above.
    say("TIOCSTI-with-high-bits", &of(unsafe { libc::syscall(libc::SYS_ioctl, 0, hidden, 1usize) }));
    // SAFETY: the path ends with NUL; the descriptor ends with the process.
    let fd = unsafe { libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_NOCTTY) };
    say("/dev/tty", &of(fd.into()));
    if fd >= 0 {
        say("TIOCSTI-on-/dev/tty", &type_into(fd));
    }
    Some(())
}

/// A terminal of our own, which a child makes its controlling one: what the calls answer where nothing denies them.
pub(crate) fn own() -> Option<()> {
    // SAFETY: each call gets a valid descriptor or a place of the right type; the name is read before another call changes it.
    let slave = unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY);
        if master < 0 || libc::grantpt(master) < 0 || libc::unlockpt(master) < 0 {
            say("TIOCSTI", &Err(last_error()));
            return Some(());
        }
        let name = libc::ptsname(master);
        libc::open(name, libc::O_RDWR | libc::O_NOCTTY)
    };
    if slave < 0 {
        say("TIOCSTI", &Err(last_error()));
        return Some(());
    }
    let end = child::of(|| {
        // SAFETY: makes the terminal the controlling one of a session of this child.
        unsafe {
            libc::setsid();
            libc::ioctl(slave, libc::TIOCSCTTY, 0);
        }
        type_into(slave).err().unwrap_or(0)
    });
    match child::answer(end) {
        Ok(answer) => say("TIOCSTI", &answer),
        Err(signal) => say("TIOCSTI", &Ok(format!("killed by {signal}"))),
    }
    Some(())
}

fn type_into(fd: i32) -> Answer {
    let letter = b'x';
    // SAFETY: the kernel reads one byte, which outlives the call.
    of(unsafe { libc::ioctl(fd, libc::TIOCSTI, &raw const letter) }.into())
}
