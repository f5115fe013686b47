//! Where the policy files are, who may have written them, and the policy they make.

use crate::args::Global;
use crate::exit::Failure;
use crate::text::{self, Style};
use skillgate_core::Profile;
use skillgate_loader::{ReadFault, project_ambient, read_file_below_ambient, replace_file_ambient};
use skillgate_policy::file::{Layers, Level, MAX_POLICY_BYTES, Options, Policy, PolicyFile, Setting, with_rules};
use skillgate_policy::{Effect, Place, Rule, ToolPattern};
use skillgate_runtime::OpenError;
use skillgate_state::read_guarded_ambient;
use std::io;
use std::path::{Path, PathBuf};

/// A policy file's place below the administrator's and the user's directory.
pub(crate) const FILE: &str = "policy.toml";
/// A policy file's place below the project's root.
const PROJECT_FILE: &str = ".skillgate/policy.toml";

/// A place of a policy file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PolicyPlace {
    pub(crate) level: Level,
    pub(crate) path: PathBuf,
    /// Whether there is a file.
    pub(crate) found: bool,
}

/// The policy in force, and where its files are.
#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) policy: Policy,
    pub(crate) places: Vec<PolicyPlace>,
}

/// Where programs keep the user's configuration; `None` without a home.
pub(crate) fn user_config(global: &Global) -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    // A home that is named stands for the user's whole, whatever the environment says.
    config.filter(|_| global.home.is_none()).or_else(|| global.home().map(|home| home.join(".config")))
}

/// Where the user's policy is, whether there is one or not; `None` without a home.
pub(crate) fn user_path(global: &Global) -> Option<PathBuf> {
    user_config(global).map(|config| config.join("skillgate").join(FILE))
}

/// Reads every policy file and puts them together with the options.
///
/// One that is there and cannot be read, or has a mistake, is a failure whatever its level: what it would have taken away is
/// not known.
pub(crate) fn in_force(global: &Global) -> Result<InForce, Failure> {
    let mut places = Vec::new();
    let mut guarded = |level, path: &Path| {
        let text = read_guarded(path)?;
        places.push(PolicyPlace { level, path: path.to_path_buf(), found: text.is_some() });
        text.map(|text| parse(&text, level, path)).transpose()
    };
    let managed = guarded(Level::Managed, &global.managed.join(FILE))?;
    let user = user_path(global).map(|path| guarded(Level::User, &path)).transpose()?.flatten();
    let run = match &global.policy {
        None => None,
        Some(path) => {
            let file = guarded(Level::User, path)?;
            Some(file.ok_or_else(|| Failure::NoSuchPath(path.display().to_string()))?)
        }
    };
    let root = project_ambient(&global.project, global.home().as_deref()).map_err(OpenError::from)?.root;
    let path = root.join(PROJECT_FILE);
    let text = read_projects(&root, &path)?;
    places.push(PolicyPlace { level: Level::Project, path: path.clone(), found: text.is_some() });
    let project = text.map(|text| parse(&text, Level::Project, &path)).transpose()?;
    let policy = Policy::of(Layers { managed, user, run, options: options(global)?, project });
    let mut sets = global.only_skill.iter().filter_map(|name| name.strip_prefix("set:"));
    if let Some(unknown) = sets.find(|name| !policy.sets.contains_key(*name)) {
        return Err(no_such_set(&policy, unknown));
    }
    Ok(InForce { policy, places })
}

/// The failure of a set that no policy has.
pub(crate) fn no_such_set(policy: &Policy, name: &str) -> Failure {
    Failure::NoSuchSet { name: name.to_owned(), known: policy.sets.keys().cloned().collect() }
}

/// What the command line says.
fn options(global: &Global) -> Result<Options, Failure> {
    let rule = |effect, flag: &'static str| {
        move |pattern: &String| {
            Rule::parse(effect, pattern, Place::flag(flag))
                .map_err(|error| Failure::Pattern { pattern: format!("{flag} '{pattern}'"), error })
        }
    };
    let allow = global.allow.iter().map(rule(Effect::Allow, "--allow"));
    let deny = global.deny.iter().map(rule(Effect::Deny, "--deny"));
    let store = global.store.as_ref().map(|path| Setting::new(path.display().to_string(), Place::flag("--store")));
    Ok(Options {
        rules: allow.chain(deny).collect::<Result<_, _>>()?,
        profile: global.profile.map(|profile| Setting::new(Profile::from(profile), Place::flag("--profile"))),
        only: (!global.only_skill.is_empty())
            .then(|| Setting::new(global.only_skill.clone(), Place::flag("--only-skill"))),
        store,
        audit_log: global
            .audit_log
            .as_ref()
            .map(|path| Setting::new(path.display().to_string(), Place::flag("--audit-log"))),
    })
}

