//! Compiling what a third party wrote. No count of instructions bounds a compiler, so it runs in a process of its own, which
//! the system ends when it takes too much; see docs/design/0004-third-party-components.md for why its output is believed.

use crate::engine;
use std::io::{self, Read, Write};
use std::time::Duration;
use wasmtime::Engine;

/// The most that compiling one component may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompileBudget {
    /// Wall time, milliseconds.
    pub wall_ms: u64,
    /// Processor time of all its threads, seconds.
    pub cpu_s: u64,
    /// Address space, bytes.
    pub memory_bytes: u64,
}

impl Default for CompileBudget {
    /// Ten times what the largest component that Skillgate ships needs here.
    fn default() -> Self {
        Self { wall_ms: 60_000, cpu_s: 60, memory_bytes: 2 << 30 }
    }
}

/// Why a component was not compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileFault {
    /// Nobody here can compile within bounds.
    #[error("there is nothing here that compiles within bounds: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
    /// It took longer than it may.
    #[error("compiling it takes more than {0} ms")]
    Wall(u64),
    /// It took more processor time than it may.
    #[error("compiling it takes more than {0} s of processor time")]
    Cpu(u64),
    /// The process ended without an answer, which is how a compiler that gets no more memory ends.
    #[error("compiling it was given up ({how}); it may take {memory_bytes} bytes of memory")]
    Died {
        /// How the process ended.
        how: String,
        /// The bound of its memory.
        memory_bytes: u64,
    },
    /// The compiler refuses it.
    #[error("it does not compile: {reason}")]
    Refused {
        /// What the compiler says.
        reason: String,
    },
}

/// Compiles the components of third parties, within a budget, for the engine of the backend that asks.
pub trait ComponentCompiler: Send + Sync + std::fmt::Debug {
    /// Compiles `request`, whose bytes have been looked at ([`inspect`](crate::inspect)), and gives what
    /// [`serve_compile_request`] writes.
    ///
    /// # Errors
    /// [`CompileFault`].
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Vec<u8>, CompileFault>;
}

/// What is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    pub(crate) wasm: &'a [u8],
    /// How the engine lays out memory: with reservations, or without.
    pub(crate) reserves: bool,
}

/// The first bytes of a request, so that a process that is started by mistake does nothing.
const MAGIC: &[u8; 8] = b"sgcomp1\n";
/// Bytes of a request beside the component.
const HEADER_BYTES: usize = MAGIC.len() + 1 + 2 * 8;
/// Bytes of a component that is read at most, which is more than any that passes inspection.
const MAX_WASM: u64 = 64 << 20;

impl CompileRequest<'_> {
    /// The request as [`serve_compile_request`] reads it.
    pub fn write(&self, budget: &CompileBudget, mut to: impl Write) -> io::Result<()> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(MAGIC);
        header.push(u8::from(self.reserves));
        header.extend_from_slice(&budget.cpu_s.to_le_bytes());
        header.extend_from_slice(&budget.memory_bytes.to_le_bytes());
        to.write_all(&header)?;
        to.write_all(self.wasm)?;
        to.flush()
    }
}

/// The other side of a [`ComponentCompiler`] that starts processes: limits this process to the budget of the request that it
/// reads from `input`, compiles, and writes the compiled code to `output`. For a process that does nothing else and ends then.
///
/// # Errors
/// [`CompileFault`]; nothing has been written then. A process that reaches its limits is ended by the system instead.
pub fn serve_compile_request(mut input: impl Read, mut output: impl Write) -> Result<(), CompileFault> {
    let broken =
        |error: io::Error| CompileFault::Unavailable { reason: format!("the request cannot be read: {error}") };
    let mut header = [0; HEADER_BYTES];
    input.read_exact(&mut header).map_err(broken)?;
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&header[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    if !header.starts_with(MAGIC) {
        return Err(CompileFault::Unavailable { reason: "the request is of another version of Skillgate".to_owned() });
    }
    let reserves = header[MAGIC.len()] == 1;
    limit_this_process(number(MAGIC.len() + 1), number(MAGIC.len() + 9))?;
    let mut wasm = Vec::new();
    input.take(MAX_WASM).read_to_end(&mut wasm).map_err(broken)?;
    // Only code is made here, nothing runs, so no room for guests is reserved.
    let engine = Engine::new(&engine::config(reserves))
        .map_err(|error| CompileFault::Unavailable { reason: format!("{error:#}") })?;
    let compiled =
        engine.precompile_component(&wasm).map_err(|error| CompileFault::Refused { reason: format!("{error:#}") })?;
    output.write_all(&compiled).and_then(|()| output.flush()).map_err(|error| CompileFault::Unavailable {
        reason: format!("the compiled code cannot be passed on: {error}"),
    })
}

/// Lets the system end this process when it takes more than the budget.
#[cfg(unix)]
fn limit_this_process(cpu_s: u64, memory_bytes: u64) -> Result<(), CompileFault> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::As, memory_bytes),
        (Resource::Cpu, cpu_s),
        (Resource::Core, 0),
        // It writes to the stream that it was given and to nothing else.
        (Resource::Fsize, 0),
        (Resource::Nofile, 16),
    ];
    for (resource, most) in limits {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| CompileFault::Unavailable {
            reason: format!("this process cannot be limited: {error}"),
        })?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn limit_this_process(_: u64, _: u64) -> Result<(), CompileFault> {
    Err(CompileFault::Unavailable { reason: "this system has no limits for a process".to_owned() })
}

impl CompileBudget {
    pub(crate) fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}
