//! The private `/tmp` of a run: a directory of the system's own that is made when somebody first looks, that nobody but this
//! process knows of, and that is gone with the run.

use crate::mounts::{ChangeError, Mount};
use crate::run::{Bound, Stop};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

/// Where programs find it.
pub(crate) const PATH: &str = "/tmp";
/// Files and directories it may hold.
pub(crate) const MAX_FILES: u64 = 1_024;
/// How its directory on the machine is called.
const PREFIX: &str = "skillgate-run-";
/// How old a directory of a process that died has to be before another process removes it.
const LEFT_OVER: Duration = Duration::from_secs(3_600);

/// A `/tmp` that is made when it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    made: OnceLock<Option<Mount>>,
}

impl Scratch {
    /// The mount; `None` where the system gives no directory, and then there is no `/tmp`.
    pub(crate) fn mount(&self) -> Option<&Mount> {
        let make = || Directory::make_ambient().ok().map(|(dir, made)| Mount::scratch(PATH, dir, made));
        self.made.get_or_init(make).as_ref()
    }
}

/// The directory on the machine. It is removed, with all that is in it, when this is dropped.
#[derive(Debug)]
pub(crate) struct Directory {
    parent: Dir,
    name: String,
    /// Says to other processes that somebody still uses it. Where locks do not work, its age decides.
    _lock: Option<File>,
    files: AtomicU64,
}

impl Directory {
    /// Makes a directory that is there for nobody else: it is made and not found, so a name that somebody prepared is no use to
    /// them, and what is opened then is looked at once more.
    fn make_ambient() -> io::Result<(Dir, Self)> {
        let parent = Dir::open_ambient_dir(std::env::temp_dir(), ambient_authority())?;
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&parent));
        for _ in 0..16 {
            let name = format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish());
            match create_for_owner(&parent, &name) {
                Ok(()) => {
                    let mut made = Self { parent, name, _lock: None, files: AtomicU64::new(0) };
                    let dir = made.parent.open_dir(&made.name)?;
                    check_owner(&dir)?;
                    made._lock = lock(&dir);
                    return Ok((dir, made));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Makes one more file or directory, unless there are as many as there may be.
    pub(crate) fn make<T>(&self, make: impl FnOnce() -> io::Result<T>) -> Result<T, ChangeError> {
        let counted = self.files.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            count.checked_add(1).filter(|count| *count <= MAX_FILES)
        });
        if counted.is_err() {
            return Err(ChangeError::Stopped(Stop::Bound(Bound::TemporaryFiles(MAX_FILES))));
        }
        make().map_err(|error| {
            self.give_file();
            error.into()
        })
    }

    /// One of them is gone.
    pub(crate) fn give_file(&self) {
        self.files.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed now is removed by a later process.
        let _ = self.parent.remove_dir_all(&self.name);
    }
}

/// Removes directories of processes that ended without doing it themselves.
fn sweep(parent: &Dir) {
    let Ok(entries) = parent.entries() else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with(PREFIX) {
            continue;
        }
        let Ok(metadata) = parent.symlink_metadata(&name) else { continue };
        let age = metadata.modified().ok().and_then(|time| time.into_std().elapsed().ok());
        if !metadata.is_dir() || age.is_none_or(|age| age < LEFT_OVER) {
            continue;
        }
        let Ok(dir) = parent.open_dir(&name) else { continue };
        let held = lock(&dir);
        if check_owner(&dir).is_ok() && held.is_some() {
            let _ = parent.remove_dir_all(&name);
        }
    }
}

#[cfg(unix)]
fn create_for_owner(parent: &Dir, name: &str) -> io::Result<()> {
    use cap_std::fs::DirBuilderExt as _;
    let mut builder = cap_std::fs::DirBuilder::new();
    builder.mode(0o700);
    parent.create_dir_with(name, &builder)
}

#[cfg(not(unix))]
fn create_for_owner(parent: &Dir, name: &str) -> io::Result<()> {
    // The directory for temporary files is the user's own there.
    parent.create_dir(name)
}

/// That a directory belongs to this user and is open to nobody else.
#[cfg(unix)]
fn check_owner(dir: &Dir) -> io::Result<()> {
    use cap_std::fs::MetadataExt as _;
    let metadata = dir.dir_metadata()?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0;
    own.then_some(()).ok_or_else(|| io::Error::from(io::ErrorKind::PermissionDenied))
}

