//! `ls`, `du` and `stat` in the sandbox: what POSIX tells of files, as GNU's commands print it.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_policy::{Effect, builtin_limits};
use skillgate_tests::{Sandboxed, sandboxed};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// 2 January 2026, 03:04:05.
const THEN: u64 = 1_767_323_045;

/// A project whose modes and times are known.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("beds")).expect("a directory");
    for (name, bytes, mode) in [("README.md", 26, 0o644), ("beds/a", 5_000, 0o600), ("run.sh", 3, 0o755)] {
        fs::write(at(name), "x".repeat(bytes)).expect("a file");
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("a mode");
    }
    symlink("beds", at("link")).expect("a link");
    for name in ["README.md", "run.sh", "beds/a", "beds"] {
        let then = UNIX_EPOCH + Duration::from_secs(THEN);
        let times = FileTimes::new().set_accessed(then).set_modified(then);
        File::open(at(name)).and_then(|file| file.set_times(times)).expect("times");
    }
    root
}

fn run(root: &Path, source: &str) -> Sandboxed {
    sandboxed(env!("CARGO_TARGET_TMPDIR"), root, source, &[(Effect::Allow, "Bash")], builtin_limits())
}

fn owner(id: u32) -> String {
    if id == 0 { "root".to_owned() } else { id.to_string() }
}

#[test]
fn the_long_format_tells_what_posix_tells() {
    let root = project();
    let status = fs::metadata(root.path().join("README.md")).expect("it is there");
    let (user, group) = (owner(status.uid()), owner(status.gid()));
    let ran = run(root.path(), "ls -l README.md run.sh");
    let expected = format!(
        "-rw-r--r-- 1 {user} {group} 26 Jan  2  2026 README.md\n-rwxr-xr-x 1 {user} {group}  3 Jan  2  2026 run.sh\n"
    );
    // What is not older than half a year is shown with its time.
    let recent = expected.replace(" 2026 ", "03:04 ");
    assert!([expected, recent].contains(&ran.stdout), "{}{}", ran.stdout, ran.stderr);
    for (source, stdout) in [
        ("ls -l --time-style=full-iso README.md | cut -d ' ' -f 6-7", "2026-01-02 03:04:05.000000000\n".to_owned()),
        ("ls -ld link | tail -c 13", "link -> beds\n".to_owned()),
        ("ls -F", "README.md\nbeds/\nlink@\nrun.sh*\n".to_owned()),
        ("ls -lh beds | tail -1 | cut -c 1-10", "-rw-------\n".to_owned()),
        ("ls -S README.md run.sh beds/a", "beds/a\nREADME.md\nrun.sh\n".to_owned()),
        ("ls -a beds", ".\n..\na\n".to_owned()),
        ("ls -la | head -3 | tail -2 | cut -c 1", "d\nd\n".to_owned()),
        ("stat -c '%a %s %Y %F' README.md", format!("644 26 {THEN} regular file\n")),
        ("stat -c '%A %N' link", "lrwxrwxrwx 'link' -> 'beds'\n".to_owned()),
        ("du -b beds/a", "5000\tbeds/a\n".to_owned()),
        ("find . -name 'run*' -perm -u+x -printf '%m %M %s\\n'", "755 -rwxr-xr-x 3\n".to_owned()),
        ("find . -newermt 2100-01-01 -type f", String::new()),
    ] {
        let ran = run(root.path(), source);
        assert_eq!((ran.stdout, ran.result.map(|c| c.status)), (stdout, Ok(0)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn sizes_are_those_of_blocks() {
    let root = project();
    let blocks = |name: &str| fs::symlink_metadata(root.path().join(name)).expect("it is there").blocks();
    let total = (blocks("beds") + blocks("beds/a")).div_ceil(2);
    let ran = run(root.path(), "du -s beds; ls -s beds | head -1");
    assert_eq!(ran.stdout, format!("{total}\tbeds\ntotal {}\n", blocks("beds/a").div_ceil(2)), "{}", ran.stderr);
}

#[test]
fn what_holds_the_project_is_shown_as_a_status_only() {
    let root = project();
    let holder = root.path().parent().expect("it has one");
    let mode = fs::metadata(holder).expect("it is there").permissions().mode() & 0o7777;
    let ran = run(root.path(), "ls -la | head -3 | tail -1 | cut -c 2-10; stat -c %a ..");
    assert!(ran.stdout.ends_with(&format!("\n{mode:o}\n")), "{}{}", ran.stdout, ran.stderr);
    let secret = holder.join(format!("{}-secret", root.path().file_name().expect("a name").to_string_lossy()));
    fs::write(&secret, "s").expect("a file");
    let path = secret.to_str().expect("UTF-8");
    for source in [format!("ls -l {path}"), format!("stat -c %s {path}"), format!("du {path}")] {
        let ran = run(root.path(), &source);
        assert!(ran.stderr.contains("No such file or directory"), "{source}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{source}");
    }
    let ran = run(root.path(), "ls -l ..");
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    fs::remove_file(&secret).expect("it was there");
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let root = project();
    for (source, message) in [
        ("ls --color=always", "skillgate: ls: --color without a terminal is not supported\n"),
        ("ls -Z", "skillgate: ls: --context is not supported\n"),
        ("du --time", "skillgate: du: --time is not supported\n"),
        ("stat -f .", "skillgate: stat: --file-system is not supported\n"),
        ("find . -newermt 'next month'", "skillgate: find: -newermt ‘next month’ is not supported\n"),
    ] {
        let ran = run(root.path(), source);
        let status = ran.result.map(|completion| completion.status);
        assert_eq!((ran.stderr.as_str(), ran.stdout.as_str(), status), (message, "", Ok(2)), "{source}");
    }
}
