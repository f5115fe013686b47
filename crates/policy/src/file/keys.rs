//! Every key of a policy file, once: the parser, the schema and the documentation are made from this table.

use super::level::Setter;
use Kind::{
    AbsolutePath, AbsolutePaths, Date, Digest, Name, Number, Path, Patterns, ProjectPaths, PublicKey, SkillNames,
    SkillSets, Switch, Variables, Word, Words,
};
use Setter::{Everybody, Host, Managed};
use Unit::{Bytes, Characters, Count, Milliseconds};
use serde::Serialize;

/// A table of a policy file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub shape: Shape,
    /// What it is about, as a sentence.
    pub about: &'static str,
    /// Its keys in the order of the documentation.
    pub keys: &'static [Key],
}

/// How a [`Section`] is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// `[name]`, once.
    Table,
    /// `[name.NAME]`, once for each NAME.
    Named,
    /// `[[name]]`, any number of times.
    List,
}

/// A key of a [`Section`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What holds without it, as a person is told; empty where it has to be there.
    pub default: &'static str,
    /// The files that may hold it.
    pub setter: Setter,
    /// What it does, as a sentence.
    pub about: &'static str,
}

impl Key {
    /// Whether the key has to be there when its table is.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        self.default.is_empty() && !matches!(self.kind, Kind::Number(_))
    }
}

/// What the value of a [`Key`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list with any of these words.
    Words(&'static [&'static str]),
    /// A list of tool patterns.
    Patterns,
    /// A list of skill names; `*` stands for any characters.
    SkillNames,
    /// Lists of skill names, each under a name.
    SkillSets,
    /// A path that begins with `/` or `~/`.
    Path,
    /// A path that begins with `/`.
    AbsolutePath,
    /// A list of paths that begin with `/`.
    AbsolutePaths,
    /// A list of paths below the project.
    ProjectPaths,
    /// A list of names of environment variables.
    Variables,
    /// A SHA-256 digest, 64 hexadecimal digits.
    Digest,
    /// An Ed25519 public key: 32 bytes as base64 or as hexadecimal digits.
    PublicKey,
    /// A text that is a name: no white space, no control characters.
    Name,
    /// A date such as `2027-12-31`.
    Date,
    /// A whole number from 1 to the built-in one.
    Number(Unit),
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Characters.
    Characters,
    /// Things.
    Count,
}

impl Unit {
    /// The unit's name; empty for a count.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Bytes => "bytes",
            Unit::Characters => "characters",
            Unit::Count => "",
        }
    }
}

/// The built-in bound of one hook, milliseconds.
pub const HOOK_TIMEOUT_MS: u64 = 60_000;
/// The largest number of directories that may lead to a skill.
const SKILL_DEPTH_MAX: u64 = 8;
/// The built-in bound of starting or reaching a server of skills, with its handshake, milliseconds.
pub const MCP_CONNECT_MS: u64 = 5_000;
/// The built-in bound of one request to a server of skills, milliseconds.
pub const MCP_REQUEST_MS: u64 = 30_000;
/// The most address space that a program's own entry can give each of its processes, bytes.
pub const PROGRAM_MEMORY_BYTES: u64 = 64 << 30;

/// The profiles, as they are written in a policy.
pub(super) const PROFILES: [&str; 3] = ["safe", "claude", "strict"];
pub(super) const ON_FAILURE: [&str; 2] = ["abort", "inline"];
pub(super) const POLICY_SKILLS: [&str; 2] = ["optional", "required"];
pub(super) const SOURCES: [&str; 8] = ["managed", "project", "additional", "user", "plugin", "bundled", "pack", "mcp"];

const fn key(name: &'static str, kind: Kind, default: &'static str, setter: Setter, about: &'static str) -> Key {
    Key { name, kind, default, setter, about }
}

const fn limit(name: &'static str, unit: Unit, about: &'static str) -> Key {
    key(name, Kind::Number(unit), "", Setter::Everybody, about)
}

