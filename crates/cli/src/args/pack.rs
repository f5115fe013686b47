use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PackVerb {
    /// Make a .skillpack of a directory; the same files give the same bytes
    Build(PackBuildVerb),
    /// Show what a pack asks for before anything of it is unpacked
    Inspect(PackInspectVerb),
    /// Check every digest and signature of a pack, or of an installed one
    Verify(PackVerifyVerb),
    /// Make a key that signs packs
    Keygen(PackKeygenVerb),
    /// Sign a pack
    Sign(PackSignVerb),
    /// Show what two packs have different, in text and in what they ask for
    Diff(PackDiffVerb),
    /// Run a pack's own cases: expansions with made-up outputs, queries, and the checks of its skills
    Test(PackTestVerb),
    /// Install a pack
    Install(PackInstallVerb),
    /// List the installed packs, and whether each still holds
    List,
    /// Remove an installed pack
    Remove(PackNameVerb),
    /// Take what the source of an installed pack has now, or go back
    Update(PackUpdateVerb),
    /// Say of which installed packs the source has something else now
    Outdated,
    /// Use the skills of an installed pack again
    Enable(PackNameVerb),
    /// Keep an installed pack, and use none of its skills
    Disable(PackNameVerb),
    /// Publish a pack to an OCI registry
    Push(PackPushVerb),
}

const FROM: &str = "\
SOURCE is a .skillpack, a zip, a tar or tar.gz, a directory, the working tree of a git repository, one SKILL.md, the https://
address of any of these files, or oci://REGISTRY/NAME:TAG.";

/// What a pack is called that is made of files.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PackNaming {
    /// The pack's name [default: what the file, the directory or the single skill is called]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The pack's version [default: that of its single skill, else 0.0.0]
    #[arg(long = "pack-version", id = "pack_version", value_name = "VERSION")]
    pub(crate) version: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PackBuildVerb {
    /// The directory: each directory below it with a SKILL.md is a skill
    pub(crate) dir: PathBuf,
    /// The file to write, outside of the directory
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) naming: PackNaming,
    /// What is in it, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = FROM)]
pub(crate) struct PackInspectVerb {
    /// Where the pack is
    #[arg(value_name = "SOURCE")]
    pub(crate) from: String,
    #[command(flatten)]
    pub(crate) naming: PackNaming,
}

#[derive(Debug, Args)]
pub(crate) struct PackVerifyVerb {
    /// A .skillpack, or the name of an installed pack
    #[arg(value_name = "FILE|NAME")]
    pub(crate) pack: String,
}

#[derive(Debug, Args)]
pub(crate) struct PackKeygenVerb {
    /// The file to write the secret key to; it must not be there yet
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PackSignVerb {
    /// The .skillpack
    pub(crate) file: PathBuf,
    /// The file with the secret key [default: the text in SKILLGATE_PACK_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// The file to write [default: the pack itself]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = FROM)]
pub(crate) struct PackDiffVerb {
    /// The older pack
    #[arg(value_name = "SOURCE")]
    pub(crate) old: String,
    /// The newer pack
    #[arg(value_name = "SOURCE")]
    pub(crate) new: String,
}

#[derive(Debug, Args)]
#[command(after_help = TESTS)]
pub(crate) struct PackTestVerb {
    /// Where the pack is
    #[arg(value_name = "SOURCE")]
    pub(crate) from: String,
}

const TESTS: &str = "\
The cases stand in `pack-test.toml` at the top of the pack:
  [[expand]]
  skill = \"greet\"
  arguments = \"Ada\"
  outputs = { \"git status\" = \"clean\" }   # what each injection is taken to have printed
  contains = [\"Hello Ada\"]
  lacks = [\"$ARGUMENTS\"]

  [[trigger]]
  query = \"say hello to somebody\"
  expect = \"greet\"                       # \"\" for a query that must find nothing
Nothing of the pack runs. The exit status is 1 when a case or a check fails.";

#[derive(Debug, Args)]
#[command(after_help = FROM)]
pub(crate) struct PackInstallVerb {
    /// Where the pack is
    #[arg(value_name = "SOURCE")]
    pub(crate) from: String,
    #[command(flatten)]
    pub(crate) naming: PackNaming,
    /// Install it though nobody signed it: its text can be used, and nothing in it runs
    #[arg(long)]
    pub(crate) allow_unsigned: bool,
    /// Take it in place of what is installed under its name, the difference having been looked at
    #[arg(long)]
    pub(crate) accept: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PackNameVerb {
    /// The pack's name
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct PackUpdateVerb {
    /// The pack's name
    #[arg(required_unless_present = "all")]
    pub(crate) name: Option<String>,
    /// Update every pack
    #[arg(long, conflicts_with_all = ["name", "rollback"])]
    pub(crate) all: bool,
    /// Take a difference that is not simply a newer version by the same signer that asks for nothing more
    #[arg(long, conflicts_with = "rollback")]
    pub(crate) accept: bool,
    /// Go back to what was installed before
    #[arg(long)]
    pub(crate) rollback: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PackPushVerb {
    /// The .skillpack
    pub(crate) file: PathBuf,
    /// Where to, as oci://REGISTRY/NAME:TAG
    #[arg(value_name = "REFERENCE")]
    pub(crate) to: String,
}
