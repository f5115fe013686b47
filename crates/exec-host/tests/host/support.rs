//! A command under a grant, run by the backend.

use skillgate_exec::{
    CapabilityShell, Capture, Completion, Executor as _, Input, Mounts, Output, Overflow, Program, Run, RunError,
    Scene, Streams,
};
use skillgate_exec_host::{HostBackend, HostBackendBuilder, NativeProgram};
use skillgate_policy::{Authority, Effect, Gate, Host, PathBase, Place, Rule, builtin_limits};
use skillgate_sandbox::Helper;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the helper is, for a test that runs again as another user.
const HELPER: &str = "SKILLGATE_TEST_HELPER";
const NOBODY: u32 = 65_534;

/// The helper that cargo built beside the tests.
pub(crate) fn helper() -> PathBuf {
    let built = || {
        let own = std::env::current_exe().expect("the system says");
        own.ancestors().nth(2).expect("target/PROFILE/deps").join("skillgate-sandbox")
    };
    let path = std::env::var_os(HELPER).map_or_else(built, PathBuf::from);
    assert!(path.exists(), "there is no helper: test together with `--package skillgate-sandbox`");
    path
}

/// Tests, each as the user who runs the tests and, when that is root, as nobody too.
macro_rules! tests_as_both {
    ($($(#[$doc:meta])* fn $name:ident() $body:block)+) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                $body
                $crate::support::again_as_nobody(concat!(module_path!(), "::", stringify!($name)));
            }
        )+
    };
}
pub(crate) use tests_as_both;

/// Runs one test of this program again, as nobody. The program and the helper may lie where nobody may go.
pub(crate) fn again_as_nobody(test: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("helper");
    std::fs::copy(helper(), &copy).expect("the helper is copied");
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (_, name) = test.split_once("::").expect("the name of the crate comes first");
    let output = std::process::Command::new("/proc/self/exe")
        .args(["--exact", name, "--nocapture"])
        .env(HELPER, copy)
        .env("HOME", directory.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("the test starts again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "as nobody: {said}");
    assert!(said.contains("1 passed"), "the test did not run as nobody: {said}");
}

/// A program of this machine, wherever it has it.
pub(crate) fn native(name: &str) -> NativeProgram {
    let places = ["/usr/bin", "/usr/local/bin", "/bin"].map(|directory| format!("{directory}/{name}"));
    let path = places.into_iter().find(|path| Path::new(path).exists()).expect(name);
    NativeProgram::new(name, path)
}

pub(crate) fn backend(programs: impl IntoIterator<Item = NativeProgram>) -> HostBackendBuilder {
    programs.into_iter().fold(HostBackend::builder().helper(Helper::at(helper())), HostBackendBuilder::program)
}

/// What a program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) result: Result<Completion, RunError>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn status(&self) -> u8 {
        self.result.as_ref().expect("it ends with a status").status
    }
}

/// Runs `line` in `project` with this backend, where these patterns are allowed.
pub(crate) fn run(backend: &Arc<HostBackend>, project: &Path, allow: &[&str], line: &str) -> Ran {
    run_within(backend, project, allow, line, |_| {})
}

pub(crate) fn run_within(
    backend: &Arc<HostBackend>,
    project: &Path,
    allow: &[&str],
    line: &str,
    lower: impl FnOnce(&mut skillgate_core::Limits),
) -> Ran {
    let mut limits = builtin_limits();
    lower(&mut limits);
    let rule = |text: &&str| match text.strip_prefix("deny ") {
        Some(text) => Rule::parse(Effect::Deny, text, Place::Host).expect("a rule"),
        None => Rule::parse(Effect::Allow, text, Place::Host).expect("a rule"),
    };
    let authority = Authority::of(Host::granting(allow.iter().map(rule)));
    let project = project.canonicalize().expect("it is there");
    let gate = Gate::within(authority, &PathBase::default().root(project.to_str().expect("UTF-8")));
    let shell = CapabilityShell::new(vec![Arc::clone(backend) as _]);
    let program = Program::from_text(line, &limits).expect(line);
    let mounts = Mounts::open_ambient(Some(&project), &[]).expect("it is there");
    let scene = Scene::new(mounts, project.to_str().expect("UTF-8"), Vec::new());
    let run = Run::start(limits);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let result = shell.execute(&program, &gate, &scene, &run, streams);
    let text = |capture: &Capture| String::from_utf8_lossy(&capture.take().0).into_owned();
    Ran { result, stdout: text(&out), stderr: text(&err) }
}
