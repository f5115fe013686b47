//! What a program wrote goes back into the project: it worked on a copy, and of the difference only what a rule grants is
//! carried over, all of it or nothing.
//!
//! A program gets a copy because a mount cannot say what a rule says (`Write(*.md)`, never `.envrc`), and because as root the
//! project's files belong to somebody whom the run's user must not be.

use cap_std::fs::{Dir, Metadata};
use skillgate_core::RelPath;
use skillgate_exec::{ChangeError, Located, Mount, Run, Stop, Writing};
use skillgate_policy::PathRules;
use skillgate_sandbox::WritableDirectory;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};

/// Names of one directory that are looked at.
const MAX_ENTRIES: usize = 100_000;
/// Bytes copied at once.
const PIECE: usize = 1 << 16;

/// Hears what programs changed in the project, after it was carried over.
pub trait ChangeObserver: Send + Sync + fmt::Debug {
    /// These are the changes of one command, in the order in which they were made.
    fn changed(&self, vector: &[String], changes: &[Change]);
}

/// One thing that a program changed in the project.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Change {
    /// The path, relative to the project.
    pub path: String,
    /// What was done.
    pub kind: ChangeKind,
}

/// How something was changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A directory was made.
    MadeDirectory,
    /// A file was made, of this many bytes.
    MadeFile(u64),
    /// A file has other content or another mode, and this many bytes.
    ChangedFile(u64),
    /// A file was removed.
    RemovedFile,
    /// A directory was removed.
    RemovedDirectory,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ChangeKind::MadeDirectory => write!(f, "made the directory `{}`", self.path),
            ChangeKind::MadeFile(bytes) => write!(f, "made `{}` ({bytes} bytes)", self.path),
            ChangeKind::ChangedFile(bytes) => write!(f, "changed `{}` ({bytes} bytes)", self.path),
            ChangeKind::RemovedFile => write!(f, "removed `{}`", self.path),
            ChangeKind::RemovedDirectory => write!(f, "removed the directory `{}`", self.path),
        }
    }
}

/// Why nothing was carried over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteBackError {
    /// No rule grants a change that the program made.
    #[error("no rule grants changing `{0}`")]
    Refused(String),
    /// Somebody else changed the same thing in the project meanwhile; theirs is kept.
    #[error("`{0}` was changed in the project meanwhile, and stays as it is there")]
    Conflict(String),
    /// What is to be writable is a file.
    #[error("`{0}` is not a directory, and a program is given copies of directories only")]
    NoDirectory(String),
    /// The program made something that cannot be carried over.
    #[error("`{0}` is neither a file nor a directory, and is not carried over")]
    Kind(String),
    /// The run may not write as much, or may not go on.
    #[error("{0}")]
    Stopped(Stop),
    /// The system's answer.
    #[error("`{0}`: {1}")]
    System(String, io::Error),
}

/// The directories that a program is given copies of.
#[derive(Debug)]
pub(crate) struct Copies<'m> {
    project: &'m Mount,
    rules: &'m PathRules,
    snapshots: Vec<Snapshot>,
    /// Directories that were made so that there is something to copy.
    made: Vec<String>,
}

