//! What a program sees of other processes and of itself, and processes that do not want to end.

use crate::answer::{Answer, done, last_error, of, say};
use crate::child::{self, text};
use std::ffi::CString;

/// The lines of /proc/self/status that say who a process is and what it may.
const FACTS: &[&str] = &[
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
];
/// Descriptors that are looked at.
const DESCRIPTORS: i32 = 4096;

pub(crate) fn identity() -> Option<()> {
    // SAFETY: these calls take nothing and change nothing.
    let ids = unsafe { (libc::getuid(), libc::geteuid(), libc::getgid(), libc::getegid()) };
    say("ids", &Ok(format!("{} {} {} {}", ids.0, ids.1, ids.2, ids.3)));
    match read("/proc/self/status") {
        Ok(status) => {
            for name in FACTS {
                let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                let value = value.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
                say(name, &Ok(value));
            }
        }
        Err(number) => say("status", &Err(number)),
    }
    Some(())
}

pub(crate) fn environment() -> Option<()> {
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    variables.sort_unstable();
    for (name, value) in variables {
        say(&name, &Ok(value));
    }
    Some(())
}

/// The open descriptors, asked of the kernel one by one, so that looking opens none.
pub(crate) fn descriptors() -> Option<()> {
    // SAFETY: asking for the flags of a descriptor changes nothing, also where there is none.
    let open = (0..DESCRIPTORS).filter(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0);
    let open: Vec<String> = open.map(|fd| fd.to_string()).collect();
    say("descriptors", &Ok(open.join(" ")));
    Some(())
}

