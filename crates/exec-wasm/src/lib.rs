//! Runs approved commands as WASI components in wasmtime.
//!
//! Every command gets a fresh store, sees the directories of its run read-only at their own paths (or nothing at all), has no
//! network and no inherited streams, and ends at its run's limits. The WASI interfaces a guest may import are implemented
//! here, synchronously and with the run's deadline in every wait, on the bindings of `wasmtime-wasi`; whatever is not
//! implemented here traps. An attempt to change a file refuses the whole run.
//!
//! [`WasmHooks`] loads handlers of hooks, which are components of another world and import nothing at all.
//!
//! Must not: decide over commands (the gate does), follow a path out of a mount, or load compiled code that this crate did not
//! make itself. This is the only crate that knows wasmtime. Start at [`WasmBackend`].
//!
//! ```no_run
//! use skillgate_core::Digest;
//! use skillgate_exec_wasm::{GuestComponent, WasmBackend};
//!
//! let digest: Digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".parse()?;
//! let component = GuestComponent::new("tools", digest, ["mytool"], || std::fs::read("tools.wasm"));
//! let backend = WasmBackend::builder([component]).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod artifact;
#[cfg(feature = "attack-guests")]
pub mod attack;
mod backend;
mod child;
mod compile;
mod component;
mod engine;
mod guest;
mod hook;
mod host;
mod inspect;
mod limiter;
mod nested;

pub use artifact::CompileProgress;
pub use backend::{BackendError, WasmBackend, WasmBackendBuilder};
pub use child::{ChildCompiler, REFUSED_STATUS};
pub use compile::{CompileBudget, CompileFault, CompileRequest, ComponentCompiler, serve_compile_request};
pub use component::{GuestComponent, Origin};
pub use hook::{HOOK_VERSION, WasmHooks};
pub use inspect::{ComponentCaps, ComponentFault, inspect};
