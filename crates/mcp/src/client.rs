//! Skills from servers.

mod call;
mod connection;
mod fetch;
mod http;
mod index;
mod launch;
mod process;
mod prompt;
mod read;
mod servers;
mod skill;
mod text_only;
mod uri;

pub use launch::{LaunchError, LaunchedProcess, LaunchedServer, ServerLauncher, ServerProgram};
pub use servers::{ClientOptions, McpServers, McpSkills, ServerReport, ServerState, ServersEnd};
pub use skill::{RemoteArgument, RemoteKind, RemoteSkill};

#[cfg(test)]
mod tests;
