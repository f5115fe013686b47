//! From global options to a host, a shell and a session.

use crate::args::Global;
use crate::exit::Failure;
use crate::progress::Compiling;
use crate::text;
use crate::trust;
use crate::{audit, policy, prompt};
use skillgate_exec::CapabilityShell;
use skillgate_exec_wasm::{GuestComponent, WasmBackend};
use skillgate_loader::project_ambient;
use skillgate_packs::PackSet;
use skillgate_policy::file::Policy;
use skillgate_policy::{Effect, Place, Rule};
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

/// The capability shell over the shipped components.
pub(crate) fn shell(global: &Global, policy: &Policy) -> Result<CapabilityShell, Failure> {
    let shipped = PackSet::shipped().components().to_vec().into_iter().map(|pack| {
        GuestComponent::new(pack.name(), pack.digest(), pack.commands().iter().copied(), move || pack.wasm())
    });
    let mut builder = WasmBackend::builder(shipped).progress(Arc::new(Compiling::default()));
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
    Ok(CapabilityShell::new(vec![Arc::new(builder.build()?)]))
}

/// A session as the global options describe it.
pub(crate) fn session(global: &Global) -> Result<SessionBuilder, Failure> {
    let policy = policy::in_force(global)?.policy;
    let audit = audit::sink(global, &policy)?;
    let shell = shell(global, &policy)?;
    let root = project_ambient(&global.project, global.home().as_deref()).map_err(OpenError::from)?.root;
    let trust = trust::of_project(global, &policy, &root);
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
    if let Some(config) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()) {
        builder = builder.config_dir(config);
    }
    for directory in &global.add_dir {
        builder = builder.additional(directory);
    }
    Ok(builder)
}