#[expect(clippy::disallowed_methods, reason = "what a program sees of /proc is what is asked")]
pub(crate) fn pids() -> Option<()> {
    let answer = match std::fs::read_dir("/proc") {
        Ok(entries) => {
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut pids: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
            pids.sort_unstable();
            Ok(pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        }
        Err(error) => Err(error.raw_os_error().unwrap_or(0)),
    };
    say("pids", &answer);
    Some(())
}

pub(crate) fn signal(pid: i32) -> Option<()> {
    // SAFETY: signal 0 only asks whether there is such a process and whether it may be signalled.
    say("signal", &of(unsafe { libc::kill(pid, 0) }.into()));
    Some(())
}

/// What /proc gives away of another process.
pub(crate) fn look(pid: i32) -> Option<()> {
    for file in ["environ", "maps", "cmdline", "mem"] {
        let path = format!("/proc/{pid}/{file}");
        let answer = if file == "mem" { open_memory(&path) } else { read(&path).map(|_| String::new()) };
        say(file, &answer);
    }
    Some(())
}

/// Opening another process's memory needs the same right as reading it, and reading needs an address.
fn open_memory(path: &str) -> Answer {
    let path = text(path);
    // SAFETY: the path ends with NUL; nothing is read.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: the descriptor is ours and is used no more.
    of(unsafe { libc::close(fd) }.into())
}

#[expect(clippy::disallowed_methods, reason = "what a program sees of /proc is what is asked")]
fn read(path: &str) -> Result<String, i32> {
    let bytes = std::fs::read(path).map_err(|error| error.raw_os_error().unwrap_or(0))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Becomes another program.
pub(crate) fn exec(program: &str, words: &[&str]) -> Option<()> {
    let (program, words) = (text(program), vector(program, words));
    let pointers = pointers(&words);
    // SAFETY: both arrays end with a null pointer and hold strings that end with NUL; on success nothing of this process is left.
    unsafe { libc::execv(program.as_ptr(), pointers.as_ptr()) };
    say("exec", &Err(last_error()));
    Some(())
}

fn vector(name: &str, words: &[&str]) -> Vec<CString> {
    std::iter::once(&name).chain(words).map(|word| text(word)).collect()
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Becomes another program, with a directory, a pair of sockets and a pipe that it is not meant to have.
pub(crate) fn leak(program: &str, words: &[&str]) -> Option<()> {
    let mut pair = [0; 2];
    // SAFETY: the path ends with NUL, and the array has room for two descriptors each time; none of them is used here.
    unsafe {
        libc::open(c"/".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY);
        libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr());
        libc::pipe(pair.as_mut_ptr());
    }
    exec(program, words)
}

/// Becomes this program again, from a copy of it that has no name.
#[expect(clippy::disallowed_methods, reason = "the program's own file")]
pub(crate) fn memfd(words: &[&str]) -> Option<()> {
    let itself = match std::fs::read("/proc/self/exe") {
        Ok(itself) => itself,
        Err(error) => {
            say("memfd", &Err(error.raw_os_error().unwrap_or(0)));
            return Some(());
        }
    };
    say("memfd", &run_from_memory(&itself, words));
    Some(())
}

fn run_from_memory(program: &[u8], words: &[&str]) -> Answer {
    // SAFETY: the name ends with NUL.
    let fd = unsafe { libc::memfd_create(c"probe".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(last_error());
    }
    let mut rest = program;
    while !rest.is_empty() {
        // SAFETY: the buffer is valid for its length.
        let written = unsafe { libc::write(fd, rest.as_ptr().cast(), rest.len()) };
        let count = usize::try_from(written).map_err(|_| last_error())?;
        rest = rest.get(count..).unwrap_or_default();
    }
    let words = vector("probe", words);
    let pointers = pointers(&words);
    // SAFETY: the path is the empty string, which with the flag means the descriptor; both arrays end with null and hold strings
    // that end with NUL; on success nothing of this process is left.
    unsafe {
        let environment = [std::ptr::null::<libc::c_char>()];
        libc::syscall(
            libc::SYS_execveat,
            fd,
            c"".as_ptr(),
            pointers.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    Err(last_error())
}

/// Leaves a process behind that belongs to no terminal and no parent and ignores polite signals, for at most `seconds`. With
/// `hold` it keeps the streams open; with `hang` this one stays too, with `flood` it writes for ever.
pub(crate) fn leave(token: &str, seconds: u64, rest: &[&str]) -> Option<()> {
    let hold = rest.contains(&"hold");
    let started = child::fork(|| {
        // SAFETY: takes nothing.
        unsafe { libc::setsid() };
        let daemon = child::fork(|| {
            ignore_polite_signals();
            if !hold {
                let_go_of_streams();
            }
            child::sleep(seconds);
            0
        });
        daemon.err().unwrap_or(0)
    });
    let ended = started.and_then(child::wait);
    let answer = match ended {
        Ok(child::End::Status(0)) => done(),
        Ok(child::End::Status(number)) | Err(number) => Err(number),
        Ok(child::End::Signal(_)) => Err(libc::EINTR),
    };
    say(token, &answer);
    if rest.contains(&"hang") {
        child::sleep(seconds);
    }
    if rest.contains(&"flood") {
        crate::resources::flood("both", 1 << 10)?;
    }
    Some(())
}

/// Ignores every signal that can be ignored, leaves a stopped child, and stays.
pub(crate) fn stubborn(token: &str, seconds: u64) -> Option<()> {
    ignore_polite_signals();
    let stopped = child::fork(|| {
        // SAFETY: stops this process only.
        unsafe { libc::raise(libc::SIGSTOP) };
        child::sleep(seconds);
        0
    });
    say(token, &stopped.map(|_| String::new()));
    child::sleep(seconds);
    if let Ok(pid) = stopped {
        // SAFETY: a child of ours that was not waited for, so the number is still its own.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
    Some(())
}

fn ignore_polite_signals() {
    for signal in
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE, libc::SIGTTOU, libc::SIGTSTP]
    {
        // SAFETY: ignoring a signal runs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

fn let_go_of_streams() {
    for fd in 0..3 {
        // SAFETY: the process uses its standard streams no more.
        unsafe { libc::close(fd) };
    }
}
