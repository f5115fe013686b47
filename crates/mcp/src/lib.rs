//! Skills across the Model Context Protocol, in both directions: [`McpServers`] holds the connections to a host's servers, whose
//! skills are a source for a catalogue ([`McpSkills`]), and [`SkillServer`] serves a runtime's skills to clients.
//!
//! The only crate that knows the protocol. Everything asynchronous is inside: what is called from outside blocks. Must not: let a
//! remote text have any effect but being text, let one server cost more than its own skills, start a program or reach an address
//! that no [`ServerEntry`] names, give a child process more than the environment of its entry, or decide what may run, which is
//! the runtime's. Start at [`McpConfig`], which reads the file that hosts keep, or at [`SkillServer`].
//!
//! ```
//! use skillgate_mcp::{Lookups, McpConfig};
//!
//! let text = r#"{ "mcpServers": { "files": { "command": "/opt/mcp-files", "env": { "ROOT": "${HOME}" } }, "odd": {} } }"#;
//! let variable = |name: &str| (name == "HOME").then(|| "/home/ada".to_owned());
//! let config = McpConfig::parse(text, Lookups { variable: &variable, program: &|_| None })?;
//! assert_eq!(config.servers[0].key, "files");
//! assert_eq!(config.problems[0].to_string(), "line 1, column 91: server `odd`: it has neither `command` nor `url`");
//! # Ok::<(), skillgate_mcp::ConfigError>(())
//! ```

#![forbid(unsafe_code)]

mod client;
mod config;
mod finding;
mod limits;
mod name;
mod server;
mod stream;

pub use client::{
    ClientOptions, LaunchError, LaunchedProcess, LaunchedServer, McpServers, McpSkills, RemoteArgument, RemoteKind,
    RemoteSkill, ServerLauncher, ServerProgram, ServerReport, ServerState, ServersEnd,
};
pub use config::{ConfigError, ConfigProblem, Lookups, McpConfig, ServerEntry, ServerTransport};
pub use finding::{Finding, FindingCode};
pub use limits::McpLimits;
pub use name::normalised;
pub use server::{BearerToken, HttpOptions, ServeError, ServeOptions, SkillServer, TokenError};
