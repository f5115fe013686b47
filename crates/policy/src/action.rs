use crate::command::Match;
use crate::paths::{PathBase, PathSet, READS, WRITES};
use crate::pattern::{ToolPattern, ToolSpec};
use crate::request::{Known, Provider};
use crate::ruling::show;
use skillgate_core::Source;
use std::fmt;

/// Something that is to be decided: what a tool is asked to do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Action {
    /// A command with its whole vector. Only [`Gate`](crate::Gate) makes one that may run.
    Command {
        /// The vector, the command's name first.
        words: Vec<String>,
        /// Who would run it.
        provider: Provider,
        /// Where it would run. Rules are about vectors and paths; the directory is for the reader.
        directory: Option<String>,
    },
    /// Reading a file with a tool. What a command opens is decided by [`PathRules`](crate::PathRules).
    Read {
        /// The path, relative to the project or absolute.
        path: String,
    },
    /// Writing a file.
    Write {
        /// The path, relative to the project or absolute.
        path: String,
    },
    /// Changing a file.
    Edit {
        /// The path, relative to the project or absolute.
        path: String,
    },
    /// Reaching a host of the network. Rules about `WebFetch` are about it: all of it, `domain:HOST`, or one address.
    Network {
        /// The host's name.
        host: String,
        /// The whole address, when it is known.
        url: Option<String>,
    },
    /// Any other tool.
    Tool {
        /// The tool's name, such as `mcp__server__tool`.
        name: String,
        /// The part of its input that patterns are about.
        input: Option<String>,
    },
    /// Invoking a skill by name; [`decide_skill`](crate::decide_skill) also looks at what it is made of.
    Skill {
        /// Where it comes from.
        source: Source,
        /// Its command's name.
        name: String,
    },
}

impl Action {
    /// A command in full.
    #[must_use]
    pub fn command<T: Into<String>>(words: impl IntoIterator<Item = T>, provider: Provider) -> Self {
        Action::Command { words: words.into_iter().map(Into::into).collect(), provider, directory: None }
    }

    /// The use of a tool by its name: tools about paths become actions about paths.
    ///
    /// A use of `Bash` has to be taken apart into its commands first; as it is, no rule about commands can be compared with it,
    /// and it is denied.
    #[must_use]
    pub fn of_tool(name: &str, input: Option<&str>) -> Self {
        match (name, input) {
            ("Write", Some(path)) => Action::Write { path: path.to_owned() },
            (name, Some(path)) if READS.contains(&name) => Action::Read { path: path.to_owned() },
            (name, Some(path)) if WRITES.contains(&name) => Action::Edit { path: path.to_owned() },
            _ => Action::Tool { name: name.to_owned(), input: input.map(str::to_owned) },
        }
    }

    /// Whether a pattern is about the action, as a denying rule of this pattern would be.
    #[must_use]
    pub fn is_about(&self, pattern: &ToolPattern, base: &PathBase) -> bool {
        self.is_named_by(pattern, base, true)
    }

    /// Whether a pattern is about the action: when it `takes` away by what it names, else by what it permits.
    pub(crate) fn is_named_by(&self, pattern: &ToolPattern, base: &PathBase, takes: bool) -> bool {
        match self {
            Action::Command { words, .. } => {
                let vector: Vec<Known<'_>> = words.iter().map(|word| Known::Text(word)).collect();
                let named = |it: &crate::CommandPattern| if takes { it.matches(&vector) } else { it.permits(&vector) };
                pattern.command().map(named) == Some(Match::Yes)
            }
            Action::Read { path } => names_path(pattern, READS, path, base, takes),
            Action::Write { path } | Action::Edit { path } => {
                names_path(pattern, WRITES, path, base, takes)
                    // What cannot be read is not changed either.
                    || (takes && names_path(pattern, READS, path, base, takes))
            }
            Action::Network { host, url } => {
                let host = format!("domain:{}", host.trim_end_matches('.').to_ascii_lowercase());
                let same = |wanted: &str| wanted.to_ascii_lowercase() == host || url.as_deref() == Some(wanted);
                pattern.tool() == "WebFetch"
                    && match pattern.spec() {
                        ToolSpec::Any => true,
                        ToolSpec::Exact(wanted) => same(wanted),
                        _ => false,
                    }
            }
            Action::Tool { name, input } => pattern.matches_tool(name, input.as_deref()),
            Action::Skill { source, name } => match pattern.spec() {
                ToolSpec::Skill(skill) => skill.matches(source.as_str(), name),
                _ => false,
            },
        }
    }

    /// The action's path below the project: `None` for other actions, an error for a path that leads out of it.
    pub(crate) fn path_below(&self, base: &PathBase) -> Option<Result<String, String>> {
        match self {
            Action::Read { path } | Action::Write { path } | Action::Edit { path } => {
                Some(base.below(path).ok_or_else(|| path.clone()))
            }
            _ => None,
        }
    }

    /// Whether a pattern is about the same kind of thing, so that a reader may have expected it to match.
    pub(crate) fn is_near(&self, pattern: &ToolPattern) -> bool {
        match self {
            Action::Command { words, .. } => {
                let name = pattern.command().and_then(crate::CommandPattern::name);
                name.is_some_and(|name| words.first().is_some_and(|word| base_name(word) == base_name(name)))
            }
            Action::Read { .. } => READS.contains(&pattern.tool()),
            Action::Write { .. } | Action::Edit { .. } => WRITES.contains(&pattern.tool()),
            Action::Network { .. } => pattern.tool() == "WebFetch",
            Action::Tool { name, .. } => {
                let server = |tool: &str| tool.rsplit_once("__").map(|(server, _)| server.to_owned());
                pattern.tool().eq_ignore_ascii_case(name)
                    || (name.starts_with("mcp__") && server(pattern.tool()) == server(name))
            }
            Action::Skill { .. } => matches!(pattern.spec(), ToolSpec::Skill(_)),
        }
    }
}

fn base_name(command: &str) -> &str {
    command.rsplit('/').next().unwrap_or(command)
}

fn names_path(pattern: &ToolPattern, tools: &[&str], path: &str, base: &PathBase, takes: bool) -> bool {
    let Some(path) = base.below(path) else { return false };
    if !tools.contains(&pattern.tool()) {
        return false;
    }
    match pattern.spec() {
        ToolSpec::Any => true,
        ToolSpec::Path(text) => PathSet::of(std::slice::from_ref(text), base, takes).matches(&path, false),
        _ => false,
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Command { words, directory, .. } => {
                f.write_str(&show(words))?;
                directory.iter().try_for_each(|directory| write!(f, " (in {directory})"))
            }
            Action::Read { path } => write!(f, "Read({path})"),
            Action::Write { path } => write!(f, "Write({path})"),
            Action::Edit { path } => write!(f, "Edit({path})"),
            Action::Network { host, url } => write!(f, "WebFetch({})", url.as_deref().unwrap_or(host)),
            Action::Tool { name, input: None } => f.write_str(name),
            Action::Tool { name, input: Some(input) } => write!(f, "{name}({input})"),
            Action::Skill { source, name } => write!(f, "Skill({source}:{name})"),
        }
    }
}