/// Every section of a policy file.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "skills",
        shape: Shape::Table,
        about: "Which skills there are.",
        keys: &[
            key(
                "enabled",
                Switch,
                "true",
                Host,
                "`false`: nothing is listed, found, invoked or served, and every verb says so.",
            ),
            key(
                "disable",
                SkillNames,
                "[]",
                Everybody,
                "Skills that are switched off, by name or as `source:name`; `*` stands for any characters.",
            ),
            key(
                "only",
                SkillNames,
                "[\"*\"]",
                Everybody,
                "The only skills that are not switched off, written as in `disable`; `set:NAME` stands for those of a set. Where several files say so, a skill has to be among those of each.",
            ),
            key("pin", SkillNames, "[]", Host, "Skills that a listing never cuts."),
            key(
                "sets",
                SkillSets,
                "{}",
                Host,
                "Names for several skills: a listing can be asked for one set, and `only` and `--only-skill` make one the only one.",
            ),
            key(
                "policy_skills",
                Word(&POLICY_SKILLS),
                "\"optional\"",
                Managed,
                "`required`: the environment switch that turns managed skills off is ignored.",
            ),
            key(
                "depth",
                Number(Count),
                "1",
                Host,
                "How many directories lead to a skill: 1 for `NAME/SKILL.md` alone, 2 for `GROUP/NAME/SKILL.md` as well; at most 8.",
            ),
            key("store", Path, "\"$XDG_DATA_HOME/skillgate\"", Host, "Where Skillgate keeps its own files."),
        ],
    },
    Section {
        name: "permissions",
        shape: Shape::Table,
        about: "What may run: tool patterns and `Skill(…)` rules. The strictest that matches decides: deny, then ask, then allow.",
        keys: &[
            key(
                "allow",
                Patterns,
                "[]",
                Host,
                "What is granted. In the managed file: the most that anything below it can grant.",
            ),
            key("ask", Patterns, "[]", Everybody, "What somebody has to agree to first."),
            key(
                "deny",
                Patterns,
                "[]",
                Everybody,
                "What is refused, whatever else allows it. `Read(…)`: the file is not there for any command.",
            ),
        ],
    },
    Section {
        name: "profile",
        shape: Shape::Table,
        about: "How skills are read and expanded.",
        keys: &[
            key(
                "name",
                Word(&PROFILES),
                "\"safe\"",
                Host,
                "The description of the format that is followed; `--profile` goes before it.",
            ),
            key(
                "shell",
                Switch,
                "true",
                Host,
                "`false`: each injection is replaced by a mark that says so; those of managed and bundled skills only when the managed file says it.",
            ),
            key(
                "on_failure",
                Word(&ON_FAILURE),
                "\"abort\"",
                Host,
                "What a failed injection does: `abort` refuses the invocation, `inline` puts a visible mark into the prompt.",
            ),
        ],
    },
    Section {
        name: "pre_approve",
        shape: Shape::Table,
        about: "Makes ask to allow for what a skill's own `allowed-tools` lists. Off unless it is here; never over a deny or a managed ask.",
        keys: &[
            key("sources", Words(&SOURCES), "", Host, "The sources whose skills it is for."),
            key("tools", Patterns, "", Host, "The most that it allows."),
        ],
    },
    Section {
        name: "programs",
        shape: Shape::Named,
        about: "Programs of this machine that the host sandbox may start.",
        keys: &[
            key("path", AbsolutePath, "", Host, "The program; its identity is checked when it is started."),
            key("env", Variables, "[]", Host, "Names of the environment variables that are passed; nothing else is."),
            key("write", ProjectPaths, "[]", Host, "Where below the project it may write."),
            key(
                "run_project_files",
                Switch,
                "false",
                Host,
                "`true`: it, and what it starts, may execute files of the project.",
            ),
            key(
                "network",
                Switch,
                "false",
                Host,
                "`true`: it is of no use without a network. There is none in the host sandbox yet, so it is refused with that reason.",
            ),
            key(
                "memory_bytes",
                Number(Bytes),
                "limits.memory_bytes",
                Host,
                "Address space of each of its processes. It may be above the built-in number of the limit, because many programs reserve what they never use, but not above a lower one that a policy sets there.",
            ),
            key(
                "native_processes",
                Number(Count),
                "limits.native_processes",
                Host,
                "Its processes and threads together; never more than `limits.native_processes`.",
            ),
            key(
                "native_file_bytes",
                Number(Bytes),
                "limits.native_file_bytes",
                Host,
                "What it may write; never more than `limits.native_file_bytes`.",
            ),
            key(
                "wall_ms",
                Number(Milliseconds),
                "limits.wall_ms_injection",
                Host,
                "Time of each of its runs; never more than `limits.wall_ms_injection`.",
            ),
        ],
    },
    Section {
        name: "components",
        shape: Shape::Named,
        about: "Commands that third parties made as WebAssembly components.",
        keys: &[
            key("path", AbsolutePath, "", Host, "The component's file."),
            key("sha256", Digest, "", Host, "The digest of the file; with another one it is not loaded."),
            key(
                "replace",
                Switch,
                "false",
                Host,
                "`true`: it takes the place of a command of the same name that Skillgate ships; without it, that is a mistake.",
            ),
        ],
    },
    Section {
        name: "keys",
        shape: Shape::List,
        about: "Who signs packs.",
        keys: &[
            key("id", Name, "", Host, "The key's name in messages."),
            key("public", PublicKey, "", Host, "The public key."),
            key(
                "allow",
                Patterns,
                "[]",
                Host,
                "What packs that it signed are granted, inside what everything else grants.",
            ),
            key(
                "hooks",
                Switch,
                "false",
                Host,
                "`true`: the hooks of packs that it signed run, and what they run is bounded by `allow` too.",
            ),
            key("expires", Date, "never", Host, "The last day on which its signatures count."),
            key(
                "revoked",
                Switch,
                "false",
                Host,
                "`true`: its signatures count no more, whatever another file says of the key.",
            ),
        ],
    },
    Section {
        name: "limits",
        shape: Shape::Table,
        about: "Bounds of every run. A file can only lower the built-in number; the lowest of all files holds.",
        keys: &[
            limit("wall_ms_injection", Milliseconds, "Wall time of one injection."),
            limit("wall_ms_invocation", Milliseconds, "Wall time of one invocation with all its injections."),
            limit("memory_bytes", Bytes, "Memory of all guests of a run together."),
            limit("fuel", Count, "WebAssembly instructions of all guests of a run together, about."),
            limit("output_bytes", Bytes, "Output kept of each stream."),
            limit("prompt_chars", Characters, "Output of one injection that enters a prompt."),
            limit("commands", Count, "Commands one run may start."),
            limit("loop_turns", Count, "Turns of all loops of a run together."),
            limit("depth", Count, "Nesting of substitutions, functions and groups."),
            limit("pipeline_stages", Count, "Stages of one pipeline."),
            limit("open_files", Count, "Files open at once in one command."),
            limit("glob_results", Count, "Names one pathname expansion may give."),
            limit("source_bytes", Bytes, "Size of a shell program."),
            limit("skill_file_bytes", Bytes, "Size of a skill's file."),
            limit("header_bytes", Bytes, "Size of a skill's header."),
            limit("native_processes", Count, "Processes of one native program."),
            limit("native_file_bytes", Bytes, "Size of a file that a native program writes."),
        ],
    },
    Section {
        name: "hooks",
        shape: Shape::Table,
        about: "Bounds of hooks.",
        keys: &[key("timeout_ms", Number(Milliseconds), "60000", Host, "Wall time of one hook.")],
    },
    Section {
        name: "mcp",
        shape: Shape::Table,
        about: "Servers of skills (`--mcp-config`, `skillgate mcp list`). A file can only lower the two times; the lowest of all files holds.",
        keys: &[
            key(
                "connect_ms",
                Number(Milliseconds),
                "5000",
                Everybody,
                "Time for starting or reaching a server, and again for its handshake.",
            ),
            key("request_ms", Number(Milliseconds), "30000", Everybody, "Time for each request to a server."),
            key(
                "sandbox",
                Switch,
                "false",
                Host,
                "`true`: a server that is started runs in the host sandbox, without a network; where that is not available it is not started. `false` in another file does not undo the managed file's `true`.",
            ),
            key(
                "show",
                AbsolutePaths,
                "[]",
                Host,
                "Directories, besides the system's, that servers in the sandbox are shown, read-only.",
            ),
            key(
                "memory_bytes",
                Number(Bytes),
                "limits.memory_bytes",
                Host,
                "Address space of each process of a server in the sandbox; as `memory_bytes` of a program.",
            ),
        ],
    },
    Section {
        name: "audit",
        shape: Shape::Table,
        about: "The record of what was decided and what ran.",
        keys: &[
            key("log", Path, "none", Host, "The file that gets one JSON object a line."),
            key("required", Switch, "false", Host, "`true`: a run whose record cannot be written is refused."),
        ],
    },
];

