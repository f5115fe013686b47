//! Calls through the interfaces of other processors' programs, which a filter that looks only at numbers lets through.

use crate::answer::say;
use crate::child;

#[cfg(target_arch = "x86_64")]
pub(crate) fn run() -> Option<()> {
    // Both ask for the process's number, which harms nobody.
    tell("i386", || {
        let result: i32;
        // SAFETY: interrupt 0x80 with 20 in eax is `getpid` of 32-bit programs: it takes no argument, writes no memory, and
        // changes no register but eax and those that are listed.
        unsafe {
            std::arch::asm!("int 0x80", inlateout("eax") 20 => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
        }
        if result < 0 { -result } else { 0 }
    });
    tell("x32", || {
        // SAFETY: `getpid` takes no argument and writes no memory.
        let result = unsafe { libc::syscall(0x4000_0000 | libc::SYS_getpid) };
        if result < 0 { crate::answer::last_error() } else { 0 }
    });
    Some(())
}

#[cfg(target_arch = "x86_64")]
fn tell(label: &str, act: impl FnOnce() -> i32) {
    match child::answer(child::of(act)) {
        Ok(answer) => say(label, &answer),
        Err(signal) => say(label, &Ok(format!("killed by {signal}"))),
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run() -> Option<()> {
    None
}
