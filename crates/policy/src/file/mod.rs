//! Policy files: text to typed settings with the place of each, and the policy that several of them make together.
//!
//! [`PolicyFile::parse`] reads one file at one [`Level`] and reports every mistake with its place; a file with a mistake gives
//! no settings at all. [`Policy::of`] puts files and options together: each setting keeps where it comes from.
//!
//! Nothing here reads a file or looks at the machine.

mod edit;
mod effective;
mod error;
mod keys;
mod level;
mod reader;
mod sections;
mod settings;
mod values;

pub use edit::{AddRulesError, quoted, with_rules};
pub use effective::{Layers, Options, Policy, RuleLevel};
pub use error::{Excerpt, PolicyError};
pub use keys::{
    HOOK_TIMEOUT_MS, Key, Kind, MCP_CONNECT_MS, MCP_REQUEST_MS, PROGRAM_MEMORY_BYTES, SECTIONS, Section, Shape, Unit,
    greatest,
};
pub use level::{Level, Setter};
pub use sections::{MAX_POLICY_BYTES, PolicyFile};
pub use settings::{
    AuditSettings, ComponentSettings, Day, KeyStanding, McpPolicy, McpSettings, OnFailure, Permissions, PolicySkills,
    PreApproveSettings, ProfileSettings, ProgramLimits, ProgramSettings, PublicKey, Setting, SignerSettings,
    SkillSettings,
};
