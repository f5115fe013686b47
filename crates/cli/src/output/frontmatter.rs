//! The header of a `SKILL.md`, for editors: what is accepted, and what each key does. Nothing is read through these types; the
//! reader is `skillgate-format`.
#![expect(dead_code, reason = "the types are read as a schema only")]

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// The header of a SKILL.md or of a command file. Other keys are kept and reported.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", title = "SKILL.md frontmatter")]
pub(crate) struct FrontmatterInput {
    /// The label that is shown. The skill is invoked by its directory's name; the open standard wants them equal, with 1 to 64
    /// of the characters a-z, 0-9 and hyphen.
    name: Option<Text>,
    /// What the skill does and when to use it, in at most 1024 characters. A model chooses by this text.
    description: Option<String>,
    /// When to use the skill; appended to the description in the listing.
    #[schemars(rename = "when_to_use")]
    when_to_use: Option<String>,
    /// Text that is shown while arguments are typed, for example `[file] [line]`.
    argument_hint: Option<OneOrMany>,
    /// Names of the arguments by position; the text then uses them as `$name`.
    arguments: Option<OneOrMany>,
    /// The author's version, kept as written.
    version: Option<Text>,
    /// The model the skill asks for; `inherit` is no wish.
    model: Option<String>,
    /// Whether only a user may invoke the skill, and no model.
    disable_model_invocation: Option<Flag>,
    /// Whether a user may invoke the skill.
    user_invocable: Option<Flag>,
    /// The tools the skill is content with: it narrows what the host grants and never adds to it. A list, or one text with
    /// blanks or commas between the patterns.
    allowed_tools: Option<OneOrMany>,
    /// The tools the skill gives up, written as in `allowed-tools`.
    disallowed_tools: Option<OneOrMany>,
    /// Hooks, by the name of their event.
    hooks: Option<Map<String, Value>>,
    /// Where the skill runs: in the conversation that invoked it, or in an agent of its own.
    context: Option<ContextWord>,
    /// The kind of agent that a fork runs in.
    agent: Option<String>,
    /// Whether a fork runs in the background.
    background: Option<Flag>,
    /// Whether a listing has only the name; `DiscoverSkills` finds the skill by its description.
    deferred: Option<Flag>,
    /// How much thinking the skill asks for.
    effort: Option<EffortInput>,
    /// The shell the author expects.
    shell: Option<ShellInput>,
    /// Patterns of the paths that make the skill active, as in a gitignore file.
    paths: Option<OneOrMany>,
    /// What has to be there: other skills, tools, programs and a version of Skillgate. A list names skills.
    requires: Option<RequiresInput>,
    /// The licence.
    license: Option<Text>,
    /// What the skill needs to work, in at most 500 characters.
    compatibility: Option<Text>,
    /// Free data of the author; the open standard wants texts.
    metadata: Option<Map<String, Value>>,
}

/// What has to be there for the skill to be used.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum RequiresInput {
    Skills(OneOrMany),
    Each {
        /// Other skills, by name.
        skills: Option<OneOrMany>,
        /// Tools of the host.
        tools: Option<OneOrMany>,
        /// Commands that its injections and scripts run.
        programs: Option<OneOrMany>,
        /// The least version of Skillgate, for example `0.2`.
        version: Option<Text>,
    },
}

/// A text. What YAML takes for a number or a truth value is kept as it is written.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Text {
    Written(String),
    Number(f64),
    Bool(bool),
}

/// Several texts, as a list or in one text.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

const FLAG_WORDS: &str = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff]|[01])$";

/// True or false; yes, no, on, off, 1 and 0 are read as well.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Flag {
    Bool(bool),
    Word(#[schemars(regex(pattern = FLAG_WORDS))] String),
    Number(#[schemars(range(min = 0, max = 1))] u8),
}

/// Where a skill runs.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum ContextWord {
    Inline,
    Fork,
}

/// A word; numbers are read, and reported.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum EffortInput {
    Word(EffortWord),
    Number(u64),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum EffortWord {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// A shell's name, or a mapping with its `command`.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum ShellInput {
    Name(String),
    Command {
        /// The shell's command.
        command: String,
    },
}
