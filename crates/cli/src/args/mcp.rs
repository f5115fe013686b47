use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Serve the skills to an agent: the tools Skill and DiscoverSkills, resources, and prompts
    Serve(McpServeVerb),
    /// List the servers of a configuration, what each offers as skills, and what was found
    List,
    /// Show one server's skills with their texts, and what of them has no effect here
    Inspect(McpInspectVerb),
}

#[derive(Debug, Args)]
pub(crate) struct McpServeVerb {
    /// Serve over HTTP on this address of this machine, such as 127.0.0.1:8931, instead of over standard streams
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// The file with the token that each request has to carry, owner-only [default: SKILLGATE_MCP_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// The most conversations at once
    #[arg(long, value_name = "N", requires = "http", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) sessions: u16,
}

#[derive(Debug, Args)]
pub(crate) struct McpInspectVerb {
    /// The server's name in the configuration
    pub(crate) server: String,
}
