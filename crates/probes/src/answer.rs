//! What the kernel answered, as a line.

use std::io::{self, Write as _};

/// `Ok` holds a value, which may be empty; `Err` an error number.
pub(crate) type Answer = Result<String, i32>;

/// Success without a value.
pub(crate) fn done() -> Answer {
    Ok(String::new())
}

/// What a call that returns -1 on failure answered.
pub(crate) fn of(result: i64) -> Answer {
    if result < 0 { Err(last_error()) } else { done() }
}

/// The error of the last call of this thread.
pub(crate) fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Prints one line. Who reads no more has seen enough.
pub(crate) fn say(label: &str, answer: &Answer) {
    let text = match answer {
        Ok(value) if value.is_empty() => "ok".to_owned(),
        Ok(value) => format!("ok:{}", value.replace(['\t', '\n'], " ")),
        Err(number) => name(*number),
    };
    let mut out = io::stdout().lock();
    let _nobody_reads = writeln!(out, "{label}\t{text}").and_then(|()| out.flush());
}

macro_rules! names {
    ($number:expr, $($name:ident)+) => {
        match $number {
            $(libc::$name => stringify!($name).to_owned(),)+
            other => format!("error {other}"),
        }
    };
}

/// The name of an error number.
pub(crate) fn name(number: i32) -> String {
    names!(number,
        E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EBADF EBUSY ECHILD ECONNREFUSED ECONNRESET EDQUOT EEXIST
        EFAULT EFBIG EHOSTUNREACH EINPROGRESS EINTR EINVAL EIO EISDIR ELOOP EMFILE EMLINK ENAMETOOLONG ENETDOWN ENETUNREACH
        ENFILE ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOMEM ENOSPC ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTSOCK
        ENOTTY ENXIO EOPNOTSUPP EPERM EPIPE EPROTONOSUPPORT EROFS ESOCKTNOSUPPORT ESPIPE ESRCH ESTALE ETIMEDOUT ETXTBSY EUSERS
        EXDEV)
}
