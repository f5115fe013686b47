//! Programs of the machine in the host sandbox, beside what else confines them.

#![expect(clippy::disallowed_methods, reason = "the floor is a process of the machine's own tools")]

use crate::measure::{Measured, in_turns};
use skillgate_exec::{Backend as _, Input, Job, Mounts, Output, Run};
use skillgate_exec_host::{HostBackend, NativeProgram};
use skillgate_policy::{Authority, CommandRequest, Effect, Gate, Provider, builtin_limits};
use skillgate_sandbox::Helper;
use skillgate_tests::host;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = "/usr/bin/true";
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// A run of the sandbox beside `unshare` of every namespace with a /proc of its own.
pub(crate) fn beside_unshare(samples: usize) -> Result<Measured, String> {
    beside(samples, || {
        let mut command = Command::new("unshare");
        command.args(["-UmpiunCf", "--mount-proc", PROGRAM]);
        command
    })
}

/// A run of the sandbox beside bubblewrap with as much as it can do.
pub(crate) fn beside_bubblewrap(samples: usize) -> Result<Measured, String> {
    if !Path::new(BUBBLEWRAP).exists() {
        return Err(format!("there is no {BUBBLEWRAP}: install bubblewrap to compare with it"));
    }
    beside(samples, || {
        let mut command = Command::new(BUBBLEWRAP);
        command.args(["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]);
        command.args([
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/lib",
            "/lib",
            "--symlink",
            "usr/lib64",
            "/lib64",
        ]);
        command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", PROGRAM]);
        command
    })
}

fn beside(samples: usize, floor: impl Fn() -> Command) -> Result<Measured, String> {
    let helper = Helper::beside_ambient().map_err(|error| error.to_string())?;
    let backend = HostBackend::builder().helper(helper).program(NativeProgram::new("true", PROGRAM)).build();
    let gate = Gate::new(Authority::of(host(&[(Effect::Allow, "Bash")])));
    let mounts = Mounts::none();
    let confined = || {
        let request = CommandRequest::from_author(&["true"], Provider::Native);
        let approved = gate.approve(request).map_err(|refusal| refusal.to_string())?;
        let run = Run::start(builtin_limits());
        let job = Job {
            directory: "/",
            environment: &[],
            stdin: Input::Empty,
            stdout: Output::Discard,
            stderr: Output::Discard,
            mounts: &mounts,
            run: &run,
            nested: None,
        };
        let exit = backend.run(approved, job).map_err(|error| error.to_string())?;
        if exit.code == 0 { Ok(()) } else { Err(format!("`true` ended with status {}", exit.code)) }
    };
    let other = || {
        let mut command = floor();
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the floor ended with {status}")) }
    };
    in_turns(samples, confined, other)
}
