//! Tools: the ones that this runtime offers a model, and what is decided on the host's own.

mod decide;
mod definition;
mod fork;
mod host_command;
mod paths;
mod ruling;
mod search;
mod skill;
mod typed;

pub use decide::{ToolAfter, ToolCall, ToolDecision};
pub use definition::ToolDefinition;
pub use fork::ForkEnd;
pub use host_command::{HostCommand, HostCommandKind};
pub use search::{FoundTool, FoundTools};
pub use skill::{
    CommandPermissions, MAX_ARGUMENT_CHARS, MAX_PROMPT_CHARS, SkillCall, SkillResult, SkillStatus, TypedResult,
};
