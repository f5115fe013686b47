//! The world `skillgate:hook` for handlers in Rust: [`Verdict`], [`Handler`] and [`handler!`].
//!
//! ```
//! use hook_guest::{Handler, Verdict};
//!
//! struct Quiet;
//!
//! impl Handler for Quiet {
//!     fn handle(event: String, _input: Vec<u8>) -> Verdict {
//!         if event == "PreToolUse" { Verdict::Context("Take care.".into()) } else { Verdict::Pass }
//!     }
//! }
//!
//! hook_guest::handler!(Quiet);
//! # fn main() {}
//! ```

#[doc(hidden)]
#[allow(missing_debug_implementations, unreachable_pub, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/hook/0.1",
        world: "hook",
        pub_export_macro: true,
        export_macro_name: "handler_of",
        default_bindings_module: "hook_guest::bindings",
    });
}

pub use bindings::exports::skillgate::hook::handler::{Guest as Handler, Verdict};

/// Makes a type that is a [`Handler`] the one that the component exports.
#[macro_export]
macro_rules! handler {
    ($handler:ident) => {
        $crate::bindings::handler_of!($handler with_types_in $crate::bindings);
    };
}

/// Says which track of the world the component was made for, so that a host can tell before it compiles anything.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "a section of its own holds nothing but these bytes")]
#[unsafe(link_section = "skillgate:hook")]
#[used]
pub static HOOK_VERSION: [u8; 3] = *b"0.1";
