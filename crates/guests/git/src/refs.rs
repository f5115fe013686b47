//! References: files below `refs`, `packed-refs`, and the logs of where they pointed.

use crate::failure::{Failure, Outcome};
use crate::files::{self, Kind};
use crate::person::Signature;
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a reference holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Id(ObjectId),
    Name(BString),
}

/// A reference that was followed to its end.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The name at the end of symbolic references.
    pub(crate) name: BString,
    pub(crate) id: ObjectId,
}

/// One line of a reference's log.
#[derive(Clone, Debug)]
pub(crate) struct LogEntry {
    pub(crate) old: ObjectId,
    pub(crate) new: ObjectId,
    pub(crate) who: Signature,
    pub(crate) message: BString,
}

#[derive(Debug)]
struct Packed {
    id: ObjectId,
    peeled: Option<ObjectId>,
}

/// The references of one worktree.
#[derive(Debug)]
pub(crate) struct Refs {
    git_dir: PathBuf,
    common_dir: PathBuf,
    packed: OnceCell<BTreeMap<BString, Packed>>,
}

/// How many symbolic references are followed, as in git.
const MAX_DEPTH: usize = 5;

impl Refs {
    pub(crate) fn new(git_dir: &Path, common_dir: &Path) -> Self {
        Self { git_dir: git_dir.to_owned(), common_dir: common_dir.to_owned(), packed: OnceCell::new() }
    }

    /// Where the file of this reference is: some belong to the worktree, the others to the repository.
    fn directory(&self, name: &[u8]) -> &Path {
        let own = !name.starts_with(b"refs/")
            || [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
        if own { &self.git_dir } else { &self.common_dir }
    }

    fn packed(&self) -> &BTreeMap<BString, Packed> {
        self.packed.get_or_init(|| {
            let content = files::read_optional(&self.common_dir.join("packed-refs")).ok().flatten().unwrap_or_default();
            let mut packed: BTreeMap<BString, Packed> = BTreeMap::new();
            let mut last: Option<BString> = None;
            for line in content.lines() {
                if let Some(peeled) = line.strip_prefix(b"^") {
                    if let Some(entry) = last.as_ref().and_then(|name| packed.get_mut(name)) {
                        entry.peeled = ObjectId::from_hex(peeled.trim()).ok();
                    }
                } else if let Some((id, name)) = line.split_once_str(" ")
                    && let Ok(id) = ObjectId::from_hex(id)
                {
                    last = Some(name.into());
                    packed.insert(name.into(), Packed { id, peeled: None });
                }
            }
            packed
        })
    }

    /// What the reference of exactly this name holds.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Target> {
        if !is_safe(name) {
            return None;
        }
        match std::fs::read(self.directory(name).join(files::path(name))) {
            Ok(content) => parse(&content),
            Err(_) => self.packed().get(name.as_bstr()).map(|packed| Target::Id(packed.id)),
        }
    }

    /// Follows the reference of exactly this name to its end.
    pub(crate) fn resolve(&self, name: &[u8]) -> Option<Resolved> {
        let mut name = BString::from(name);
        for _ in 0..=MAX_DEPTH {
            match self.find(&name)? {
                Target::Id(id) => return Some(Resolved { name, id }),
                Target::Name(next) => name = next,
            }
        }
        None
    }

    /// The tag's target that `packed-refs` recorded.
    pub(crate) fn peeled(&self, name: &[u8], id: &ObjectId) -> Option<ObjectId> {
        self.packed().get(name.as_bstr()).filter(|packed| packed.id == *id)?.peeled
    }

    /// Every reference below `prefix` (with its `/`), by name. What does not resolve is left out.
    pub(crate) fn below(&self, prefix: &str) -> Vec<(BString, Target)> {
        let mut found: BTreeMap<BString, Target> = BTreeMap::new();
        for (name, packed) in
            self.packed().range(BString::from(prefix)..).take_while(|(name, _)| name.starts_with(prefix.as_bytes()))
        {
            found.insert(name.clone(), Target::Id(packed.id));
        }
        let start = prefix.rsplit_once('/').map_or("refs", |(directory, _)| directory);
        self.collect(&self.common_dir, start, &mut found);
        if self.git_dir != self.common_dir {
            for own in ["refs/bisect", "refs/worktree", "refs/rewritten"] {
                found.retain(|name, _| !name.starts_with(format!("{own}/").as_bytes()));
                if own.starts_with(start) {
                    self.collect(&self.git_dir, own, &mut found);
                }
            }
        }
        found.retain(|name, _| name.starts_with(prefix.as_bytes()));
        found.into_iter().collect()
    }

