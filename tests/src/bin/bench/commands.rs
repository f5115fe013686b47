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
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Lines of the file that is counted.
const LINES: usize = 1_000;
/// Bytes that go through the stages of a pipeline.
const STREAM_BYTES: usize = 30_000_000;
/// Files of the large repository.
const MANY_FILES: usize = 5_000;
/// Bytes of an output that a message shows.
const SHOWN: usize = 400;

/// The shipped commands, compiled or loaded, beside this program's own file.
pub(crate) fn prepared() -> Result<Arc<WasmBackend>, String> {
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
            nested: None,
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

/// A project of one directory, and what a line in it is beside.
struct Beside<'a> {
    root: &'a Path,
    /// The program in the capability shell.
    program: &'a str,
    floor: &'a dyn Fn() -> Command,
}

impl Beside<'_> {
    /// Everything that an injection costs: opening the project, parsing, planning, deciding, running. Both give the same output.
    fn measure(&self, samples: usize) -> Result<Measured, String> {
        let shell = CapabilityShell::new(vec![prepared()?]);
        let gate = gate();
        let directory = self.root.to_str().ok_or("the temporary directory has no UTF-8 path")?;
        let floor = || native((self.floor)().current_dir(self.root));
        let expected = floor()?;
        let guest = || {
            let limits = builtin_limits();
            let program = Program::from_text(self.program, &limits).map_err(|error| error.to_string())?;
            let mounts = Mounts::open_ambient(Some(self.root), &[]).map_err(|(_, error)| error.to_string())?;
            let scene = Scene::new(mounts, directory, vec![("HOME".to_owned(), "/nowhere".to_owned())]);
            let capture = Capture::new(limits.output_bytes, Overflow::Drop);
            let output = Output::Capture(Arc::clone(&capture));
            let streams = Streams { stdin: Input::Empty, stdout: output, stderr: Output::Discard };
            let completion = shell
                .execute(&program, &gate, &scene, &Run::start(limits), streams)
                .map_err(|error| error.to_string())?;
            compare(completion.status == 0, &capture.take().0, &expected)
        };
        in_turns(samples, guest, || compare(true, &floor()?, &expected))
    }
}

/// A directory as projects have them at their top: a dozen files and directories, one of them of some length.
fn project() -> Result<Tree, String> {
    let mut text = String::new();
    for line in 0..LINES {
        writeln!(text, "{line}: some words that make a line of usual length").map_err(|error| error.to_string())?;
    }
    let tree =
        Tree::new("=== README.md\n=== Cargo.toml\n=== LICENSE\n=== docs/\n=== src/main.rs\n=== tests/\n=== build.rs\n");
    tree.write("notes.txt", text.as_bytes());
    Ok(tree)
}

fn in_project(program: &str, samples: usize) -> Result<Measured, String> {
    let tree = project()?;
    Beside { root: &tree.path(""), program, floor: &|| sh(program) }.measure(samples)
}

pub(crate) fn wc(samples: usize) -> Result<Measured, String> {
    in_project("wc -l notes.txt", samples)
}

pub(crate) fn ls(samples: usize) -> Result<Measured, String> {
    in_project("ls", samples)
}

pub(crate) fn pipeline(samples: usize) -> Result<Measured, String> {
    in_project("ls | wc -l", samples)
}

/// Thirty megabytes through three stages.
pub(crate) fn stream(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    tree.write("big.txt", "a line of thirty-two bytes here\n".repeat(STREAM_BYTES / 32).as_bytes());
    let program = "cat big.txt | cat | wc -c";
    Beside { root: &tree.path(""), program, floor: &|| sh(program) }.measure(samples)
}

pub(crate) fn git_log(samples: usize) -> Result<Measured, String> {
    in_fixture(&["log", "--oneline", "-10"], samples)
}

pub(crate) fn git_status(samples: usize) -> Result<Measured, String> {
    in_fixture(&["status", "--short"], samples)
}

fn in_fixture(arguments: &[&str], samples: usize) -> Result<Measured, String> {
    let tree = fixture()?;
    beside_git(&tree.path("fixture/work"), arguments, samples)
}

/// The repository that the injected lines of published skills run in, at `fixture/work`.
pub(crate) fn fixture() -> Result<Tree, String> {
    let tree = Tree::new("");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/injections/make-fixture.sh");
    native(Command::new("bash").arg(script).arg(tree.path("").join("fixture")).stdout(Stdio::null()))?;
    Ok(tree)
}

/// A repository of five thousand files in a hundred directories, one of them changed and one not added.
pub(crate) fn git_status_of_many(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    for file in 0..MANY_FILES {
        tree.write(&format!("d{}/file{file}.txt", file % 100), format!("the text of file {file}\n").as_bytes());
    }
    let root = tree.path("");
    for arguments in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "All files"]] {
        let identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
        native(git().args(identity).args(arguments).current_dir(&root))?;
    }
    tree.write("d7/file7.txt", b"changed\n");
    tree.write("d8/new.txt", b"new\n");
    beside_git(&root, &["status", "--short"], samples)
}

fn beside_git(root: &Path, arguments: &[&str], samples: usize) -> Result<Measured, String> {
    let program = format!("git {}", arguments.join(" "));
    let floor = || {
        let mut command = git();
        command.args(arguments);
        command
    };
    Beside { root, program: &program, floor: &floor }.measure(samples)
}

fn git() -> Command {
    plain("git")
}

/// A program of the machine for which git reads no settings but those of the repository, and writes nothing.
pub(crate) fn plain(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", "/nowhere").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0");
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

fn compare(succeeded: bool, output: &[u8], expected: &[u8]) -> Result<(), String> {
    if succeeded && output == expected {
        return Ok(());
    }
    let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    Err(format!("it gives {:?} instead of {:?}", shown(output), shown(expected)))
}

fn sh(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", program]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// What a program of the machine prints.
pub(crate) fn native(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("`{name}` cannot be started: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("`{name}` ended with {}", output.status)) }
}
