//! A weaker wall to compare with, and what the kernel offers of it.

use crate::answer::{last_error, say};
use crate::child::text;
use crate::processes;

/// Every right over files of the first version of Landlock's interface.
const HANDLED: u64 = (1 << 13) - 1;
/// Of them, what reading and running needs: execute, read a file, read a directory.
const READING: u64 = 1 | (1 << 2) | (1 << 3);
const ONE_PATH: i32 = 1;
const ASK_VERSION: u32 = 1;

#[repr(C)]
struct Ruleset {
    files: u64,
}

#[repr(C, packed)]
struct Below {
    rights: u64,
    directory: i32,
}

/// The version of Landlock's interface.
pub(crate) fn facts() -> Option<()> {
    // SAFETY: with this flag the call takes no attributes and gives a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<Ruleset>(), 0, ASK_VERSION) };
    say("landlock-abi", &Ok(version.max(0).to_string()));
    Some(())
}

/// Becomes a program that Landlock alone confines: `READABLE… -- WRITABLE… -- PROGRAM WORD…`.
pub(crate) fn run(words: &[&str]) -> Option<()> {
    let first = words.iter().position(|word| *word == "--")?;
    let (readable, rest) = (words.get(..first)?, words.get(first + 1..)?);
    let second = rest.iter().position(|word| *word == "--")?;
    let (writable, command) = (rest.get(..second)?, rest.get(second + 1..)?);
    let (program, words) = command.split_first()?;
    match confine(readable, writable) {
        Ok(()) => processes::exec(program, words),
        Err(number) => {
            say("confine", &Err(number));
            None
        }
    }
}

fn confine(readable: &[&str], writable: &[&str]) -> Result<(), i32> {
    let attributes = Ruleset { files: HANDLED };
    // SAFETY: the attributes are of the size that is given.
    let ruleset =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size_of::<Ruleset>(), 0) };
    let ruleset = i32::try_from(ruleset).ok().filter(|fd| *fd >= 0).ok_or_else(last_error)?;
    for (paths, rights) in [(readable, READING), (writable, HANDLED)] {
        for path in paths {
            let path = text(path);
            // SAFETY: the path ends with NUL, and the attributes are of the type of this kind of rule.
            let added = unsafe {
                let directory = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
                let below = Below { rights, directory };
                let added = libc::syscall(libc::SYS_landlock_add_rule, ruleset, ONE_PATH, &raw const below, 0);
                libc::close(directory);
                added
            };
            if added < 0 {
                return Err(last_error());
            }
        }
    }
    // SAFETY: numbers only.
    let restricted = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) == 0
    };
    if restricted { Ok(()) } else { Err(last_error()) }
}
