use crate::error::{ExtractError, Step};
use crate::name::{PathSet, portable};
use crate::resolve::{DIRECTORY_MODE, FILE_MODE, Resolver};
use crate::tree::{Stat, is_tree, own_user, remove_tree, stat_of};
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, fchmod, flock, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use skillgate_core::{Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What the directory of an extraction is called, before its random part.
const PREFIX: &str = "skillgate-";

/// Bytes of the random part.
const NONCE_BYTES: usize = 16;

/// What a skill is called before it is whole.
const UNFINISHED: &str = ".new-";

/// The file whose lock says that the process is alive.
const LOCK: &str = ".lock";

/// A directory into which skills are taken when they are first used: one of this process alone, or one that stays.
///
/// That of a process is made with a random name and fails if anything has that name, is open to its owner only whatever the umask
/// is, and is removed when this is dropped. What a killed process left is removed by [`remove_leftovers_ambient`].
///
/// One that stays ([`Extraction::kept_ambient`]) is opened, and what it holds already is compared whole before it is used.
#[derive(Debug)]
pub struct Extraction {
    root: OwnedFd,
    /// What is removed in the end; `None` for a directory that stays.
    own: Option<Own>,
    path: PathBuf,
    resolver: Resolver,
    /// What is there, by name. Held during an extraction, so that concurrent first uses extract once.
    done: Mutex<BTreeMap<String, Digest>>,
    #[cfg(test)]
    interrupt: Option<tests::Interrupt>,
}

/// The directory of a process.
#[derive(Debug)]
struct Own {
    parent: OwnedFd,
    name: String,
    /// Held as long as this lives.
    _lock: OwnedFd,
}

/// The name of a directory that is made later, so that it is known where something will be before it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtractionName {
    parent: PathBuf,
    name: String,
}

impl ExtractionName {
    /// A name that nobody can guess, inside `parent`.
    ///
    /// # Errors
    /// [`ExtractError::Io`] when the system gives no random bytes.
    pub fn reserve(parent: &Path) -> Result<Self, ExtractError> {
        let name = format!("{PREFIX}{}", nonce().map_err(at(Step::MakeRoot, parent))?);
        Ok(Self { parent: parent.to_path_buf(), name })
    }

    /// Where the directory will be.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }
}

impl Extraction {
    /// Makes the directory inside `parent`, which has to exist and may be changed by nobody but its owner, unless it is sticky as
    /// `/tmp` is.
    ///
    /// # Errors
    /// An [`ExtractError`] with the step and the path; nothing is left behind.
    pub fn begin_ambient(parent: &Path) -> Result<Self, ExtractError> {
        Self::begin(parent, Resolver::best(), &mut |_, _| Ok(()))
    }

    /// Makes the directory under a name that was taken before.
    ///
    /// # Errors
    /// As [`Extraction::begin_ambient`], and when the name was used already.
    pub fn begin_as_ambient(name: &ExtractionName) -> Result<Self, ExtractError> {
        Self::begin_named(&name.parent, &name.name, Resolver::best(), &mut |_, _| Ok(()))
    }

