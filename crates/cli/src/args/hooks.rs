use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum HooksVerb {
    /// List the hooks of the skills: what each waits for, what it runs, and whether it can run
    List(HooksListVerb),
    /// Raise an event as if the skills with hooks had been invoked, and say which hooks match and what they answer
    Test(HooksTestVerb),
}

#[derive(Debug, Args)]
pub(crate) struct HooksListVerb {
    /// Only the hooks of this skill; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HooksTestVerb {
    /// The event, such as `PreToolUse`
    pub(crate) event: String,
    /// The event's data: a JSON object in this file, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Only the hooks of this skill; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Vec<String>,
}
