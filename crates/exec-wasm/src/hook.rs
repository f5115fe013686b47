//! Handlers of hooks that are components of the world `skillgate:hook` (`wit/hook`): bytes in, a verdict out, nothing else. A
//! component that imports anything, was made for another version or has another verdict is refused when it is loaded.

use crate::artifact::{self, Workshop};
use crate::backend::BackendError;
use crate::compile::ComponentCompiler;
use crate::component::GuestComponent;
use crate::engine::{self, Ticker};
use crate::inspect::{self, inspect};
use crate::limiter::Limiter;
use skillgate_core::Digest;
use skillgate_exec::{Bound, HookCall, HookHandler, HookLoadError, HookLoader, HookReply, Run, RunError, Stop};
use skillgate_state::OwnerDir;
use std::fmt;
use std::sync::Arc;
use wasmtime::component::types::{ComponentItem, Type};
use wasmtime::component::{Component, ComponentExportIndex, ComponentType, InstancePre, Lift, Linker};
use wasmtime::{Engine, Store, Trap, UpdateDeadline};

/// The track that there is here.
pub const HOOK_VERSION: &str = "0.1";
/// The custom section in which a component says its track.
const VERSION_SECTION: &str = "skillgate:hook";
const INTERFACE: &str = "skillgate:hook/handler@0.1.0";
const FUNCTION: &str = "handle";
/// Host memory that one answer may take, bytes.
const ANSWER_BYTES: usize = 1 << 20;
/// The most one handler's memory can be, bytes.
const MEMORY_BYTES: u64 = 256 << 20;

/// The verdict of the world, as the guest gives it.
#[derive(Debug, ComponentType, Lift)]
#[component(variant)]
enum Verdict {
    #[component(name = "pass")]
    Pass,
    #[component(name = "deny")]
    Deny(String),
    #[component(name = "ask")]
    Ask(String),
    #[component(name = "context")]
    Context(String),
    #[component(name = "rewrite")]
    Rewrite(Vec<u8>),
}

impl Verdict {
    const NAMES: [&str; 5] = ["pass", "deny", "ask", "context", "rewrite"];
}

/// Loads handlers, with the engine of a [`WasmBackend`](crate::WasmBackend) or its own.
pub struct WasmHooks {
    engine: Engine,
    reserves: bool,
    ticker: Arc<Ticker>,
    cache: Option<Arc<OwnerDir>>,
    compiler: Option<Arc<dyn ComponentCompiler>>,
}

impl fmt::Debug for WasmHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmHooks")
            .field("cache", &self.cache)
            .field("compiler", &self.compiler)
            .finish_non_exhaustive()
    }
}

impl WasmHooks {
    /// A loader with an engine of its own, for a host that runs no commands. Skills are third parties, so `compiler` compiles.
    ///
    /// # Errors
    /// [`BackendError::Engine`] when this machine cannot run the engine.
    pub fn new(cache: Option<OwnerDir>, compiler: Arc<dyn ComponentCompiler>) -> Result<Self, BackendError> {
        let (engine, reserves) = engine::engine(MEMORY_BYTES)?;
        let ticker = Arc::new(Ticker::start(&engine)?);
        Ok(Self { engine, reserves, ticker, cache: cache.map(Arc::new), compiler: Some(compiler) })
    }

    pub(crate) fn within(
        engine: &Engine,
        reserves: bool,
        ticker: &Arc<Ticker>,
        cache: Option<&Arc<OwnerDir>>,
        compiler: Option<&Arc<dyn ComponentCompiler>>,
    ) -> Self {
        Self {
            engine: engine.clone(),
            reserves,
            ticker: Arc::clone(ticker),
            cache: cache.map(Arc::clone),
            compiler: compiler.map(Arc::clone),
        }
    }
}

impl HookLoader for WasmHooks {
    fn load(&self, name: &str, wasm: &[u8]) -> Result<Arc<dyn HookHandler>, HookLoadError> {
        let unusable = |reason: String| HookLoadError::Unusable { reason };
        inspect(wasm).map_err(|fault| unusable(fault.to_string()))?;
        let found = version_of(wasm).map_err(unusable)?;
        let is_here = |found: &String| {
            found == HOOK_VERSION || found.strip_prefix(HOOK_VERSION).is_some_and(|rest| rest.starts_with('.'))
        };
        let Some(version) = found.as_ref().filter(|found| is_here(found)) else {
            return Err(HookLoadError::Version { found, here: HOOK_VERSION });
        };
        let world = |reason: String| HookLoadError::World { found: version.clone(), here: HOOK_VERSION, reason };
        if let Some(import) = inspect::first_import(wasm).map_err(|fault| unusable(fault.to_string()))? {
            return Err(world(format!("it imports `{import}`, and a handler imports nothing")));
        }
        // The file's name in the cache, so that a new version of a skill's component takes the place of the old one.
        let kept = format!("hook-{:.16}", Digest::of(name.as_bytes()).to_string());
        let bytes: Arc<[u8]> = Arc::from(wasm);
        let component = GuestComponent::third_party(&kept, Digest::of(wasm), move || Ok::<_, String>(bytes.to_vec()));
        let workshop = Workshop {
            engine: &self.engine,
            reserves: self.reserves,
            cache: self.cache.as_deref(),
            progress: None,
            compiler: self.compiler.as_deref(),
        };
        let code = artifact::load(&workshop, &component).map_err(|error| {
            unusable(match error {
                BackendError::Component { fault, .. } => fault.to_string(),
                BackendError::ThirdParty { fault, .. } => fault.to_string(),
                other => other.to_string(),
            })
        })?;
        let handle = exported(&self.engine, &code).map_err(world)?;
        let pre = Linker::new(&self.engine).instantiate_pre(&code).map_err(|error| unusable(format!("{error:#}")))?;
        Ok(Arc::new(WasmHook {
            name: name.to_owned(),
            engine: self.engine.clone(),
            ticker: Arc::clone(&self.ticker),
            pre,
            handle,
        }))
    }
}

