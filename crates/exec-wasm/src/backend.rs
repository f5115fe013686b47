use crate::artifact::{self, CompileProgress};
use crate::component::GuestComponent;
use crate::engine::{self, Ticker};
use crate::guest::{Ended, Guest};
use crate::host;
use crate::limiter::Limiter;
use skillgate_exec::{Backend, Bound, Exit, Job, RunError, Stop};
use skillgate_policy::{Approved, Provider, Sight};
use skillgate_state::{OwnerDir, StateError};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{Engine, Store, Trap, UpdateDeadline};
use wasmtime_wasi::p2::bindings::sync::CommandPre;

/// Host memory a guest's calls may take at once, bytes.
const HOSTCALL_BYTES: usize = 8 << 20;

/// Why the wasm backend cannot be made or a component cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The engine cannot be made on this machine.
    #[error("the wasm engine cannot start: {reason}")]
    Engine {
        /// Why.
        reason: String,
    },
    /// A component cannot be compiled or linked.
    #[error("the component `{component}` cannot be used: {reason}")]
    Compile {
        /// The component.
        component: String,
        /// Why.
        reason: String,
    },
    /// The directory for compiled components cannot be used.
    #[error("compiled components cannot be cached: {0}")]
    Cache(#[source] StateError),
}

/// Makes a [`WasmBackend`].
#[derive(Debug)]
pub struct WasmBackendBuilder {
    components: Vec<GuestComponent>,
    cache: Option<OwnerDir>,
    progress: Option<Arc<dyn CompileProgress>>,
    memory_bytes: u64,
}

impl WasmBackendBuilder {
    /// Keeps compiled components in this directory, which only its owner can reach. Without one, every process compiles.
    #[must_use]
    pub fn cache(mut self, cache: OwnerDir) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Reports when a component has to be compiled.
    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn CompileProgress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The most one guest's memory can be, bytes; the sum over a run is bounded by the run's limits. 256 MiB unless set.
    #[must_use]
    pub fn guest_memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Makes the backend. Nothing is compiled or loaded before the first command needs it.
    ///
    /// # Errors
    /// [`BackendError::Engine`] when this machine cannot run the engine.
    pub fn build(self) -> Result<WasmBackend, BackendError> {
        let engine = engine::engine(self.memory_bytes)?;
        let ticker = Ticker::start(&engine)?;
        let mut linker = Linker::new(&engine);
        host::add_to_linker(&mut linker).map_err(|error| BackendError::Engine { reason: format!("{error:#}") })?;
        let loaded = self.components.iter().map(|_| OnceLock::new()).collect();
        Ok(WasmBackend {
            engine,
            ticker,
            linker,
            components: self.components,
            loaded,
            cache: self.cache,
            progress: self.progress,
        })
    }
}

/// Runs commands of wasm components.
pub struct WasmBackend {
    engine: Engine,
    ticker: Ticker,
    linker: Linker<Guest>,
    components: Vec<GuestComponent>,
    loaded: Vec<OnceLock<Result<CommandPre<Guest>, String>>>,
    cache: Option<OwnerDir>,
    progress: Option<Arc<dyn CompileProgress>>,
}

impl fmt::Debug for WasmBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmBackend")
            .field("components", &self.components)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl WasmBackend {
    /// A backend for the commands of these components; of two that offer one command, the first is asked.
    #[must_use]
    pub fn builder(components: impl IntoIterator<Item = GuestComponent>) -> WasmBackendBuilder {
        WasmBackendBuilder {
            components: components.into_iter().collect(),
            cache: None,
            progress: None,
            memory_bytes: 256 << 20,
        }
    }

    /// Compiles or loads every component now, so that no command has to wait for it.
    ///
    /// # Errors
    /// The first component that cannot be used.
    pub fn prepare(&self) -> Result<(), BackendError> {
        for (index, component) in self.components.iter().enumerate() {
            self.component(index)
                .map_err(|reason| BackendError::Compile { component: component.name().to_owned(), reason })?;
        }
        Ok(())
    }

    fn component(&self, index: usize) -> Result<&CommandPre<Guest>, String> {
        self.loaded[index]
            .get_or_init(|| {
                let component = &self.components[index];
                let component = artifact::load(&self.engine, component, self.cache.as_ref(), self.progress.as_deref())
                    .map_err(|error| error.to_string())?;
                let pre: InstancePre<Guest> =
                    self.linker.instantiate_pre(&component).map_err(|error| format!("{error:#}"))?;
                CommandPre::new(pre).map_err(|error| format!("{error:#}"))
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    fn index_of(&self, command: &str) -> Option<usize> {
        self.components.iter().position(|component| component.offers(command))
    }
}

impl Backend for WasmBackend {
    fn name(&self) -> &'static str {
        "wasm"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        self.index_of(command).map(|_| Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let command = approved.vector().first().cloned().unwrap_or_default();
        let unavailable = |reason| RunError::Unavailable { backend: "wasm", stage: "component", reason };
        let index = self.index_of(&command).ok_or_else(|| unavailable(format!("no component offers `{command}`")))?;
        let pre = self.component(index).map_err(unavailable)?;
        let (sight, rules) = (approved.sight(), Arc::clone(approved.paths()));
        let withheld = approved.withheld().clone();
        let vector = approved.redeem()?;
        let guest = Guest {
            table: Guest::table(),
            limiter: Limiter::new(Arc::clone(job.run)),
            vector,
            environment: job.environment.to_vec(),
            directory: (sight == Sight::Granted).then(|| job.directory.to_owned()),
            stdin: job.stdin,
            stdout: job.stdout,
            stderr: job.stderr,
            mounts: Arc::clone(job.mounts),
            rules,
            sight,
            withheld,
            open_files: 0,
            run: Arc::clone(job.run),
            started: Instant::now(),
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| match context.data().run.check() {
            Ok(()) => Ok(UpdateDeadline::Continue(1)),
            Err(stop) => Err(wasmtime::Error::from(Ended::Stopped(stop))),
        });
        let running = self.ticker.running();
        let outcome = pre.instantiate(&mut store).and_then(|instance| instance.wasi_cli_run().call_run(&mut store));
        drop(running);
        conclude(outcome, store.data(), command)
    }
}

fn conclude(outcome: wasmtime::Result<Result<(), ()>>, guest: &Guest, command: String) -> Result<Exit, RunError> {
    let exit = |code| Ok(Exit { code });
    let error = match outcome {
        Ok(Ok(())) => return exit(0),
        Ok(Err(())) => return exit(1),
        Err(error) => error,
    };
    if guest.limiter.hit && error.downcast_ref::<Ended>().is_none() {
        let stop = Stop::Bound(Bound::Memory(guest.run.limits().memory_bytes));
        return Err(RunError::Stopped { command, stop });
    }
    match error.downcast::<Ended>() {
        Ok(Ended::Exit(code)) => exit(code),
        Ok(Ended::Refused(refusal)) => Err(RunError::Refused(refusal)),
        Ok(Ended::Stopped(stop)) => Err(RunError::Stopped { command, stop }),
        Err(error) => match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Err(RunError::Stopped { command, stop: Stop::Bound(Bound::Stack) }),
            Some(trap) => Err(RunError::Fault { command, fault: trap.to_string() }),
            None => Err(RunError::Fault { command, fault: format!("{error:#}") }),
        },
    }
}
