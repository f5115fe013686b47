//! One guest, run by a backend of its own.

use skillgate_core::{Digest, Limits};
use skillgate_exec::{Backend, Capture, Exit, Input, Job, Mounts, Output, Overflow, Run, RunError, Stop};
use skillgate_exec_wasm::attack::Attack;
use skillgate_exec_wasm::{GuestComponent, WasmBackend};
use skillgate_policy::{Authority, CommandRequest, Effect, Gate, Host, Place, Provider, Rule, builtin_limits};
use std::path::Path;
use std::sync::Arc;

/// A backend whose one command, `guest`, is this component.
pub(crate) fn backend(wasm: Vec<u8>) -> WasmBackend {
    let digest = Digest::of(&wasm);
    let component = GuestComponent::new("guest", digest, ["guest"], move || Ok::<_, String>(wasm.clone()));
    WasmBackend::builder([component]).build().expect("the engine starts")
}

/// The built-in limits with one of them lowered.
pub(crate) fn lowered(name: &str, value: u64) -> Limits {
    builtin_limits().lowered_by(name, value).expect("it is lower")
}

/// What a guest is run with.
pub(crate) struct Setting {
    pub(crate) limits: Limits,
    pub(crate) stdin: Vec<u8>,
    pub(crate) mounts: Arc<Mounts>,
    pub(crate) rules: Vec<Rule>,
}

impl Default for Setting {
    fn default() -> Self {
        Self { limits: builtin_limits(), stdin: Vec::new(), mounts: Mounts::none(), rules: rules(&["Bash"]) }
    }
}

impl Setting {
    pub(crate) fn limited(name: &str, value: u64) -> Self {
        Self { limits: lowered(name, value), ..Self::default() }
    }

    /// With a project's directory, and rules beside the one that lets every command run.
    pub(crate) fn of_project(root: &Path, allow: &[&str]) -> Self {
        let mounts = Mounts::open_ambient(Some(root), &[]).expect("the project opens");
        Self { mounts, rules: rules(&[&["Bash"], allow].concat()), ..Self::default() }
    }
}

pub(crate) fn rules(allow: &[&str]) -> Vec<Rule> {
    allow.iter().map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule")).collect()
}

/// How a guest ended.
pub(crate) struct Ran {
    pub(crate) result: Result<u8, RunError>,
    pub(crate) stdout: Vec<u8>,
    /// Bytes that were written to standard output, kept or not.
    pub(crate) written: u64,
    pub(crate) run: Arc<Run>,
}

impl Ran {
    /// What stopped it.
    pub(crate) fn stop(&self) -> Stop {
        match &self.result {
            Err(RunError::Stopped { stop, .. }) => *stop,
            other => unreachable!("it was not stopped: {other:?}"),
        }
    }

    /// That the guest is at fault, and how.
    pub(crate) fn fault(&self) -> &str {
        match &self.result {
            Err(RunError::Fault { fault, .. }) => fault,
            other => unreachable!("it was not at fault: {other:?}"),
        }
    }
}

pub(crate) fn run_on(backend: &WasmBackend, setting: Setting) -> Ran {
    run_as(backend, setting, Provider::Shipped)
}

pub(crate) fn run_third_party(backend: &WasmBackend, setting: Setting) -> Ran {
    run_as(backend, setting, Provider::ThirdParty)
}

fn run_as(backend: &WasmBackend, setting: Setting, provider: Provider) -> Ran {
    let gate = Gate::new(Authority::of(Host::granting(setting.rules)));
    let approved = gate.approve(CommandRequest::from_author(&["guest"], provider)).expect("the rules allow it");
    let capture = Capture::new(setting.limits.output_bytes, Overflow::Drop);
    let run = Run::start(setting.limits);
    let job = Job {
        directory: "/",
        environment: &[],
        stdin: Input::Buffer(skillgate_exec::Buffer::new(setting.stdin)),
        stdout: Output::Capture(Arc::clone(&capture)),
        stderr: Output::Discard,
        mounts: &setting.mounts,
        run: &run,
        nested: None,
    };
    let result = backend.run(approved, job).map(|Exit { code, .. }| code);
    let (stdout, written) = capture.take();
    Ran { result, stdout, written, run }
}

pub(crate) fn run(attack: &Attack, setting: Setting) -> Ran {
    run_on(&backend(attack.component()), setting)
}