impl<'m> Copies<'m> {
    /// Looks at the directories as they are now. One that is not there is made, where a rule grants it, and is gone again when
    /// the program put nothing in it.
    pub(crate) fn prepare(
        project: &'m Mount,
        directories: &[RelPath],
        rules: &'m PathRules,
    ) -> Result<Self, WriteBackError> {
        let mut copies = Self { project, rules, snapshots: Vec::new(), made: Vec::new() };
        for directory in directories.iter().map(RelPath::as_str) {
            // A copy holds what is below it too.
            let inside =
                |other: &&RelPath| directory.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('/'));
            if directories.iter().any(|other| inside(&other)) || copies.has(directory) {
                continue;
            }
            let place = project.below(directory);
            let system = |error| WriteBackError::System(directory.to_owned(), error);
            match place.metadata(rules, false) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(WriteBackError::NoDirectory(directory.to_owned())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match place.create_directory(rules) {
                        Ok(()) => copies.made.push(directory.to_owned()),
                        // Nothing grants it here, so it stays away.
                        Err(ChangeError::Refused) => continue,
                        Err(error) => return Err(refused(directory, error)),
                    }
                }
                Err(error) => return Err(system(error)),
            }
            copies.snapshots.push(Snapshot::take(project, directory, rules).map_err(system)?);
        }
        Ok(copies)
    }

    fn has(&self, directory: &str) -> bool {
        self.snapshots.iter().any(|snapshot| snapshot.directory == directory)
    }

    /// The directories' absolute paths, in the order of the copies.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.snapshots.iter().map(|snapshot| join(self.project.path(), &snapshot.directory)).collect()
    }

    /// Carries over what the program changed in its copies: all of it, or nothing.
    pub(crate) fn carry_over(&self, scratch: File, run: &Run) -> Result<Vec<Change>, WriteBackError> {
        let root = Dir::from_std_file(scratch);
        let mut differences = Vec::new();
        for (at, snapshot) in self.snapshots.iter().enumerate() {
            let system = |error| WriteBackError::System(snapshot.directory.clone(), error);
            let copy = root.open_dir(WritableDirectory::copy_name(at)).map_err(system)?;
            let changes = snapshot.difference(&copy)?;
            for change in &changes {
                snapshot.check(change, self.project, self.rules)?;
            }
            differences.push((snapshot, copy, changes));
        }
        let mut carried = Vec::new();
        for (snapshot, copy, changes) in differences {
            for Change { path, kind } in changes {
                let whole = join(&snapshot.directory, &path);
                let place = self.project.below(&whole);
                apply((&copy, &path), &Change { path: whole.clone(), kind }, &place, self.rules, run)?;
                carried.push(Change { path: whole, kind });
            }
        }
        Ok(carried)
    }
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        for directory in self.made.iter().rev() {
            // It stays when something is in it.
            let _has_something = self.project.below(directory).remove_directory(self.rules);
        }
    }
}

fn refused(path: &str, error: ChangeError) -> WriteBackError {
    match error {
        ChangeError::Refused => WriteBackError::Refused(path.to_owned()),
        ChangeError::Stopped(stop) => WriteBackError::Stopped(stop),
        ChangeError::System(error) => WriteBackError::System(path.to_owned(), error),
    }
}

/// A writable directory as it was before the program started: what has this state in the copy, the program did not change.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The directory, relative to the project; empty for all of it.
    directory: String,
    entries: BTreeMap<String, State>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    Directory,
    File {
        bytes: u64,
        changed: Option<std::time::SystemTime>,
        mode: u32,
    },
    /// A link, or what is not copied at all.
    Other,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        if metadata.is_dir() {
            return State::Directory;
        }
        if metadata.is_file() {
            let changed = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
            return State::File { bytes: metadata.len(), changed, mode: mode(metadata) };
        }
        State::Other
    }
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use cap_std::fs::MetadataExt as _;
    metadata.mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0
}

