//! The command line as types.

use clap::builder::ArgPredicate;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
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
#[command(name = "skillgate", version, about, after_help = EXIT_STATUSES, propagate_version = true)]
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

/// Options of every verb.
#[derive(Debug, Args)]
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
    /// The description of the format that is followed
    #[arg(long, global = true, value_enum, default_value_t = ProfileArg::Safe)]
    pub(crate) profile: ProfileArg,
    /// Trust this project for this run: its skills may be invoked
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Grant what this tool pattern matches, for example 'Bash(wc:*)'; may be repeated
    #[arg(long, global = true, value_name = "PATTERN")]
    pub(crate) allow: Vec<String>,
    /// Deny what this tool pattern matches, whatever else allows it; may be repeated
    #[arg(long, global = true, value_name = "PATTERN")]
    pub(crate) deny: Vec<String>,
    /// Where Skillgate keeps its own files (compiled components)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How data is printed; SARIF 2.1.0 only by `check`
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
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
    /// Show a skill: header, caveats, injections, files
    Show(ShowVerb),
    /// Expand a skill: decide, run its injections in the sandbox, print the prompt
    Run(RunVerb),
    /// Read skill files and report what was lost, guessed or is wrong
    Check(CheckVerb),
    /// Run a shell program in the sandbox
    Sandbox {
        #[command(subcommand)]
        verb: SandboxVerb,
    },
    /// Print a completion script
    Completions {
        /// The shell it is for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
    /// Print the JSON Schema of an output, or of a skill's header
    Schema {
        /// The verb whose output it describes; `frontmatter` describes the header of a SKILL.md
        output: SchemaOf,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    List,
    Show,
    Run,
    Check,
    SandboxRun,
    Error,
    Frontmatter,
}

#[derive(Debug, Args)]
pub(crate) struct ListVerb {}

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
    /// The conversation's id, for `${CLAUDE_SESSION_ID}`
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
}

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

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Run one shell program; nothing is granted but what --allow says
    Run(SandboxRunVerb),
}

#[derive(Debug, Args)]
pub(crate) struct SandboxRunVerb {
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
