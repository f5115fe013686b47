//! Every step of an extraction, each as a test of its own: the process is killed before it, it fails, something stands in its
//! place, and the same for a directory that stays. `cargo nextest run -p skillgate-bundle steps` lists them.

use super::super::is_ours_by_name;
use super::{
    Command, Errno, ExtractError, Extraction, FILES, IN, Interrupt, LOCK, Mutex, Path, PathBuf, Stdio, Step, begin,
    entries, fs, remove_leftovers_ambient, symlink,
};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One module of tests for each thing that is done to a step, one test for each step that a whole run goes through. A directory that
/// stays is there already and locked by its user, so it has none of the first ones.
macro_rules! steps {
    (begin { $($first:ident = $of_first:ident;)+ } extract { $($name:ident = $step:ident;)+ }) => {
        /// The steps in the order in which a whole run goes through them.
        const EXPECTED: &[(&str, Step)] =
            &[$((stringify!($first), Step::$of_first),)+ $((stringify!($name), Step::$step),)+];

        /// Those before a directory that stays.
        const BEGINNING: &[Step] = &[$(Step::$of_first),+];

        steps!(@tests killed_before: $($first)+ $($name)+);
        steps!(@tests killed_where_it_stays_before: $($name)+);
        steps!(@tests failing_at: $($first)+ $($name)+);
        steps!(@tests link_planted_at: $($first)+ $($name)+);
        steps!(@tests other_planted_at: $($first)+ $($name)+);
    };
    (@tests $what:ident: $($name:ident)+) => {
        mod $what {
            $(#[test]
            fn $name() {
                super::$what(stringify!($name));
            })+
        }
    };
}

steps! {
    begin {
        step_01_open_parent = OpenParent;
        step_02_make_root = MakeRoot;
        step_03_lock_root = LockRoot;
    }
    extract {
        step_04_make_directory_of_the_skill = MakeDirectory;
        step_05_make_directory = MakeDirectory;
        step_06_make_directory_inside = MakeDirectory;
        step_07_create_first_file = CreateFile;
        step_08_write_first_file = WriteFile;
        step_09_check_first_file = CheckFile;
        step_10_create_empty_file = CreateFile;
        step_11_write_empty_file = WriteFile;
        step_12_check_empty_file = CheckFile;
        step_13_create_deep_file = CreateFile;
        step_14_write_deep_file = WriteFile;
        step_15_check_deep_file = CheckFile;
        step_16_create_last_file = CreateFile;
        step_17_write_last_file = WriteFile;
        step_18_check_last_file = CheckFile;
        step_19_publish = Publish;
    }
}

/// The number and the step that a test is named by.
fn named(name: &str) -> (usize, Step) {
    let at = EXPECTED.iter().position(|(known, _)| *known == name).expect("a step");
    (at, EXPECTED[at].1)
}

/// What is asked before each step, and acts before one of them.
fn before(
    wanted: usize,
    act: impl Fn(&Path) -> Result<(), Errno> + Send + Sync + 'static,
) -> impl Fn(Step, &Path) -> Result<(), Errno> + Send + Sync + 'static {
    let reached = AtomicUsize::new(0);
    move |_, path| if reached.fetch_add(1, Ordering::Relaxed) == wanted { act(path) } else { Ok(()) }
}

/// As [`begin`], in a directory that stays. The steps that it has not are counted as gone through.
fn begin_kept(
    path: &Path,
    act: impl Fn(Step, &Path) -> Result<(), Errno> + Send + Sync + 'static,
) -> Result<Extraction, ExtractError> {
    for step in BEGINNING {
        act(*step, path).expect("nothing is done to a step that is not there");
    }
    let mut extraction = Extraction::kept_ambient(path)?;
    extraction.interrupt = Some(Interrupt(Box::new(act)));
    Ok(extraction)
}

