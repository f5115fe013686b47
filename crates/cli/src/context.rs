//! From global options to a host, a shell and a session.

use crate::args::Global;
use crate::exit::Failure;
use crate::progress::Compiling;
use crate::text;
use crate::trust;
use crate::{audit, components, native, policy, prompt};
use skillgate_exec::{Backend, CapabilityShell};
use skillgate_exec_wasm::WasmBackend;
use skillgate_loader::{Discovery, discover_roots_ambient, project_ambient};
use skillgate_policy::file::Policy;
use skillgate_policy::{Effect, Place, Rule};
use skillgate_registry::NamePattern;
use skillgate_runtime::{OpenError, Session, SessionBuilder};
use skillgate_state::OwnerDir;
use std::path::PathBuf;
use std::sync::Arc;

/// Rules that let programs write below directories that the command line names.
pub(crate) fn writing(directories: &[String]) -> Result<Vec<Rule>, Failure> {
    let rule = |directory: &String| {
        let pattern = format!("Write(/{})", directory.trim_matches('/'));
        Rule::parse(Effect::Allow, &pattern, Place::flag("--write"))
            .map_err(|error| Failure::Pattern { pattern: format!("--write '{directory}'"), error })
    };
    directories.iter().map(rule).collect()
}

/// Where Skillgate keeps its own files: what the policy says, else the user's data directory.
pub(crate) fn store(global: &Global, policy: &Policy) -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| global.home().map(|home| home.join(".local/share")));
    let chosen = policy.store.as_ref().map(|path| policy::expanded(global, &path.value));
    chosen.or_else(|| data.map(|data| data.join("skillgate")))
}

/// The capability shell over the policy's programs, the shipped components and those of the policy.
pub(crate) fn shell(global: &Global, policy: &Policy) -> Result<CapabilityShell, Failure> {
    let mut backends: Vec<Arc<dyn Backend>> = Vec::new();
    if !policy.programs.is_empty() {
        // What the host names it wants, also where there is a command of that name.
        backends.push(Arc::new(native::backend(global, policy, &[], &[])));
    }
    backends.push(wasm(global, policy)?);
    Ok(CapabilityShell::new(backends))
}

/// The backend of the shipped components.
pub(crate) fn wasm(global: &Global, policy: &Policy) -> Result<Arc<dyn Backend>, Failure> {
    let mut builder = WasmBackend::builder(components::of_policy(policy)?).progress(Arc::new(Compiling::default()));
    // Without a compiler, what third parties made says so when it is called.
    if let Ok(compiler) = components::compiler() {
        builder = builder.compiler(compiler);
    }
    match store(global, policy).map(|store| OwnerDir::open_ambient(store.join("components"))) {
        Some(Ok(cache)) => builder = builder.cache(cache),
        Some(Err(error)) => {
            text::complain(&format!("skillgate: compiled components are not kept: {error}"));
            if let Some(help) = error.help() {
                text::complain(&format!("help: {help}"));
            }
        }
        None => text::complain(
            "skillgate: compiled components are not kept: there is no home directory; name one with --store",
        ),
    }
    Ok(Arc::new(builder.build()?))
}

/// A session as the global options describe it.
pub(crate) fn session(global: &Global) -> Result<SessionBuilder, Failure> {
    let policy = policy::in_force(global)?.policy;
    let audit = audit::sink(global, &policy)?;
    let shell = shell(global, &policy)?;
    let root = project_ambient(&global.project, global.home().as_deref()).map_err(OpenError::from)?.root;
    let trust = trust::of_project(global, &policy, &root);
    let plugins = trusted_plugins(global, &policy);
    let mut builder = Session::builder(policy.host(), Arc::new(shell))
        .audit(audit)
        .policy(policy)
        .project(&global.project)
        .managed(&global.managed)
        .trust(trust);
    if let Some(answerer) = prompt::answerer(global) {
        builder = builder.answerer(answerer);
    }
    if let Some(home) = global.home() {
        builder = builder.home(home);
    }
    if let Some(config) = config_dir() {
        builder = builder.config_dir(config);
    }
    for root in plugins {
        builder = builder.trust_plugin(root);
    }
    for directory in &global.add_dir {
        builder = builder.additional(directory);
    }
    Ok(builder)
}

fn config_dir() -> Option<PathBuf> {
    std::env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The directories of plugins that the user trusts. Places that cannot be found are reported when the session is opened.
fn trusted_plugins(global: &Global, policy: &Policy) -> Vec<PathBuf> {
    let discovery = Discovery {
        home: global.home(),
        config_dir: config_dir(),
        additional: global.add_dir.clone(),
        ..Discovery::default()
    };
    let Ok(found) = discover_roots_ambient(&discovery) else { return Vec::new() };
    let mut roots: Vec<PathBuf> = found.roots.into_iter().filter_map(|root| Some(root.plugin?.root)).collect();
    roots.dedup();
    roots.retain(|root| trust::of_plugin(global, policy, root));
    roots
}

/// The names of a set that the policy defines.
pub(crate) fn set(policy: &Policy, name: &str) -> Result<Vec<NamePattern>, Failure> {
    match policy.sets.get(name) {
        Some(set) => Ok(set.value.iter().map(|name| NamePattern::new(name)).collect()),
        None => Err(Failure::NoSuchSet { name: name.to_owned(), known: policy.sets.keys().cloned().collect() }),
    }
}
