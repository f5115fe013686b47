//! The command line as types.

mod hooks;
mod mcp;
mod pack;

pub(crate) use hooks::{HooksListVerb, HooksTestVerb, HooksVerb};
pub(crate) use mcp::{McpInspectVerb, McpServeVerb, McpVerb};
pub(crate) use pack::{
    PackBuildVerb, PackDiffVerb, PackInspectVerb, PackInstallVerb, PackKeygenVerb, PackNaming, PackPushVerb,
    PackSignVerb, PackTestVerb, PackUpdateVerb, PackVerb, PackVerifyVerb,
};

use crate::trust::shell_word;
use clap::builder::ArgPredicate;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use skillgate_audit::Group;
use skillgate_core::{Profile, Right};
use skillgate_state::Expectation;
use std::path::PathBuf;

const EXIT_STATUSES: &str = "\
Exit status:
  0   done
  1   findings, or the command that ran failed
  2   wrong usage
  3   no such skill or file
  4   denied by policy
  5   limit exceeded or guest fault
  6   sandbox unavailable
  70  a bug in Skillgate
`sandbox run` passes the program's own status through; a refusal is still 4.";

/// A capability-secure runtime for Agent Skills: what a skill may run, the host decides.
#[derive(Debug, Parser)]
#[command(name = "skillgate", version, about, after_help = EXIT_STATUSES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// Reads the process's command line, with the rules between options of different places.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let cli = Self::try_parse()?;
        if let Verb::Sandbox { verb: SandboxVerb::Run(run) } = &cli.verb
            && run.backend == Some(BackendArg::Wasm)
            && !run.native.is_empty()
        {
            let fault = "`--program` names programs for the host sandbox: leave out `--backend wasm`";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, fault));
        }
        let fault = match (&cli.verb, cli.global.format) {
            (Verb::Check(check), Format::Json | Format::Sarif) if check.export => {
                "`--export` prints the standard form itself: leave out `--format`"
            }
            (Verb::Check(check), Format::Sarif) if check.dry_run => {
                "SARIF carries the fixes as they are found: leave out `--fix --dry-run`"
            }
            (Verb::Check(_), _) | (_, Format::Human | Format::Json) => return Ok(cli),
            (_, Format::Sarif) => "only `check` prints SARIF",
        };
        Err(Self::command().error(ErrorKind::ArgumentConflict, fault))
    }
}

/// Whether a command line that could not be read asks for JSON, so that its failure is JSON too.
pub(crate) fn asks_for_json(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> bool {
    let mut after_format = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        match text.as_ref() {
            "--" => return false,
            word if after_format && word.eq_ignore_ascii_case("json") => return true,
            word if word.eq_ignore_ascii_case("--format=json") => return true,
            word => after_format = word == "--format",
        }
    }
    false
}

/// The form that was meant, for a command line that could not be read: a program without `--` before it, or a format that is
/// named as an option.
pub(crate) fn meant(error: &clap::Error, arguments: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    if let Some(format) = unknown.strip_prefix("--").filter(|word| matches!(*word, "json" | "sarif" | "human")) {
        return Some(format!("write it `--format {format}`"));
    }
    if unknown.starts_with('-') {
        return None;
    }
    let verb = arguments.windows(2).position(|words| words == ["sandbox", "run"])? + 2;
    let program = arguments.iter().skip(verb).position(|word| word == unknown)? + verb;
    let shown = |words: &[String]| words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let (before, program) = arguments.split_at(program);
    let before = shown(before.get(1..).unwrap_or_default());
    Some(format!("the program stands after two hyphens: skillgate {before} -- {}", shown(program)))
}