#[cfg(not(unix))]
fn check_owner(_: &Dir) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn lock(dir: &Dir) -> Option<File> {
    // The directory's own handle may be one that cannot be locked.
    let file = dir.open(".").ok()?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).ok().map(|()| file)
}

#[cfg(not(unix))]
fn lock(_: &Dir) -> Option<File> {
    None
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look at what is on the machine")]
mod tests {
    use super::*;
    use crate::mounts::{Mounts, Writing};
    use skillgate_policy::PathRules;

    /// The directory on the machine that stands behind a made one.
    fn real(mount: &Mount) -> std::path::PathBuf {
        std::env::temp_dir().join(&mount.scratch_directory().expect("it is one").name)
    }

    #[test]
    fn it_is_private_made_late_and_gone_with_its_run() {
        let mounts = Mounts::none().with_scratch();
        assert!(mounts.locate("/var/x").is_none());
        let scratch = mounts.scratch_of_test();
        assert!(scratch.made.get().is_none(), "nobody looked");
        let located = mounts.locate("/tmp/a/../b").expect("it is in /tmp");
        let how = Writing { create: true, ..Writing::default() };
        located.open_for_writing(&PathRules::default(), how).expect("it may be written");
        let path = real(scratch.mount().expect("made"));
        assert!(path.join("b").is_file());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(std::fs::metadata(&path).expect("is there").mode() & 0o7777, 0o700);
        }
        assert!(Mounts::none().with_scratch().locate("/tmp/b").expect("another").open(&PathRules::default()).is_err());
        drop(mounts);
        assert!(!path.exists());
    }

    #[test]
    fn a_mounted_tmp_of_the_host_stays_what_it_is() {
        let mounts = Mounts::open_ambient(Some(std::path::Path::new("/tmp")), &[]).expect("opens").with_scratch();
        let located = mounts.locate("/tmp/skillgate-test").expect("in the project");
        let how = Writing { create: true, ..Writing::default() };
        assert!(matches!(located.open_for_writing(&PathRules::default(), how), Err(ChangeError::Refused)));
    }

    #[test]
    fn it_holds_so_many_files_and_no_more() {
        let mounts = Mounts::none().with_scratch();
        let rules = PathRules::default();
        let at = |name: u64| mounts.locate(&format!("/tmp/{name}")).expect("in /tmp");
        let how = Writing { create: true, ..Writing::default() };
        for name in 0..MAX_FILES / 2 {
            at(name).open_for_writing(&rules, how).expect("there is room");
            at(name).open_for_writing(&rules, how).expect("it is there already and not counted again");
            at(MAX_FILES + name).create_directory(&rules).expect("there is room");
        }
        let full = |result: Result<(), ChangeError>| {
            matches!(result, Err(ChangeError::Stopped(Stop::Bound(Bound::TemporaryFiles(MAX_FILES)))))
        };
        assert!(full(at(MAX_FILES - 1).open_for_writing(&rules, how).map(drop)));
        assert!(full(at(MAX_FILES - 1).create_directory(&rules)));
        at(0).remove_file(&rules).expect("it is there");
        at(1).rename_file(&rules, &at(2)).expect("one takes the place of the other");
        for name in [0, 1] {
            at(name).open_for_writing(&rules, how).expect("there is room again");
        }
        assert!(full(at(MAX_FILES - 1).open_for_writing(&rules, how).map(drop)));
    }

    #[test]
    #[cfg(unix)]
    fn what_a_dead_process_left_is_removed_when_it_is_old_and_nobody_holds_it() {
        let home = tempfile::tempdir().expect("a directory");
        let parent = Dir::open_ambient_dir(home.path(), ambient_authority()).expect("opens");
        let made = |name: &str, old: bool| {
            create_for_owner(&parent, name).expect("made");
            let dir = parent.open_dir(name).expect("opens");
            if old {
                let past = std::time::SystemTime::now() - 2 * LEFT_OVER;
                let file = std::fs::File::open(home.path().join(name)).expect("opens");
                file.set_modified(past).expect("may be set");
            }
            dir
        };
        drop(made("skillgate-run-old", true));
        drop(made("skillgate-run-new", false));
        drop(made("somebody-elses", true));
        let held = made("skillgate-run-held", true);
        let lock = lock(&held);
        assert!(lock.is_some());
        sweep(&parent);
        let mut names: Vec<_> = parent.entries().expect("lists").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["skillgate-run-held", "skillgate-run-new", "somebody-elses"]);
    }
}