#[test]
fn these_are_all_the_steps_there_are() {
    let tree = tempfile::tempdir().expect("a directory");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let extraction = begin(tree.path(), move |step, _| {
        log.lock().expect("a lock").push(step);
        Ok(())
    });
    extraction.expect("begins").extract("skill", FILES).expect("extracts");
    let expected: Vec<Step> = EXPECTED.iter().map(|(_, step)| *step).collect();
    assert_eq!(*seen.lock().expect("a lock"), expected);
    assert_eq!(BTreeSet::from_iter(expected.iter().map(|step| step.as_str())).len(), Step::ALL.len());
}

/// Starts one of these tests in a process of its own, which is killed in the middle.
fn killed(module: &str, name: &str, parent: &Path) {
    use std::os::unix::process::ExitStatusExt as _;
    let program = std::env::current_exe().expect("this program");
    let status = Command::new(&program)
        .args(["--exact", &format!("extract::tests::steps::{module}::{name}")])
        .env(IN, parent)
        .stdout(Stdio::null())
        .status()
        .expect("it starts");
    assert_eq!(status.signal(), Some(9), "it ends where it is killed: {status}");
}

fn kill(_: &Path) -> Result<(), Errno> {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
}

fn whole(skill: &Path) {
    for (path, bytes) in FILES {
        assert_eq!(fs::read(skill.join(path)).expect(path), bytes, "{path}");
    }
}

fn killed_before(name: &str) {
    let (at, step) = named(name);
    if let Some(parent) = std::env::var_os(IN) {
        let extraction = begin(Path::new(&parent), before(at, kill)).expect("begins");
        extraction.extract("skill", FILES).expect("extracts");
        unreachable!("{name} was never reached");
    }
    let tree = tempfile::tempdir().expect("a directory");
    killed("killed_before", name, tree.path());
    // Whatever it left, a later run uses nothing of it, and removes what is provably a dead process's.
    let extraction = Extraction::begin_ambient(tree.path()).expect("begins");
    whole(&extraction.extract("skill", FILES).expect("extracts"));
    remove_leftovers_ambient(tree.path()).expect("it can be listed");
    let left = entries(tree.path()).into_iter().filter(|name| !extraction.path().ends_with(name));
    // Before it has a lock, a directory is empty and may be a living process's.
    for left in left {
        assert!(step == Step::LockRoot && is_ours_by_name(&left), "{step} left {left}");
        fs::remove_dir(tree.path().join(left)).expect("an empty directory");
    }
}

/// In the store, the next who extracts takes away what is unfinished.
fn killed_where_it_stays_before(name: &str) {
    let (at, step) = named(name);
    if let Some(parent) = std::env::var_os(IN) {
        let extraction = begin_kept(Path::new(&parent), before(at, kill)).expect("begins");
        extraction.extract("skill", FILES).expect("extracts");
        unreachable!("{name} was never reached");
    }
    let tree = tempfile::tempdir().expect("a directory");
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o700)).expect("a mode");
    killed("killed_where_it_stays_before", name, tree.path());
    assert!(!tree.path().join("skill").exists(), "a skill has its name when it is whole: {step}");
    let extraction = Extraction::kept_ambient(tree.path()).expect("begins");
    whole(&extraction.extract("skill", FILES).expect("extracts"));
    assert_eq!(entries(tree.path()), BTreeSet::from(["skill".to_owned()]), "{step}");
}

fn failing_at(name: &str) {
    let (at, step) = named(name);
    let tree = tempfile::tempdir().expect("a directory");
    for (errno, kind, way_out) in [
        (Errno::NOSPC, std::io::ErrorKind::StorageFull, "make room"),
        (Errno::DQUOT, std::io::ErrorKind::QuotaExceeded, "make room"),
        (Errno::ROFS, std::io::ErrorKind::ReadOnlyFilesystem, "TMPDIR"),
        (Errno::IO, std::io::Error::from(Errno::IO).kind(), "TMPDIR"),
    ] {
        let error = match begin(tree.path(), before(at, move |_| Err(errno))) {
            Err(error) => error,
            Ok(extraction) => {
                let error = extraction.extract("skill", FILES).expect_err("a step fails");
                assert_eq!(entries(extraction.path()), BTreeSet::from([LOCK.to_owned()]), "{step}");
                // The same extraction works when the reason is gone.
                whole(&extraction.extract("skill", FILES).expect("the second time"));
                error
            }
        };
        let ExtractError::Io { step: failed, source, .. } = &error else { unreachable!("{error}") };
        assert_eq!((*failed, source.kind()), (step, kind));
        assert!(error.help().is_some_and(|help| help.contains(way_out)), "{:?}", error.help());
        assert!(entries(tree.path()).is_empty(), "{step} left something");
    }
}

