use crate::backend::BackendError;
use crate::compile::{CompileFault, CompileRequest, ComponentCompiler};
use crate::component::{GuestComponent, Origin};
use crate::inspect::inspect;
use skillgate_core::Digest;
use skillgate_state::OwnerDir;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Told when a shipped component has to be compiled, which takes seconds, and when that is done.
pub trait CompileProgress: Send + Sync + std::fmt::Debug {
    /// Compiling `component`, of `bytes` bytes of wasm, begins.
    fn started(&self, component: &str, bytes: usize);
    /// Compiling is done.
    fn finished(&self, component: &str);
}

/// How components become code.
pub(crate) struct Workshop<'a> {
    pub(crate) engine: &'a Engine,
    /// Whether the engine reserves address space for memories, which its code is made for.
    pub(crate) reserves: bool,
    pub(crate) cache: Option<&'a OwnerDir>,
    pub(crate) progress: Option<&'a dyn CompileProgress>,
    /// Who compiles what third parties made.
    pub(crate) compiler: Option<&'a dyn ComponentCompiler>,
}

/// Loads a component: from the cache when it holds the compiled form of exactly these bytes by exactly this engine, else by
/// compiling it, and then fills the cache. That of a third party is looked at in any case.
pub(crate) fn load(workshop: &Workshop<'_>, pack: &GuestComponent) -> Result<Component, BackendError> {
    let failed = |reason: String| BackendError::Compile { component: pack.name().to_owned(), reason };
    let unloadable =
        |error: wasmtime::Error| failed(format!("the code that was just made cannot be loaded: {error:#}"));
    let checked = match pack.origin() {
        Origin::Shipped => None,
        Origin::ThirdParty => Some(checked(pack)?),
    };
    let engine = workshop.engine;
    let Some(cache) = workshop.cache else {
        let code = compile(workshop, pack, checked)?;
        return map(engine, Code::Bytes(&code)).map_err(unloadable);
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
    let code = compile(workshop, pack, checked)?;
    cache.write_atomic(&name, &code).map_err(BackendError::Cache)?;
    let stale = cache.list().unwrap_or_default();
    for old in stale.iter().filter(|old| **old != name && is_code_of(pack, old)) {
        // The compiled form of another version; whoever still has it mapped keeps it. A failure leaves a file too many.
        drop(cache.remove(old));
    }
    let path = cache.path_of(&name).map_err(BackendError::Cache)?;
    map(engine, Code::File(path)).map_err(unloadable)
}

/// The bytes of a third party's component, when they are those of the policy and nothing in them is beyond the caps.
fn checked(pack: &GuestComponent) -> Result<Vec<u8>, BackendError> {
    let wasm = pack.wasm()?;
    inspect(&wasm).map_err(|fault| BackendError::Component { component: pack.name().to_owned(), fault })?;
    Ok(wasm)
}

fn cached(engine: &Engine, cache: &OwnerDir, name: &str) -> Option<Component> {
    // Owner and mode of the file are checked by the directory handle; a foreign or writable file is not loaded.
    cache.open_read(name).ok().flatten()?;
    map(engine, Code::File(cache.path_of(name).ok()?)).ok()
}

/// Compiled code that this program made.
enum Code<'a> {
    File(PathBuf),
    Bytes(&'a [u8]),
}

fn map(engine: &Engine, code: Code<'_>) -> wasmtime::Result<Component> {
    // SAFETY: both functions trust their input to be the output of `precompile_component`. Bytes come from `compile`, so from
    // this process or from the host's own program that it started. A file lies in a directory that only this user can write
    // (checked when the handle was opened), is a regular file of this user with mode 0600 (checked by `cached`), was written
    // whole by `load` under this name, and the name holds the digest of the wasm and the engine's own compatibility hash.
    // wasmtime checks its version and settings once more. Whoever can change the file can run code as this user already.
    // Nothing that a skill, a policy or a third party brings gets here: their bytes are WebAssembly or are refused.
    #[expect(unsafe_code, reason = "loading compiled code that this program made itself")]
    unsafe {
        match code {
            Code::File(path) => Component::deserialize_file(engine, path),
            Code::Bytes(bytes) => Component::deserialize(engine, bytes),
        }
    }
}

/// Compiles a component: a shipped one here, and what a third party made where the system can end it.
fn compile(workshop: &Workshop<'_>, pack: &GuestComponent, checked: Option<Vec<u8>>) -> Result<Vec<u8>, BackendError> {
    let component = || pack.name().to_owned();
    let wasm = match &checked {
        Some(wasm) => wasm,
        None => &pack.wasm()?,
    };
    if let Some(progress) = workshop.progress {
        progress.started(pack.name(), wasm.len());
    }
    let code = match (pack.origin(), workshop.compiler) {
        (Origin::Shipped, _) => workshop
            .engine
            .precompile_component(wasm)
            .map_err(|error| BackendError::Compile { component: component(), reason: format!("{error:#}") }),
        (Origin::ThirdParty, Some(compiler)) => compiler
            .compile(&CompileRequest { wasm, reserves: workshop.reserves })
            .map_err(|fault| BackendError::ThirdParty { component: component(), fault }),
        (Origin::ThirdParty, None) => {
            let fault = CompileFault::Unavailable { reason: "the host gave the backend no compiler for it".to_owned() };
            Err(BackendError::ThirdParty { component: component(), fault })
        }
    };
    if let Some(progress) = workshop.progress {
        progress.finished(pack.name());
    }
    code
}

/// `NAME-DIGEST.cwasm`, where the digest is of the wasm's digest and of everything that makes the engine's output what it is.
fn artifact_name(engine: &Engine, pack: &GuestComponent) -> String {
    let mut settings = Collect(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut settings);
    let key = Digest::of_parts([pack.digest().as_bytes().as_slice(), &settings.0]);
    format!("{}{key}.cwasm", beginning(pack))
}

/// How the names of a component's files begin. No shipped component's name holds a dot.
fn beginning(pack: &GuestComponent) -> String {
    match pack.origin() {
        Origin::Shipped => format!("{}-", pack.name()),
        Origin::ThirdParty => format!("third-party.{}-", pack.name()),
    }
}

/// Whether a file is code of a component, of whatever version.
fn is_code_of(pack: &GuestComponent, file: &str) -> bool {
    let key = file.strip_prefix(&beginning(pack)).and_then(|rest| rest.strip_suffix(".cwasm"));
    key.is_some_and(|key| key.parse::<Digest>().is_ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_another_component_is_not_taken_for_an_old_version() {
        let none = || Err::<Vec<u8>, _>("not needed");
        let git = GuestComponent::new("git", Digest::of(b""), ["git"], none);
        let lfs = GuestComponent::third_party("git-lfs", Digest::of(b""), none);
        let key = Digest::of(b"x");
        for (file, of_git, of_lfs) in [
            (format!("git-{key}.cwasm"), true, false),
            (format!("third-party.git-lfs-{key}.cwasm"), false, true),
            (format!("third-party.git-{key}.cwasm"), false, false),
            (format!("git-lfs-{key}.cwasm"), false, false),
            (format!("git-{key}.cwasm.lock"), false, false),
        ] {
            assert_eq!((is_code_of(&git, &file), is_code_of(&lfs, &file)), (of_git, of_lfs), "{file}");
        }
    }
}
