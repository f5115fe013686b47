//! Guest commands beside the machine's shell.

#![expect(clippy::disallowed_methods, reason = "the floor is a process of the machine's shell")]

use crate::measure::{Measured, in_turns};
use skillgate_exec::{
    Backend, CapabilityShell, Capture, Executor, Input, Job, Mounts, Output, Overflow, Program, Run, Scene, Streams,
};
use skillgate_exec_wasm::WasmBackend;
use skillgate_policy::{Authority, CommandRequest, Gate, Provider, builtin_limits};
use skillgate_tests::{Tree, backend, host};
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Lines of the file that is counted.
const LINES: usize = 1_000;

/// The shipped commands, compiled or loaded, beside this program's own file.
fn prepared() -> Result<Arc<WasmBackend>, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program: {error}"))?;
    let directory =
        program.parent().and_then(|path| path.to_str()).ok_or("the program's directory has no UTF-8 path")?;
    let backend = backend(directory);
    backend.prepare().map_err(|error| error.to_string())?;
    Ok(backend)
}

fn gate() -> Gate {
    Gate::new(Authority::of(host(&[])))
}

/// `true` is a command of the shell as well, so the component's own is asked for by hand.
pub(crate) fn no_op(samples: usize) -> Result<Measured, String> {
    let (backend, gate, mounts) = (prepared()?, gate(), Mounts::none());
    let guest = || {
        let approved = gate
            .approve(CommandRequest::from_author(&["true"], Provider::Shipped))
            .map_err(|refusal| refusal.to_string())?;
        let run = Run::start(builtin_limits());
        let job = Job {
            directory: "/",
            environment: &[],
            stdin: Input::Empty,
            stdout: Output::Discard,
            stderr: Output::Discard,
            mounts: &mounts,
            run: &run,
        };
        let exit = backend.run(approved, job).map_err(|error| error.to_string())?;
        if exit.code == 0 { Ok(()) } else { Err(format!("`true` ended with status {}", exit.code)) }
    };
    let floor = || {
        let status =
            sh(":").stdout(Stdio::null()).status().map_err(|error| format!("`sh` cannot be started: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("`sh -c :` ended with {status}")) }
    };
    in_turns(samples, guest, floor)
}

pub(crate) fn wc(samples: usize) -> Result<Measured, String> {
    let mut text = String::new();
    for line in 0..LINES {
        writeln!(text, "{line}: some words that make a line of usual length").map_err(|error| error.to_string())?;
    }
    let tree = Tree::new("");
    tree.write("notes.txt", text.as_bytes());
    let expected = format!("{LINES} notes.txt\n");

    let shell = CapabilityShell::new(vec![prepared()?]);
    let (gate, root) = (gate(), tree.path(""));
    let directory = root.to_str().ok_or("the temporary directory has no UTF-8 path")?;
    let guest = || {
        let limits = builtin_limits();
        let program = Program::from_text("wc -l notes.txt", &limits).map_err(|error| error.to_string())?;
        let mounts = Mounts::open_ambient(Some(&root), &[]).map_err(|(_, error)| error.to_string())?;
        let scene = Scene::new(mounts, directory, Vec::new());
        let capture = Capture::new(limits.output_bytes, Overflow::Drop);
        let output = Output::Capture(Arc::clone(&capture));
        let streams = Streams { stdin: Input::Empty, stdout: output.clone(), stderr: output };
        let completion =
            shell.execute(&program, &gate, &scene, &Run::start(limits), streams).map_err(|error| error.to_string())?;
        compare(completion.status == 0, &capture.take().0, &expected)
    };
    let floor = || {
        let output = native(sh("wc -l notes.txt").current_dir(&root))?;
        compare(true, &output, &expected)
    };
    in_turns(samples, guest, floor)
}

fn compare(succeeded: bool, output: &[u8], expected: &str) -> Result<(), String> {
    if succeeded && output == expected.as_bytes() {
        return Ok(());
    }
    Err(format!("it gives {:?} instead of {expected:?}", String::from_utf8_lossy(output)))
}

fn sh(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", program]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

fn native(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| format!("`sh` cannot be started: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("`sh` ended with {}", output.status)) }
}