impl Snapshot {
    /// Looks at a directory of the project.
    pub(crate) fn take(project: &Mount, directory: &str, rules: &PathRules) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut open = vec![String::new()];
        while let Some(below) = open.pop() {
            for (name, metadata) in project.below(join(directory, &below)).statuses(rules, MAX_ENTRIES)? {
                let path = join(&below, &name);
                let state = State::of(&metadata);
                if state == State::Directory {
                    open.push(path.clone());
                }
                entries.insert(path, state);
            }
        }
        Ok(Self { directory: directory.to_owned(), entries })
    }

    /// What the program changed in its copy. What lies in a directory that was made comes after it, and in one that was removed
    /// before it.
    fn difference(&self, copy: &Dir) -> Result<Vec<Change>, WriteBackError> {
        let mut changes = Vec::new();
        let mut found = HashSet::new();
        self.compare(copy, "", &mut found, &mut changes)?;
        for (below, state) in self.entries.iter().rev().filter(|(below, _)| !found.contains(*below)) {
            let kind = match state {
                State::Directory => ChangeKind::RemovedDirectory,
                State::File { .. } => ChangeKind::RemovedFile,
                State::Other => continue,
            };
            changes.push(Change { path: below.clone(), kind });
        }
        Ok(changes)
    }

    fn compare(
        &self,
        copy: &Dir,
        below: &str,
        found: &mut HashSet<String>,
        changes: &mut Vec<Change>,
    ) -> Result<(), WriteBackError> {
        let system = |error| WriteBackError::System(join(&self.directory, below), error);
        let directory = if below.is_empty() { copy.try_clone() } else { copy.open_dir(below) }.map_err(system)?;
        let mut names = Vec::new();
        for entry in directory.entries().map_err(system)? {
            let entry = entry.map_err(system)?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| WriteBackError::Kind(join(below, &name.to_string_lossy())))?;
            names.push((name, entry.metadata().map_err(system)?));
        }
        names.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, metadata) in names {
            let path = join(below, &name);
            let state = State::of(&metadata);
            let before = self.entries.get(&path);
            found.insert(path.clone());
            match (&state, before) {
                (State::Directory, Some(State::Directory)) => self.compare(copy, &path, found, changes)?,
                (State::Directory, None) => {
                    changes.push(Change { path: path.clone(), kind: ChangeKind::MadeDirectory });
                    self.compare(copy, &path, found, changes)?;
                }
                (State::File { bytes, .. }, None) => {
                    changes.push(Change { path, kind: ChangeKind::MadeFile(*bytes) });
                }
                (State::File { .. }, Some(before)) if *before == state => {}
                (State::File { bytes, .. }, Some(State::File { .. })) => {
                    changes.push(Change { path, kind: ChangeKind::ChangedFile(*bytes) });
                }
                // A link that was there; that it leads elsewhere now is not carried over, and it leads nowhere new.
                (State::Other, Some(State::Other)) => {}
                _ => return Err(WriteBackError::Kind(join(&self.directory, &path))),
            }
        }
        Ok(())
    }

    fn check(&self, change: &Change, project: &Mount, rules: &PathRules) -> Result<(), WriteBackError> {
        let path = join(&self.directory, &change.path);
        let place = project.below(&path);
        if !rules.may_write(&path) {
            return Err(WriteBackError::Refused(path));
        }
        let now = match place.metadata(rules, false) {
            Ok(metadata) => Some(State::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(WriteBackError::System(path, error)),
        };
        if now.as_ref() != self.entries.get(&change.path) {
            return Err(WriteBackError::Conflict(path));
        }
        Ok(())
    }
}

/// Makes one change in the project. `from` is the copy, and the path in it.
fn apply(
    from: (&Dir, &str),
    change: &Change,
    place: &Located<'_>,
    rules: &PathRules,
    run: &Run,
) -> Result<(), WriteBackError> {
    let path = &change.path;
    let refused = |error| refused(path, error);
    let system = |error| WriteBackError::System(path.clone(), error);
    match change.kind {
        ChangeKind::MadeDirectory => place.create_directory(rules).map_err(refused),
        ChangeKind::RemovedFile => place.remove_file(rules).map_err(refused),
        ChangeKind::RemovedDirectory => place.remove_directory(rules).map_err(refused),
        ChangeKind::MadeFile(_) | ChangeKind::ChangedFile(_) => {
            let made = matches!(change.kind, ChangeKind::MadeFile(_));
            let mut from = from.0.open(from.1).map_err(system)?;
            let how = Writing { create: made, exclusive: made, truncate: true };
            let (mut to, _) = place.open_for_writing(rules, how).map_err(refused)?;
            let mut piece = vec![0; PIECE];
            loop {
                let count = from.read(&mut piece).map_err(system)?;
                if count == 0 {
                    break;
                }
                run.count_written(count as u64).map_err(WriteBackError::Stopped)?;
                to.write_all(&piece[..count]).map_err(system)?;
            }
            keep_executable(&from, &to).map_err(system)
        }
    }
}

/// A file that its owner may execute stays one; no other right is carried over.
#[cfg(unix)]
fn keep_executable(from: &cap_std::fs::File, to: &cap_std::fs::File) -> io::Result<()> {
    use cap_std::fs::{Permissions, PermissionsExt as _};
    const OWNER: u32 = 0o100;
    const EVERYBODY: u32 = 0o111;
    let (wanted, present) = (mode(&from.metadata()?), mode(&to.metadata()?));
    let kept = if wanted & OWNER == 0 { present & !EVERYBODY } else { present | (present & 0o444) >> 2 };
    if kept == present { Ok(()) } else { to.set_permissions(Permissions::from_mode(kept)) }
}

#[cfg(not(unix))]
fn keep_executable(_: &cap_std::fs::File, _: &cap_std::fs::File) -> io::Result<()> {
    Ok(())
}

fn join(directory: &str, name: &str) -> String {
    match (directory.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => directory.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}