    /// Opens a directory that stays, which has to be this user's and closed to everybody else. One process writes to it at a time:
    /// the caller holds a lock while it extracts. What stands there under the name of a skill is used when every file of it is
    /// what is wanted, and replaced when it is not.
    ///
    /// # Errors
    /// An [`ExtractError`] with what is wrong with the directory.
    pub fn kept_ambient(path: &Path) -> Result<Self, ExtractError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = openat(rustix::fs::CWD, path, flags, Mode::empty()).map_err(at(Step::OpenParent, path))?;
        let stat = stat_of(&root).map_err(at(Step::OpenParent, path))?;
        if stat.owner != own_user() || stat.mode.as_raw_mode() & 0o077 != 0 {
            return Err(ExtractError::UnsafeParent { path: path.to_path_buf() });
        }
        Ok(Self {
            root,
            own: None,
            path: path.to_path_buf(),
            resolver: Resolver::best(),
            done: Mutex::new(BTreeMap::new()),
            #[cfg(test)]
            interrupt: None,
        })
    }

    fn begin(
        parent_path: &Path,
        resolver: Resolver,
        before: &mut dyn FnMut(Step, &Path) -> Result<(), Errno>,
    ) -> Result<Self, ExtractError> {
        let name = format!("{PREFIX}{}", nonce().map_err(at(Step::MakeRoot, parent_path))?);
        Self::begin_named(parent_path, &name, resolver, before)
    }

    fn begin_named(
        parent_path: &Path,
        name: &str,
        resolver: Resolver,
        before: &mut dyn FnMut(Step, &Path) -> Result<(), Errno>,
    ) -> Result<Self, ExtractError> {
        before(Step::OpenParent, parent_path).map_err(at(Step::OpenParent, parent_path))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent =
            openat(rustix::fs::CWD, parent_path, flags, Mode::empty()).map_err(at(Step::OpenParent, parent_path))?;
        check_parent(&parent, parent_path)?;

        let path = parent_path.join(name);
        before(Step::MakeRoot, &path).map_err(at(Step::MakeRoot, &path))?;
        mkdirat(&parent, name, DIRECTORY_MODE).map_err(at(Step::MakeRoot, &path))?;
        let made = Self::own(&parent, name, &path, before);
        match made {
            Ok((root, lock)) => Ok(Self {
                root,
                own: Some(Own { parent, name: name.to_owned(), _lock: lock }),
                path,
                resolver,
                done: Mutex::new(BTreeMap::new()),
                #[cfg(test)]
                interrupt: None,
            }),
            Err(error) => {
                // We made it a moment ago, and in this parent nobody else can put another in its place.
                let _left_over = remove_tree(&parent, name);
                Err(error)
            }
        }
    }

    /// Opens what was made, checks that it is ours alone, and locks it.
    fn own(
        parent: &OwnedFd,
        name: &str,
        path: &Path,
        before: &mut dyn FnMut(Step, &Path) -> Result<(), Errno>,
    ) -> Result<(OwnedFd, OwnedFd), ExtractError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = openat(parent, name, flags, Mode::empty()).map_err(at(Step::MakeRoot, path))?;
        own_directory(&root, Step::MakeRoot, path)?;
        let lock_path = path.join(LOCK);
        before(Step::LockRoot, &lock_path).map_err(at(Step::LockRoot, &lock_path))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = openat(&root, LOCK, flags, FILE_MODE).map_err(at(Step::LockRoot, &lock_path))?;
        if let Err(errno) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            let _left_for_the_leftovers = unlinkat(&root, LOCK, AtFlags::empty());
            return Err(at(Step::LockRoot, &lock_path)(errno));
        }
        Ok((root, lock))
    }

    /// Where the extraction is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the files of the skill `name` to disk and gives their directory. The second time, and in any other thread, the directory
    /// that is there is given. Every name is checked before anything is written.
    ///
    /// # Errors
    /// An [`ExtractError`]; nothing of the skill is then there. [`ExtractError::Conflict`] when `name` was taken to disk with other
    /// files.
    pub fn extract<'f>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<PathBuf, ExtractError> {
        let directory = portable(name)?;
        if name.contains('/') || name.starts_with('.') {
            return Err(crate::NameFault::Outside(name.to_owned()).into());
        }
        let mut set = PathSet::default();
        let mut checked = Vec::new();
        for (path, bytes) in files {
            checked.push((set.insert(path)?, bytes));
        }
        checked.sort_by(|(a, _), (b, _)| a.cmp(b));
        let digest = digest_of(&checked);

        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = done.get(name) {
            let there = self.path.join(name);
            return if *known == digest { Ok(there) } else { Err(ExtractError::Conflict(name.to_owned())) };
        }
        let path = match &self.own {
            None => self.write_kept(&directory, &checked)?,
            Some(_) => self.write(&directory, &checked)?,
        };
        done.insert(name.to_owned(), digest);
        Ok(path)
    }

    /// Looks at the disk again the next time, instead of at what is known to have been there.
    pub(crate) fn forget(&self) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes a skill away.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ExtractError> {
        self.forget();
        let path = self.path.join(name);
        match remove_tree(&self.root, name) {
            Err(Errno::NOENT) | Ok(()) => Ok(()),
            Err(errno) => Err(at(Step::Publish, &path)(errno)),
        }
    }

    /// Uses what is there when it is whole and as it has to be, else takes it away and writes it anew.
    fn write_kept(&self, name: &RelPath, files: &[(RelPath, &[u8])]) -> Result<PathBuf, ExtractError> {
        let path = self.path.join(name.as_str());
        let there = statat(&self.root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        match there {
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(at(Step::Publish, &path)(errno)),
            Ok(_) if is_tree(&self.root, name.as_str(), files) => return Ok(path),
            Ok(_) => remove_tree(&self.root, name.as_str()).map_err(at(Step::Publish, &path))?,
        }
        self.remove_unfinished();
        self.write(name, files)
    }

    /// Takes away what a killed process did not finish. Whoever extracts into a directory that stays holds its lock, so what is
    /// unfinished is nobody's.
    fn remove_unfinished(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.root) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy();
            if name.starts_with(UNFINISHED) {
                // What cannot be removed is in nobody's way: it has a name of its own.
                let _left_over = remove_tree(&self.root, &name);
            }
        }
    }

    /// Writes into a directory that no one looks for, which takes the skill's name when it is whole.
    fn write(&self, name: &RelPath, files: &[(RelPath, &[u8])]) -> Result<PathBuf, ExtractError> {
        let unfinished = format!("{UNFINISHED}{}", nonce().map_err(at(Step::MakeDirectory, &self.path))?);
        let path = self.path.join(&unfinished);
        self.before(Step::MakeDirectory, &path)?;
        mkdirat(&self.root, &unfinished, DIRECTORY_MODE).map_err(at(Step::MakeDirectory, &path))?;
        let written = self.fill(&unfinished, &path, files).and_then(|()| self.publish(&unfinished, name));
        if written.is_err() {
            // The skill's own unfinished directory; what cannot be removed goes with the whole extraction.
            let _left_for_the_end = remove_tree(&self.root, &unfinished);
        }
        written
    }

    fn fill(&self, unfinished: &str, path: &Path, files: &[(RelPath, &[u8])]) -> Result<(), ExtractError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let base = openat(&self.root, unfinished, flags, Mode::empty()).map_err(at(Step::MakeDirectory, path))?;
        own_directory(&base, Step::MakeDirectory, path)?;
        let directories: BTreeSet<&str> = files
            .iter()
            .flat_map(|(file, _)| file.as_str().match_indices('/').map(|(end, _)| &file.as_str()[..end]))
            .collect();
        for directory in directories {
            let here = path.join(directory);
            self.before(Step::MakeDirectory, &here)?;
            let directory = portable(directory)?;
            let made =
                self.resolver.create_directory(base.as_fd(), &directory).map_err(at(Step::MakeDirectory, &here))?;
            own_directory(&made, Step::MakeDirectory, &here)?;
        }
        for (file, bytes) in files {
            let here = path.join(file.as_str());
            self.before(Step::CreateFile, &here)?;
            let made = self.resolver.create_file(base.as_fd(), file).map_err(at(Step::CreateFile, &here))?;
            self.before(Step::WriteFile, &here)?;
            let mut made = File::from(made);
            made.write_all(bytes).map_err(|source| ExtractError::Io {
                step: Step::WriteFile,
                path: here.clone(),
                source,
            })?;
            self.before(Step::CheckFile, &here)?;
            check_file(&made, bytes.len(), &here)?;
        }
        Ok(())
    }

    fn publish(&self, unfinished: &str, name: &RelPath) -> Result<PathBuf, ExtractError> {
        let path = self.path.join(name.as_str());
        self.before(Step::Publish, &path)?;
        let fail = at(Step::Publish, &path);
        match statat(&self.root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(fail(errno)),
            Ok(_) => {
                return Err(ExtractError::Foreign {
                    step: Step::Publish,
                    path,
                    found: "something that was not made here",
                });
            }
        }
        // A directory never replaces a link or a file, and an empty directory only, so nothing that came meanwhile is lost.
        renameat(&self.root, unfinished, &self.root, name.as_str()).map_err(fail)?;
        Ok(path)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the tests interrupt here")]
    fn before(&self, _: Step, _: &Path) -> Result<(), ExtractError> {
        Ok(())
    }

    #[cfg(test)]
    fn before(&self, step: Step, path: &Path) -> Result<(), ExtractError> {
        self.interrupt.as_ref().map_or(Ok(()), |interrupt| interrupt.before(step, path).map_err(at(step, path)))
    }
}

