use crate::name::TEMPORARY;
use crate::{StateError, platform};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A new file under a name of the crate's own, locked while it is written, that disappears unless it is
/// [persisted](TempFile::persist).
#[derive(Debug)]
pub(crate) struct TempFile<'a> {
    dir: &'a platform::DirHandle,
    dir_path: &'a Path,
    name: String,
    file: File,
    kept: bool,
}

impl<'a> TempFile<'a> {
    pub(crate) fn create(dir: &'a platform::DirHandle, dir_path: &'a Path) -> Result<Self, StateError> {
        let fail = |error| StateError::io("create a file in", dir_path, error);
        // The name is taken only when it is free, so a clash costs another try and nothing else.
        for _ in 0..16 {
            let name = fresh_name();
            match dir.create_new(&name) {
                Ok(file) => {
                    // Says "still being written" to whoever looks for leftovers. Where locks do not work the age decides.
                    let _ = file.try_lock();
                    return Ok(Self { dir, dir_path, name, file, kept: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail(error)),
            }
        }
        Err(fail(io::ErrorKind::AlreadyExists.into()))
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    pub(crate) fn sync(&self) -> Result<(), StateError> {
        self.file.sync_all().map_err(|error| StateError::io("sync", self.dir_path.join(&self.name), error))
    }

    /// Gives the file its name; whatever had the name before is gone.
    pub(crate) fn persist(mut self, name: &str, path: &Path) -> Result<(), StateError> {
        self.dir.rename(&self.name, name).map_err(|error| StateError::io("replace", path, error))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now is recognised and removed when the directory is opened later.
            let _ = self.dir.remove(&self.name);
        }
    }
}

fn fresh_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    format!("{TEMPORARY}{}-{count}-{nanos:08x}", std::process::id())
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "the test looks at what was left on disk")]
mod tests {
    use super::*;
    use crate::OwnerDir;
    use crate::leftover::AGE;
    use std::io::Write;

    /// A writer that is killed is one whose destructors never run, so each step is followed by `forget`.
    #[test]
    fn a_writer_killed_at_any_step_leaves_a_whole_file_and_a_leftover_that_a_later_open_removes() {
        for step in ["created", "half written", "written", "synced", "renamed"] {
            let home = tempfile::tempdir().expect("temporary directory");
            let path = home.path().join("state");
            let dir = OwnerDir::open_ambient(&path).expect("open");
            dir.write_atomic("x", b"old contents").expect("first version");

            let handle = platform::DirHandle::open_ambient(&path).expect("handle");
            let mut temp = TempFile::create(&handle, &path).expect("create");
            let name = temp.name.clone();
            match step {
                "created" => std::mem::forget(temp),
                "half written" => {
                    temp.file().write_all(b"new ").expect("write");
                    std::mem::forget(temp);
                }
                "written" | "synced" => {
                    temp.file().write_all(b"new contents").expect("write");
                    if step == "synced" {
                        temp.sync().expect("sync");
                    }
                    std::mem::forget(temp);
                }
                _ => {
                    temp.file().write_all(b"new contents").expect("write");
                    temp.sync().expect("sync");
                    temp.persist("x", &path.join("x")).expect("rename");
                }
            }

            let expected: &[u8] = if step == "renamed" { b"new contents" } else { b"old contents" };
            let seen = |dir: &OwnerDir| dir.read("x", 100).expect("read").expect("is there");
            assert_eq!(seen(&dir), expected, "{step}");
            assert_eq!(dir.list().expect("list"), ["x"], "{step}");

            // The forgotten handle is still open in this process and holds the lock: a writer at work is left alone.
            let leftover = path.join(&name);
            let there = || handle.names().expect("names").contains(&name);
            if step != "renamed" {
                let file = File::open(&leftover).expect("the leftover is there");
                file.set_modified(SystemTime::now() - 2 * AGE).expect("age");
                OwnerDir::open_ambient(&path).expect("open beside a writer");
                assert!(there(), "{step}: locked by its writer");

                // Without its writer it goes; the same name and age, held by nobody.
                handle.remove(&name).expect("remove");
                let file = handle.create_new(&name).expect("create");
                file.set_modified(SystemTime::now() - 2 * AGE).expect("age");
                drop(file);
            }
            let dir = OwnerDir::open_ambient(&path).expect("open again");
            assert!(!there(), "{step}: removed by a later open");
            assert_eq!(seen(&dir), expected, "{step}");
        }
    }

    #[test]
    fn a_writer_that_fails_leaves_nothing() {
        let home = tempfile::tempdir().expect("temporary directory");
        let dir = OwnerDir::open_ambient(home.path().join("state")).expect("open");
        let failed = dir.write_atomic_with("x", |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(matches!(failed, Err(StateError::Io { action: "write", .. })), "{failed:?}");
        let handle = platform::DirHandle::open_ambient(dir.path()).expect("handle");
        assert_eq!(handle.names().expect("names"), Vec::<String>::new());
    }
}
