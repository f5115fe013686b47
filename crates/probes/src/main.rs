//! The programs that the auditor's suite runs, inside a sandbox and for comparison outside: each tries something and says what
//! the kernel answered, one line for each act: a label, a tab, and `ok`, `ok:VALUE` or the name of an error.
//!
//! Must not: harm a machine that does not deny what it tries (destructive calls have arguments that fail after the permission,
//! bombs are bounded and end by themselves), reach a network beyond the machine, or depend on another program. Start at `run`.

#![cfg_attr(not(target_os = "linux"), forbid(unsafe_code))]
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "system calls that no safe interface would make"))]

#[cfg(target_os = "linux")]
mod abi;
#[cfg(target_os = "linux")]
mod acts;
#[cfg(target_os = "linux")]
mod answer;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod terminal;

use std::process::ExitCode;

/// Status of a command line that cannot be read.
const USAGE: u8 = 2;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match run(&words) {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::from(USAGE),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(USAGE)
}

/// One probe; `None` when there is none of this name, or it cannot read its words.
#[cfg(target_os = "linux")]
fn run(words: &[&str]) -> Option<()> {
    match words {
        ["nothing"] => {
            answer::say("nothing", &answer::done());
            Some(())
        }
        ["acts", acts @ ..] => acts::run(acts),
        ["calls", names @ ..] => calls::run(names, calls::Way::Real),
        ["arrive", names @ ..] => calls::run(names, calls::Way::Arrive),
        ["without", call, program, words @ ..] => calls::without(call, program, words),
        ["abi"] => abi::run(),
        ["identity"] => processes::identity(),
        ["environment"] => processes::environment(),
        ["descriptors"] => processes::descriptors(),
        ["pids"] => processes::pids(),
        ["signal", pid] => processes::signal(pid.parse().ok()?),
        ["look", pid] => processes::look(pid.parse().ok()?),
        ["exec", program, words @ ..] => processes::exec(program, words),
        ["leak", program, words @ ..] => processes::leak(program, words),
        ["memfd", words @ ..] => processes::memfd(words),
        ["leave", token, seconds, rest @ ..] => processes::leave(token, seconds.parse().ok()?, rest),
        ["stubborn", token, seconds] => processes::stubborn(token, seconds.parse().ok()?),
        ["hang", seconds] => {
            child::sleep(seconds.parse().ok()?);
            Some(())
        }
        ["spin", count, seconds] => resources::spin(count.parse().ok()?, seconds.parse().ok()?),
        ["forks", count] => resources::forks(count.parse().ok()?),
        ["allocate", processes, mebibytes] => resources::allocate(processes.parse().ok()?, mebibytes.parse().ok()?),
        ["fill", directory, mebibytes] => resources::fill(directory, mebibytes.parse().ok()?),
        ["inodes", directory, count] => resources::inodes(directory, count.parse().ok()?),
        ["flood", stream, mebibytes] => resources::flood(stream, mebibytes.parse().ok()?),
        ["large-file", path, mebibytes] => resources::large_file(path, mebibytes.parse().ok()?),
        ["many-files", count] => resources::many_files(count.parse().ok()?),
        ["core"] => resources::core(),
        ["connect", targets @ ..] => network::connect(targets),
        ["sockets"] => network::sockets(),
        ["ipc", verb, key, name] => network::ipc(verb, key.parse().ok()?, name),
        ["terminal"] => terminal::given(),
        ["terminal-of-our-own"] => terminal::own(),
        ["confine", rest @ ..] => confine::run(rest),
        ["facts"] => confine::facts(),
        _ => None,
    }
}