    fn collect(&self, directory: &Path, below: &str, found: &mut BTreeMap<BString, Target>) {
        let Ok(entries) = files::list(&directory.join(below)) else { return };
        for (name, status) in entries {
            let Ok(name) = name.to_str() else { continue };
            let full = format!("{below}/{name}");
            match status.kind {
                Kind::Directory => self.collect(directory, &full, found),
                _ if name.ends_with(".lock") => {}
                Kind::File | Kind::Link => {
                    if let Some(target) = std::fs::read(directory.join(&full)).ok().and_then(|content| parse(&content))
                    {
                        found.insert(full.into(), target);
                    }
                }
                Kind::Other => {}
            }
        }
    }

    /// The name that `HEAD` stands for; `None` when it is detached.
    pub(crate) fn head_name(&self) -> Option<BString> {
        match self.find(b"HEAD")? {
            Target::Name(name) => Some(name),
            Target::Id(_) => None,
        }
    }

    /// The log of a reference, the oldest entry first; `None` when it has none.
    pub(crate) fn log(&self, name: &[u8]) -> Outcome<Option<Vec<LogEntry>>> {
        if !is_safe(name) {
            return Ok(None);
        }
        let path = self.directory(name).join("logs").join(files::path(name));
        let content = match files::read_optional(&path) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => return Ok(None),
            Err(error) => return Err(Failure::Fatal(format!("could not read the log of {}: {error}", name.as_bstr()))),
        };
        let entries = content.lines().filter_map(|line| {
            let (before, message) = line.split_once_str("\t").unwrap_or((line, b""));
            let (old, rest) = before.split_once_str(" ")?;
            let (new, who) = rest.split_once_str(" ")?;
            Some(LogEntry {
                old: ObjectId::from_hex(old).ok()?,
                new: ObjectId::from_hex(new).ok()?,
                who: Signature::parse(who),
                message: message.into(),
            })
        });
        Ok(Some(entries.collect()))
    }
}

fn parse(content: &[u8]) -> Option<Target> {
    if let Some(name) = content.strip_prefix(b"ref:") {
        return Some(Target::Name(name.trim().into()));
    }
    ObjectId::from_hex(content.get(..40)?).ok().map(Target::Id)
}

/// Whether a name can be that of a reference, so that no other file is read as one.
fn is_safe(name: &[u8]) -> bool {
    let parts_are_names = name
        .split(|byte| *byte == b'/')
        .all(|part| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock"));
    let special =
        [&b".."[..], b"@{", b"\\", b" ", b"~", b"^", b":", b"?", b"*", b"["].iter().any(|bad| name.contains_str(bad));
    parts_are_names
        && !special
        && !name.iter().any(u8::is_ascii_control)
        && (name.contains(&b'/') || name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_' || *byte == b'-'))
}

/// The rules by which a short name is looked up, the first that exists wins.
pub(crate) const RULES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

impl Refs {
    /// The full names a short name can mean, in the order of git's rules.
    pub(crate) fn expand(&self, short: &[u8]) -> Vec<BString> {
        let candidates =
            RULES.iter().map(|(before, after)| BString::from([before.as_bytes(), short, after.as_bytes()].concat()));
        candidates.filter(|name| self.resolve(name).is_some()).collect()
    }

    /// The shortest name by which git's rules find this reference again, as `%(refname:short)` has it.
    pub(crate) fn shorten(&self, name: &[u8], strict: bool) -> BString {
        for (at, (before, after)) in RULES.iter().enumerate().skip(1).rev() {
            let Some(short) = name.strip_prefix(before.as_bytes()).and_then(|rest| rest.strip_suffix(after.as_bytes()))
            else {
                continue;
            };
            if short.is_empty() {
                continue;
            }
            let limit = if strict { RULES.len() } else { at };
            let taken =
                RULES.iter().enumerate().take(limit).filter(|(other, _)| *other != at).any(|(_, (before, after))| {
                    let other = [before.as_bytes(), short, after.as_bytes()].concat();
                    self.find(&other).is_some()
                });
            if !taken {
                return short.into();
            }
        }
        name.into()
    }
}
