//! What headers were read as, kept in a file of the user's, so that a load looks at files without opening them.
//!
//! The file can be deleted at any time. A header is taken from it when device, inode, size and both times of its file are those
//! of when it was read, it was read by the same reader with the same options and names, and what is kept is undamaged; else the
//! file is read. A file that was written so shortly before it was read that another write could leave its numbers as they are is
//! not kept, as git does not trust what it calls racily clean.

mod codec;
mod file;
mod header;
mod values;

pub(crate) use codec::Writer;
pub(crate) use file::{Known, Store};
pub(crate) use header::{Context, Header, HeaderBytes, to_bytes};

use crate::stamp::Stamp;
use file::{Kept, Key, MAX_BYTES};
use skillgate_state::{OwnerDir, StateError};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

/// The index's name in its directory.
const FILE: &str = "headers";
/// Stands for the number of a header's context in records of directories, which hold the names in them.
pub(crate) const NAMES: u32 = 0x5347_0001;
/// Saves that a header survives without being used.
const MAX_UNUSED: u8 = 16;

/// The headers of skills as they were when they were last read.
#[derive(Debug)]
pub struct HeaderIndex {
    dir: OwnerDir,
    known: Arc<Known>,
    /// Records of the file that were used.
    used: Vec<bool>,
    /// What was read since, and how many were before it.
    learned: BTreeMap<Key, (usize, Read)>,
}

/// A header that was read, for the index.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) stamp: Stamp,
    /// The number of what its reading depends on.
    pub(crate) context: u32,
    /// What is kept of it.
    pub(crate) header: Arc<HeaderBytes>,
}

/// What a load tells the index of a skill.
#[derive(Clone, Debug, Default)]
pub(crate) enum Head {
    /// Its header was not wanted, or is not all that the skill was made of.
    #[default]
    Unknown,
    /// It was in the index, at this place.
    Known(usize),
    /// It was read.
    Read(Box<Read>),
}

impl HeaderIndex {
    /// Opens the index in this directory. One that is missing, damaged or of another version is an empty one.
    ///
    /// # Errors
    /// What stands in its place cannot be used, by the rules of [`OwnerDir`].
    pub fn open(dir: OwnerDir) -> Result<Self, StateError> {
        let bytes = match dir.read(FILE, MAX_BYTES as u64) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(StateError::TooLarge { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let known = Arc::new(Known::of(bytes));
        let used = vec![false; known.len()];
        Ok(Self { dir, known, used, learned: BTreeMap::new() })
    }

    pub(crate) fn known(&self) -> &Arc<Known> {
        &self.known
    }

    /// Takes note of a load that began at this moment.
    pub(crate) fn learn(&mut self, begun: i64, heads: impl Iterator<Item = Head>) {
        for head in heads {
            let known = match head {
                Head::Unknown => continue,
                Head::Known(place) => Some(place),
                Head::Read(read) => {
                    let known = self.known.holds(&read.stamp, read.context, &read.header.0);
                    if known.is_none() && cfg!(unix) && !read.stamp.may_be_followed(begun) {
                        let before = self.learned.len();
                        self.learned.insert(Key::new(&read.stamp, read.context), (before, *read));
                    }
                    known
                }
            };
            if let Some(used) = known.and_then(|place| self.used.get_mut(place)) {
                *used = true;
            }
        }
    }

    /// Keeps what was learned; says whether there was something to keep. Headers that were not used for long are forgotten.
    ///
    /// # Errors
    /// That the file cannot be written. The old one then stays.
    pub fn save(&mut self) -> Result<bool, StateError> {
        if self.learned.is_empty() {
            return Ok(false);
        }
        let bytes = self.written();
        self.dir.write_atomic_with(FILE, |file| file.write_all(&bytes))?;
        self.known = Arc::new(Known::of(bytes));
        self.used = vec![false; self.known.len()];
        self.learned.clear();
        Ok(true)
    }

    /// The file with what was learned.
    fn written(&self) -> Vec<u8> {
        let mut all: Vec<Kept<'_>> = Vec::with_capacity(self.used.len() + self.learned.len());
        for (place, used) in self.used.iter().enumerate() {
            let Some(kept) = self.known.kept(place) else { continue };
            let unused = if *used { 0 } else { kept.unused.saturating_add(1) };
            if unused <= MAX_UNUSED && !self.learned.contains_key(&Key::new(&kept.stamp, kept.context)) {
                all.push(Kept { unused, ..kept });
            }
        }
        let mut learned: Vec<_> = self.learned.values().collect();
        learned.sort_by_key(|(before, _)| *before);
        all.extend(learned.into_iter().map(|(_, read)| Kept {
            stamp: read.stamp,
            context: read.context,
            header: &read.header.0,
            unused: 0,
            start: 0,
        }));
        file::write(all)
    }
}

#[cfg(all(test, unix))]
mod properties;
#[cfg(all(test, unix))]
mod tests;
