//! Records from files.

use crate::Fault;
use crate::regex::Matcher;
use memchr::memchr;
use std::io::Read;
use std::rc::Rc;

/// What stands between records.
#[derive(Clone, Debug)]
pub(crate) enum RecordSeparator {
    Byte(u8),
    /// Empty lines.
    Paragraphs,
    Regex(Rc<Matcher>),
}

impl RecordSeparator {
    pub(crate) fn of(text: &[u8]) -> Result<Self, Fault> {
        Ok(match text {
            b"" => RecordSeparator::Paragraphs,
            [byte] => RecordSeparator::Byte(*byte),
            text => RecordSeparator::Regex(Rc::new(Matcher::compile(text)?)),
        })
    }
}

/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// A file that is read record by record.
pub(crate) struct Source {
    reader: Box<dyn Read>,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Source {
    pub(crate) fn new(reader: Box<dyn Read>) -> Self {
        Self { reader, buffer: Vec::new(), at: 0, ended: false }
    }

    /// Opens a file; `-` is standard input.
    pub(crate) fn open(name: &[u8]) -> std::io::Result<Self> {
        if matches!(name, b"-" | b"/dev/stdin") {
            return Ok(Self::new(Box::new(std::io::stdin().lock())));
        }
        std::fs::File::open(guest_command::output::path(name)).map(|file| Self::new(Box::new(file)))
    }

    /// Reads more; `false` at the end.
    fn more(&mut self) -> std::io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        let held = self.buffer.len();
        // A long record doubles the block, so that it is not searched again and again.
        self.buffer.resize(held + BLOCK.max(held), 0);
        let read = self.reader.read(&mut self.buffer[held..]);
        let count = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(held + count);
        self.ended = count == 0;
        read.map(|count| count > 0)
    }

    /// The next record, without what ends it.
    pub(crate) fn record(&mut self, separator: &RecordSeparator) -> Result<Option<Vec<u8>>, Fault> {
        let fault = |error: &std::io::Error| {
            Fault::Wrong(format!("run time error: cannot read ({})", guest_command::output::reason(error)))
        };
        if matches!(separator, RecordSeparator::Paragraphs) {
            self.skip_newlines().map_err(|error| fault(&error))?;
        }
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.at..];
            let found = match separator {
                RecordSeparator::Byte(byte) => {
                    memchr(*byte, rest.get(searched..).unwrap_or_default()).map(|at| searched + at..searched + at + 1)
                }
                RecordSeparator::Paragraphs => paragraph_end(rest),
                RecordSeparator::Regex(matcher) => matcher.find(rest, 0)?.filter(|found| !found.is_empty()),
            };
            // A match that reaches the end of what was read may go on.
            let open = !matches!(separator, RecordSeparator::Byte(_));
            if let Some(found) = found
                && (self.ended || !open || found.end < rest.len())
            {
                let record = rest[..found.start].to_vec();
                self.at += found.end;
                return Ok(Some(record));
            }
            searched = rest.len();
            if !self.more().map_err(|error| fault(&error))? {
                if !self.ended {
                    continue;
                }
                let mut rest = self.buffer.split_off(self.at);
                self.buffer.clear();
                self.at = 0;
                if rest.is_empty() {
                    return Ok(None);
                }
                match separator {
                    RecordSeparator::Paragraphs => {
                        rest.truncate(rest.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1));
                    }
                    RecordSeparator::Regex(matcher) => {
                        // The end of the file decides what was open.
                        if let Some(found) = matcher.find(&rest, 0)?.filter(|found| !found.is_empty()) {
                            let after = rest.split_off(found.end);
                            rest.truncate(found.start);
                            self.buffer = after;
                        }
                    }
                    RecordSeparator::Byte(_) => {}
                }
                return Ok(Some(rest));
            }
        }
    }

    fn skip_newlines(&mut self) -> std::io::Result<()> {
        loop {
            while self.buffer.get(self.at) == Some(&b'\n') {
                self.at += 1;
            }
            if self.at < self.buffer.len() || !self.more()? {
                return Ok(());
            }
        }
    }
}

/// Where a paragraph ends: two newlines and all that follow.
fn paragraph_end(text: &[u8]) -> Option<std::ops::Range<usize>> {
    let start = text.windows(2).position(|pair| pair == b"\n\n")?;
    let length = text[start..].iter().take_while(|byte| **byte == b'\n').count();
    Some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow(Vec<u8>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    fn records(separator: &str, text: &str) -> Vec<String> {
        let separator = RecordSeparator::of(separator.as_bytes()).expect("it is a separator");
        let mut source = Source::new(Box::new(Slow(text.as_bytes().to_vec())));
        let mut records = Vec::new();
        while let Some(record) = source.record(&separator).expect("it reads") {
            records.push(String::from_utf8(record).expect("UTF-8"));
        }
        records
    }

    #[test]
    fn records_end_where_the_separator_is() {
        for (separator, text, expected) in [
            ("\n", "a\nb\n\nc", vec!["a", "b", "", "c"]),
            (";", "a;b\n", vec!["a", "b\n"]),
            ("", "\n\na\nb\n\n\nc\n", vec!["a\nb", "c"]),
            ("[0-9]+", "x12y3z\n", vec!["x", "y", "z\n"]),
            ("\n", "", vec![]),
        ] {
            assert_eq!(records(separator, text), expected, "{separator:?} {text:?}");
        }
    }
}
