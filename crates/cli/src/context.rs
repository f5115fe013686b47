//! From global options to a host, a shell and a session.

use crate::args::Global;
use crate::exit::Failure;
use crate::mcp::Signals;
use crate::progress::Compiling;
use crate::text;
use crate::trust;
use crate::{audit, components, mcp, native, policy, prompt, skills};
use skillgate_exec::{Backend, CapabilityShell};
use skillgate_exec_wasm::WasmBackend;
use skillgate_loader::{
    Discovery, HeaderIndex, SkillRoot, SkillWatch, WatchOptions, discover_roots_ambient, project_ambient,
};
use skillgate_policy::file::{Policy, PolicySkills};
use skillgate_policy::{Effect, Place, Rule};
use skillgate_registry::NamePattern;
use skillgate_runtime::{OpenError, Runtime, RuntimeBuilder, Session, SessionOptions, UsageCounts};
use skillgate_state::{OwnerDir, StateError};
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
    Ok(shell_over(global, policy, wasm(global, policy)?))
}

fn shell_over(global: &Global, policy: &Policy, wasm: Arc<WasmBackend>) -> CapabilityShell {
    let mut backends: Vec<Arc<dyn Backend>> = Vec::new();
    if !policy.programs.is_empty() {
        // What the host names it wants, also where there is a command of that name.
        backends.push(Arc::new(native::backend(global, policy, &[], &[])));
    }
    backends.push(wasm);
    CapabilityShell::new(backends)
}

/// The backend of the shipped components.
pub(crate) fn wasm(global: &Global, policy: &Policy) -> Result<Arc<WasmBackend>, Failure> {
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

/// A conversation as the global options describe it.
pub(crate) fn session(global: &Global) -> Result<Arc<Session>, Failure> {
    Ok(runtime(global)?.open()?.session(options(global)))
}

/// The same for a verb that ends by itself when a signal asks it to, because it has something to put back.
pub(crate) fn session_ended_by_verb(global: &Global) -> Result<Arc<Session>, Failure> {
    Ok(runtime_with(global, Signals::Verb)?.open()?.session(options(global)))
}

/// What a conversation has of its own: who answers at this terminal, when somebody does.
pub(crate) fn options(global: &Global) -> SessionOptions {
    let options = SessionOptions::default();
    match prompt::answerer(global) {
        Some(answerer) => options.answerer(answerer),
        None => options,
    }
}

/// What the global options describe, before the skills are found; those of servers are fetched.
pub(crate) fn runtime(global: &Global) -> Result<RuntimeBuilder, Failure> {
    runtime_with(global, Signals::End)
}

fn runtime_with(global: &Global, signals: Signals) -> Result<RuntimeBuilder, Failure> {
    let builder = local_runtime(global)?;
    Ok(match mcp::of_command_line(global, signals)? {
        Some(servers) => builder.source(servers.into_skills()),
        None => builder,
    })
}

/// The same without the skills of servers.
pub(crate) fn local_runtime(global: &Global) -> Result<RuntimeBuilder, Failure> {
    let policy = policy::in_force(global)?.policy;
    let audit = audit::sink(global, &policy)?;
    let wasm = wasm(global, &policy)?;
    let hooks = Arc::new(wasm.hooks());
    let shell = shell_over(global, &policy, wasm);
    let root = project_ambient(&global.project, global.home().as_deref()).map_err(OpenError::from)?.root;
    let trust = trust::of_project(global, &policy, &root);
    let sources = skills::sources(global, &policy);
    let (headers, usage) = kept(global, &policy);
    let managed = managed_skills(global, &policy);
    let plugins = (global.clone(), policy.clone());
    let mut builder = Runtime::builder(policy.host(), Arc::new(shell))
        .trust_plugins_by(move |root| trust::of_plugin(&plugins.0, &plugins.1, root))
        .audit(audit)
        .policy(policy)
        .project(&global.project)
        .hook_loader(hooks)
        .trust(trust);
    if let Some(managed) = managed {
        builder = builder.managed(managed);
    }
    if let Some(headers) = headers {
        builder = builder.header_index(headers);
    }
    if let Some(usage) = usage {
        builder = builder.usage(usage);
    }
    if let Some(home) = global.home() {
        builder = builder.home(home);
    }
    if let Some(config) = crate::policy::user_config(global) {
        builder = builder.user_config(config);
    }
    if let Some(config) = config_dir() {
        builder = builder.config_dir(config);
    }
    for directory in &global.add_dir {
        builder = builder.additional(directory);
    }
    for source in sources {
        builder = builder.source(source);
    }
    Ok(builder)
}

/// What is kept of the skills between runs: their headers, and how often they were used where the user wants that. Where it cannot
/// be kept, more is read; `-v` says why.
fn kept(global: &Global, policy: &Policy) -> (Option<HeaderIndex>, Option<UsageCounts>) {
    let Some(store) = store(global, policy) else { return (None, None) };
    let lost = |error: &StateError| {
        if global.verbose {
            text::complain(&format!("skillgate: what is known of the skills is not kept: {error}"));
        }
    };
    let index = OwnerDir::open_ambient(store.join("index")).and_then(HeaderIndex::open).inspect_err(lost).ok();
    let place = store.join("usage");
    let counts = if global.count_uses { OwnerDir::open_ambient(place).inspect_err(lost).ok() } else { None };
    (index, counts.map(UsageCounts::new))
}

/// Where the administrator's skills are, unless the environment switches them off and the administrator's policy does not insist.
fn managed_skills(global: &Global, policy: &Policy) -> Option<PathBuf> {
    let is_on =
        |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    let off = ["SKILLGATE_DISABLE_POLICY_SKILLS", "CLAUDE_CODE_DISABLE_POLICY_SKILLS"].into_iter().any(is_on);
    let needed = policy.policy_skills.value == PolicySkills::Required;
    (needed || !off).then(|| global.managed.clone())
}

/// The places that the global options name.
fn discovery(global: &Global, policy: &Policy) -> Discovery {
    Discovery {
        project: Some(global.project.clone()),
        home: global.home(),
        config_dir: config_dir(),
        managed: managed_skills(global, policy),
        additional: global.add_dir.clone(),
        depth: policy.skill_depth.value,
        ..Discovery::default()
    }
}

/// Watches the places that the global options name, and the installed packs.
pub(crate) fn watch(global: &Global, policy: &Policy) -> Result<SkillWatch, Failure> {
    let packs = skills::packs(global, policy).into_iter().collect();
    let watch = SkillWatch::discover_ambient(discovery(global, policy), packs, WatchOptions::default());
    Ok(watch.map_err(OpenError::from)?)
}

fn config_dir() -> Option<PathBuf> {
    std::env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Where the skills of plugins are.
pub(crate) fn plugin_roots(global: &Global, policy: &Policy) -> Result<Vec<SkillRoot>, OpenError> {
    let without_project = Discovery { project: None, managed: None, ..discovery(global, policy) };
    let found = discover_roots_ambient(&without_project).map_err(OpenError::from)?;
    Ok(found.roots.into_iter().filter(|root| root.plugin.is_some()).collect())
}

/// The names of a set that the policy defines.
pub(crate) fn set(in_force: &Policy, name: &str) -> Result<Vec<NamePattern>, Failure> {
    match in_force.sets.get(name) {
        Some(set) => Ok(set.value.iter().map(|name| NamePattern::new(name)).collect()),
        None => Err(policy::no_such_set(in_force, name)),
    }
}
