//! What every command component of Skillgate does first and last.
//!
//! A `wasi:cli/command` component gets its directory from `wasi:cli/environment#initial-cwd`, which Rust's standard library
//! ignores, and can report only "ok" or "error" through `wasi:cli/exit#exit`, where commands have 256 statuses. [`run`] enters
//! the directory before the command starts, and every way out (a return from `main`, `std::process::exit`, libc's `exit`) ends
//! in `wasi:cli/exit#exit-with-code` with the full status.
//!
//! Must not: open anything else, read the environment, or need a preopened directory. Start at [`run`]:
//!
//! ```no_run
//! fn main() {
//!     guest_start::run(|| 3); // the host sees status 3
//! }
//! ```

#![cfg(target_os = "wasi")]

use std::io::Write as _;

/// Status of a command whose reader went away while it wrote: what a shell reports for a death by SIGPIPE.
const STATUS_BROKEN_PIPE: i32 = 141;

/// Runs a command: enters the directory the host gave, calls `command` and ends with the status it returns.
///
/// Standard output is flushed before the end. When that fails although the command itself succeeded, the status is 1, as in
/// coreutils, unless the reader went away (141).
///
/// A directory that cannot be entered (nothing is mounted there) is no error here: a command that touches no path works
/// without one, and any other gets its own error for the path it asks for.
pub fn run(command: impl FnOnce() -> i32) {
    end_quietly_when_the_reader_is_gone();
    enter_initial_directory();
    let mut status = command();
    if let Err(error) = std::io::stdout().flush() {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            status = STATUS_BROKEN_PIPE;
        } else if status == 0 {
            status = 1;
        }
    }
    // A plain return is the cheap way to say "success": `exit` unwinds the guest with a trap, also for status 0.
    if status != 0 {
        std::process::exit(status);
    }
}

fn enter_initial_directory() {
    if let Some(directory) = wasip2::cli::environment::initial_cwd() {
        // See `run` for why a failure is not reported.
        let _ = std::env::set_current_dir(directory);
    }
}

/// `print!` panics when it cannot write. That must end the command the way SIGPIPE does, not with a trap and a message.
fn end_quietly_when_the_reader_is_gone() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to std") {
            exit_with(STATUS_BROKEN_PIPE);
        }
        default(info);
    }));
}

/// Takes the place of wasi-libc's `_Exit`, in which `exit`, `std::process::exit` and a return from `main` with a non-zero
/// status end, and which knows only "ok" and "error". The linker takes libc's object for a symbol only while it is undefined.
// SAFETY: the name, signature and contract (does not return, runs no handlers) are those of C's `_Exit`.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(status: std::ffi::c_int) -> ! {
    exit_with(status)
}

/// The other name of [`_Exit`], in the same object of wasi-libc; defined too so that nothing pulls that object in.
// SAFETY: as for `_Exit`.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: std::ffi::c_int) -> ! {
    exit_with(status)
}

fn exit_with(status: i32) -> ! {
    // The low eight bits, as every Unix passes them on.
    wasip2::cli::exit::exit_with_code(status.to_le_bytes()[0]);
    // The host ends the guest inside the call; should it ever return, the guest traps here.
    std::process::abort()
}
