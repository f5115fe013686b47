//! Acts on files, each one call: `read=PATH`, `rename=FROM,TO`.

use crate::answer::{Answer, done, last_error, of, say};
use crate::child::text;
use std::ffi::CStr;

/// Most of a file that is read back.
const READ: usize = 64;

pub(crate) fn run(acts: &[&str]) -> Option<()> {
    for act in acts {
        let (verb, path) = act.split_once('=')?;
        say(act, &perform(verb, path)?);
    }
    Some(())
}

fn perform(verb: &str, path: &str) -> Option<Answer> {
    let (from, to) = path.split_once(',').unwrap_or((path, ""));
    let (from, to) = (text(from), text(to));
    let (from, to) = (from.as_c_str(), to.as_c_str());
    Some(match verb {
        "read" => read(from),
        "write" => open(from, libc::O_WRONLY, 0).and_then(|fd| put(fd, b"x")),
        "append" => open(from, libc::O_WRONLY | libc::O_APPEND, 0).and_then(|fd| put(fd, b"x")),
        "create" => open(from, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL, 0o666).and_then(close),
        "open-truncate" => open(from, libc::O_WRONLY | libc::O_TRUNC, 0).and_then(close),
        "directory" => open(from, libc::O_RDONLY | libc::O_DIRECTORY, 0).and_then(close),
        "list" => list(path),
        _ => call(verb, from, to)?,
    })
}

fn call(verb: &str, from: &CStr, to: &CStr) -> Option<Answer> {
    let path = from.as_ptr();
    let other = to.as_ptr();
    // SAFETY: every pointer is to a string that ends with NUL and outlives the call, or to a value of the type that the call
    // takes; no call keeps them.
    let result: i64 = unsafe {
        match verb {
            "truncate" => libc::truncate(path, 0).into(),
            "unlink" => libc::unlink(path).into(),
            "mkdir" => libc::mkdir(path, 0o777).into(),
            "rmdir" => libc::rmdir(path).into(),
            "rename" => libc::rename(path, other).into(),
            "link" => libc::link(path, other).into(),
            "symlink" => libc::symlink(path, other).into(),
            "chmod" => libc::chmod(path, 0o600).into(),
            "setuid-bit" => libc::chmod(path, 0o4755).into(),
            "chown" => libc::chown(path, libc::getuid(), libc::getgid()).into(),
            "utime" => {
                let times = [libc::timespec { tv_sec: 1, tv_nsec: 0 }; 2];
                libc::utimensat(libc::AT_FDCWD, path, times.as_ptr(), 0).into()
            }
            "setxattr" => libc::setxattr(path, c"user.skillgate".as_ptr(), c"x".as_ptr().cast(), 1, 0).into(),
            "stat" => {
                let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
                libc::stat(path, stat.as_mut_ptr()).into()
            }
            "access" => libc::access(path, libc::F_OK).into(),
            "chdir" => libc::chdir(path).into(),
            // The numbers of /dev/null: what is made can do no harm where it is not denied.
            "device" => libc::mknod(path, libc::S_IFCHR | 0o666, libc::makedev(1, 3)).into(),
            "block-device" => libc::mknod(path, libc::S_IFBLK | 0o600, libc::makedev(7, 255)).into(),
            "readlink" => {
                let mut target = [0u8; 4096];
                libc::readlink(path, target.as_mut_ptr().cast(), target.len()).try_into().unwrap_or(0)
            }
            _ => return None,
        }
    };
    Some(of(result))
}

fn open(path: &CStr, flags: i32, mode: libc::mode_t) -> Result<i32, i32> {
    // SAFETY: the path ends with NUL; the kernel keeps no pointer.
    let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY, mode) };
    if fd < 0 { Err(last_error()) } else { Ok(fd) }
}

fn close(fd: i32) -> Answer {
    // SAFETY: the descriptor is ours and is used no more.
    of(unsafe { libc::close(fd) }.into())
}

fn put(fd: i32, bytes: &[u8]) -> Answer {
    // SAFETY: the buffer is valid for its length.
    let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    let answer = of(written.try_into().unwrap_or(-1));
    close(fd).and(answer)
}

fn read(path: &CStr) -> Answer {
    let fd = open(path, libc::O_RDONLY, 0)?;
    let mut bytes = [0u8; READ];
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) };
    let answer = usize::try_from(count).map_err(|_| last_error());
    close(fd)?;
    Ok(String::from_utf8_lossy(bytes.get(..answer?).unwrap_or_default()).trim().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "what a program sees of a directory is what is asked")]
fn list(path: &str) -> Answer {
    let failed = |error: std::io::Error| error.raw_os_error().unwrap_or(0);
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    if names.is_empty() { done() } else { Ok(names.join(" ")) }
}
