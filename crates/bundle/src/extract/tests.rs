//! Every step killed, every step failing, every step with something planted at it.
#![expect(
    clippy::disallowed_methods,
    reason = "fixtures, attacks and killed processes are made outside the code under test"
)]
#![expect(clippy::print_stdout, reason = "the tests list the steps that they went through")]

use super::{Extraction, LOCK, is_ours_by_name, remove_leftovers_ambient};
use crate::{ExtractError, Resolver, Step};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

type Act = dyn Fn(Step, &Path) -> Result<(), Errno> + Send + Sync;

/// What happens before a step.
pub(super) struct Interrupt(Box<Act>);

impl Interrupt {
    pub(super) fn before(&self, step: Step, path: &Path) -> Result<(), Errno> {
        (self.0)(step, path)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

const FILES: [(&str, &[u8]); 4] = [
    ("SKILL.md", b"---\ndescription: x\n---\nbody\n"),
    ("scripts/run.sh", b"echo hi\n"),
    ("scripts/deep/more.sh", b"echo more\n"),
    ("empty", b""),
];

/// Begins an extraction of which `act` is asked before every step, the first ones included.
fn begin(
    parent: &Path,
    act: impl Fn(Step, &Path) -> Result<(), Errno> + Send + Sync + 'static,
) -> Result<Extraction, ExtractError> {
    let mut extraction = Extraction::begin(parent, Resolver::best(), &mut |step, path| act(step, path))?;
    extraction.interrupt = Some(Interrupt(Box::new(act)));
    Ok(extraction)
}

/// How often each step is reached by a whole run, in order.
fn steps(parent: &Path) -> Vec<Step> {
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&seen);
    let extraction = begin(parent, move |step, _| {
        log.lock().expect("a lock").push(step);
        Ok(())
    });
    extraction.expect("begins").extract("skill", FILES).expect("extracts");
    seen.lock().expect("a lock").clone()
}

fn entries(directory: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(directory).expect("a directory");
    names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// Every file and directory below, from the top.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_path_buf()];
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn files_are_there_whole_and_for_their_owner_alone() {
    let tree = tempfile::tempdir().expect("a directory");
    let extraction = Extraction::begin_ambient(tree.path()).expect("begins");
    let skill = extraction.extract("skill", FILES).expect("extracts");
    for (path, bytes) in FILES {
        assert_eq!(fs::read(skill.join(path)).expect(path), bytes);
    }
    for path in walk(extraction.path()) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
    assert_eq!(extraction.extract("skill", FILES).expect("again"), skill);
    let other: [(&str, &[u8]); 1] = [("SKILL.md", b"other")];
    assert!(matches!(extraction.extract("skill", other), Err(ExtractError::Conflict(_))));
    drop(extraction);
    assert!(entries(tree.path()).is_empty(), "it is gone with its owner");
}

#[test]
fn bad_names_are_refused_before_anything_is_written() {
    let tree = tempfile::tempdir().expect("a directory");
    let extraction = Extraction::begin_ambient(tree.path()).expect("begins");
    for files in [
        vec!["../x"],
        vec!["/x"],
        vec!["a/../../x"],
        vec!["ok", "OK"],
        vec!["a", "a/b"],
        vec!["nul.txt"],
        vec!["ok", "x\0y"],
    ] {
        let files = files.into_iter().map(|path| (path, b"x".as_slice()));
        assert!(matches!(extraction.extract("skill", files), Err(ExtractError::Name(_))));
    }
    for name in ["../x", "a/b", ".lock", "", ".", "/x"] {
        assert!(matches!(extraction.extract(name, FILES), Err(ExtractError::Name(_))), "{name}");
    }
    assert_eq!(entries(extraction.path()), BTreeSet::from([LOCK.to_owned()]));
}

#[test]
fn concurrent_first_uses_extract_once() {
    let tree = tempfile::tempdir().expect("a directory");
    let created = std::sync::Arc::new(Mutex::new(0));
    let count = std::sync::Arc::clone(&created);
    let extraction = begin(tree.path(), move |step, _| {
        *count.lock().expect("a lock") += usize::from(step == Step::Publish);
        Ok(())
    })
    .expect("begins");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| extraction.extract("skill", FILES).expect("extracts"));
        }
    });
    assert_eq!(*created.lock().expect("a lock"), 1);
}