impl Drop for Extraction {
    fn drop(&mut self) {
        // What cannot be removed stays, and the next process that looks for leftovers finds it unlocked.
        if let Some(own) = &self.own {
            let _left_over = remove_tree(&own.parent, &own.name);
        }
    }
}

/// Removes the directories of extractions whose processes are gone, and says how many. A directory is touched only when it is
/// provably ours and dead: our prefix and a random part, a directory and no link, of this user, open to nobody else, its lock a
/// regular file of this user that nobody holds.
///
/// # Errors
/// The system's, when `parent` cannot be read.
pub fn remove_leftovers_ambient(parent: &Path) -> std::io::Result<usize> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat(rustix::fs::CWD, parent, flags, Mode::empty())?;
    let mut removed = 0;
    for entry in rustix::fs::Dir::read_from(&parent)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if is_ours_by_name(name) && is_dead(&parent, name) && remove_tree(&parent, name).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_ours_by_name(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).unwrap_or_default();
    random.len() == 2 * NONCE_BYTES && random.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

fn is_dead(parent: &OwnedFd, name: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = || {
        let root = openat(parent, name, flags | OFlags::DIRECTORY, Mode::empty())?;
        let lock = openat(&root, LOCK, flags, Mode::empty())?;
        Ok::<_, Errno>((root, lock))
    };
    let Ok((root, lock)) = open() else { return false };
    let is_ours = |fd: &OwnedFd, kind: FileType| {
        stat_of(fd)
            .is_ok_and(|stat| stat.kind == kind && stat.owner == own_user() && stat.mode.as_raw_mode() & 0o077 == 0)
    };
    is_ours(&root, FileType::Directory)
        && is_ours(&lock, FileType::RegularFile)
        && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Refuses a place where somebody else could take our directory away and put another there.
fn check_parent(parent: &OwnedFd, path: &Path) -> Result<(), ExtractError> {
    let stat = stat_of(parent).map_err(at(Step::OpenParent, path))?;
    let mode = stat.mode.as_raw_mode();
    let trusted_owner = stat.owner == own_user() || stat.owner == 0;
    let others_write = mode & 0o022 != 0 && mode & 0o1000 == 0;
    if trusted_owner && !others_write { Ok(()) } else { Err(ExtractError::UnsafeParent { path: path.to_path_buf() }) }
}

/// Makes a directory that we made our own alone, whatever the umask was, and checks that it is.
fn own_directory(directory: &OwnedFd, step: Step, path: &Path) -> Result<(), ExtractError> {
    let foreign = |found| ExtractError::Foreign { step, path: path.to_path_buf(), found };
    let stat = stat_of(directory).map_err(at(step, path))?;
    if stat.owner != own_user() {
        return Err(foreign("a directory of another user"));
    }
    match with_mode(directory, stat, DIRECTORY_MODE).map_err(at(step, path))? {
        Some(_) => Ok(()),
        None => Err(foreign("a directory whose mode cannot be set")),
    }
}

/// Sets the mode where the umask took something off, and looks again; `None` where it is another one still.
fn with_mode(file: impl AsFd, stat: Stat, mode: Mode) -> Result<Option<Stat>, Errno> {
    let is_set = |stat: &Stat| stat.mode.as_raw_mode() & 0o7777 == mode.as_raw_mode();
    if is_set(&stat) {
        return Ok(Some(stat));
    }
    fchmod(&file, mode)?;
    let stat = stat_of(&file)?;
    Ok(Some(stat).filter(is_set))
}

fn check_file(file: &File, size: usize, path: &Path) -> Result<(), ExtractError> {
    let step = Step::CheckFile;
    let stat = stat_of(file).map_err(at(step, path))?;
    let found = if stat.kind != FileType::RegularFile {
        "something that is no regular file"
    } else if stat.owner != own_user() {
        "a file of another user"
    } else if stat.links != 1 {
        "a file that somebody else gave a second name or took away"
    } else if stat.size != size as u64 {
        "a file that somebody else changed"
    } else if with_mode(file, stat, FILE_MODE).map_err(at(step, path))?.is_none() {
        "a file whose mode cannot be set"
    } else {
        return Ok(());
    };
    Err(ExtractError::Foreign { step, path: path.to_path_buf(), found })
}

fn at(step: Step, path: &Path) -> impl Fn(Errno) -> ExtractError + use<> {
    let path = path.to_path_buf();
    move |errno| match errno {
        Errno::EXIST => ExtractError::Foreign { step, path: path.clone(), found: "something has the name already" },
        Errno::LOOP => ExtractError::Foreign { step, path: path.clone(), found: "a link" },
        errno => ExtractError::Io { step, path: path.clone(), source: errno.into() },
    }
}

fn nonce() -> Result<String, Errno> {
    let mut bytes = [0_u8; NONCE_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| Errno::IO)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// One digest over names and contents, in order.
fn digest_of(files: &[(RelPath, &[u8])]) -> Digest {
    let mut listed = String::new();
    for (path, bytes) in files {
        listed.push_str(&format!("{} {path}\n", Digest::of(bytes)));
    }
    Digest::of(listed.as_bytes())
}

#[cfg(test)]
mod tests;
