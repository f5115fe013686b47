//! Bombs, each with a bound at which it ends by itself where nothing ends it.

use crate::answer::{Answer, done, last_error, of, say};
use crate::child::{self, End, text};
use std::time::{Duration, Instant};

const MEBIBYTE: usize = 1 << 20;
/// Bytes of one write of a flood; no line ends in it.
const BLOCK: usize = 1 << 16;
/// Most of anything, whatever is asked for.
const MOST_PROCESSES: u32 = 512;
const MOST_MEBIBYTES: usize = 1536;

/// Keeps `count` processes busy for some seconds.
pub(crate) fn spin(count: u32, seconds: u64) -> Option<()> {
    let end = Instant::now() + Duration::from_secs(seconds.min(60));
    let busy = || {
        let mut turns = 0u64;
        while Instant::now() < end {
            turns = std::hint::black_box(turns.wrapping_add(1));
        }
        0
    };
    let children: Vec<i32> = (0..count.min(64)).filter_map(|_| child::fork(busy).ok()).collect();
    say("spinning", &Ok(children.len().to_string()));
    for pid in children {
        let _ended = child::wait(pid);
    }
    Some(())
}

/// Starts processes until it may not, or there are `count`; all wait for each other and end together.
pub(crate) fn forks(count: u32) -> Option<()> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } < 0 {
        say("forks", &Err(last_error()));
        return Some(());
    }
    let [reader, writer] = ends;
    let wait_for_end = || {
        let mut byte = 0u8;
        // SAFETY: the writer's copy of this process is closed, so that the read ends when the parent's is; one byte has room.
        unsafe {
            libc::close(writer);
            libc::read(reader, (&raw mut byte).cast(), 1);
        }
        0
    };
    let mut children = Vec::new();
    let mut refused = None;
    for _ in 0..count.min(MOST_PROCESSES) {
        match child::fork(wait_for_end) {
            Ok(pid) => children.push(pid),
            Err(number) => {
                refused = Some(number);
                break;
            }
        }
    }
    say("forks", &refused.map_or_else(done, Err));
    say("made", &Ok(children.len().to_string()));
    // SAFETY: the descriptor is ours and is used no more.
    unsafe { libc::close(writer) };
    for pid in children {
        let _ended = child::wait(pid);
    }
    Some(())
}

/// Takes and touches memory in so many processes at once, so many mebibytes each.
pub(crate) fn allocate(processes: u32, mebibytes: usize) -> Option<()> {
    let processes = processes.clamp(1, MOST_PROCESSES);
    let each = mebibytes.min(MOST_MEBIBYTES / usize::try_from(processes).unwrap_or(1));
    if processes == 1 {
        let (taken, answer) = take(each);
        say("allocate", &answer);
        say("taken", &Ok(taken.to_string()));
        return Some(());
    }
    let act = || {
        let (taken, answer) = take(each);
        // What was taken is kept until the others have theirs.
        child::sleep(1);
        std::hint::black_box(taken);
        answer.err().unwrap_or(0)
    };
    let children: Vec<_> = (0..processes).map(|_| child::fork(act)).collect();
    let (mut whole, mut cut) = (0, 0);
    for started in children {
        match started.and_then(child::wait) {
            Ok(End::Status(0)) => whole += 1,
            _ => cut += 1,
        }
    }
    say("whole", &Ok(whole.to_string()));
    say("cut", &Ok(cut.to_string()));
    Some(())
}