#[test]
fn steps_that_fail_leave_nothing_that_is_used() {
    let tree = tempfile::tempdir().expect("a directory");
    let steps = steps(tree.path());
    assert_eq!(BTreeSet::from_iter(steps.iter().map(|step| step.as_str())).len(), Step::ALL.len());
    for (failing, &step) in steps.iter().enumerate() {
        let reached = std::sync::Arc::new(Mutex::new(0));
        let fails = move |_: Step, _: &Path| {
            let mut reached = reached.lock().expect("a lock");
            *reached += 1;
            if *reached == failing + 1 { Err(Errno::NOSPC) } else { Ok(()) }
        };
        println!("{failing}: {step} fails for want of space");
        match begin(tree.path(), fails) {
            Err(ExtractError::Io { step: failed, source, .. }) => {
                assert_eq!((failed, source.kind()), (step, std::io::ErrorKind::StorageFull));
            }
            Err(error) => panic!("{error}"),
            Ok(extraction) => {
                let error = extraction.extract("skill", FILES).expect_err("a step fails");
                assert!(matches!(&error, ExtractError::Io { step: failed, .. } if *failed == step), "{error}");
                assert!(error.help().is_some_and(|help| help.contains("make room")));
                assert_eq!(entries(extraction.path()), BTreeSet::from([LOCK.to_owned()]), "{step}");
                // The same extraction works when the reason is gone.
                extraction.extract("skill", FILES).expect("the second time");
            }
        }
        assert!(entries(tree.path()).is_empty(), "{step} left something");
    }
}

/// The environment variable that tells a test to be killed before a step.
const KILL_AT: &str = "SKILLGATE_TEST_KILL_AT";
const KILL_IN: &str = "SKILLGATE_TEST_KILL_IN";

#[test]
fn steps_at_which_the_process_is_killed() {
    if let (Ok(at), Ok(parent)) = (std::env::var(KILL_AT), std::env::var(KILL_IN)) {
        let at: usize = at.parse().expect("a number");
        let reached = Mutex::new(0);
        let killed = move |_: Step, _: &Path| {
            let mut reached = reached.lock().expect("a lock");
            *reached += 1;
            if *reached == at + 1 {
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
            }
            Ok(())
        };
        let extraction = begin(Path::new(&parent), killed).expect("begins");
        extraction.extract("skill", FILES).expect("extracts");
        panic!("step {at} was never reached");
    }
    let tree = tempfile::tempdir().expect("a directory");
    let steps = steps(tree.path());
    let program = std::env::current_exe().expect("this program");
    for (at, step) in steps.iter().enumerate() {
        println!("{at}: killed before {step}");
        let status = Command::new(&program)
            .args(["--exact", "extract::tests::steps_at_which_the_process_is_killed"])
            .env(KILL_AT, at.to_string())
            .env(KILL_IN, tree.path())
            .stdout(Stdio::null())
            .status()
            .expect("it starts");
        assert!(!status.success());
        // Whatever it left, a later run uses nothing of it, and removes what is provably a dead process's.
        let extraction = Extraction::begin_ambient(tree.path()).expect("begins");
        let skill = extraction.extract("skill", FILES).expect("extracts");
        assert_eq!(fs::read(skill.join("scripts/run.sh")).expect("a file"), b"echo hi\n");
        remove_leftovers_ambient(tree.path()).expect("it can be listed");
        let left: Vec<String> =
            entries(tree.path()).into_iter().filter(|name| !extraction.path().ends_with(name)).collect();
        // Before it has a lock, a directory is empty and may be a living process's.
        for name in left {
            assert!(*step == Step::LockRoot && is_ours_by_name(&name), "{step} left {name}");
            fs::remove_dir(tree.path().join(name)).expect("an empty directory");
        }
    }
}

