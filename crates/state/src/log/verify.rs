use super::line::{Frame, Head, MAX_LINE_BYTES, Recovery, Unsound, looks_cut, read};
use skillgate_core::Digest;
use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::str::FromStr;

/// What somebody who kept a log's head knows about it: that a line of this number is there, and perhaps its hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The number of the line that must be there.
    pub seq: u64,
    /// The hash it must have.
    pub hash: Option<Digest>,
}

/// The text is no expectation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what is expected is a number of lines, or a head as `log verify` prints it: a number, a colon and a hash")]
pub struct ParseExpectationError;

impl FromStr for Expectation {
    type Err = ParseExpectationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(seq) = text.parse() {
            return Ok(Self { seq, hash: None });
        }
        let head: Head = text.parse().map_err(|_| ParseExpectationError)?;
        Ok(Self { seq: head.seq, hash: Some(head.hash) })
    }
}

/// One line that holds.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its number in the file, from 1.
    pub line: u64,
    /// Its number in the chain and its hash.
    pub head: Head,
    /// Its whole text, a JSON object.
    pub text: &'a str,
}

/// A place where a writer was stopped in the middle of a line, and the next one said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutLine {
    /// The number of the cut line in the file, from 1.
    pub line: u64,
    /// How many bytes of it there are.
    pub bytes: usize,
}

/// The first line that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its number in the file, from 1. For what is missing at the end, the number after the last line.
    pub line: u64,
    /// What is wrong with it.
    pub kind: FaultKind,
}

/// What can be wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// It has not the form of a line of a log.
    NotALine,
    /// Its bytes give another hash than the one it carries.
    Edited,
    /// Lines before it are not there.
    Removed {
        /// The number of the first that is missing.
        first: u64,
        /// The number of the last that is missing.
        last: u64,
    },
    /// A line that belongs before it stands after it.
    Reordered {
        /// The number of that line in the chain.
        expected: u64,
    },
    /// It stands there already.
    Repeated {
        /// The number of the line in the chain.
        seq: u64,
    },
    /// A line of the same number and other contents stands before it.
    Forked {
        /// The number of both in the chain.
        seq: u64,
    },
    /// It does not continue the line before it: one of the two was replaced.
    Unlinked,
    /// It says that a cut line stands before it, and none does, or another.
    NothingCut,
    /// The file ends in the middle of it.
    CutOff,
    /// The file ends before its line end.
    NotClosed,
    /// The chain holds, and what the line says does not make sense.
    Contents(String),
    /// It is not the line that was expected at its number.
    Unexpected {
        /// The hash that was expected.
        expected: Digest,
    },
    /// The log has fewer lines than were expected.
    Shorter {
        /// The number of the line that was expected.
        expected: u64,
    },
}

impl FaultKind {
    /// A short, stable name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            FaultKind::NotALine => "not-a-line",
            FaultKind::Edited => "edited",
            FaultKind::Removed { .. } => "removed",
            FaultKind::Reordered { .. } => "reordered",
            FaultKind::Repeated { .. } => "repeated",
            FaultKind::Forked { .. } => "forked",
            FaultKind::Unlinked => "unlinked",
            FaultKind::NothingCut => "nothing-cut",
            FaultKind::CutOff => "cut-off",
            FaultKind::NotClosed => "not-closed",
            FaultKind::Contents(_) => "contents",
            FaultKind::Unexpected { .. } => "unexpected",
            FaultKind::Shorter { .. } => "shorter",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::NotALine => f.write_str("it is not a line of a log: inserted, or edited"),
            FaultKind::Edited => f.write_str("its bytes do not give the hash it carries: edited"),
            FaultKind::Removed { first, last } if first == last => write!(f, "number {first} before it was removed"),
            FaultKind::Removed { first, last } => write!(f, "the numbers {first} to {last} before it were removed"),
            FaultKind::Reordered { expected } => {
                write!(f, "number {expected} belongs here and stands further down: reordered")
            }
            FaultKind::Repeated { seq } => write!(f, "number {seq} stands before it already: repeated"),
            FaultKind::Forked { seq } => {
                write!(f, "another line with the number {seq} stands before it: inserted, or the log was forked")
            }
            FaultKind::Unlinked => {
                f.write_str("it does not continue the line before it: one of the two was inserted or replaced")
            }
            FaultKind::NothingCut => f.write_str("it marks a cut line that is not before it: removed or replaced"),
            FaultKind::CutOff => {
                f.write_str("the file ends in the middle of it: its writer was stopped, or it was cut")
            }
            FaultKind::NotClosed => f.write_str("the file ends before its line end"),
            FaultKind::Contents(reason) => write!(f, "the chain holds, and its contents do not: {reason}"),
            FaultKind::Unexpected { expected } => {
                write!(f, "it is not the line that was expected here, which has the hash {expected}: replaced")
            }
            FaultKind::Shorter { expected } => {
                write!(f, "number {expected} was expected and is not there: the end was removed")
            }
        }
    }
}

