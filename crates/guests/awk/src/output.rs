//! Where `print` goes.

use crate::Fault;
use crate::syntax::Redirect;
use guest_command::output::{Output, path, reason};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};

/// Standard output and the files that the program opened.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) standard: Output,
    files: HashMap<Vec<u8>, BufWriter<File>>,
}

impl Outputs {
    pub(crate) fn new() -> Self {
        Self { standard: Output::new(), files: HashMap::new() }
    }

    /// Writes to a file by its name, which is opened the first time.
    pub(crate) fn write(&mut self, name: &[u8], redirect: Redirect, bytes: &[u8]) -> Result<(), Fault> {
        match name {
            b"/dev/stdout" | b"-" => {
                self.standard.put(bytes);
                return Ok(());
            }
            b"/dev/stderr" => {
                self.standard.flush();
                // Nobody is told when nobody listens.
                let _nobody_reads = std::io::stderr().write_all(bytes);
                return Ok(());
            }
            _ => {}
        }
        let shown = || String::from_utf8_lossy(name).into_owned();
        if !self.files.contains_key(name) {
            let mut options = OpenOptions::new();
            options.write(true).create(true);
            match redirect {
                Redirect::Write => options.truncate(true),
                Redirect::Append => options.append(true),
            };
            let file = options.open(path(name)).map_err(|error| {
                Fault::Wrong(format!("cannot open \"{}\" for output ({})", shown(), reason(&error)))
            })?;
            self.files.insert(name.to_vec(), BufWriter::new(file));
        }
        let Some(file) = self.files.get_mut(name) else { return Ok(()) };
        file.write_all(bytes)
            .map_err(|error| Fault::Wrong(format!("write failure on {} ({})", shown(), reason(&error))))
    }

    /// Closes a file; whether it was open, and all of it could be written.
    pub(crate) fn close(&mut self, name: &[u8]) -> Option<bool> {
        self.files.remove(name).map(|mut file| file.flush().is_ok())
    }

    pub(crate) fn flush(&mut self) -> bool {
        self.standard.flush();
        self.files.values_mut().fold(true, |all, file| all & file.flush().is_ok())
    }
}