#[test]
fn steps_at_which_something_is_planted() {
    let tree = tempfile::tempdir().expect("a directory");
    let outside = tree.path().join("outside");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("victim"), "untouched").expect("a file");
    let parent = tree.path().join("parent");
    fs::create_dir(&parent).expect("a directory");
    let steps = steps(&parent);
    type Plant = fn(&Path, &Path) -> std::io::Result<()>;
    let plants: [(&str, Plant); 4] = [
        ("a link to a directory", |outside, path| symlink(outside, path)),
        ("a link to a file", |outside, path| symlink(outside.join("victim"), path)),
        ("a dangling link", |outside, path| symlink(outside.join("new"), path)),
        ("a file", |_, path| fs::write(path, "planted")),
    ];
    for (planting, step) in steps.iter().enumerate() {
        // Before these there is a name that could be taken; the others work on what is open already.
        if !matches!(step, Step::MakeRoot | Step::LockRoot | Step::MakeDirectory | Step::CreateFile | Step::Publish) {
            continue;
        }
        for (what, plant) in plants {
            println!("{planting}: {what} is planted before {step}");
            let reached = Mutex::new(0);
            let target = outside.clone();
            let plants = move |_: Step, path: &Path| {
                let mut reached = reached.lock().expect("a lock");
                *reached += 1;
                if *reached == planting + 1 {
                    plant(&target, path).expect("it can be planted");
                }
                Ok(())
            };
            let error = match begin(&parent, plants) {
                Err(error) => error,
                Ok(extraction) => extraction.extract("skill", FILES).expect_err("it is refused"),
            };
            assert!(
                matches!(&error, ExtractError::Foreign { step: refused, .. } if refused == step),
                "{step} {what}: {error}"
            );
            assert_eq!(fs::read_to_string(outside.join("victim")).expect("it is there"), "untouched");
            assert_eq!(entries(&outside), BTreeSet::from(["victim".to_owned()]));
            for entry in fs::read_dir(&parent).expect("a directory") {
                // Only what was planted in the parent itself is left: it is not ours.
                let path = entry.expect("an entry").path();
                assert!(*step == Step::MakeRoot, "{step} left {}", path.display());
                fs::remove_file(path).expect("it was planted");
            }
        }
    }
}

#[test]
fn a_directory_that_is_swapped_while_it_is_written_sends_nothing_outside() {
    let tree = tempfile::tempdir().expect("a directory");
    let outside = tree.path().join("outside");
    fs::create_dir_all(outside.join("deep")).expect("directories");
    let parent = tree.path().join("parent");
    fs::create_dir(&parent).expect("a directory");
    // Before each file is made, every directory of the unfinished skill is moved away and a link put in its place.
    let target = outside.clone();
    let swaps = move |step: Step, path: &Path| {
        if step == Step::CreateFile
            && let Some(directory) = path.parent()
            && directory.file_name().is_some_and(|name| name == "scripts" || name == "deep")
            && directory.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
        {
            fs::rename(directory, directory.with_extension("moved")).expect("it can be moved");
            symlink(&target, directory).expect("a link");
        }
        Ok(())
    };
    let extraction = begin(&parent, swaps).expect("begins");
    let error = extraction.extract("skill", FILES).expect_err("a link stands on the way");
    assert!(matches!(error, ExtractError::Foreign { .. } | ExtractError::Io { .. }), "{error}");
    assert_eq!(walk(&outside).len(), 2, "nothing was made outside");
    assert_eq!(entries(extraction.path()), BTreeSet::from([LOCK.to_owned()]));
}

