use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a skill comes from; decides over its trust ceiling and precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Installed by the administrator of the machine.
    Managed,
    /// In the project's own tree.
    Project,
    /// In a directory the host names for this run.
    Additional,
    /// In the user's home.
    User,
    /// Brought by a plugin.
    Plugin,
    /// Registered by the program itself.
    Bundled,
    /// From an installed pack.
    Pack,
    /// From an MCP server.
    Mcp,
}

impl Source {
    /// Every source, by precedence of the profile `safe`, the strongest first.
    pub const ALL: [Source; 8] = [
        Source::Managed,
        Source::Project,
        Source::Additional,
        Source::User,
        Source::Plugin,
        Source::Bundled,
        Source::Pack,
        Source::Mcp,
    ];

    /// The source's name as it is written in policies and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Managed => "managed",
            Source::Project => "project",
            Source::Additional => "additional",
            Source::User => "user",
            Source::Plugin => "plugin",
            Source::Bundled => "bundled",
            Source::Pack => "pack",
            Source::Mcp => "mcp",
        }
    }

    /// Who is affected by a skill of this source.
    #[must_use]
    pub const fn scope(self) -> Scope {
        match self {
            Source::Managed => Scope::Managed,
            Source::Project | Source::Additional => Scope::Local,
            Source::User | Source::Plugin | Source::Bundled | Source::Pack | Source::Mcp => Scope::Global,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far a source reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Set by the administrator for everybody on the machine.
    Managed,
    /// The user's, in every project.
    Global,
    /// This project alone.
    Local,
}

/// In what kind of file a skill was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadedFrom {
    /// A directory with a `SKILL.md`.
    Skills,
    /// A legacy command file, `commands/NAME.md`.
    Commands,
}

impl LoadedFrom {
    /// The word for a skill of this kind and source in output.
    #[must_use]
    pub const fn of_source(self, source: Source) -> &'static str {
        match (source, self) {
            (Source::Plugin, _) => "plugin",
            (Source::Bundled | Source::Pack, _) => "bundled",
            (Source::Mcp, _) => "mcp",
            (_, LoadedFrom::Commands) => "commands_DEPRECATED",
            (Source::Managed, LoadedFrom::Skills) => "managed",
            (Source::Project | Source::Additional | Source::User, LoadedFrom::Skills) => "skills",
        }
    }
}

/// Which description of the format is followed. A profile changes reading and expansion; it never widens authority.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Tool lists narrow, positions count as the author counts, code is inert.
    #[default]
    Safe,
    /// The documented behaviour of the format's first implementation.
    Claude,
    /// The open standard, for validation and export.
    Strict,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Safe => "safe",
            Profile::Claude => "claude",
            Profile::Strict => "strict",
        })
    }
}
