//! What is taken to disk, and what is refused. `steps` kills, fails and attacks every single step.
#![expect(
    clippy::disallowed_methods,
    reason = "fixtures, attacks and killed processes are made outside the code under test"
)]

mod steps;

use super::{Extraction, LOCK, remove_leftovers_ambient};
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

/// The environment variable with the directory in which a test works that starts itself again.
const IN: &str = "SKILLGATE_TEST_EXTRACT_IN";

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
fn threads_that_swap_links_files_and_directories_get_nothing_outside() {
    let tree = tempfile::tempdir().expect("a directory");
    let outside = tree.path().join("outside");
    fs::create_dir(&outside).expect("a directory");
    let parent = tree.path().join("parent");
    fs::create_dir(&parent).expect("a directory");
    let extraction = Extraction::begin_ambient(&parent).expect("begins");
    fs::write(outside.join("victim"), "untouched").expect("a file");
    let done = std::sync::atomic::AtomicBool::new(false);
    // Each exchanges one thing with a link to the outside, and may lose against the extraction.
    let swaps: [fn(&Path, &Path); 3] = [
        |outside, unfinished| {
            let scripts = unfinished.join("scripts");
            let _moved = fs::rename(&scripts, unfinished.join("moved"));
            let _linked = symlink(outside, &scripts);
            let _removed = fs::remove_file(&scripts);
        },
        |outside, unfinished| {
            for file in ["SKILL.md", "scripts/run.sh"] {
                let file = unfinished.join(file);
                let _removed = fs::remove_file(&file);
                let _linked = symlink(outside.join("victim"), &file);
            }
        },
        |outside, unfinished| {
            let moved = unfinished.with_extension("moved");
            let _moved = fs::rename(unfinished, &moved);
            let _linked = symlink(outside, unfinished);
            let _removed = fs::remove_file(unfinished);
            let _moved_back = fs::rename(&moved, unfinished);
        },
    ];
    std::thread::scope(|scope| {
        for swap in swaps {
            let (done, extraction, outside) = (&done, &extraction, &outside);
            scope.spawn(move || {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    for entry in fs::read_dir(extraction.path()).into_iter().flatten().flatten() {
                        swap(outside, &entry.path());
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
    assert_eq!(fs::read_to_string(outside.join("victim")).expect("it is there"), "untouched");
    for name in entries(&outside).into_iter().filter(|name| name != "victim") {
        // Links that the attackers made through their own links.
        assert!(outside.join(&name).is_symlink(), "{name}");
    }
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
    if std::env::var_os(IN).is_none() {
        // The umask belongs to the whole process, so a process of its own has it.
        let tree = tempfile::tempdir().expect("a directory");
        let status = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "extract::tests::the_umask_does_not_matter"])
            .env(IN, tree.path())
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("it starts").success());
        return;
    }
    let parent = PathBuf::from(std::env::var_os(IN).expect("a directory"));
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
