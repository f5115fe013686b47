use crate::backend::BackendError;
use crate::component::GuestComponent;
use skillgate_core::Digest;
use skillgate_state::OwnerDir;
use std::hash::{Hash, Hasher};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Told when a shipped component has to be compiled, which takes seconds, and when that is done.
pub trait CompileProgress: Send + Sync + std::fmt::Debug {
    /// Compiling `component`, of `bytes` bytes of wasm, begins.
    fn started(&self, component: &str, bytes: usize);
    /// Compiling is done.
    fn finished(&self, component: &str);
}

/// Loads a shipped component: from the cache when it holds the compiled form of exactly these bytes by exactly this engine,
/// else by compiling it, and then fills the cache.
pub(crate) fn load(
    engine: &Engine,
    pack: &GuestComponent,
    cache: Option<&OwnerDir>,
    progress: Option<&dyn CompileProgress>,
) -> Result<Component, BackendError> {
    let Some(cache) = cache else {
        return compile(engine, pack, progress, |engine, wasm| Component::new(engine, wasm));
    };
    let name = artifact_name(engine, pack);
    if let Some(component) = cached(engine, cache, &name) {
        return Ok(component);
    }
    // Two processes that start at once compile once.
    let _lock = cache.lock(&format!("{name}.lock")).map_err(BackendError::Cache)?;
    if let Some(component) = cached(engine, cache, &name) {
        return Ok(component);
    }
    let compiled = compile(engine, pack, progress, |engine, wasm| engine.precompile_component(wasm))?;
    cache.write_atomic(&name, &compiled).map_err(BackendError::Cache)?;
    let stale = cache.list().unwrap_or_default();
    let prefix = format!("{}-", pack.name());
    for old in stale.iter().filter(|old| old.starts_with(&prefix) && !old.starts_with(&name)) {
        // The compiled form of another version; whoever still has it mapped keeps it. A failure leaves a file too many.
        drop(cache.remove(old));
    }
    cached(engine, cache, &name).ok_or_else(|| BackendError::Compile {
        component: pack.name().to_owned(),
        reason: "the compiled form that was just stored cannot be loaded".to_owned(),
    })
}

fn cached(engine: &Engine, cache: &OwnerDir, name: &str) -> Option<Component> {
    // Owner and mode of the file are checked by the directory handle; a foreign or writable file is not loaded.
    cache.open_read(name).ok().flatten()?;
    let path = cache.path_of(name).ok()?;
    // SAFETY: `deserialize_file` trusts its input to be the output of `precompile_component`. The file lies in a directory that
    // only this user can write (checked when the handle was opened), is a regular file of this user with mode 0600 (checked
    // above), was written whole by `load` under this name, and the name holds the digest of the wasm and the engine's own
    // compatibility hash. wasmtime checks its version and settings once more. Whoever can change the file can run code as this
    // user already.
    #[expect(unsafe_code, reason = "loading compiled code that this crate wrote itself")]
    unsafe { Component::deserialize_file(engine, path) }.ok()
}

fn compile<T>(
    engine: &Engine,
    pack: &GuestComponent,
    progress: Option<&dyn CompileProgress>,
    with: impl FnOnce(&Engine, &[u8]) -> wasmtime::Result<T>,
) -> Result<T, BackendError> {
    let failed = |reason: String| BackendError::Compile { component: pack.name().to_owned(), reason };
    let wasm = pack.wasm().map_err(failed)?;
    if let Some(progress) = progress {
        progress.started(pack.name(), wasm.len());
    }
    let compiled = with(engine, &wasm).map_err(|error| failed(format!("{error:#}")));
    if let Some(progress) = progress {
        progress.finished(pack.name());
    }
    compiled
}

/// `NAME-DIGEST.cwasm`, where the digest is of the wasm's digest and of everything that makes the engine's output what it is.
fn artifact_name(engine: &Engine, pack: &GuestComponent) -> String {
    let mut settings = Collect(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut settings);
    let key = Digest::of_parts([pack.digest().as_bytes().as_slice(), &settings.0]);
    format!("{}-{key}.cwasm", pack.name())
}

/// Collects what is hashed, so that a strong digest can be made of it.
struct Collect(Vec<u8>);

impl Hasher for Collect {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
