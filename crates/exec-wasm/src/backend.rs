use crate::artifact::{self, CompileProgress, Workshop};
use crate::compile::{CompileFault, ComponentCompiler};
use crate::component::{GuestComponent, Origin};
use crate::engine::{self, Ticker};
use crate::guest::{Ended, Guest};
use crate::hook::WasmHooks;
use crate::host;
use crate::inspect::ComponentFault;
use crate::limiter::Limiter;
use crate::nested;
use skillgate_exec::{Backend, Bound, Exit, Job, RunError, Stop};
use skillgate_policy::{Approved, Provider, Sight};
use skillgate_state::{OwnerDir, StateError};
use std::fmt;
use std::sync::{Arc, OnceLock, atomic::AtomicU32};
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
    /// A component's bytes cannot be had.
    #[error("the component `{component}` cannot be read: {reason}")]
    Unreadable {
        /// The component.
        component: String,
        /// Why.
        reason: String,
    },
    /// A component is not what it has to be.
    #[error("the component `{component}` is not used: {fault}")]
    Component {
        /// The component.
        component: String,
        /// What is wrong with it.
        fault: ComponentFault,
    },
    /// What a third party made could not be compiled within bounds.
    #[error("the component `{component}` is not used: {fault}")]
    ThirdParty {
        /// The component.
        component: String,
        /// Why.
        fault: CompileFault,
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
    compiler: Option<Arc<dyn ComponentCompiler>>,
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

    /// Who compiles what third parties made. Without one their commands are not available.
    #[must_use]
    pub fn compiler(mut self, compiler: Arc<dyn ComponentCompiler>) -> Self {
        self.compiler = Some(compiler);
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
        let (engine, reserves) = engine::engine(self.memory_bytes)?;
        let ticker = Arc::new(Ticker::start(&engine)?);
        let mut linker = Linker::new(&engine);
        host::add_to_linker(&mut linker).map_err(|error| BackendError::Engine { reason: format!("{error:#}") })?;
        let loaded = self.components.iter().map(|_| OnceLock::new()).collect();
        Ok(WasmBackend {
            engine,
            reserves,
            ticker,
            linker,
            components: self.components,
            loaded,
            cache: self.cache.map(Arc::new),
            progress: self.progress,
            compiler: self.compiler,
        })
    }
}

/// Runs commands of wasm components.
pub struct WasmBackend {
    engine: Engine,
    reserves: bool,
    ticker: Arc<Ticker>,
    linker: Linker<Guest>,
    components: Vec<GuestComponent>,
    loaded: Vec<OnceLock<Result<CommandPre<Guest>, Arc<BackendError>>>>,
    cache: Option<Arc<OwnerDir>>,
    progress: Option<Arc<dyn CompileProgress>>,
    compiler: Option<Arc<dyn ComponentCompiler>>,
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
            compiler: None,
            memory_bytes: 256 << 20,
        }
    }

    /// What loads handlers of hooks, with the engine, the cache and the compiler of this backend.
    #[must_use]
    pub fn hooks(&self) -> WasmHooks {
        WasmHooks::within(&self.engine, self.reserves, &self.ticker, self.cache.as_ref(), self.compiler.as_ref())
    }

    /// Compiles or loads every component now, so that no command has to wait for it.
    ///
    /// # Errors
    /// The first component that cannot be used.
    pub fn prepare(&self) -> Result<(), Arc<BackendError>> {
        (0..self.components.len()).try_for_each(|index| self.component(index).map(drop))
    }

    /// The component that offers a command.
    #[must_use]
    pub fn component_of(&self, command: &str) -> Option<&GuestComponent> {
        self.components.get(self.index_of(command)?)
    }

    fn component(&self, index: usize) -> Result<&CommandPre<Guest>, Arc<BackendError>> {
        self.loaded[index]
            .get_or_init(|| self.load(&self.components[index]).map_err(Arc::new))
            .as_ref()
            .map_err(Arc::clone)
    }

    fn load(&self, component: &GuestComponent) -> Result<CommandPre<Guest>, BackendError> {
        let workshop = Workshop {
            engine: &self.engine,
            reserves: self.reserves,
            cache: self.cache.as_deref(),
            progress: self.progress.as_deref(),
            compiler: self.compiler.as_deref(),
        };
        let code = artifact::load(&workshop, component)?;
        let failed = |error: wasmtime::Error| BackendError::Compile {
            component: component.name().to_owned(),
            reason: format!("{error:#}"),
        };
        let pre: InstancePre<Guest> = self.linker.instantiate_pre(&code).map_err(failed)?;
        CommandPre::new(pre).map_err(failed)
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
        self.component_of(command).map(|component| match component.origin() {
            Origin::Shipped => Provider::Shipped,
            Origin::ThirdParty => Provider::ThirdParty,
        })
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let command = approved.vector().first().cloned().unwrap_or_default();
        let unavailable = |reason| RunError::Unavailable { backend: "wasm", stage: "component", reason };
        let index = self.index_of(&command).ok_or_else(|| unavailable(format!("no component offers `{command}`")))?;
        let pre = self.component(index).map_err(|error| unavailable(error.to_string()))?;
        let (sight, rules) = (approved.sight(), Arc::clone(approved.paths()));
        let withheld = approved.withheld().clone();
        let vector = approved.redeem()?;
        let mut guest = Guest {
            table: Guest::table(),
            limiter: Limiter::new(Arc::clone(job.run)),
            origin: self.components[index].origin(),
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
            nested: None,
            open_files: Arc::new(AtomicU32::new(0)),
            empty_writes: 0,
            run: Arc::clone(job.run),
            started: Instant::now(),
        };
        match job.nested {
            None => self.enter(pre, guest, command),
            Some(nested) => nested::serve(nested, |asking| {
                guest.nested = Some(asking);
                self.enter(pre, guest, command)
            }),
        }
    }
}

impl WasmBackend {
    /// Runs a guest in a fresh store to its end.
    fn enter(&self, pre: &CommandPre<Guest>, guest: Guest, command: String) -> Result<Exit, RunError> {
        let run = Arc::clone(&guest.run);
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| match context.data().run.check() {
            Ok(()) => Ok(UpdateDeadline::Continue(1)),
            Err(stop) => Err(wasmtime::Error::from(Ended::Stopped(stop))),
        });
        let fuel = run.fuel_left();
        store.set_fuel(fuel).map_err(|error| fault(&command, &error))?;
        let running = self.ticker.running();
        let outcome = pre.instantiate(&mut store).and_then(|instance| instance.wasi_cli_run().call_run(&mut store));
        drop(running);
        run.use_fuel(fuel - store.get_fuel().unwrap_or(0));
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
        Ok(Ended::Nested(error)) => Err(*error),
        Err(error) => match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Err(RunError::Stopped { command, stop: Stop::Bound(Bound::Stack) }),
            Some(Trap::OutOfFuel) => {
                Err(RunError::Stopped { command, stop: Stop::Bound(Bound::Fuel(guest.run.limits().fuel)) })
            }
            Some(trap) => Err(RunError::Fault { command, fault: trap.to_string() }),
            None => Err(fault(&command, &error)),
        },
    }
}

fn fault(command: &str, error: &wasmtime::Error) -> RunError {
    RunError::Fault { command: command.to_owned(), fault: format!("{error:#}") }
}
