//! The hooks of skills: what their authors wrote, which of them wait for an event, and what they say.
//!
//! A hook can take away and add, and never permit: [`HookVerdict`] has no *allow*. The parts do not know the session:
//!
//! 1. [`Activation`] looks at every handler when a skill is invoked. One that can block and cannot run keeps the skill from being
//!    activated.
//! 2. [`HookSet`] remembers what is registered, by agent, skill, event and handler.
//! 3. [`HookRunner`] runs those that match, each under what its skill may do at that moment, without holding the set.

mod activate;
mod answer;
mod command;
mod condition;
mod environment;
mod event;
mod input;
mod matcher;
mod parse;
mod run;
mod set;
mod spec;
#[cfg(test)]
mod tests;
mod verdict;

pub use activate::{Activation, CannotRun, HookRefusal, HookSurvey, PreparedHooks};
pub use answer::{CommandEnd, HookAnswer, MAX_TEXT_CHARS};
pub use condition::Condition;
pub use environment::with_hook_environment;
pub use event::{HookEvent, Power, UnknownEvent};
pub use input::HookInput;
pub use matcher::Matcher;
pub use parse::ParsedHooks;
pub use run::{GrantFn, HookGrant, HookRunner, StartedFn};
pub use set::{AgentScope, HookKey, HookSet, RegisteredHook};
pub use spec::{Handler, HandlerId, HookFault, HookSpec};
pub use verdict::{HandlerOutcome, HookOutcome, HookReport, HookText, HookVerdict};
