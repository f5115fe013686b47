//! Where output goes: standard output, the file that is edited, and the files of `w`.

use guest_command::output::{Output, path, reason};
use std::fs::File;
use std::io::Write as _;

/// An output that adds the newline a last line lacked when more follows.
#[derive(Debug)]
pub(super) struct Sink {
    kind: Kind,
    missing_newline: bool,
}

#[derive(Debug)]
enum Kind {
    Standard(Output),
    Error,
    File(String, File),
    /// What a file that is edited becomes.
    Memory(Vec<u8>),
}

impl Sink {
    pub(super) fn standard() -> Self {
        Self { kind: Kind::Standard(Output::new()), missing_newline: false }
    }

    pub(super) fn memory() -> Self {
        Self { kind: Kind::Memory(Vec::new()), missing_newline: false }
    }

    /// The file of a `w`, emptied.
    pub(super) fn create(name: &str) -> Result<Self, String> {
        let kind = match name {
            "/dev/stderr" => Kind::Error,
            name => match File::create(path(name.as_bytes())) {
                Ok(file) => Kind::File(name.to_owned(), file),
                Err(error) => return Err(format!("sed: couldn't open file {name}: {}", reason(&error))),
            },
        };
        Ok(Self { kind, missing_newline: false })
    }

    /// Writes a text after the newline that is missing.
    pub(super) fn text(&mut self, text: &[u8], delimiter: u8) {
        if std::mem::take(&mut self.missing_newline) {
            self.put(&[delimiter]);
        }
        self.put(text);
    }

    /// Writes a line.
    pub(super) fn line(&mut self, text: &[u8], ended: bool, delimiter: u8) {
        self.text(text, delimiter);
        if ended {
            self.put(&[delimiter]);
        } else {
            self.missing_newline = true;
        }
    }

    /// Writes a line of one who shares this output, but not its account of a missing newline.
    pub(super) fn line_of_another(&mut self, text: &[u8], ended: bool, delimiter: u8, missing: &mut bool) {
        std::mem::swap(&mut self.missing_newline, missing);
        self.line(text, ended, delimiter);
        std::mem::swap(&mut self.missing_newline, missing);
    }

    fn put(&mut self, bytes: &[u8]) {
        match &mut self.kind {
            Kind::Standard(output) => output.put(bytes),
            Kind::Memory(memory) => memory.extend_from_slice(bytes),
            // Nothing is left to complain to.
            Kind::Error => drop(std::io::stderr().write_all(bytes)),
            Kind::File(name, file) => {
                if let Err(error) = file.write_all(bytes) {
                    eprintln!("sed: couldn't write {} items to {name}: {}", bytes.len(), reason(&error));
                    std::process::exit(super::STATUS_PANIC);
                }
            }
        }
    }

    pub(super) fn flush(&mut self) {
        if let Kind::Standard(output) = &mut self.kind {
            output.flush();
        }
    }

    /// What was written to memory.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.missing_newline = false;
        match &mut self.kind {
            Kind::Memory(memory) => std::mem::take(memory),
            _ => Vec::new(),
        }
    }
}
