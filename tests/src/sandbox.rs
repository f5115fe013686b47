use crate::{Ran, backend};
use skillgate_core::Limits;
use skillgate_exec::{
    AuditContext, CapabilityShell, Capture, Completion, Executor, Input, Mounts, Output, Overflow, Program, Run,
    RunError, Scene, Streams, Trail,
};
use skillgate_policy::{Authority, Effect, Gate, Host, Place, Rule};
use std::path::Path;
use std::sync::Arc;

/// How a program ended in the sandbox.
#[derive(Debug)]
pub struct Sandboxed {
    /// Its status, or why it has none.
    pub result: Result<Completion, RunError>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Every command that ended, with its status.
    pub ran: Vec<String>,
}

/// Runs a program in a project with the shipped components; `cache` is where their compiled form is kept.
#[must_use]
pub fn sandboxed(cache: &str, root: &Path, source: &str, rules: &[(Effect, &str)], limits: Limits) -> Sandboxed {
    let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text, Place::Host).expect("a rule"));
    let gate = Gate::new(Authority::of(Host::granting(rules)));
    let program = Program::from_text(source, &limits).expect(source);
    let mounts = Mounts::open_ambient(Some(root), &[]).expect("the project opens");
    let directory = root.to_str().expect("UTF-8").to_owned();
    let record = Ran::new();
    let environment = vec![("LANG".into(), "C.UTF-8".into()), ("TZ".into(), "UTC".into())];
    let mut scene = Scene::new(mounts, directory, environment);
    scene.trail = Trail::new(Arc::clone(&record) as Arc<_>, AuditContext::default());
    let run = Run::start(limits);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let result = CapabilityShell::new(vec![backend(cache)]).execute(&program, &gate, &scene, &run, streams);
    let text = |capture: &Capture| String::from_utf8(capture.take().0).expect("tests print UTF-8");
    Sandboxed { result, stdout: text(&out), stderr: text(&err), ran: record.lines() }
}
