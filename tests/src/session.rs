use crate::Ran;
use skillgate_exec::{AuditSink, CapabilityShell};
use skillgate_exec_wasm::{GuestComponent, WasmBackend};
use skillgate_packs::PackSet;
use skillgate_policy::{Defaults, Effect, Host, Place, Rule};
use skillgate_runtime::{Invocation, Runtime, RuntimeBuilder};
use skillgate_state::OwnerDir;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The shipped commands: one backend for the whole process, with its compiled components below `target`, where later runs
/// find them.
///
/// Tests give `env!("CARGO_TARGET_TMPDIR")`, which only they have.
#[must_use]
pub fn backend(target: &str) -> Arc<WasmBackend> {
    static BACKEND: OnceLock<Arc<WasmBackend>> = OnceLock::new();
    let make = || {
        let cache = OwnerDir::open_ambient(Path::new(target).join("components")).expect("a directory of our own");
        let shipped = PackSet::shipped().components().to_vec().into_iter().map(|pack| {
            GuestComponent::new(pack.name(), pack.digest(), pack.commands().iter().copied(), move || pack.wasm())
        });
        Arc::new(WasmBackend::builder(shipped).cache(cache).build().expect("the engine starts"))
    };
    Arc::clone(BACKEND.get_or_init(make))
}

/// A capability shell over the shipped commands.
#[must_use]
pub fn shell(target: &str) -> Arc<CapabilityShell> {
    Arc::new(CapabilityShell::new(vec![backend(target)]))
}

/// Rules of a host.
#[must_use]
pub fn rules(texts: &[(Effect, &str)]) -> Vec<Rule> {
    texts.iter().map(|(effect, text)| Rule::parse(*effect, text, Place::Host).expect("a rule of the test")).collect()
}

/// A host with these rules and no defaults, which grants what they allow; with none, the built-in default.
#[must_use]
pub fn host(texts: &[(Effect, &str)]) -> Host {
    if texts.is_empty() { Host::new([], Defaults::BuiltIn) } else { Host::granting(rules(texts)) }
}

/// A runtime of `host` on a project that it trusts, with the shipped commands.
#[must_use]
pub fn builder(target: &str, host: Host, project: &Path, ran: &Arc<Ran>) -> RuntimeBuilder {
    let audit: Arc<dyn AuditSink> = Arc::clone(ran) as Arc<dyn AuditSink>;
    Runtime::builder(host, shell(target)).project(project).trust_project(true).audit(audit)
}

/// The prompt of an invocation without the line that names the skill's directory, and the blank line after it.
#[must_use]
pub fn prompt(invocation: &Invocation) -> String {
    let text = invocation.text();
    let rest = text.strip_prefix("Base directory for this skill: ").and_then(|rest| rest.split_once("\n\n"));
    rest.map_or(text.clone(), |(_, prompt)| prompt.to_owned())
}
