use super::time::rfc3339;
use skillgate_core::Digest;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::time::SystemTime;

/// Longest line of a log, bytes.
pub const MAX_LINE_BYTES: usize = 64 << 10;

const SEQ: &str = r#"{"seq":"#;
const TIME: &str = r#","time":""#;
const PREVIOUS: &str = r#"","previous":""#;
const HASH: &str = r#","hash":""#;
const END: &str = r#""}"#;
const HEX: usize = 64;

/// A line as it is named from outside: its number and its hash, written `42:9f86…`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The line's number, from 1; 0 stands before the first line.
    pub seq: u64,
    /// The hash that the line carries.
    pub hash: Digest,
}

impl Head {
    /// What the first line continues.
    pub(super) const START: Self = Self { seq: 0, hash: Digest::ZERO };
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

/// The text does not name a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a line of a log is named by its number, a colon and its hash of 64 hexadecimal digits")]
pub struct ParseHeadError;

impl FromStr for Head {
    type Err = ParseHeadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (seq, hash) = text.split_once(':').ok_or(ParseHeadError)?;
        Ok(Self { seq: number(seq).ok_or(ParseHeadError)?, hash: hash.parse().map_err(|_| ParseHeadError)? })
    }
}

/// The parts of a line that the chain is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) seq: u64,
    pub(super) previous: Digest,
    /// What the caller of the append gave.
    pub(super) members: &'a str,
    hash: Digest,
}

impl Frame<'_> {
    pub(super) fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

/// Why some bytes are not a line that holds by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unsound {
    /// They have not the form of a line.
    Form,
    /// They have the form, and their hash is another than they say.
    Hash,
}

/// Reads a line's frame and checks the hash that it carries.
pub(super) fn read(line: &[u8]) -> Result<Frame<'_>, Unsound> {
    let (frame, hashed) = parse(line).ok_or(Unsound::Form)?;
    if Digest::of(hashed.as_bytes()) == frame.hash { Ok(frame) } else { Err(Unsound::Hash) }
}

pub(super) fn sound(line: &[u8]) -> Option<Frame<'_>> {
    read(line).ok()
}

/// Whether bytes may be the beginning of a line whose writer was stopped. A line that has its end is not.
pub(super) fn looks_cut(line: &[u8]) -> bool {
    let begins =
        line.get(..SEQ.len()).map_or_else(|| SEQ.as_bytes().starts_with(line), |start| start == SEQ.as_bytes());
    // A writer that is stopped leaves some of a line, so an empty one is somebody else's.
    begins && !line.is_empty() && parse(line).is_none()
}

fn parse(line: &[u8]) -> Option<(Frame<'_>, &str)> {
    let text = std::str::from_utf8(line).ok()?;
    let body = text.strip_suffix(END)?;
    let hashed = body.get(..body.len().checked_sub(HEX + HASH.len())?)?;
    let hash = digest(body.strip_prefix(hashed)?.strip_prefix(HASH)?)?;
    let (seq, rest) = hashed.strip_prefix(SEQ)?.split_once(TIME)?;
    let (_, rest) = rest.split_once(PREVIOUS)?;
    let (previous, members) = rest.split_at_checked(HEX)?;
    let members = members.strip_prefix(r#"","#)?;
    let frame = Frame { seq: number(seq)?, previous: digest(previous)?, members, hash };
    (!text.contains(char::is_control)).then_some((frame, hashed))
}

/// A number in the one form in which it is written.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// A digest in the one form in which it is written.
fn digest(text: &str) -> Option<Digest> {
    text.parse().ok().filter(|_| !text.contains(|c: char| c.is_ascii_uppercase()))
}

/// Appends the line that continues `head` to a text, with its end.
pub(super) fn compose(text: &mut String, head: Head, now: SystemTime, members: &str) -> Head {
    let seq = head.seq + 1;
    let line = format!("{SEQ}{seq}{TIME}{}{PREVIOUS}{}\",{members}", rfc3339(now), head.hash);
    let hash = Digest::of(line.as_bytes());
    text.push_str(&line);
    let _infallible = writeln!(text, "{HASH}{hash}{END}");
    Head { seq, hash }
}

/// What a recovery line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Recovery {
    bytes: usize,
    digest: Digest,
}

impl Recovery {
    /// The recovery of a log that ended in these bytes after its last whole line.
    pub(super) fn of(cut: &[u8]) -> Self {
        Self { bytes: cut.len(), digest: Digest::of(cut) }
    }

    pub(super) fn members(self) -> String {
        format!(r#"{}"cut_bytes":{},"cut_digest":"{}""#, Self::EVENT, self.bytes, self.digest)
    }

    /// What the members of every recovery line begin with.
    pub(super) const EVENT: &str = r#""event":"recovery","#;
}
