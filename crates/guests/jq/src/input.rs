//! What a program is given: the values of the files, of standard input, or the lines of both.

use crate::options::Request;
use crate::reader::Reader;
use crate::value::Value;
use std::collections::VecDeque;
use std::io::{self, Read as _};

/// What the system says, in the words of the C library.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
    }
}

/// The inputs, one by one. An error ends them.
#[derive(Debug)]
pub(crate) struct Inputs {
    file: Option<String>,
    lines: usize,
    started: bool,
    /// A file could not be opened.
    pub(crate) failed: bool,
    sources: VecDeque<Option<String>>,
    raw: bool,
    slurp: bool,
    reader: Reader,
    bytes: Vec<u8>,
    at: usize,
    /// The end of the line whose bytes are being read.
    line_end: usize,
    over: bool,
}

impl Inputs {
    pub(crate) fn new(request: &Request) -> Self {
        let sources = if request.files.is_empty() {
            [None].into()
        } else {
            request.files.iter().map(|file| Some(file.clone()).filter(|file| file != "-")).collect()
        };
        Self {
            file: None,
            lines: 0,
            started: false,
            failed: false,
            sources,
            raw: request.raw_input,
            slurp: request.slurp,
            reader: Reader::default(),
            bytes: Vec::new(),
            at: 0,
            line_end: 0,
            over: false,
        }
    }

    /// Where the reading is, as messages show it.
    pub(crate) fn place(&self) -> String {
        if !self.started {
            return "<unknown>".to_owned();
        }
        format!("{}:{}", self.file.as_deref().unwrap_or("<stdin>"), self.lines)
    }

    pub(crate) fn file_name(&self) -> Option<String> {
        self.file.clone()
    }

    pub(crate) fn line(&self) -> usize {
        self.lines
    }

    /// Opens the next source; whether there is one.
    fn open(&mut self) -> bool {
        while let Some(source) = self.sources.pop_front() {
            let mut bytes = Vec::new();
            let read = match &source {
                None => io::stdin().lock().read_to_end(&mut bytes).map(drop),
                Some(path) => std::fs::read(path).map(|read| bytes = read),
            };
            match read {
                Ok(()) => {
                    self.started = true;
                    self.file = source;
                    self.lines = 0;
                    (self.bytes, self.at, self.line_end) = (bytes, 0, 0);
                    return true;
                }
                Err(error) => {
                    eprintln!("jq: error: Could not open file {}: {}", source.unwrap_or_default(), reason(&error));
                    self.failed = true;
                }
            }
        }
        false
    }

    /// The next line, with what ends it.
    fn next_line(&mut self) -> Option<(usize, usize)> {
        while self.line_end >= self.bytes.len() {
            if !self.open() {
                return None;
            }
        }
        let start = self.line_end;
        let newline = self.bytes[start..].iter().position(|byte| *byte == b'\n');
        self.line_end = newline.map_or(self.bytes.len(), |at| start + at + 1);
        self.lines += usize::from(newline.is_some());
        Some((start, self.line_end))
    }

    fn value(&mut self) -> Result<Option<Value>, String> {
        loop {
            while self.at < self.line_end {
                self.at += 1;
                if let Some(value) = self.reader.push(self.bytes[self.at - 1])? {
                    return Ok(Some(value));
                }
            }
            if self.over {
                return Ok(None);
            }
            if let Some((start, _)) = self.next_line() {
                self.at = start;
            } else {
                self.over = true;
                return self.reader.end();
            }
        }
    }

    fn raw_line(&mut self) -> Option<Value> {
        let (start, end) = self.next_line()?;
        let line = &self.bytes[start..end];
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
        Some(Value::from(text))
    }

    fn slurped(&mut self) -> Result<Value, String> {
        self.slurp = false;
        self.over = self.raw;
        if self.raw {
            let mut all = Vec::new();
            while let Some((start, end)) = self.next_line() {
                all.extend_from_slice(&self.bytes[start..end]);
            }
            return Ok(Value::from(String::from_utf8_lossy(&all).into_owned()));
        }
        let mut values = Vec::new();
        while let Some(value) = self.value()? {
            values.push(value);
        }
        Ok(Value::from(values))
    }
}

impl Iterator for Inputs {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.slurp {
            return Some(self.slurped());
        }
        if self.raw {
            return self.raw_line().map(Ok);
        }
        let value = self.value();
        if value.is_err() {
            (self.over, self.at, self.line_end) = (true, 0, 0);
            self.bytes.clear();
            self.sources.clear();
        }
        value.transpose()
    }
}
