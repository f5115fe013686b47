//! Skills across the Model Context Protocol, in both directions.

#![forbid(unsafe_code)]

mod client;
mod config;
mod finding;
mod limits;
mod name;
mod server;
mod stream;

pub use client::{McpServers, McpSkills, RemoteKind, RemoteSkill, ServerReport, ServerState};
pub use config::{ConfigError, ConfigProblem, Lookups, McpConfig, ServerEntry, ServerTransport};
pub use finding::{Finding, FindingCode};
pub use limits::McpLimits;
pub use name::normalised;
pub use server::{BearerToken, HttpOptions, ServeError, ServeOptions, SkillServer, TokenError};