/// The track that a component says it was made for.
fn version_of(wasm: &[u8]) -> Result<Option<String>, String> {
    let mut found: Option<String> = None;
    for section in inspect::custom_sections(wasm, VERSION_SECTION).map_err(|fault| fault.to_string())? {
        let text = std::str::from_utf8(section).map(|text| text.trim_end_matches('\0').trim());
        let Some(text) = text.ok().filter(|text| text.len() <= 32 && text.chars().all(|c| c.is_ascii_graphic())) else {
            return Err(format!("its section `{VERSION_SECTION}` holds no version"));
        };
        if found.as_ref().is_some_and(|before| before != text) {
            return Err(format!("its sections `{VERSION_SECTION}` name several versions"));
        }
        found = Some(text.to_owned());
    }
    Ok(found)
}

/// The function of the world, when the component exports it with the world's type.
fn exported(engine: &Engine, code: &Component) -> Result<ComponentExportIndex, String> {
    let missing = || format!("it does not export `{FUNCTION}` of `{INTERFACE}`");
    let component = code.component_type();
    let Some(ComponentItem::ComponentInstance(interface)) = component.get_export(engine, INTERFACE).map(|it| it.ty)
    else {
        return Err(missing());
    };
    let Some(ComponentItem::ComponentFunc(function)) = interface.get_export(engine, FUNCTION).map(|it| it.ty) else {
        return Err(missing());
    };
    if let Some(Type::Variant(verdict)) = function.results().next() {
        let unknown =
            verdict.cases().find(|case| !Verdict::NAMES.contains(&case.name)).map(|case| case.name.to_owned());
        if let Some(unknown) = unknown {
            return Err(format!("its verdict has `{unknown}`; there are {}", Verdict::NAMES.join(", ")));
        }
    }
    function
        .typecheck::<(&str, &[u8]), (Verdict,)>(&component.instance_type())
        .map_err(|error| format!("the type of `{FUNCTION}` is another one: {error:#}"))?;
    let interface = code.get_export_index(None, INTERFACE).ok_or_else(missing)?;
    code.get_export_index(Some(&interface), FUNCTION).ok_or_else(missing)
}

/// What the host keeps for one call.
#[derive(Debug)]
struct Called {
    limiter: Limiter,
    run: Arc<Run>,
}

/// A loaded handler.
struct WasmHook {
    name: String,
    engine: Engine,
    ticker: Arc<Ticker>,
    pre: InstancePre<Called>,
    handle: ComponentExportIndex,
}

impl fmt::Debug for WasmHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WasmHook").field(&self.name).finish()
    }
}

/// Why a handler was ended from outside, carried through wasmtime as its error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Ended(Stop);

impl HookHandler for WasmHook {
    fn call(&self, call: HookCall<'_>) -> Result<HookReply, RunError> {
        let stopped = |stop| RunError::Stopped { command: self.name.clone(), stop };
        call.run.count_command().map_err(stopped)?;
        let called = Called { limiter: Limiter::new(Arc::clone(call.run)), run: Arc::clone(call.run) };
        let mut store = Store::new(&self.engine, called);
        store.limiter(|called| &mut called.limiter);
        store.set_hostcall_fuel(ANSWER_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| match context.data().run.check() {
            Ok(()) => Ok(UpdateDeadline::Continue(1)),
            Err(stop) => Err(wasmtime::Error::from(Ended(stop))),
        });
        let fuel = call.run.fuel_left();
        store.set_fuel(fuel).map_err(|error| self.fault(&error))?;
        let running = self.ticker.running();
        let outcome = self.pre.instantiate(&mut store).and_then(|instance| {
            let handle = instance.get_typed_func::<(&str, &[u8]), (Verdict,)>(&mut store, &self.handle)?;
            handle.call(&mut store, (call.event, call.input))
        });
        drop(running);
        call.run.use_fuel(fuel - store.get_fuel().unwrap_or(0));
        match outcome {
            Ok((verdict,)) => Ok(match verdict {
                Verdict::Pass => HookReply::Pass,
                Verdict::Deny(reason) => HookReply::Deny(reason),
                Verdict::Ask(reason) => HookReply::Ask(reason),
                Verdict::Context(text) => HookReply::Context(text),
                Verdict::Rewrite(input) => HookReply::Rewrite(input),
            }),
            Err(error) => Err(self.concluded(&error, store.data())),
        }
    }
}

impl WasmHook {
    fn concluded(&self, error: &wasmtime::Error, called: &Called) -> RunError {
        let bound = |bound| RunError::Stopped { command: self.name.clone(), stop: Stop::Bound(bound) };
        let limits = called.run.limits();
        if let Some(Ended(stop)) = error.downcast_ref() {
            return RunError::Stopped { command: self.name.clone(), stop: *stop };
        }
        if called.limiter.hit {
            return bound(Bound::Memory(limits.memory_bytes));
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => bound(Bound::Stack),
            Some(Trap::OutOfFuel) => bound(Bound::Fuel(limits.fuel)),
            Some(trap) => RunError::Fault { command: self.name.clone(), fault: trap.to_string() },
            None => self.fault(error),
        }
    }

    fn fault(&self, error: &wasmtime::Error) -> RunError {
        RunError::Fault { command: self.name.clone(), fault: format!("{error:#}") }
    }
}
