//! An append-only log whose lines are chained by their hashes.

mod line;
mod time;
mod verify;

use crate::{StateError, platform};
use line::{Recovery, compose, looks_cut, sound};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

pub use line::{Head, MAX_LINE_BYTES, ParseHeadError};
pub use verify::{CutLine, Expectation, Fault, FaultKind, Line, ParseExpectationError, Verdict, verify};

/// How far back from its end a log is looked through for its last whole line, bytes.
const WINDOW: u64 = 16 * MAX_LINE_BYTES as u64;

/// When a line counts as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// When the system has it: a line survives the end of the process, however it ends, and not the loss of power.
    Process,
    /// When the disk has it: each line is synced before its append returns, which costs a write to the disk for each.
    Disk,
}

/// A file of lines, each a JSON object that names its number, its time and the hash of the line before it. Several threads
/// and processes may append to one file; a lock that is held for each append keeps their lines whole and in one chain.
///
/// What the chain proves and what it cannot is said at [`verify`].
#[derive(Debug)]
pub struct ChainedLog {
    path: PathBuf,
    durability: Durability,
    state: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// The end of the file after our own last append, and what stood there.
    known: Option<(u64, Head)>,
}

/// What the end of a log is.
struct Tail {
    head: Head,
    /// The bytes after the last whole line: what a writer left that was stopped in the middle of one.
    cut: Vec<u8>,
    /// Whether a line end is missing at the end of the file.
    open: bool,
}

impl ChainedLog {
    /// Opens a log, creating it with mode 0600. The directory above must exist.
    ///
    /// A link in the file's place is not followed; the file must be regular, belong to the effective user, and not be writable
    /// by anybody else.
    ///
    /// # Errors
    /// A [`StateError`] that names what was refused, [`StateError::DamagedLog`] when the file is not a log or its last line was
    /// changed; [`StateError::Unsupported`] where the platform has no such checks.
    pub fn open_ambient(path: impl AsRef<Path>, durability: Durability) -> Result<Self, StateError> {
        let given = path.as_ref();
        let path = std::path::absolute(given).map_err(|error| StateError::io("find", given, error))?;
        let file = platform::open_log(&path)?;
        let log = Self { path, durability, state: Mutex::new(Open { file, known: None }) };
        // A file that cannot be continued is better refused now than at the first line.
        log.locked(|open, path| open.tail(path).map(drop))?;
        Ok(log)
    }

    /// Where the log is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line. `object` is the text of a JSON object with at least one member and without line ends; its members stand
    /// between those of the chain (`seq`, `time`, `previous` before them, `hash` after), whose names it must not use.
    ///
    /// When the file ends in the middle of a line, because a writer was stopped, that line is closed first and followed by a
    /// line of the event `recovery` that says how many bytes were cut and their digest.
    ///
    /// # Errors
    /// [`StateError::InvalidLine`] when `object` cannot be a line, [`StateError::DamagedLog`] when the chain cannot be continued,
    /// else what the system says. Nothing of the line is then in the log, unless the system kept a part of it and would not take
    /// it back.
    pub fn append(&self, object: &str) -> Result<Head, StateError> {
        let members = members(object).ok_or_else(|| StateError::InvalidLine { path: self.path.clone() })?;
        self.locked(|open, path| {
            let (head, text) = open.continuation(path, members)?;
            open.write(path, text.as_bytes(), self.durability)?;
            open.known = open.length(path).ok().map(|end| (end, head));
            Ok(head)
        })
    }

    fn locked<T>(&self, act: impl FnOnce(&mut Open, &Path) -> Result<T, StateError>) -> Result<T, StateError> {
        let mut open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while let Err(error) = open.file.lock() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(StateError::io("lock", &self.path, error));
            }
        }
        let result = act(&mut open, &self.path);
        let unlocked = open.file.unlock().map_err(|error| StateError::io("unlock", &self.path, error));
        result.and_then(|value| unlocked.map(|()| value))
    }
}

impl Open {
    fn length(&self, path: &Path) -> Result<u64, StateError> {
        self.file.metadata().map(|metadata| metadata.len()).map_err(|error| StateError::io("inspect", path, error))
    }

    /// The text that continues the log by a line with these members.
    fn continuation(&mut self, path: &Path, members: &str) -> Result<(Head, String), StateError> {
        let tail = self.tail(path)?;
        let mut text = String::new();
        if tail.open {
            text.push('\n');
        }
        let mut head = tail.head;
        if !tail.cut.is_empty() {
            head = compose(&mut text, head, SystemTime::now(), &Recovery::of(&tail.cut).members());
        }
        let start = text.len();
        head = compose(&mut text, head, SystemTime::now(), members);
        if text.len() - start > MAX_LINE_BYTES {
            return Err(StateError::InvalidLine { path: path.to_path_buf() });
        }
        Ok((head, text))
    }

    fn tail(&mut self, path: &Path) -> Result<Tail, StateError> {
        let length = self.length(path)?;
        if let Some((end, head)) = self.known
            && end == length
        {
            return Ok(Tail { head, cut: Vec::new(), open: false });
        }
        let mut size = length.min(4096);
        loop {
            let start = length - size;
            let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
            let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
            read.map_err(|error| StateError::io("read", path, error))?;
            if let Some(tail) = tail_of(&bytes, start == 0).map_err(|fault| damaged(path, fault))? {
                return Ok(tail);
            }
            if size == length || size >= WINDOW {
                return Err(damaged(path, "no line of a log is found at its end"));
            }
            size = (size * 4).min(length).min(WINDOW);
        }
    }

    fn write(&mut self, path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StateError> {
        let before = self.length(path)?;
        let written = self.file.write_all(bytes).and_then(|()| match durability {
            Durability::Process => Ok(()),
            Durability::Disk => self.file.sync_data(),
        });
        written.map_err(|error| {
            // Takes back what a full disk kept of the line. Where it cannot, the next writer finds a cut line and says so.
            let _ = self.file.set_len(before);
            self.known = None;
            StateError::io("write", path, error)
        })
    }
}

fn damaged(path: &Path, fault: &'static str) -> StateError {
    StateError::DamagedLog { path: path.to_path_buf(), fault }
}

/// What stands between the braces of an object, when it is one line.
fn members(object: &str) -> Option<&str> {
    let inner = object.strip_prefix('{')?.strip_suffix('}')?;
    (!inner.is_empty() && !inner.contains(char::is_control)).then_some(inner)
}

/// Reads the end of a log; `None` when more of it is needed.
fn tail_of(bytes: &[u8], whole: bool) -> Result<Option<Tail>, &'static str> {
    let open = bytes.last().is_some_and(|byte| *byte != b'\n');
    let mut rest = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let end = rest.len();
    if bytes.is_empty() && whole {
        return Ok(Some(Tail { head: Head::START, cut: Vec::new(), open: false }));
    }
    loop {
        let start = rest.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let (line, at) = match start {
            Some(at) => (&rest[at..], at),
            None if whole => (rest, 0),
            // Its beginning is not here.
            None => return Ok(None),
        };
        match sound(line) {
            Some(frame) => {
                let cut = bytes.get(at + line.len() + 1..end).unwrap_or_default().to_vec();
                return Ok(Some(Tail { head: frame.head(), cut, open }));
            }
            None if !looks_cut(line) => return Err("its last line is not a line of a log, or was changed"),
            None if at == 0 => {
                let cut = bytes.get(..end).unwrap_or_default().to_vec();
                return Ok(Some(Tail { head: Head::START, cut, open }));
            }
            None => rest = &rest[..at - 1],
        }
    }
}