fn take(mebibytes: usize) -> (usize, Answer) {
    for taken in 0..mebibytes {
        // SAFETY: a fresh private mapping of one mebibyte, which is touched within its bounds and never unmapped: the process
        // ends soon.
        let answer = unsafe {
            let place = libc::mmap(
                std::ptr::null_mut(),
                MEBIBYTE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if place == libc::MAP_FAILED {
                Err(last_error())
            } else {
                libc::memset(place, 0x5a, MEBIBYTE);
                Ok(())
            }
        };
        if let Err(number) = answer {
            return (taken, Err(number));
        }
    }
    (mebibytes, done())
}

/// What the files begin with that fill a directory: whoever runs this without a sandbox finds by it what is left when the probe is
/// killed before it took them away.
const LEFT_BEHIND: &str = "probe-filling-";

/// Fills a directory with files of a few mebibytes, so that no bound on one file is met.
pub(crate) fn fill(directory: &str, mebibytes: usize) -> Option<()> {
    const EACH: usize = 4;
    let mut paths = Vec::new();
    let mut filled = 0;
    let answer = loop {
        if filled >= mebibytes.min(MOST_MEBIBYTES) {
            break done();
        }
        let path = format!("{directory}/{LEFT_BEHIND}fill-{}", paths.len());
        let (written, answer) = write_file(&path, EACH.min(mebibytes - filled));
        paths.push(path);
        filled += written;
        if answer.is_err() {
            break answer;
        }
    };
    say("fill", &answer);
    say("filled", &Ok(filled.to_string()));
    paths.iter().for_each(|path| remove(path));
    Some(())
}

/// Makes many files.
pub(crate) fn inodes(directory: &str, count: u32) -> Option<()> {
    let mut made = Vec::new();
    let mut refused = None;
    for index in 0..count.min(200_000) {
        let path = format!("{directory}/{LEFT_BEHIND}inode-{index}");
        match create(&path) {
            Ok(()) => made.push(path),
            Err(number) => {
                refused = Some(number);
                break;
            }
        }
    }
    say("inodes", &refused.map_or_else(done, Err));
    say("made", &Ok(made.len().to_string()));
    made.iter().for_each(|path| remove(path));
    Some(())
}

fn create(path: &str) -> Result<(), i32> {
    let path = text(path);
    // SAFETY: the path ends with NUL; the descriptor that is made is closed at once.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC, 0o600);
        if fd < 0 {
            return Err(last_error());
        }
        libc::close(fd);
    }
    Ok(())
}

fn remove(path: &str) {
    let path = text(path);
    // SAFETY: the path ends with NUL. What cannot be removed goes with the field.
    unsafe { libc::unlink(path.as_ptr()) };
}

fn write_file(path: &str, mebibytes: usize) -> (usize, Answer) {
    let name = text(path);
    // SAFETY: the path ends with NUL.
    let fd =
        unsafe { libc::open(name.as_ptr(), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC, 0o600) };
    if fd < 0 {
        return (0, Err(last_error()));
    }
    let block = vec![b'x'; MEBIBYTE];
    let mut bytes = 0usize;
    let answer = loop {
        if bytes >= mebibytes.min(MOST_MEBIBYTES) * MEBIBYTE {
            break done();
        }
        // SAFETY: the buffer is valid for its length.
        let written = unsafe { libc::write(fd, block.as_ptr().cast(), block.len()) };
        match usize::try_from(written) {
            Ok(count) => bytes += count,
            Err(_) => break Err(last_error()),
        }
    };
    // SAFETY: the descriptor is ours and is used no more.
    unsafe { libc::close(fd) };
    (bytes / MEBIBYTE, answer)
}

/// Writes to standard output, standard error or both by turns, without a line's end.
pub(crate) fn flood(stream: &str, mebibytes: usize) -> Option<()> {
    let streams: &[i32] = match stream {
        "stdout" => &[1],
        "stderr" => &[2],
        "both" => &[1, 2],
        _ => return None,
    };
    let block = [b'x'; BLOCK];
    let mut left = mebibytes.min(16 << 10) * MEBIBYTE;
    while left > 0 {
        for fd in streams {
            // SAFETY: the buffer is valid for its length.
            let written = unsafe { libc::write(*fd, block.as_ptr().cast(), block.len()) };
            match usize::try_from(written) {
                Ok(count) => left = left.saturating_sub(count),
                // Nobody reads any more.
                Err(_) => return Some(()),
            }
        }
    }
    Some(())
}

/// Writes one file beyond the size that a process may write.
pub(crate) fn large_file(path: &str, mebibytes: usize) -> Option<()> {
    // SAFETY: ignoring the signal makes the call fail instead.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let (written, answer) = write_file(path, mebibytes);
    say("large-file", &answer);
    say("written", &Ok(written.to_string()));
    remove(path);
    Some(())
}

/// Opens one file many times.
pub(crate) fn many_files(count: u32) -> Option<()> {
    let mut open = 0;
    let mut answer = done();
    for _ in 0..count.min(1 << 20) {
        // SAFETY: the path ends with NUL; the descriptors end with the process.
        if unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) } < 0 {
            answer = Err(last_error());
            break;
        }
        open += 1;
    }
    say("many-files", &answer);
    say("open", &Ok(open.to_string()));
    Some(())
}

/// Whether a process that dies of a fault leaves its memory behind.
pub(crate) fn core() -> Option<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes to a place of the right type.
    let asked = of(unsafe { libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) }.into());
    say("core-limit", &asked.map(|_| format!("{} {}", limit.rlim_cur, limit.rlim_max)));
    Some(())
}
