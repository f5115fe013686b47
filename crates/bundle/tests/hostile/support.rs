use rustix::io::FdFlags;
use skillgate_bundle::{ExtractError, Extraction};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const FILES: [(&str, &[u8]); 2] = [("SKILL.md", b"text"), ("a/b.txt", b"more")];

/// A user without rights, whom every system has.
const NOBODY: u32 = 65_534;

/// Where a test works that was started again by itself.
const PLACE: &str = "SKILLGATE_TEST_PLACE";

pub(crate) fn begin(parent: &Path) -> Result<Extraction, ExtractError> {
    Extraction::begin_ambient(parent)
}

pub(crate) fn entries(directory: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(directory).expect("a directory");
    names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

pub(crate) fn is_empty(directory: &Path) -> bool {
    entries(directory).is_empty()
}

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
                /// The test's own name, by which it is started again.
                const TEST: &str = concat!(module_path!(), "::", stringify!($name));
                $body
                $crate::support::again_as_nobody(TEST);
            }
        )+
    };
}
pub(crate) use tests_as_both;

/// The name of a test without that of its crate.
fn below_crate(test: &str) -> &str {
    test.split_once("::").expect("the name of the crate comes first").1
}

fn passed(output: &Output, how: &str) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{how}: {said}");
}

/// Runs one test of this program again, as nobody. The program may lie where nobody may go.
pub(crate) fn again_as_nobody(test: &str) {
    if !is_root() || place().is_some() {
        return;
    }
    let output = Command::new("/proc/self/exe")
        .args(["--exact", below_crate(test), "--nocapture"])
        .current_dir("/")
        .env_remove("TMPDIR")
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    passed(&output.expect("the test starts again"), "as nobody");
}

/// The place of this process, when it is one that [`within`] started.
pub(crate) fn place() -> Option<PathBuf> {
    std::env::var_os(PLACE).map(PathBuf::from)
}

/// Runs `body` in a process of its own that may mount, after the shell has run `before` there with the place in `$PLACE`; what is
/// mounted, nobody else sees.
pub(crate) fn within(test: &str, before: &str, body: impl FnOnce(&Path)) {
    again(test, &["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"], before, body);
}

/// As [`within`], in the namespaces of the test.
pub(crate) fn limited(test: &str, before: &str, body: impl FnOnce(&Path)) {
    again(test, &["sh", "-c"], before, body);
}

fn again(test: &str, shell: &[&str], before: &str, body: impl FnOnce(&Path)) {
    if let Some(place) = place() {
        return body(&place);
    }
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("place");
    fs::create_dir(&place).expect("a directory");
    // By its descriptor, as the program may lie where this user may not go.
    let program = fs::File::open("/proc/self/exe").expect("this program");
    rustix::io::fcntl_setfd(&program, FdFlags::empty()).expect("it is open");
    let run = format!("exec /proc/self/fd/{} --exact \"$0\" --nocapture", program.as_raw_fd());
    let script = format!("PLACE=\"${PLACE}\"; {before} && {run}");
    let output =
        Command::new(shell[0]).args(&shell[1..]).args([script.as_str(), below_crate(test)]).env(PLACE, &place).output();
    passed(&output.expect("it starts; `unshare` is one of util-linux"), before);
    assert!(is_empty(&place), "what was mounted is seen outside, or something is left");
}