/// Options of every verb.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The project whose skills are used and whose files commands see
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) project: PathBuf,
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "The user's home, where the user's own skills are [default: $HOME]"
    )]
    pub(crate) home: Option<PathBuf>,
    /// The administrator's directory
    #[arg(long, global = true, value_name = "DIR", default_value = "/etc/skillgate")]
    pub(crate) managed: PathBuf,
    /// A further directory with skills; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    #[arg(
        long,
        global = true,
        value_enum,
        help = "The description of the format that is followed [default: the policy's, else safe]"
    )]
    pub(crate) profile: Option<ProfileArg>,
    /// Trust this project for this run: its skills may be invoked. `skillgate trust add` trusts it for good
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// A policy file for this run, on top of the user's
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Grant what this tool pattern matches, for example 'Bash(wc:*)'; may be repeated
    #[arg(long, global = true, value_name = "PATTERN")]
    pub(crate) allow: Vec<String>,
    /// Deny what this tool pattern matches, whatever else allows it; may be repeated
    #[arg(long, global = true, value_name = "PATTERN")]
    pub(crate) deny: Vec<String>,
    /// Use this skill and no other that is not named so: `NAME`, `source:name`, a pattern such as 'review-*', or `set:NAME` for a set of
    /// the policy; may be repeated
    #[arg(long, global = true, value_name = "SKILL")]
    pub(crate) only_skill: Vec<String>,
    /// Also use the skills of the servers in this file, which has an object `mcpServers`; may be repeated. They are started or
    /// reached for it, and what they give is text only
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// Where Skillgate keeps its own files (compiled components)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Count how often skills are used, in the store: the least used lose their description first in a listing that does not fit
    #[arg(long, global = true, env = "SKILLGATE_COUNT_USES", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) count_uses: bool,
    /// Ask nothing: what needs an answer is refused
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Record decisions and runs in this file, one JSON object a line
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
    /// Record argument vectors, argument text and messages too, not only their digests
    #[arg(long, global = true)]
    pub(crate) audit_contents: bool,
    /// How data is printed; SARIF 2.1.0 only by `check`
    #[arg(long, global = true, value_enum, ignore_case = true, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Colours in messages
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, default_value_if("no_color", ArgPredicate::IsPresent, "never"))]
    pub(crate) color: Color,
    /// No colours, as NO_COLOR asks
    #[arg(long = "no-color", id = "no_color", global = true, hide = true, env = "NO_COLOR", value_parser = clap::builder::NonEmptyStringValueParser::new(), num_args = 0..=1, default_missing_value = "1")]
    pub(crate) no_color: Option<String>,
    /// Say more on standard error
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// The profile for what no policy decides over.
    pub(crate) fn profile(&self) -> Profile {
        self.profile.map_or_else(Profile::default, Profile::from)
    }

    /// The user's home: the option, else the environment's when it says something.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let environment = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        self.home.clone().or_else(environment)
    }
}

