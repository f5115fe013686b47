//! Skills from servers.

mod connection;
mod fetch;
mod http;
mod index;
mod process;
mod prompt;
mod read;
mod servers;
mod skill;
mod text_only;
mod uri;

pub use servers::{McpServers, McpSkills, ServerReport, ServerState};
pub use skill::{RemoteKind, RemoteSkill};

#[cfg(test)]
mod tests;
