//! Standard output, buffered, and what goes wrong with it.

use std::io::{self, BufWriter, StdoutLock, Write as _};
use std::path::{Path, PathBuf};

/// Standard output. A reader that goes away ends the command without a word, as SIGPIPE does.
#[derive(Debug)]
pub struct Output(BufWriter<StdoutLock<'static>>);

/// The status that tells of a reader that went away.
const STATUS_BROKEN_PIPE: i32 = 141;
/// The status when the output cannot be written.
const STATUS_WRITE: i32 = 2;

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Output {
    /// Standard output of this command.
    #[must_use]
    pub fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 16, io::stdout().lock()))
    }

    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        let written = self.0.write_all(bytes);
        self.checked(written);
    }

    /// Hands on what is buffered.
    pub fn flush(&mut self) {
        let flushed = self.0.flush();
        self.checked(flushed);
    }

    fn checked(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(STATUS_BROKEN_PIPE),
            Err(error) => {
                eprintln!("write error: {}", reason(&error));
                std::process::exit(STATUS_WRITE);
            }
        }
    }
}

/// What the system says, in the words of the C library.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "Not a directory".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

/// A path of the system from the bytes of an argument.
#[must_use]
pub fn path(bytes: &[u8]) -> PathBuf {
    // Guests get UTF-8 only; a byte that is none is replaced, and such a path does not exist.
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The bytes of a path.
#[must_use]
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
