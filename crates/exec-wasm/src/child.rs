use crate::compile::{CompileBudget, CompileFault, CompileRequest, ComponentCompiler};
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;

/// Bytes of compiled code that are taken.
const MAX_CODE: u64 = 256 << 20;
/// Bytes of a message that are taken.
const MAX_MESSAGE: u64 = 4_096;
/// The status of a process that answers with a message.
pub const REFUSED_STATUS: u8 = 3;

/// Compiles in a process that is started for it: a program that calls
/// [`serve_compile_request`](crate::serve_compile_request) on its standard streams, and on a [`CompileFault::Refused`] writes
/// the reason to its standard error and ends with [`REFUSED_STATUS`].
#[derive(Clone, Debug)]
pub struct ChildCompiler {
    program: PathBuf,
    arguments: Vec<OsString>,
    budget: CompileBudget,
}

impl ChildCompiler {
    /// A compiler that starts `program`, an absolute path, with these arguments and an empty environment. What the program
    /// writes is run as code: it must be one that the host would run itself.
    #[must_use]
    pub fn new(program: PathBuf, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect(), budget: CompileBudget::default() }
    }

    /// Another budget than the usual one.
    #[must_use]
    pub fn budget(mut self, budget: CompileBudget) -> Self {
        self.budget = budget;
        self
    }

    #[expect(clippy::disallowed_methods, reason = "the host's own program, to compile where the system can end it")]
    fn start(&self) -> Result<Child, CompileFault> {
        let started = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        started.map_err(|error| CompileFault::Unavailable {
            reason: format!("`{}` cannot be started: {error}", self.program.display()),
        })
    }
}

impl ComponentCompiler for ChildCompiler {
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Vec<u8>, CompileFault> {
        let mut child = self.start()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (done, wait) = channel();
        thread::scope(|scope| {
            // A process that ends early does not read all of it; what it says then is the answer.
            scope.spawn(|| stdin.map(|stdin| request.write(&self.budget, stdin)));
            let message = scope.spawn(|| stderr.map(|stream| read(stream, MAX_MESSAGE)).unwrap_or_default());
            scope.spawn(move || {
                let code = stdout.map(|stream| read(stream, MAX_CODE + 1)).unwrap_or_default();
                // Nobody listens any more when the time is over.
                let _ = done.send(code);
            });
            let code = wait.recv_timeout(self.budget.wall()).ok();
            if code.as_ref().is_none_or(|code| code.len() as u64 > MAX_CODE) {
                // It may have ended by itself a moment ago.
                let _ = child.kill();
            }
            let status = child.wait().map_err(|error| CompileFault::Unavailable {
                reason: format!("the compiling process cannot be waited for: {error}"),
            })?;
            let Some(code) = code else { return Err(CompileFault::Wall(self.budget.wall_ms)) };
            if status.success() {
                return Ok(code);
            }
            let message = String::from_utf8_lossy(&message.join().unwrap_or_default()).trim().to_owned();
            Err(self.fault(status, message))
        })
    }
}

impl ChildCompiler {
    fn fault(&self, status: ExitStatus, message: String) -> CompileFault {
        if status.code() == Some(i32::from(REFUSED_STATUS)) {
            return CompileFault::Refused { reason: message };
        }
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            // Soft and hard limit are one, and systems differ in which of the two signals it is then.
            let over = [rustix::process::Signal::XCPU, rustix::process::Signal::KILL];
            if over.iter().any(|over| over.as_raw() == signal) {
                return CompileFault::Cpu(self.budget.cpu_s);
            }
        }
        match status.code() {
            Some(_) if !message.is_empty() => CompileFault::Unavailable { reason: message },
            _ => CompileFault::Died { how: status.to_string(), memory_bytes: self.budget.memory_bytes },
        }
    }
}

/// All of a stream, up to a bound; what cannot be read is the end.
fn read(stream: impl Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.take(most).read_to_end(&mut bytes);
    bytes
}