#[test]
fn threads_that_swap_links_and_directories_get_nothing_outside() {
    let tree = tempfile::tempdir().expect("a directory");
    let outside = tree.path().join("outside");
    fs::create_dir(&outside).expect("a directory");
    let parent = tree.path().join("parent");
    fs::create_dir(&parent).expect("a directory");
    let extraction = Extraction::begin_ambient(&parent).expect("begins");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    for entry in fs::read_dir(extraction.path()).into_iter().flatten().flatten() {
                        let scripts = entry.path().join("scripts");
                        // Each may lose against the extraction.
                        let _moved = fs::rename(&scripts, entry.path().join("moved"));
                        let _linked = symlink(&outside, &scripts);
                        let _removed = fs::remove_file(&scripts);
                    }
                }
            });
        }
        for number in 0..300 {
            // Refused or whole; a skill whose directory was moved away after it was written is the attacker's own loss.
            let _either = extraction.extract(&format!("skill{number}"), FILES);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(entries(&outside).is_empty(), "{:?}", entries(&outside));
}

#[test]
fn a_parent_that_others_can_change_is_refused() {
    let tree = tempfile::tempdir().expect("a directory");
    let parent = tree.path().join("parent");
    fs::create_dir(&parent).expect("a directory");
    for (mode, refused) in [(0o777, true), (0o770, true), (0o1777, false), (0o755, false), (0o700, false)] {
        fs::set_permissions(&parent, fs::Permissions::from_mode(mode)).expect("a mode");
        let begun = Extraction::begin_ambient(&parent);
        assert_eq!(matches!(begun, Err(ExtractError::UnsafeParent { .. })), refused, "{mode:o}");
    }
    fs::write(tree.path().join("file"), "").expect("a file");
    for missing in ["nowhere", "file"] {
        let error = Extraction::begin_ambient(&tree.path().join(missing)).expect_err(missing);
        assert!(matches!(&error, ExtractError::Io { step: Step::OpenParent, .. }), "{error}");
        assert!(error.help().is_some());
    }
}

#[test]
fn only_what_is_provably_ours_and_dead_is_removed() {
    let tree = tempfile::tempdir().expect("a directory");
    let random = "0123456789abcdef0123456789abcdef";
    let make = |name: &str, mode: u32, lock: bool| {
        let path = tree.path().join(name);
        fs::create_dir(&path).expect("a directory");
        if lock {
            fs::write(path.join(LOCK), "").expect("a file");
            fs::set_permissions(path.join(LOCK), fs::Permissions::from_mode(0o600)).expect("a mode");
        }
        fs::write(path.join("inside"), "").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    make(&format!("skillgate-{random}"), 0o700, true);
    make("skillgate-short", 0o700, true);
    make(&format!("other-{random}"), 0o700, true);
    make(&format!("skillgate-1{}", &random[1..]), 0o755, true);
    make(&format!("skillgate-2{}", &random[1..]), 0o700, false);
    symlink(tree.path(), tree.path().join(format!("skillgate-3{}", &random[1..]))).expect("a link");
    let living = Extraction::begin_ambient(tree.path()).expect("begins");
    assert_eq!(remove_leftovers_ambient(tree.path()).expect("it can be listed"), 1);
    assert_eq!(entries(tree.path()).len(), 6);
    assert!(!tree.path().join(format!("skillgate-{random}")).exists());
    assert!(living.path().exists());
}

#[test]
fn the_umask_does_not_matter() {
    if std::env::var_os(KILL_IN).is_none() {
        // The umask belongs to the whole process, so a process of its own has it.
        let tree = tempfile::tempdir().expect("a directory");
        let status = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "extract::tests::the_umask_does_not_matter"])
            .env(KILL_IN, tree.path())
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("it starts").success());
        return;
    }
    let parent = PathBuf::from(std::env::var_os(KILL_IN).expect("a directory"));
    for umask in [0o000, 0o077, 0o377, 0o777] {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
        // A directory that its owner may not enter can be opened by root alone before its mode is set.
        let Ok(extraction) = Extraction::begin_ambient(&parent) else { continue };
        let Ok(skill) = extraction.extract("skill", FILES) else { continue };
        for path in walk(&skill) {
            assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{umask:o} {}", path.display());
        }
    }
    let owner = fs::metadata(&parent).expect("it is there").uid();
    assert_eq!(owner, rustix::process::geteuid().as_raw());
}