/// The profile, as it is written on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ProfileArg {
    /// Tool lists narrow, positions count as the author counts, code is inert
    Safe,
    /// The documented behaviour of the format's first implementation
    Claude,
    /// The open standard, for validation
    Strict,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Safe => Profile::Safe,
            ProfileArg::Claude => Profile::Claude,
            ProfileArg::Strict => Profile::Strict,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the skills, grouped by source, with their state
    List(ListVerb),
    /// Say which skill a name leads to, which others have it, and why
    Which(WhichVerb),
    /// Say what keeps a skill from a model or a user, and whether a path makes it active
    Why(WhyVerb),
    /// Print what a model is told of the skills, within a budget
    Listing(ListingVerb),
    /// Show a skill: header, caveats, injections, files
    Show(ShowVerb),
    /// Expand a skill: decide, run its injections in the sandbox, print the prompt
    Run(RunVerb),
    /// Read skill files and report what was lost, guessed or is wrong
    Check(CheckVerb),
    /// Serve one conversation to a program in another language: JSON lines on standard input and output
    Session(SessionVerb),
    /// Look through the skills on a terminal: groups, states, reasons, texts
    Browse,
    /// Print skills as they come, change and go, one a line, until it is ended
    Watch,
    /// Find the skills that answer a query, as a model would be told
    Search(SearchVerb),
    /// Test that queries lead to the skills they are meant for, without a model
    TestTriggers(TestTriggersVerb),
    /// Run a shell program in the sandbox
    Sandbox {
        #[command(subcommand)]
        verb: SandboxVerb,
    },
    /// Show, explain and check what the host grants
    Policy {
        #[command(subcommand)]
        verb: PolicyVerb,
    },
    /// Trust a project for good, see what is trusted, and what changed since
    Trust {
        #[command(subcommand)]
        verb: TrustVerb,
    },
    /// Make, look at, sign, install and update packs of skills
    Pack {
        #[command(subcommand)]
        verb: PackVerb,
    },
    /// List the hooks of the skills, and try what they make of an event
    Hooks {
        #[command(subcommand)]
        verb: HooksVerb,
    },
    /// Verify an audit log
    Log {
        #[command(subcommand)]
        verb: LogVerb,
    },
    /// Attack the sandbox of this machine, and say what was denied and how
    Audit(AuditVerb),
    /// Serve skills to agents over the Model Context Protocol, and look at the skills that servers offer
    Mcp {
        #[command(subcommand)]
        verb: McpVerb,
    },
    /// Print a completion script
    Completions {
        /// The shell it is for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
    /// Print the JSON Schema of an output, of a skill's header or of a policy file
    Schema {
        /// The verb whose output it describes; `frontmatter` describes the header of a SKILL.md, `policy-file` a policy
        #[arg(required_unless_present = "names")]
        output: Option<SchemaOf>,
        /// Print the names of all schemas instead
        #[arg(long, conflicts_with = "output")]
        names: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    Audit,
    AuditPlan,
    List,
    Which,
    Why,
    Listing,
    Show,
    Run,
    Watch,
    Search,
    DiscoverSkills,
    SessionRequest,
    SessionResponse,
    TestTriggers,
    Check,
    SandboxDoctor,
    SandboxRun,
    SandboxCommands,
    HooksList,
    HooksTest,
    LogVerify,
    AuditRecord,
    McpList,
    McpInspect,
    Error,
    Frontmatter,
    TrustAdd,
    TrustList,
    TrustRemove,
    TrustReview,
    PolicyFile,
    PolicyShow,
    PolicyExplain,
    PolicyCheck,
    PolicyImport,
    PackBuild,
    PackSign,
    PackPush,
    PackKeygen,
    PackInspect,
    PackVerify,
    PackDiff,
    PackTest,
    PackInstall,
    PackUpdate,
    PackOutdated,
    PackList,
    PackRemove,
    PackEnable,
    PackDisable,
}

#[derive(Debug, Args)]
pub(crate) struct ListVerb {
    /// Only the skills of this set of the policy (`skills.sets`)
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Also those of directories inside the project, which a file there brings
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhichVerb {
    /// The name: `name`, `/name` or `source:name`
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct WhyVerb {
    /// The skill: `name`, `/name` or `source:name`
    pub(crate) name: String,
    /// Files that are or would be touched, relative ones from the project's directory; they need not exist
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A conversation that was saved: what it activated is active, and the files that it touched last are tried too
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListingVerb {
    /// The most characters that the text may have [default: 8000]
    #[arg(long, value_name = "N", conflicts_with = "context_tokens")]
    pub(crate) budget_chars: Option<usize>,
    /// The size of the context window in tokens; the listing takes a hundredth of it
    #[arg(long, value_name = "N")]
    pub(crate) context_tokens: Option<usize>,
    /// Write XML elements instead of lines
    #[arg(long)]
    pub(crate) xml: bool,
    /// Only the skills of this set of the policy (`skills.sets`)
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Print what a model is told about the Skill tool before the list
    #[arg(long)]
    pub(crate) guidance: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowVerb {
    /// The skill: `name`, `/name` or `source:name`
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RunVerb {
    /// The skill: `name`, `/name` or `source:name`
    pub(crate) name: String,
    /// Arguments; joined with shell quoting. After `--`, also those that begin with `-`
    #[arg(value_name = "ARG")]
    pub(crate) arguments: Vec<String>,
    /// The arguments as one text, exactly as typed
    #[arg(long, value_name = "TEXT", conflicts_with = "arguments", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Print what would run, and the decisions, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take up the conversation that this file holds, and keep it there afterwards; its directory is the owner's alone
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// The conversation's id, for `${CLAUDE_SESSION_ID}`
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = SESSION_HELP)]
pub(crate) struct SessionVerb {
    /// Take in skills that come, change or go only when the client asks with `reload`
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// The conversation's id, for `${CLAUDE_SESSION_ID}`
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// A program that runs the agents of skills with `context: fork`: it reads the prompt on its standard input and prints the
    /// result. It is not confined. Without one the client runs them, and answers with `fork_result`
    #[arg(long, value_name = "PATH")]
    pub(crate) agent: Option<PathBuf>,
    /// An argument of the agent's program; may be repeated
    #[arg(long, value_name = "WORD", requires = "agent", allow_hyphen_values = true)]
    pub(crate) agent_arg: Vec<String>,
    /// A variable of this environment that the agent's program sees, which sees none otherwise; may be repeated
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub(crate) agent_env: Vec<String>,
}

const SESSION_HELP: &str = "\
The first line is {\"op\":\"hello\",\"version\":1}. docs/session.md describes the operations, and `skillgate schema session-request`
and `skillgate schema session-response` the lines. What needs an agreement is asked of the client, or refused with --no-input.";

#[derive(Debug, Args)]
pub(crate) struct SearchVerb {
    /// What is to be done
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How many skills at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(crate) limit: u8,
}

#[derive(Debug, Args)]
#[command(after_help = TRIGGERS_HELP)]
pub(crate) struct TestTriggersVerb {
    /// A TOML file with the queries
    pub(crate) file: PathBuf,
}

const TRIGGERS_HELP: &str = "\
The file:
  within = 3            # how many of the first hits are looked at [default: 1]
  min-precision = 0.9   # of the queries that find anything, whose first hit is right [default: 1.0]
  min-recall = 0.9      # of the expected skills, how many are found [default: 1.0]

  [[case]]
  query = \"put the site online\"
  expect = \"deploy-site\"    # or a list; [] for a query that must find nothing
The exit status is 1 when one of the two is not reached.";

#[derive(Debug, Args)]
pub(crate) struct CheckVerb {
    /// Files, skill directories, or directories that hold them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Apply the fixes that need no decision, and list what a person must decide
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print what --fix would change, as a diff, and write nothing
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Print one file in the form of the open standard
    #[arg(long, conflicts_with = "fix")]
    pub(crate) export: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerb {
    /// What is attacked; may be repeated [default: everything there is]
    #[arg(long, value_enum, value_name = "BACKEND")]
    pub(crate) backend: Vec<AuditBackend>,
    /// Run only the case of this number; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<u16>,
    /// Run only the cases of this group; may be repeated
    #[arg(long, value_enum, value_name = "LETTER", ignore_case = true)]
    pub(crate) group: Vec<AuditGroup>,
    /// Print what would be done, and do nothing
    #[arg(long, conflicts_with_all = ["html", "compare"])]
    pub(crate) plan: bool,
    /// Print the cases and backends as the documentation has them
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) matrix: bool,
    /// Write the report to this file too, as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Run the same programs under weaker walls too: plain `sh -c`, Landlock alone, and bubblewrap where it is installed
    #[arg(long)]
    pub(crate) compare: bool,
    /// The suite's native programs [default: `skillgate-probes` beside this program]
    #[arg(long, value_name = "FILE")]
    pub(crate) probes: Option<PathBuf>,
}

/// What the suite is run against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AuditBackend {
    /// The backend that runs wasm components
    Wasm,
    /// The Linux sandbox for programs of the machine
    Host,
    /// What Skillgate does before a backend is handed anything: gate, shell, loader, store
    Library,
}

/// A group of cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AuditGroup {
    /// Wasm guests
    A,
    /// Files of the machine
    B,
    /// Processes and the kernel
    C,
    /// Network and other processes' doors
    D,
    /// Resources
    E,
    /// Environment and descriptors
    F,
    /// Command policy
    G,
    /// Narrowing and history
    H,
    /// Loader
    I,
    /// Trust and degradation
    J,
}

impl From<AuditGroup> for Group {
    fn from(group: AuditGroup) -> Self {
        match group {
            AuditGroup::A => Group::Guests,
            AuditGroup::B => Group::Files,
            AuditGroup::C => Group::Processes,
            AuditGroup::D => Group::Network,
            AuditGroup::E => Group::Resources,
            AuditGroup::F => Group::Environment,
            AuditGroup::G => Group::Commands,
            AuditGroup::H => Group::Narrowing,
            AuditGroup::I => Group::Loader,
            AuditGroup::J => Group::Trust,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Run one shell program; nothing is granted but what --allow says
    Run(SandboxRunVerb),
    /// Say what each sandbox can enforce on this machine, stage by stage
    Doctor,
    /// List the commands that components offer, with where each comes from
    Commands,
}

/// Which sandbox runs commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum BackendArg {
    /// The commands that come with Skillgate and those of the policy's components, as WebAssembly
    Wasm,
    /// Programs of this machine that --program and the policy name, and WebAssembly for every other command
    Host,
}

/// A program of the machine, as `NAME=/ABSOLUTE/PATH`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedProgram {
    pub(crate) name: String,
    pub(crate) path: String,
}

impl std::str::FromStr for NamedProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !name.contains('/') && path.starts_with('/') => {
                Ok(Self { name: name.to_owned(), path: path.to_owned() })
            }
            _ => Err("write it as NAME=/ABSOLUTE/PATH, such as git=/usr/bin/git".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SandboxRunVerb {
    /// Which sandbox runs commands [default: wasm, or host with --program]
    #[arg(long, value_enum)]
    pub(crate) backend: Option<BackendArg>,
    /// A program of this machine that the host sandbox may run, as NAME=/ABSOLUTE/PATH; may be repeated
    #[arg(long = "program", value_name = "NAME=PATH")]
    pub(crate) native: Vec<NamedProgram>,
    /// Let the program write below this directory of the project; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Vec<String>,
    /// Write what kind of status it was to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) status_file: Option<PathBuf>,
    /// The program: one text, or a command with its arguments
    #[arg(required = true, value_name = "PROGRAM", last = true)]
    pub(crate) program: Vec<String>,
}

impl SandboxRunVerb {
    /// Which sandbox runs commands.
    pub(crate) fn backend(&self) -> BackendArg {
        let default = if self.native.is_empty() { BackendArg::Wasm } else { BackendArg::Host };
        self.backend.unwrap_or(default)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Show the policy in force: each setting and each rule with where it comes from
    Show,
    /// Say what would be decided about an action, and which rule decides
    Explain(PolicyExplainVerb),
    /// Read a policy file and report every mistake
    Check(PolicyCheckVerb),
    /// Print the rules of a settings file of another tool as a policy
    Import(PolicyImportVerb),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyExplainVerb {
    /// The action as a tool form: 'Bash(git push origin)', 'Read(.env)', 'Skill(review)', `mcp__server__tool`; a text in
    /// `Bash(…)` may be a whole shell program
    pub(crate) action: String,
    /// Decide as for this skill, whose own header narrows
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyCheckVerb {
    /// The policy file
    pub(crate) file: PathBuf,
    /// Whose file it is, which decides what it may say
    #[arg(long, value_enum, default_value_t = LevelArg::User)]
    pub(crate) level: LevelArg,
}

/// Whose policy file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LevelArg {
    /// The administrator's: the ceiling
    Managed,
    /// The user's: what the host grants
    User,
    /// The project's: only takes away
    Project,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyImportVerb {
    /// A settings file in JSON with `permissions`
    #[arg(value_name = "FILE", default_value = ".claude/settings.json")]
    pub(crate) file: PathBuf,
    /// Add the rules to the user's policy, after showing them
    #[arg(long)]
    pub(crate) write: bool,
    /// With --write: do not ask
    #[arg(long, requires = "write")]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogVerb {
    /// Say whether every line follows from the one before it, or which is the first that does not
    Verify(LogVerifyVerb),
}

#[derive(Debug, Args)]
pub(crate) struct LogVerifyVerb {
    /// The log
    pub(crate) file: PathBuf,
    /// What has to be there: a number of lines, or a head that was kept, as NUMBER:HASH
    #[arg(long, value_name = "HEAD")]
    pub(crate) expect: Option<Expectation>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustVerb {
    /// Trust a project: its skills may be invoked, and run commands that only read
    Add(TrustAddVerb),
    /// List the trusted folders, and whether each is still what was trusted
    List,
    /// Take trust back
    Remove(TrustRemoveVerb),
    /// Show what changed since the trust was given, and accept it
    Review(TrustReviewVerb),
}

#[derive(Debug, Args)]
pub(crate) struct TrustAddVerb {
    /// A directory of the project [default: that of --project]
    pub(crate) dir: Option<PathBuf>,
    /// Rights beyond reading, for the present content of the skills that --skill names: hooks, write, native, pre-approve
    #[arg(long, value_name = "RIGHT,…", value_delimiter = ',', requires = "skill")]
    pub(crate) rights: Vec<Right>,
    /// A skill that gets the rights; may be repeated
    #[arg(long, value_name = "NAME", requires = "rights")]
    pub(crate) skill: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustRemoveVerb {
    /// The folder, which need not exist any more
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) dir: Option<PathBuf>,
    /// Trust no folder any more
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustReviewVerb {
    /// A directory of the project [default: that of --project]
    pub(crate) dir: Option<PathBuf>,
    /// Accept what is shown: the rights hold for the new content
    #[arg(long)]
    pub(crate) accept: bool,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{Command, CommandFactory as _};

    fn check(verb: &Command, global: &[&str]) {
        for own in verb.get_subcommands() {
            for option in own.get_arguments() {
                let name = option.get_id().as_str();
                assert!(!global.contains(&name), "`{}` has an option `{name}`, which every verb has", own.get_name());
            }
            check(own, global);
        }
    }

    #[test]
    fn no_verb_has_an_option_of_the_name_of_a_global_one() {
        let command = Cli::command();
        let global: Vec<&str> = command.get_arguments().map(|option| option.get_id().as_str()).collect();
        assert!(global.contains(&"only_skill"));
        check(&command, &global);
    }
}
