use skillgate_exec_wasm::{BackendError, GuestComponent, WasmBackend};
use skillgate_packs::PackSet;
use skillgate_state::OwnerDir;
use std::sync::Arc;

/// The backend of the shipped commands. `cache` is a directory of the program's own, in which compiled commands are kept for the
/// next start; without one they are compiled when they are first used, which takes seconds.
///
/// # Errors
/// [`BackendError`] when the engine cannot start on this machine.
pub fn shipped_commands(cache: Option<OwnerDir>) -> Result<Arc<WasmBackend>, BackendError> {
    let components = PackSet::shipped().components().to_vec().into_iter().map(|component| {
        GuestComponent::new(component.name(), component.digest(), component.commands().iter().copied(), move || {
            component.wasm()
        })
    });
    let builder = WasmBackend::builder(components);
    let builder = match cache {
        Some(cache) => builder.cache(cache),
        None => builder,
    };
    Ok(Arc::new(builder.build()?))
}
