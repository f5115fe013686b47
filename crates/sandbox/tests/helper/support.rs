//! Plans for this machine, and what a run of one gave.

use skillgate_sandbox::{
    Action, Ending, Event, Helper, Identity, Link, Mount, MountKind, Plan, Program, Refused, Reply, RunUser, Running,
    StageReport, Stream, Unavailable,
};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a run gave.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) reports: Vec<StageReport>,
    pub(crate) ending: Option<Ending>,
    pub(crate) unavailable: Option<Unavailable>,
    pub(crate) refused: Option<Refused>,
    pub(crate) reached: Option<Vec<String>>,
}

/// Where the helper is, for a test that runs again as another user.
const HELPER: &str = "SKILLGATE_TEST_HELPER";
/// A user without rights, whom every system has.
const NOBODY: u32 = 65_534;

pub(crate) fn helper() -> Helper {
    match std::env::var_os(HELPER) {
        Some(path) => Helper::at(path),
        None => Helper::at(env!("CARGO_BIN_EXE_skillgate-sandbox")),
    }
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Tests, each as the user who runs the tests and, when that is root, as nobody too: what holds for one need not for the other.
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

/// Set in a process that runs one test alone.
const ALONE: &str = "SKILLGATE_TEST_ALONE";

/// Runs a test in a process of its own, when it counts what the process has: other tests may run beside it in this one.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let (_, name) = test.split_once("::").expect("the name of the crate comes first");
    let output = std::process::Command::new("/proc/self/exe")
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("the test starts again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "alone: {said}");
}

/// Runs one test of this program again, as nobody. The program and the helper may lie where nobody may go.
pub(crate) fn again_as_nobody(test: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("helper");
    std::fs::copy(helper().program(), &copy).expect("the helper is copied");
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (_, name) = test.split_once("::").expect("the name of the crate comes first");
    let output = std::process::Command::new("/proc/self/exe")
        .args(["--exact", name, "--nocapture"])
        .env(HELPER, copy)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("the test starts again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "as nobody: {said}");
    assert!(said.contains("1 passed"), "the test did not run as nobody: {said}");
}

/// The system of this machine, and `/bin/sh -c SCRIPT` in it.
pub(crate) fn shell(script: &str) -> Plan {
    let mut plan = Plan::new("sh", "/usr/bin/sh");
    plan.user = RunUser { uid: 0x7000_0000 + std::process::id(), gid: 0x7000_0000 + std::process::id() };
    plan.mounts = vec![Mount::system("/usr")];
    for name in ["bin", "sbin", "lib", "lib64"] {
        match std::fs::read_link(format!("/{name}")) {
            Ok(to) => plan.links.push(Link { path: format!("/{name}"), to: to.to_str().expect("UTF-8").to_owned() }),
            Err(_) if Path::new(&format!("/{name}")).is_dir() => plan.mounts.push(Mount::system(&format!("/{name}"))),
            Err(_) => {}
        }
    }
    plan.action = Action::Run(Program {
        path: "/usr/bin/sh".to_owned(),
        identity: None,
        vector: ["sh", "-c", script].map(str::to_owned).to_vec(),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
    });
    plan
}

/// A directory of the user, as a project is mounted.
pub(crate) fn project(path: &Path) -> Mount {
    let metadata = std::fs::metadata(path).expect("it is there");
    Mount {
        kind: if metadata.is_dir() { MountKind::Directory } else { MountKind::File },
        identity: Some(Identity { device: metadata.dev(), inode: metadata.ino(), content: None }),
        executable: false,
        owned: true,
        ..Mount::system(path.to_str().expect("UTF-8"))
    }
}

impl Outcome {
    /// What it printed, when it ended well.
    pub(crate) fn text(&self) -> &str {
        assert_eq!(self.ending, Some(Ending::Exited(0)), "{self:?}");
        &self.stdout
    }
}

/// A file system tree of one test.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// `script` in a sandbox that shows `path`, and starts there.
pub(crate) fn shell_in(path: &Path, script: &str) -> Plan {
    let mut plan = shell(script);
    plan.mounts.push(project(path));
    plan.directory = path.to_str().expect("UTF-8").to_owned();
    plan
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Plan) -> Outcome {
    finish(&mut helper().start(plan, false).expect("the helper starts"))
}

/// Listens until everything of a run is gone.
pub(crate) fn finish(running: &mut Running) -> Outcome {
    let mut outcome = Outcome::default();
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < until, "the run does not end: {outcome:?}");
        match running.next(Duration::from_secs(1)).expect("the helper can be heard") {
            Event::Output(stream, bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                match stream {
                    Stream::Stdout => outcome.stdout += &text,
                    Stream::Stderr => outcome.stderr += &text,
                }
            }
            Event::Reply(Reply::Enforced(reports)) => outcome.reports = reports,
            Event::Reply(Reply::Ended(ending)) => outcome.ending = Some(ending),
            Event::Reply(Reply::Unavailable(unavailable)) => outcome.unavailable = Some(unavailable),
            Event::Reply(Reply::Refused(refused)) => outcome.refused = Some(refused),
            Event::Reply(Reply::Reached(reached)) => outcome.reached = Some(reached),
            Event::Reply(_) | Event::Quiet => {}
            Event::Over => return outcome,
        }
    }
}