/// What was found in a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The last line that holds; `None` when there is none.
    pub head: Option<Head>,
    /// Lines that were cut by a stop of their writer and are marked as such.
    pub cut: Vec<CutLine>,
    /// The first line that does not hold; `None` when all do.
    pub fault: Option<Fault>,
}

/// Verifies that every line of a log follows from the one before it, up to the first that does not. `inspect` looks at the
/// contents of each line that holds, and its refusal is a fault.
///
/// The chain finds every change to a log by somebody who does not write all following lines anew: an edit, a removal, another
/// order, a repetition, an insertion. It cannot show that lines are missing at the end, or that somebody who may write the file
/// made all of it anew from some line on; for both, keep the head outside and give it as `expected`.
///
/// # Errors
/// What reading says. A fault is no error.
pub fn verify(
    log: &mut dyn BufRead,
    expected: Option<Expectation>,
    inspect: &mut dyn FnMut(Line<'_>) -> Result<(), String>,
) -> io::Result<Verdict> {
    let mut walk = Walk { head: Head::START, hashes: Vec::new(), cut: Vec::new(), pending: None, expected };
    let mut number = 0;
    let fault = loop {
        let mut bytes = Vec::new();
        // One byte more than a line and its end may have.
        let limit = MAX_LINE_BYTES as u64 + 2;
        if (&mut *log).take(limit).read_until(b'\n', &mut bytes)? == 0 {
            break walk.end(number + 1);
        }
        number += 1;
        if let Err(kind) = walk.line(number, &bytes, inspect) {
            let kind = if let FaultKind::Removed { first, .. } = kind
                && stands_further_down(log, first, walk.head)?
            {
                FaultKind::Reordered { expected: first }
            } else {
                kind
            };
            break Some(walk.fault(number, kind));
        }
    };
    let head = (walk.head.seq > 0).then_some(walk.head);
    Ok(Verdict { head, cut: walk.cut, fault })
}

/// Bytes that may be a cut line, until a recovery line says so.
struct Pending {
    line: u64,
    bytes: Vec<u8>,
    closed: bool,
}

struct Walk {
    head: Head,
    /// The hashes of the lines that hold, to tell a repetition from a fork.
    hashes: Vec<Digest>,
    cut: Vec<CutLine>,
    pending: Option<Pending>,
    expected: Option<Expectation>,
}

impl Walk {
    fn line(
        &mut self,
        number: u64,
        bytes: &[u8],
        inspect: &mut dyn FnMut(Line<'_>) -> Result<(), String>,
    ) -> Result<(), FaultKind> {
        let (line, closed) = bytes.strip_suffix(b"\n").map_or((bytes, false), |line| (line, true));
        if line.len() > MAX_LINE_BYTES {
            return Err(FaultKind::NotALine);
        }
        let frame = match read(line) {
            Ok(frame) => frame,
            Err(Unsound::Hash) => return Err(FaultKind::Edited),
            Err(Unsound::Form) => return self.postpone(number, line, closed),
        };
        let recovery = frame.members.starts_with(Recovery::EVENT);
        match self.pending.take() {
            Some(pending) if !(recovery && self.marks(&frame, &pending)) => {
                self.pending = Some(pending);
                return Err(FaultKind::NotALine);
            }
            Some(pending) => self.cut.push(CutLine { line: pending.line, bytes: pending.bytes.len() }),
            None if recovery => return Err(FaultKind::NothingCut),
            None => {}
        }
        self.link(&frame)?;
        if let Some(Expectation { seq, hash: Some(hash) }) = self.expected
            && seq == frame.seq
            && hash != frame.head().hash
        {
            return Err(FaultKind::Unexpected { expected: hash });
        }
        if !closed {
            return Err(FaultKind::NotClosed);
        }
        let text = std::str::from_utf8(line).map_err(|_| FaultKind::NotALine)?;
        inspect(Line { line: number, head: frame.head(), text }).map_err(FaultKind::Contents)?;
        self.head = frame.head();
        self.hashes.push(self.head.hash);
        Ok(())
    }

    /// Keeps what may be a cut line until it is known whether it is marked as one.
    fn postpone(&mut self, number: u64, line: &[u8], closed: bool) -> Result<(), FaultKind> {
        if !looks_cut(line) {
            return Err(FaultKind::NotALine);
        }
        match &mut self.pending {
            Some(pending) => {
                pending.bytes.push(b'\n');
                pending.bytes.extend_from_slice(line);
                pending.closed = closed;
                // More than a few are not what stopped writers leave.
                if pending.bytes.len() > 16 * MAX_LINE_BYTES { Err(FaultKind::NotALine) } else { Ok(()) }
            }
            None => {
                self.pending = Some(Pending { line: number, bytes: line.to_vec(), closed });
                Ok(())
            }
        }
    }

    fn marks(&self, frame: &Frame<'_>, pending: &Pending) -> bool {
        frame.members == Recovery::of(&pending.bytes).members()
    }

    fn link(&self, frame: &Frame<'_>) -> Result<(), FaultKind> {
        let (seq, wanted) = (frame.seq, self.head.seq + 1);
        if seq > wanted {
            return Err(FaultKind::Removed { first: wanted, last: seq - 1 });
        }
        if seq < wanted {
            let index = seq.checked_sub(1).and_then(|index| usize::try_from(index).ok());
            let there = index.and_then(|index| self.hashes.get(index));
            let same = there == Some(&frame.head().hash);
            return Err(if same { FaultKind::Repeated { seq } } else { FaultKind::Forked { seq } });
        }
        if frame.previous == self.head.hash { Ok(()) } else { Err(FaultKind::Unlinked) }
    }

    /// The fault at the end of the file.
    fn end(&self, next: u64) -> Option<Fault> {
        if let Some(pending) = &self.pending {
            let kind = if pending.closed { FaultKind::NotALine } else { FaultKind::CutOff };
            return Some(Fault { line: pending.line, kind });
        }
        let expected = self.expected.filter(|expected| expected.seq > self.head.seq)?;
        Some(Fault { line: next, kind: FaultKind::Shorter { expected: expected.seq } })
    }

    /// A fault, at the first line that was not yet found to hold.
    fn fault(&self, number: u64, kind: FaultKind) -> Fault {
        match &self.pending {
            Some(pending) => Fault { line: pending.line, kind: FaultKind::NotALine },
            None => Fault { line: number, kind },
        }
    }
}

/// Whether the line that continues `head` is in the rest of the file.
fn stands_further_down(log: &mut dyn BufRead, seq: u64, head: Head) -> io::Result<bool> {
    loop {
        let mut bytes = Vec::new();
        if (&mut *log).take(MAX_LINE_BYTES as u64 + 2).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(false);
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if read(line).is_ok_and(|frame| frame.seq == seq && frame.previous == head.hash) {
            return Ok(true);
        }
    }
}
