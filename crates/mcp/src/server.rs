//! Skills for clients: the tools `Skill` and `DiscoverSkills`, resources, and prompts.

mod call;
mod conversation;
#[cfg(target_os = "linux")]
mod direct;
mod elicit;
mod fork;
mod handler;
mod http;
mod page;
mod prompt;
mod refused;
mod resource;
mod serve;
mod skill_entry;
mod tool;
mod turns;

pub use http::{BearerToken, HttpOptions, TokenError};
pub use serve::{ServeError, ServeOptions, SkillServer};

#[cfg(test)]
mod tests;
