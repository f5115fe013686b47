//! What a guest can name, open and change.

use crate::support::{Ran, Setting, backend, run_on};
use skillgate_exec::RunError;
use skillgate_exec_wasm::WasmBackend;
use skillgate_exec_wasm::attack::{Argument, Calls, Operation, caller};
use skillgate_policy::RefusalReason;
use std::path::{Path, PathBuf};

/// Numbers of WASI's errors.
const ACCESS: u32 = 0;
const INVALID: u32 = 12;
const LOOP: u32 = 15;
const NAME_TOO_LONG: u32 = 18;
const NO_ENTRY: u32 = 20;
const NOT_DIRECTORY: u32 = 24;

const FOLLOW: Argument<'_> = Argument::Number(1);
const NO_FLAGS: Argument<'_> = Argument::Number(0);
const READ: Argument<'_> = Argument::Number(1);
const READ_WRITE: Argument<'_> = Argument::Number(3);
const CREATE: Argument<'_> = Argument::Number(1);
const TRUNCATE: Argument<'_> = Argument::Number(8);

/// A project, and beside it what must not be reached.
struct Place {
    home: tempfile::TempDir,
    backend: WasmBackend,
}

impl Place {
    #[cfg(unix)]
    fn new() -> Self {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        for directory in ["project/dir", "project/out", "project-evil", "outside"] {
            std::fs::create_dir_all(at(directory)).expect("a directory");
        }
        for file in ["project/file.txt", "project/dir/inner", "project/out/a", "project-evil/x", "outside/secret"] {
            std::fs::write(at(file), file).expect("a file");
        }
        for (target, link) in [
            ("../outside/secret", "project/link-out"),
            ("../outside", "project/way-out"),
            ("file.txt", "project/link-in"),
            ("dir", "project/way-in"),
            ("../file.txt", "project/out/link"),
            ("link-loop", "project/link-loop"),
        ] {
            symlink(target, at(link)).expect("a link");
        }
        symlink(at("outside/secret"), at("project/link-absolute")).expect("a link");
        rustix::fs::mknodat(rustix::fs::CWD, at("project/fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a fifo");
        drop(std::os::unix::net::UnixListener::bind(at("project/socket")).expect("a socket"));
        Self { home, backend: backend(caller()) }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// A path of the project as the guest names it, from the root it was given.
    fn named(&self, path: &str) -> String {
        let project = self.project();
        format!("{}/{path}", project.to_str().expect("UTF-8").trim_start_matches('/'))
    }

    fn run(&self, calls: &Calls, allow: &[&str]) -> Ran {
        run_on(&self.backend, Setting { stdin: calls.bytes(), ..Setting::of_project(&self.project(), allow) })
    }

    /// What the last call gave.
    fn last(&self, calls: &Calls, allow: &[&str]) -> Result<u32, u32> {
        let ran = self.run(calls, allow);
        assert_eq!(ran.result, Ok(0), "{calls:?}");
        *Calls::results(&ran.stdout).last().expect("a call was made")
    }

    /// The kinds, names and contents of everything in the place.
    fn snapshot(&self) -> Vec<(PathBuf, String)> {
        fn walk(directory: &Path, into: &mut Vec<(PathBuf, String)>) {
            for entry in std::fs::read_dir(directory).expect("lists") {
                let path = entry.expect("lists").path();
                let metadata = path.symlink_metadata().expect("is there");
                let content =
                    if metadata.is_file() { std::fs::read_to_string(&path).expect("a text") } else { String::new() };
                let modified = metadata.modified().expect("the system has times");
                into.push((path.clone(), format!("{:?} {modified:?} {content}", metadata.file_type())));
                if metadata.is_dir() {
                    walk(&path, into);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.home.path(), &mut found);
        found.sort();
        found
    }
}

fn open(path: &str, follow: Argument<'_>, open: Argument<'_>, flags: Argument<'_>) -> Calls {
    let mut calls = Calls::default();
    calls.add(Operation::OpenAt, &[Argument::Root, follow, Argument::Text(path), open, flags]);
    calls
}

#[test]
#[cfg(unix)]
fn only_regular_files_and_directories_inside_a_mount_are_opened() {
    let place = Place::new();
    let before = place.snapshot();
    let project = place.project();
    let absolute = |path: &str| format!("{}/{path}", project.to_str().expect("UTF-8"));
    let long = "x/".repeat(2_100);
    for (path, expected) in [
        (place.named("file.txt"), Ok(())),
        (place.named("dir"), Ok(())),
        (place.named("dir/"), Ok(())),
        (place.named("dir//inner"), Ok(())),
        (place.named("dir/./inner"), Ok(())),
        (place.named("dir/../file.txt"), Ok(())),
        (place.named("link-in"), Ok(())),
        (place.named("way-in/inner"), Ok(())),
        (absolute("file.txt"), Ok(())),
        ("dev/null".to_owned(), Ok(())),
        (place.named("../project/file.txt"), Ok(())),
        (place.named("file.txt/"), Err(NOT_DIRECTORY)),
        (place.named("file.txt/."), Err(NOT_DIRECTORY)),
        (place.named("link-in/"), Err(NOT_DIRECTORY)),
        (place.named("file.txt/../file.txt"), Err(NOT_DIRECTORY)),
        (place.named("missing"), Err(NO_ENTRY)),
        (place.named("../outside/secret"), Err(NO_ENTRY)),
        (place.named("dir/../../outside/secret"), Err(NO_ENTRY)),
        (place.named("..//outside/secret"), Err(NO_ENTRY)),
        (place.named("../project-evil/x"), Err(NO_ENTRY)),
        (place.named("link-out"), Err(ACCESS)),
        (place.named("link-out/"), Err(ACCESS)),
        (place.named("link-absolute"), Err(ACCESS)),
        (place.named("way-out/secret"), Err(ACCESS)),
        (place.named("way-out/"), Err(ACCESS)),
        (place.named("link-loop"), Err(LOOP)),
        (place.named("fifo"), Err(ACCESS)),
        (place.named("socket"), Err(ACCESS)),
        (place.named("fifo/"), Err(ACCESS)),
        (place.named("C:\\Windows"), Err(NO_ENTRY)),
        (place.named("c:file.txt"), Err(NO_ENTRY)),
        (place.named("\\\\?\\file.txt"), Err(NO_ENTRY)),
        (place.named("nul"), Err(NO_ENTRY)),
        (place.named("file.txt:stream"), Err(NO_ENTRY)),
        (place.named("file.txt\0"), Err(INVALID)),
        (place.named(&long), Err(NAME_TOO_LONG)),
        ("etc/passwd".to_owned(), Err(NO_ENTRY)),
        ("/etc/passwd".to_owned(), Err(NO_ENTRY)),
        ("../../etc/passwd".to_owned(), Err(NO_ENTRY)),
        ("proc/self/root/etc/passwd".to_owned(), Err(NO_ENTRY)),
        ("proc/self/fd/0".to_owned(), Err(NO_ENTRY)),
        ("dev/fd/0".to_owned(), Err(NO_ENTRY)),
        ("dev/null/".to_owned(), Err(NO_ENTRY)),
        ("dev/tty".to_owned(), Err(NO_ENTRY)),
    ] {
        let opened = place.last(&open(&path, FOLLOW, NO_FLAGS, READ), &[]);
        assert_eq!(opened.map(drop), expected, "{path:?}");
    }
    for (path, expected) in [("link-in", Err(LOOP)), ("link-out", Err(LOOP)), ("file.txt", Ok(()))] {
        let opened = place.last(&open(&place.named(path), NO_FLAGS, NO_FLAGS, READ), &[]);
        assert_eq!(opened.map(drop), expected, "{path:?} without following");
    }
    assert_eq!(place.snapshot(), before);
}

/// Every way to change something below a path, on a read-only project.
fn changes(place: &Place, directory: &str) -> Vec<Calls> {
    use Argument::{Number, Root, Text};
    use Operation as Op;
    let there = place.named(&format!("{directory}/a"));
    let new = place.named(&format!("{directory}/new"));
    let outside = place.named("../outside/secret");
    let one = |operation, arguments: &[Argument<'_>]| {
        let mut calls = Calls::default();
        calls.add(operation, arguments);
        calls
    };
    let mut all = vec![
        open(&there, FOLLOW, TRUNCATE, READ),
        open(&there, FOLLOW, NO_FLAGS, READ_WRITE),
        open(&new, FOLLOW, CREATE, READ_WRITE),
        open(&new, FOLLOW, CREATE, READ),
        open(&format!("{there}/"), FOLLOW, TRUNCATE, READ_WRITE),
        one(Op::CreateDirectoryAt, &[Root, Text(&new)]),
        one(Op::RemoveDirectoryAt, &[Root, Text(&there)]),
        one(Op::UnlinkFileAt, &[Root, Text(&there)]),
        one(Op::UnlinkFileAt, &[Root, Text(&format!("{there}/"))]),
        one(Op::RenameAt, &[Root, Text(&there), Root, Text(&new)]),
        one(Op::RenameAt, &[Root, Text(&outside), Root, Text(&new)]),
        one(Op::RenameAt, &[Root, Text(&there), Root, Text(&place.named("link-out"))]),
        one(Op::RenameAt, &[Root, Text(&there), Root, Text(&place.named("link-out/"))]),
        one(Op::LinkAt, &[Root, NO_FLAGS, Text(&there), Root, Text(&new)]),
        one(Op::SymlinkAt, &[Root, Text("/etc/passwd"), Text(&new)]),
        one(Op::SetTimesAt, &[Root, FOLLOW, Text(&there), Number(2), Number(1)]),
        one(Op::SetTimesAt, &[Root, FOLLOW, Text(&place.named("link-out")), Number(2), Number(1)]),
    ];
    for (operation, arguments) in [
        (Op::SetSize, vec![Argument::Value(0), Number(0)]),
        (Op::SetTimes, vec![Argument::Value(0), Number(2), Number(1)]),
        (Op::Write, vec![Argument::Value(0), Text("overwritten"), Number(0)]),
        (Op::WriteViaStream, vec![Argument::Value(0), Number(0)]),
        (Op::AppendViaStream, vec![Argument::Value(0)]),
    ] {
        let mut calls = open(&there, FOLLOW, NO_FLAGS, READ);
        calls.add(operation, &arguments);
        all.push(calls);
    }
    all
}

#[test]
#[cfg(unix)]
fn every_change_without_a_grant_refuses_the_run_and_changes_nothing() {
    let place = Place::new();
    let before = place.snapshot();
    for directory in ["out", "out/../out", "way-in/../out"] {
        for calls in changes(&place, directory) {
            for allow in [&[][..], &["Write(/elsewhere)"]] {
                match place.run(&calls, allow).result {
                    Err(RunError::Refused(refusal)) => {
                        assert!(matches!(refusal.reason, RefusalReason::Write { .. }), "{calls:?}: {refusal}");
                    }
                    other => unreachable!("{calls:?} with {allow:?}: {other:?}"),
                }
            }
        }
    }
    // What is outside is not there, as a place to put something neither.
    let mut calls = Calls::default();
    let (a, outside) = (place.named("out/a"), place.named("../outside/secret"));
    calls.add(Operation::RenameAt, &[Argument::Root, Argument::Text(&a), Argument::Root, Argument::Text(&outside)]);
    for allow in [&[][..], &["Write(/out)"]] {
        assert_eq!(place.last(&calls, allow), Err(NO_ENTRY), "{allow:?}");
    }
    assert_eq!(place.snapshot(), before);
}

#[test]
#[cfg(unix)]
fn a_grant_is_for_what_it_names_and_for_nothing_behind_a_slash_or_a_link() {
    use Argument::{Root, Text};
    use Operation as Op;
    let grant = ["Write(/out)"];
    let one = |operation, arguments: &[Argument<'_>]| {
        let mut calls = Calls::default();
        calls.add(operation, arguments);
        calls
    };
    let place = Place::new();
    let outside = || std::fs::read_to_string(place.home.path().join("outside/secret")).expect("is there");
    let (a, b, link) = (place.named("out/a"), place.named("out/b"), place.named("out/link"));
    let slash = |path: &str| format!("{path}/");
    // What ends in a slash is not taken for the file or the link of that name.
    for calls in [
        one(Op::UnlinkFileAt, &[Root, Text(&slash(&a))]),
        one(Op::UnlinkFileAt, &[Root, Text(&slash(&link))]),
        one(Op::RenameAt, &[Root, Text(&a), Root, Text(&slash(&link))]),
        one(Op::RenameAt, &[Root, Text(&slash(&link)), Root, Text(&b)]),
        one(Op::SetTimesAt, &[Root, FOLLOW, Text(&slash(&a)), Argument::Number(1)]),
    ] {
        assert_eq!(place.last(&calls, &grant), Err(NOT_DIRECTORY), "{calls:?}");
    }
    // Nothing is written through a link.
    assert_eq!(place.last(&open(&link, FOLLOW, TRUNCATE, READ_WRITE), &grant), Err(LOOP));
    // A link that a rename replaces is gone; where it led to is as it was.
    assert_eq!(place.last(&one(Op::RenameAt, &[Root, Text(&a), Root, Text(&link)]), &grant).map(drop), Ok(()));
    let project = place.project();
    assert_eq!(std::fs::read_to_string(project.join("file.txt")).expect("is there"), "project/file.txt");
    assert_eq!(std::fs::read_to_string(project.join("out/link")).expect("is there"), "project/out/a");
    // Links are made nowhere, and names beside the grant stay as they are.
    for calls in [
        one(Op::LinkAt, &[Root, NO_FLAGS, Text(&place.named("file.txt")), Root, Text(&b)]),
        one(Op::SymlinkAt, &[Root, Text("/etc/passwd"), Text(&b)]),
        one(Op::RenameAt, &[Root, Text(&link), Root, Text(&place.named("dir/b"))]),
        one(Op::RenameAt, &[Root, Text(&place.named("file.txt")), Root, Text(&b)]),
    ] {
        assert!(matches!(place.run(&calls, &grant).result, Err(RunError::Refused(_))), "{calls:?}");
    }
    assert_eq!(outside(), "outside/secret");
    // The control: with plain names all of it works.
    let mut calls = open(&b, FOLLOW, CREATE, READ_WRITE);
    calls.add(Op::Write, &[Argument::Value(0), Text("new"), Argument::Number(0)]);
    calls.add(Op::CreateDirectoryAt, &[Root, Text(&place.named("out/d/"))]);
    calls.add(Op::RemoveDirectoryAt, &[Root, Text(&place.named("out/d/"))]);
    calls.add(Op::UnlinkFileAt, &[Root, Text(&link)]);
    let ran = place.run(&calls, &grant);
    assert_eq!(ran.result, Ok(0));
    assert!(Calls::results(&ran.stdout).iter().all(Result::is_ok), "{:?}", Calls::results(&ran.stdout));
    assert_eq!(std::fs::read_to_string(project.join("out/b")).expect("is there"), "new");
    assert!(!project.join("out/link").exists());
}
