//! Handlers of hooks that are wasm components of the world `skillgate:hook` (`wit/hook`), as the runtime sees them. What loads
//! and runs them is a backend's business.

use crate::backend::RunError;
use crate::run::Run;
use std::fmt;
use std::sync::Arc;

/// What a handler answers. There is no *allow*: a hook can take away and add, and never permit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookReply {
    /// It has no opinion.
    Pass,
    /// What the event is about must not happen; why.
    Deny(String),
    /// Somebody has to be asked; why.
    Ask(String),
    /// No opinion, and a text for the model.
    Context(String),
    /// No opinion on another input, which is decided anew: JSON.
    Rewrite(Vec<u8>),
}

/// One call of a handler.
#[derive(Clone, Copy, Debug)]
pub struct HookCall<'a> {
    /// The event's name.
    pub event: &'a str,
    /// The event's data: JSON.
    pub input: &'a [u8],
    /// The run that the call belongs to: its limits, its deadline and what it has used.
    pub run: &'a Arc<Run>,
}

/// A handler that is ready to be called. Nothing of one call is left for the next.
pub trait HookHandler: Send + Sync + fmt::Debug {
    /// Calls it.
    ///
    /// # Errors
    /// [`RunError`]: a limit that was reached, or a fault of the handler.
    fn call(&self, call: HookCall<'_>) -> Result<HookReply, RunError>;
}

/// Makes handlers of components. It reads no file: the bytes are those that were decided on.
pub trait HookLoader: Send + Sync + fmt::Debug {
    /// Checks a component, compiles it within bounds, and checks its type. `name` is what messages call it.
    ///
    /// # Errors
    /// [`HookLoadError`]; nothing of the component ran.
    fn load(&self, name: &str, wasm: &[u8]) -> Result<Arc<dyn HookHandler>, HookLoadError>;
}

/// Why a component is no handler.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookLoadError {
    /// It was made for another version of the world, or does not say for which.
    #[error("{}; here is version {here}", match found {
        Some(found) => format!("it was made for version {found} of skillgate:hook"),
        None => "it does not say for which version of skillgate:hook it was made".to_owned(),
    })]
    Version {
        /// What it says.
        found: Option<String>,
        /// What there is here.
        here: &'static str,
    },
    /// What it imports or exports is not what the world says.
    #[error(
        "it says version {found} of skillgate:hook and is not of that world, which is version {here} here: {reason}"
    )]
    World {
        /// The version that it says.
        found: String,
        /// What there is here.
        here: &'static str,
        /// What differs.
        reason: String,
    },
    /// It is larger or more intricate than a component may be, is damaged, or does not compile within bounds.
    #[error("{reason}")]
    Unusable {
        /// Why.
        reason: String,
    },
}