/// Says of each `--allow` and `--deny` about a tool that Skillgate does not know: it may be the host's own, and is more often a
/// name in the wrong case, which grants nothing and, worse, denies nothing.
pub(crate) fn warn_of_unknown_tools(global: &Global) {
    let flags = [("--allow", &global.allow), ("--deny", &global.deny)];
    let written = flags.into_iter().flat_map(|(flag, patterns)| patterns.iter().map(move |pattern| (flag, pattern)));
    let style = Style::of(global);
    for (flag, pattern) in written {
        // What is no pattern at all fails where it is used.
        let Some(unknown) = ToolPattern::parse(pattern).ok().and_then(|parsed| parsed.unknown_tool()) else { continue };
        let meant = unknown.suggestion.map(|pattern| format!("; did you mean {flag} '{pattern}'?")).unwrap_or_default();
        let message = format!("{flag} '{pattern}': Skillgate knows no tool `{}`{meant}", unknown.name);
        text::complain(&format!("{} {}", style.warning("warning:"), text::safe(&message)));
    }
}

/// A path of a policy: `~/` is the user's home.
pub(crate) fn expanded(global: &Global, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), global.home()) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(path),
    }
}

/// The text of a file that nobody but the user and root can have written.
pub(crate) fn read_guarded(path: &Path) -> Result<Option<String>, Failure> {
    let unreadable = |reason: String, help| Failure::UnreadablePolicy { path: path.to_path_buf(), reason, help };
    match read_guarded_ambient(path, MAX_POLICY_BYTES as u64) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => text(bytes, path).map(Some),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Err(unreadable(format!("{error}{cause}"), error.help()))
        }
    }
}

/// Adds a rule to the user's policy, and gives its file.
pub(crate) fn add_rule(global: &Global, effect: Effect, pattern: &ToolPattern) -> Result<PathBuf, Failure> {
    let path = user_path(global).ok_or(Failure::NoHome)?;
    let before = read_guarded(&path)?;
    let after = with_rules(before.as_deref().unwrap_or_default(), &[(effect, pattern.clone())])
        .map_err(|error| Failure::PolicyNotWritten { path: path.clone(), reason: error.to_string() })?;
    if before.as_ref() != Some(&after) {
        write(&path, before.is_none(), &after)?;
    }
    Ok(path)
}

/// Replaces the text of a policy whole; `new`: there is no file yet.
pub(crate) fn write(path: &Path, new: bool, text: &str) -> Result<(), Failure> {
    let refused = |reason: String| Failure::PolicyNotWritten { path: path.to_path_buf(), reason };
    if new {
        create(path).map_err(|error| refused(error.to_string()))?;
    }
    replace_file_ambient(path, text.as_bytes()).map_err(|error| refused(error.to_string()))
}

/// Makes an empty policy, which sets nothing, for the rules to take the place of.
#[expect(clippy::disallowed_methods, reason = "the user's own configuration, at the place the user is told")]
fn create(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    std::fs::OpenOptions::new().write(true).create_new(true).open(path).map(drop)
}

/// The text of the project's own file. Who wrote it does not matter: it only takes away.
fn read_projects(root: &Path, path: &Path) -> Result<Option<String>, Failure> {
    match read_file_below_ambient(root, PROJECT_FILE, MAX_POLICY_BYTES as u64) {
        Ok(bytes) => text(bytes, path).map(Some),
        Err(ReadFault::NotFound) => Ok(None),
        Err(fault) => {
            let help = Some("make it a readable file below the project, or remove it".to_owned());
            Err(Failure::UnreadablePolicy { path: path.to_path_buf(), reason: fault.to_string(), help })
        }
    }
}

pub(crate) fn text(bytes: Vec<u8>, path: &Path) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let reason = format!("byte {} is not UTF-8", error.utf8_error().valid_up_to());
        Failure::UnreadablePolicy { path: path.to_path_buf(), reason, help: None }
    })
}

pub(crate) fn parse(text: &str, level: Level, path: &Path) -> Result<PolicyFile, Failure> {
    PolicyFile::parse(text, level, path).map_err(|errors| Failure::Policy { path: path.to_path_buf(), level, errors })
}
