use crate::backend::BackendError;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy};

/// How often a running guest is made to look at its run.
const TICK: Duration = Duration::from_millis(10);
/// A guest's own stack, bytes; threads that run guests have four times as much.
pub(crate) const GUEST_STACK: usize = 1 << 20;
/// Guests that can be alive at once: the stages of several nested pipelines.
const GUESTS: u32 = 128;

/// What code is compiled with: Cranelift alone, and every proposal off that no shipped guest needs. They are switched off here
/// and not by leaving them out of the build, which advisories concern. `reserves`: each memory gets the address space that it
/// could ever need, and most bounds checks go.
pub(crate) fn config(reserves: bool) -> Config {
    let mut config = Config::new();
    config.strategy(Strategy::Cranelift);
    config.cranelift_opt_level(OptLevel::Speed);
    config.wasm_component_model(true);
    config.epoch_interruption(true);
    config.consume_fuel(true);
    // The same result on every processor; no shipped command computes with floating point in a loop.
    config.cranelift_nan_canonicalization(true);
    config.max_wasm_stack(GUEST_STACK);
    config.async_stack_size(2 * GUEST_STACK);
    // `exit` is a trap, and a backtrace for each costs more than the command.
    config.wasm_backtrace_max_frames(None);
    config.wasm_threads(false);
    config.wasm_gc(false);
    config.wasm_function_references(false);
    config.wasm_memory64(false);
    config.wasm_multi_memory(false);
    config.wasm_tail_call(false);
    config.wasm_relaxed_simd(false);
    config.wasm_exceptions(false);
    config.wasm_wide_arithmetic(false);
    config.wasm_custom_page_sizes(false);
    config.wasm_shared_everything_threads(false);
    config.wasm_stack_switching(false);
    config.concurrency_support(false);
    if !reserves {
        config.memory_reservation(0);
        config.memory_guard_size(0);
    }
    config
}

/// The engine, with pooled instances; and whether memories are reserved.
pub(crate) fn engine(memory_bytes: u64) -> Result<(Engine, bool), BackendError> {
    // Reserving the pool takes hundreds of gigabytes of address space, which a limited process does not have; then instances are
    // made one by one, with bounds checks instead of guard pages. Slower, and just as bounded.
    let mut plain = config(false);
    plain.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let mut config = config(true);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(GUESTS);
    pool.total_core_instances(GUESTS * 8);
    pool.total_memories(GUESTS);
    pool.total_tables(GUESTS * 8);
    // Guests run on their threads' own stacks; a pool of others costs a system call for each at every start.
    pool.total_stacks(0);
    pool.max_core_instances_per_component(16);
    pool.max_memories_per_component(4);
    pool.max_tables_per_component(16);
    pool.table_elements(100_000);
    pool.max_memory_size(usize::try_from(memory_bytes).unwrap_or(usize::MAX));
    // Pages that the last guest dirtied are reset in place; without the scan, resetting costs more than a fresh mapping.
    pool.linear_memory_keep_resident(4 << 20);
    pool.table_keep_resident(1 << 20);
    pool.pagemap_scan(Enabled::Auto);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
        .map(|engine| (engine, true))
        .or_else(|_| Engine::new(&plain).map(|engine| (engine, false)))
        .map_err(|error| BackendError::Engine { reason: format!("{error:#}") })
}

/// Advances the engine's epoch while a guest runs, so that it looks at its run; sleeps while none does.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    closed: bool,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> Result<Self, BackendError> {
        let shared = Arc::new(Shared::default());
        let (weak, engine): (Weak<Shared>, _) = (Arc::downgrade(&shared), engine.weak());
        std::thread::Builder::new()
            .name("skillgate-epoch".to_owned())
            .spawn(move || {
                while let Some(shared) = weak.upgrade() {
                    let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
                    let state = if state.running == 0 && !state.closed {
                        shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
                    } else {
                        state
                    };
                    if state.closed {
                        return;
                    }
                    let (state, _) = shared.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner);
                    if state.closed {
                        return;
                    }
                    drop(state);
                    match engine.upgrade() {
                        Some(engine) => engine.increment_epoch(),
                        None => return,
                    }
                }
            })
            .map_err(|error| BackendError::Engine { reason: format!("no thread for the deadline: {error}") })?;
        Ok(Self { shared })
    }

    /// Keeps the epoch advancing as long as the returned guard lives.
    pub(crate) fn running(&self) -> Running<'_> {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running += 1;
        if state.running == 1 {
            self.shared.changed.notify_all();
        }
        Running(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.changed.notify_all();
    }
}

pub(crate) struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
    }
}
