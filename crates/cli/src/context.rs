//! From global options to a host, a shell and a session.

use crate::args::{Global, ProfileArg};
use crate::exit::Failure;
use crate::progress::Compiling;
use crate::text;
use skillgate_core::Profile;
use skillgate_exec::CapabilityShell;
use skillgate_exec_wasm::{GuestComponent, WasmBackend};
use skillgate_packs::PackSet;
use skillgate_policy::{Defaults, Effect, Host, Place, Rule};
use skillgate_runtime::{Session, SessionBuilder};
use skillgate_state::OwnerDir;
use std::path::PathBuf;
use std::sync::Arc;

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Safe => Profile::Safe,
            ProfileArg::Claude => Profile::Claude,
            ProfileArg::Strict => Profile::Strict,
        }
    }
}

/// What the command line grants, on top of `defaults`.
pub(crate) fn host(global: &Global, defaults: Defaults) -> Result<Host, Failure> {
    let rule = |effect, flag: &'static str| {
        move |pattern: &String| {
            Rule::parse(effect, pattern, Place::flag(flag))
                .map_err(|error| Failure::Pattern { pattern: format!("{flag} '{pattern}'"), error })
        }
    };
    let allow = global.allow.iter().map(rule(Effect::Allow, "--allow"));
    let deny = global.deny.iter().map(rule(Effect::Deny, "--deny"));
    Ok(Host::new(allow.chain(deny).collect::<Result<Vec<_>, _>>()?, defaults))
}

/// Lets programs write below directories that the command line names.
pub(crate) fn with_writing(host: &Host, directories: &[String]) -> Result<Host, Failure> {
    let rule = |directory: &String| {
        let pattern = format!("Write(/{})", directory.trim_matches('/'));
        Rule::parse(Effect::Allow, &pattern, Place::flag("--write"))
            .map_err(|error| Failure::Pattern { pattern: format!("--write '{directory}'"), error })
    };
    let writing = directories.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    Ok(Host::new(host.rules().iter().cloned().chain(writing), host.defaults()))
}

/// Where Skillgate keeps its own files: `--store`, else the user's data directory.
fn store(global: &Global) -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| global.home().map(|home| home.join(".local/share")));
    global.store.clone().or_else(|| data.map(|data| data.join("skillgate")))
}

/// The capability shell over the shipped components.
pub(crate) fn shell(global: &Global) -> Result<CapabilityShell, Failure> {
    let shipped = PackSet::shipped().components().to_vec().into_iter().map(|pack| {
        GuestComponent::new(pack.name(), pack.digest(), pack.commands().iter().copied(), move || pack.wasm())
    });
    let mut builder = WasmBackend::builder(shipped).progress(Arc::new(Compiling::default()));
    match store(global).map(|store| OwnerDir::open_ambient(store.join("components"))) {
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
    let host = host(global, Defaults::BuiltIn)?;
    let mut builder = Session::builder(host, Arc::new(shell(global)?))
        .project(&global.project)
        .managed(&global.managed)
        .trust_project(global.trust)
        .profile(global.profile.into());
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