/// The greatest number that a key may hold, which is the built-in one; `None` for a key that is no number.
#[must_use]
pub fn greatest(section: &str, key: &str) -> Option<u64> {
    match section {
        "limits" => {
            let entries = crate::builtin_limits().entries();
            entries.into_iter().find(|(name, _)| *name == key).map(|(_, number)| number)
        }
        "programs" => match key {
            "memory_bytes" => Some(PROGRAM_MEMORY_BYTES),
            "wall_ms" => greatest("limits", "wall_ms_injection"),
            key => greatest("limits", key),
        },
        "hooks" if key == "timeout_ms" => Some(HOOK_TIMEOUT_MS),
        "skills" if key == "depth" => Some(SKILL_DEPTH_MAX),
        "mcp" => match key {
            "connect_ms" => Some(MCP_CONNECT_MS),
            "request_ms" => Some(MCP_REQUEST_MS),
            "memory_bytes" => Some(PROGRAM_MEMORY_BYTES),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_a_key_and_every_number_has_a_bound() {
        let limits = SECTIONS.iter().find(|section| section.name == "limits").expect("limits");
        let keys: Vec<_> = limits.keys.iter().map(|key| key.name).collect();
        let known: Vec<_> = crate::builtin_limits().entries().into_iter().map(|(name, _)| name).collect();
        assert_eq!(keys, known);
        for section in SECTIONS {
            for key in section.keys {
                let is_number = matches!(key.kind, Kind::Number(_));
                assert_eq!(greatest(section.name, key.name).is_some(), is_number, "{}.{}", section.name, key.name);
            }
        }
    }

    #[test]
    fn the_words_are_those_of_the_types() {
        let sources: Vec<_> = skillgate_core::Source::ALL.iter().map(|source| source.as_str()).collect();
        assert_eq!(SOURCES.as_slice(), sources);
        use skillgate_core::Profile::{Claude, Safe, Strict};
        assert_eq!([Safe, Claude, Strict].map(|profile| profile.to_string()), PROFILES);
    }
}
