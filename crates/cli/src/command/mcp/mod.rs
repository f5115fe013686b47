//! `skillgate mcp`

mod list;
mod serve;

use crate::args::{Global, McpVerb};
use crate::exit::{Failure, Status};

pub(crate) fn run(global: &Global, verb: &McpVerb) -> Result<Status, Failure> {
    match verb {
        McpVerb::Serve(verb) => serve::run(global, verb),
        McpVerb::List => list::list(global),
        McpVerb::Inspect(verb) => list::inspect(global, verb),
    }
}
