//! `xargs`, as GNU findutils 4.9 works, one command after the other. The host is asked to run each, decides it as a command of
//! its own, and ends the run when it is refused.

mod items;
mod request;

use crate::output::{path, reason};
use guest_run::Ended;
use items::{Items, ReadError};
use request::{Request, Separator};
use std::io::{BufReader, Read, Write as _};

/// Some command ended with another status than 0.
const STATUS_FAILED: i32 = 123;
/// A command asked to stop, with status 255.
const STATUS_ABORTED: i32 = 124;
/// A command was killed.
const STATUS_KILLED: i32 = 125;
const STATUS_CANNOT_RUN: i32 = 126;
const STATUS_NOT_FOUND: i32 = 127;
/// The status by which a command says that it wants no other to be run.
const STOP: u8 = 255;
/// The status of a command that SIGPIPE would have ended.
const BROKEN_PIPE: u8 = 141;

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let request = match request::parse(arguments) {
        Ok(request) => request,
        Err((message, status)) => {
            eprintln!("{message}");
            return status;
        }
    };
    let input: Box<dyn Read> = match &request.file {
        Some(name) => match std::fs::File::open(path(name)) {
            Ok(file) => Box::new(file),
            Err(error) => {
                let shown = String::from_utf8_lossy(name);
                eprintln!("xargs: Cannot open input file ‘{shown}’: {}", reason(&error));
                return 1;
            }
        },
        None => Box::new(std::io::stdin().lock()),
    };
    let items = Items::new(BufReader::new(input), &request);
    let mut runner = Runner { request: &request, failed: false };
    let result = if request.replaced.is_some() { runner.replace(items) } else { runner.collect(items) };
    match result {
        Err(status) => status,
        Ok(()) if runner.failed => STATUS_FAILED,
        Ok(()) => 0,
    }
}

struct Runner<'r> {
    request: &'r Request,
    failed: bool,
}

/// The status that everything ends with at once.
type Flow = Result<(), i32>;

fn complain(error: &ReadError) -> i32 {
    eprintln!("xargs: {error}");
    1
}

impl Runner<'_> {
    /// One command for each item, which stands where the mark does.
    fn replace(&mut self, mut items: Items<'_>) -> Flow {
        let mark = self.request.replaced.clone().unwrap_or_default();
        while let Some(item) = items.next().map_err(|error| complain(&error))? {
            let vector: Vec<Vec<u8>> =
                self.request.command.iter().map(|word| replaced(word, &mark, &item.text)).collect();
            if size(&vector) > self.request.max_size {
                eprintln!("xargs: argument list too long");
                return Err(1);
            }
            self.run(&vector)?;
        }
        Ok(())
    }

    /// Commands with as many items as fit.
    fn collect(&mut self, mut items: Items<'_>) -> Flow {
        let request = self.request;
        let own = size(&request.command);
        let (mut vector, mut held, mut lines) = (request.command.clone(), own, 0);
        let mut ran = false;
        loop {
            let item = match items.next() {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(error) => {
                    // What was read in whole before is still used.
                    let pending = vector.len() > request.command.len() && !request.exits_when_too_long;
                    if pending && matches!(error, ReadError::Unmatched(_)) {
                        self.run(&vector)?;
                    }
                    return Err(complain(&error));
                }
            };
            let length = item.text.len() + 1;
            if own + length > request.max_size {
                eprintln!("xargs: argument line too long");
                return Err(1);
            }
            if held + length > request.max_size {
                if request.exits_when_too_long {
                    eprintln!("xargs: argument list too long");
                    return Err(1);
                }
                self.run(&vector)?;
                (vector, held, lines, ran) = (request.command.clone(), own, 0, true);
            }
            vector.push(item.text);
            held += length;
            lines += usize::from(item.ends_line);
            let items_held = vector.len() - request.command.len();
            let full = request.max_items.is_some_and(|most| items_held >= most)
                || request.max_lines.is_some_and(|most| lines >= most);
            if full {
                self.run(&vector)?;
                (vector, held, lines, ran) = (request.command.clone(), own, 0, true);
            }
        }
        if vector.len() > request.command.len() || (!ran && !request.not_when_empty) {
            self.run(&vector)?;
        }
        Ok(())
    }

    fn run(&mut self, vector: &[Vec<u8>]) -> Flow {
        if self.request.traces {
            let words: Vec<String> = vector.iter().map(|word| quoted(word)).collect();
            eprintln!("{}", words.join(" "));
        }
        // What was said so far stands before what the command says.
        let _nobody_reads = std::io::stderr().flush();
        let name = vector.first().map(|name| String::from_utf8_lossy(name)).unwrap_or_default();
        match guest_run::run(vector, None, self.request.file.is_some()) {
            Ended::Exited(0) => Ok(()),
            Ended::Exited(STOP) => {
                eprintln!("xargs: {name}: exited with status 255; aborting");
                Err(STATUS_ABORTED)
            }
            Ended::Exited(BROKEN_PIPE) => {
                eprintln!("xargs: {name}: terminated by signal 13");
                Err(STATUS_KILLED)
            }
            Ended::Exited(_) => {
                self.failed = true;
                Ok(())
            }
            Ended::NotFound => {
                eprintln!("xargs: {name}: No such file or directory");
                Err(STATUS_NOT_FOUND)
            }
            Ended::CannotRun => {
                eprintln!("xargs: {name}: Permission denied");
                Err(STATUS_CANNOT_RUN)
            }
        }
    }
}

/// The bytes of a vector as a system counts them.
fn size(vector: &[Vec<u8>]) -> usize {
    vector.iter().map(|word| word.len() + 1).sum()
}

fn replaced(word: &[u8], mark: &[u8], with: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        if !mark.is_empty() && rest.starts_with(mark) {
            out.extend_from_slice(with);
            rest = &rest[mark.len()..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
}

/// A word as a shell reads it, quoted where it has to be.
fn quoted(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_^".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else if text.contains('\'') && !text.contains(['"', '$', '`', '\\', '!']) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_replaced() {
        for (word, mark, expected) in [("a{}b{}", "{}", "aXbX"), ("{}", "{", "X}"), ("a", "", "a")] {
            assert_eq!(replaced(word.as_bytes(), mark.as_bytes(), b"X"), expected.as_bytes(), "{word}");
        }
    }
}
