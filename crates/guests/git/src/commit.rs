//! Commits and tags as they are read out of the object database.

use crate::failure::{Failure, Outcome};
use crate::person::Signature;
use bstr::{BStr, BString, ByteSlice as _};
use gix_hash::ObjectId;
use gix_object::Kind;

/// What a walk needs of a commit.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) tree: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
    /// The committer's time.
    pub(crate) time: i64,
}

/// All of a commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) id: ObjectId,
    pub(crate) tree: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
    pub(crate) author: Signature,
    pub(crate) committer: Signature,
    pub(crate) encoding: Option<BString>,
    pub(crate) message: BString,
}

/// The header lines of an object, folded lines joined, and the message.
pub(crate) fn headers(data: &[u8]) -> (Vec<(&BStr, &BStr)>, &BStr) {
    let mut lines = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let end = rest.find_byte(b'\n').unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if line.is_empty() {
            break;
        }
        if !line.starts_with(b" ") {
            let (name, value) = line.split_once_str(" ").unwrap_or((line, b""));
            lines.push((name.as_bstr(), value.as_bstr()));
        }
    }
    (lines, rest.as_bstr())
}

fn broken(id: &ObjectId) -> Failure {
    Failure::Fatal(format!("bad commit object {id}"))
}

impl Node {
    /// Reads the first lines of a commit.
    pub(crate) fn parse(id: &ObjectId, data: &[u8]) -> Outcome<Self> {
        let mut tree = None;
        let mut parents = Vec::new();
        let mut time = 0;
        for line in data.lines() {
            if let Some(hex) = line.strip_prefix(b"tree ") {
                tree = ObjectId::from_hex(hex).ok();
            } else if let Some(hex) = line.strip_prefix(b"parent ") {
                parents.push(ObjectId::from_hex(hex).map_err(|_| broken(id))?);
            } else if line.starts_with(b"committer ") {
                time = seconds(line);
                break;
            } else if line.is_empty() {
                break;
            }
        }
        Ok(Self { tree: tree.ok_or_else(|| broken(id))?, parents, time })
    }
}

fn seconds(line: &[u8]) -> i64 {
    let after = line.rfind_byte(b'>').map_or(&b""[..], |at| &line[at + 1..]);
    after.fields().next().and_then(|word| std::str::from_utf8(word).ok()?.parse().ok()).unwrap_or_default()
}

impl Commit {
    pub(crate) fn parse(id: &ObjectId, data: &[u8]) -> Outcome<Self> {
        let Node { tree, parents, .. } = Node::parse(id, data)?;
        let (lines, message) = headers(data);
        let value = |name: &str| lines.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let signature = |name| value(name).map(|line| Signature::parse(line)).unwrap_or_default();
        let encoding = value("encoding").map(BString::from);
        Ok(Self {
            id: *id,
            tree,
            parents,
            author: signature("author"),
            committer: signature("committer"),
            message: decoded(message, encoding.as_ref().map(|name| name.as_slice())).into(),
            encoding,
        })
    }
}

/// A message in UTF-8. Latin-1, the only other encoding that is common, is converted; anything else is left as it is.
fn decoded(message: &BStr, encoding: Option<&[u8]>) -> Vec<u8> {
    let latin = encoding.is_some_and(|name| {
        matches!(name.to_ascii_lowercase().as_slice(), b"iso-8859-1" | b"iso8859-1" | b"latin1" | b"latin-1")
    });
    if latin { message.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes() } else { message.to_vec() }
}

/// An annotated tag.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) target: ObjectId,
    pub(crate) target_kind: Kind,
    pub(crate) name: BString,
    pub(crate) tagger: Option<Signature>,
    pub(crate) message: BString,
}

impl Tag {
    pub(crate) fn parse(id: &ObjectId, data: &[u8]) -> Outcome<Self> {
        let (lines, message) = headers(data);
        let value = |name: &str| lines.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let broken = || Failure::Fatal(format!("bad tag object {id}"));
        Ok(Self {
            target: value("object").and_then(|hex| ObjectId::from_hex(hex).ok()).ok_or_else(broken)?,
            target_kind: value("type").and_then(|kind| Kind::from_bytes(kind).ok()).ok_or_else(broken)?,
            name: value("tag").map(BString::from).unwrap_or_default(),
            tagger: value("tagger").map(|line| Signature::parse(line)),
            message: message.into(),
        })
    }
}
