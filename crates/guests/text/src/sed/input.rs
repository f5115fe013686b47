//! The lines of the input files.

use guest_command::output::{path, reason};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Stdin};

/// A line without its end, and whether it had one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    pub(super) ended: bool,
}

/// What came next.
#[derive(Debug)]
pub(super) enum Next {
    Line(Line),
    /// With `-s`: a file begins, and then its lines follow.
    File,
    End,
}

enum Reader {
    Standard(BufReader<Stdin>),
    File(BufReader<File>),
}

impl Reader {
    fn buffered(&mut self) -> &mut dyn BufRead {
        match self {
            Self::Standard(reader) => reader,
            Self::File(reader) => reader,
        }
    }
}

/// A file cannot be read although it could be opened: sed ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Broken(pub(super) String);

/// The input files, one after the other.
pub(super) struct Input {
    files: VecDeque<String>,
    current: Option<Reader>,
    /// The file that was opened last, as `F` shows it.
    pub(super) name: String,
    /// Whether every file is an input of its own.
    separate: bool,
    in_place: bool,
    delimiter: u8,
    /// Whether a file could not be opened.
    pub(super) trouble: bool,
    /// Whether a file could not be edited.
    pub(super) uneditable: bool,
}

impl Input {
    pub(super) fn new(files: Vec<String>, separate: bool, in_place: bool, delimiter: u8) -> Self {
        let name = "-".to_owned();
        let files = files.into();
        Self { files, current: None, name, separate, in_place, delimiter, trouble: false, uneditable: false }
    }

    /// The next line of any file.
    pub(super) fn next(&mut self) -> Result<Next, Broken> {
        loop {
            if self.at_end_of_file()? {
                if self.current.take().is_some() && self.separate {
                    // The end of a file is told before the next one is opened.
                    continue;
                }
                match self.open_next() {
                    None => return Ok(Next::End),
                    Some(false) => continue,
                    Some(true) if self.separate => return Ok(Next::File),
                    Some(true) => continue,
                }
            }
            let delimiter = self.delimiter;
            let Some(reader) = &mut self.current else { continue };
            let mut text = Vec::new();
            let read = reader.buffered().read_until(delimiter, &mut text);
            read.map_err(|error| self.broken(&error))?;
            let ended = text.last() == Some(&delimiter);
            if ended {
                text.pop();
            }
            return Ok(Next::Line(Line { text, ended }));
        }
    }

    /// Whether the line that was read last is the last one.
    pub(super) fn is_last(&mut self) -> Result<bool, Broken> {
        loop {
            if !self.at_end_of_file()? {
                return Ok(false);
            }
            if self.separate {
                return Ok(true);
            }
            self.current = None;
            match self.open_next() {
                None => return Ok(true),
                Some(_) => {}
            }
        }
    }

    /// Whether nothing is left of the current file.
    fn at_end_of_file(&mut self) -> Result<bool, Broken> {
        let Some(reader) = &mut self.current else { return Ok(true) };
        match reader.buffered().fill_buf() {
            Ok(buffer) => Ok(buffer.is_empty()),
            Err(error) => Err(self.broken(&error)),
        }
    }

    fn broken(&self, error: &std::io::Error) -> Broken {
        Broken(format!("sed: read error on {}: {}", self.name, reason(error)))
    }

    /// Opens the next file: `None` without one, `false` when it cannot be opened.
    fn open_next(&mut self) -> Option<bool> {
        let name = self.files.pop_front()?;
        if name == "-" && !self.in_place {
            self.name = name;
            self.current = Some(Reader::Standard(BufReader::new(std::io::stdin())));
            return Some(true);
        }
        let place = path(name.as_bytes());
        if self.in_place && std::fs::metadata(&place).is_ok_and(|metadata| !metadata.is_file()) {
            eprintln!("sed: couldn't edit {name}: not a regular file");
            self.uneditable = true;
            return Some(false);
        }
        match File::open(place) {
            Ok(file) => {
                self.name = name;
                self.current = Some(Reader::File(BufReader::new(file)));
                Some(true)
            }
            Err(error) => {
                eprintln!("sed: can't read {name}: {}", reason(&error));
                self.trouble = true;
                Some(false)
            }
        }
    }
}