/// A place to attack, with something outside that has to stay as it is.
struct Field {
    tree: tempfile::TempDir,
}

impl Field {
    fn new() -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        fs::create_dir(tree.path().join("outside")).expect("a directory");
        fs::create_dir(tree.path().join("parent")).expect("a directory");
        fs::write(tree.path().join("outside/victim"), "untouched").expect("a file");
        Self { tree }
    }

    fn outside(&self) -> PathBuf {
        self.tree.path().join("outside")
    }

    fn parent(&self) -> PathBuf {
        self.tree.path().join("parent")
    }

    fn is_as_before(&self) {
        assert_eq!(fs::read_to_string(self.outside().join("victim")).expect("it is there"), "untouched");
        assert_eq!(entries(&self.outside()), BTreeSet::from(["victim".to_owned()]));
    }
}

type Plant = fn(&Path, &Path) -> std::io::Result<()>;

fn link_planted_at(name: &str) {
    planted_at(
        name,
        &[
            ("a link to a directory", |outside, path| symlink(outside, path)),
            ("a link to a file", |outside, path| symlink(outside.join("victim"), path)),
            ("a dangling link", |outside, path| symlink(outside.join("new"), path)),
            ("a link to itself", |_, path| symlink(path.file_name().unwrap_or_default(), path)),
        ],
    );
}

fn other_planted_at(name: &str) {
    planted_at(
        name,
        &[
            ("a file", |_, path| fs::write(path, "planted")),
            ("a directory with something in it", |_, path| {
                fs::create_dir(path).and_then(|()| fs::write(path.join("x"), "planted"))
            }),
            ("a hard link to a file outside", |outside, path| fs::hard_link(outside.join("victim"), path)),
        ],
    );
}

/// Plants each before the step: at a name that is still free, or in place of a file that is being written.
fn planted_at(name: &str, plants: &[(&str, Plant)]) {
    let (at, step) = named(name);
    for (what, plant) in plants.iter().copied() {
        let field = Field::new();
        if step == Step::OpenParent {
            // What stands there instead is what was named, with the rules for it: nothing of ours is there yet.
            fs::remove_dir(field.parent()).expect("it is empty");
            plant(&field.outside(), &field.parent()).expect("it can be planted");
            match Extraction::begin_ambient(&field.parent()).map(drop) {
                Ok(()) => assert!(field.parent().is_dir(), "{what}"),
                Err(ExtractError::Io { step: failed, .. } | ExtractError::Foreign { step: failed, .. }) => {
                    assert_eq!(failed, step, "{what}");
                }
                Err(error) => unreachable!("{what}: {error}"),
            }
            field.is_as_before();
            continue;
        }
        let target = field.outside();
        let replaced = move |path: &Path| {
            if matches!(step, Step::WriteFile | Step::CheckFile) {
                fs::remove_file(path).expect("it was made a moment ago");
            }
            plant(&target, path).expect("it can be planted");
            Ok(())
        };
        let error = match begin(&field.parent(), before(at, replaced)) {
            Err(error) => error,
            Ok(extraction) => extraction.extract("skill", FILES).expect_err("it is refused"),
        };
        // What is written goes to the file that was made; that it has no name any more is seen when it is checked.
        let seen = if step == Step::WriteFile { Step::CheckFile } else { step };
        assert!(
            matches!(&error, ExtractError::Foreign { step: refused, .. } if *refused == seen),
            "{step} {what}: {error}"
        );
        field.is_as_before();
        // Only what was planted in the parent itself is left: it is not ours.
        let left = entries(&field.parent());
        assert!(step == Step::MakeRoot || left.is_empty(), "{step} {what} left {left:?}");
    }
}
