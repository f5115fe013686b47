//! Headers that were read before, kept in a file of the user's, so that a load looks at files without opening them.
//!
//! The file can be deleted at any time. It holds what stood in the files, not what was made of it, and each header with its
//! digest: whatever is damaged is read again. A file that was written so shortly before it was read that another write could
//! leave its numbers as they are is not kept, as git does not trust what it calls racily clean.

use crate::stamp::Stamp;
use skillgate_core::Digest;
use skillgate_state::{OwnerDir, StateError};
use std::collections::BTreeMap;
use std::io::Write as _;

/// The index's name in its directory.
const FILE: &str = "headers";
/// What the file begins with; another version is another beginning.
const MAGIC: &[u8; 12] = b"sg-headers-1";
/// A larger file is not read, and not written: 100,000 skills are about 70 MiB.
const MAX_BYTES: usize = 256 << 20;
/// Saves that a header survives without being used.
const MAX_UNUSED: u8 = 16;
/// Bytes of a record: five numbers, the digest, place and length of the header, how long it was not used.
const RECORD: usize = 5 * 8 + 32 + 8 + 4 + 4;

/// The headers of skills as they were when they were last read.
#[derive(Debug)]
pub struct HeaderIndex {
    dir: OwnerDir,
    known: Known,
    /// By device and inode: what was read since.
    learned: BTreeMap<(u64, u64), Record>,
    /// Records of the file that were used.
    used: Vec<bool>,
}

/// The file, read: records in the order of device and inode, and the headers behind them.
#[derive(Debug, Default)]
pub(crate) struct Known {
    bytes: Vec<u8>,
    records: usize,
}

/// What is kept of one file.
#[derive(Debug)]
struct Record {
    stamp: Stamp,
    digest: Digest,
    head: Vec<u8>,
}

/// A record of the file: stamp, digest, header, and for how many saves it was not used.
type Kept<'k> = (Stamp, [u8; 32], &'k [u8], u8);

/// What a load knows of a skill's header.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Head {
    /// It was not wanted, or is not all that the skill was made of.
    #[default]
    Unknown,
    /// It was in the index.
    Known(Stamp),
    /// It was read.
    Read(Stamp, Box<[u8]>),
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
        let known = Known::of(bytes);
        let used = vec![false; known.records];
        Ok(Self { dir, known, learned: BTreeMap::new(), used })
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// Takes note of a load that began at this moment.
    pub(crate) fn learn(&mut self, begun: i64, heads: impl Iterator<Item = (Digest, Head)>) {
        for (digest, head) in heads {
            match head {
                Head::Known(stamp) => {
                    if let Some(place) = self.known.find(&stamp) {
                        self.used[place] = true;
                    }
                }
                // What a link leads to, and other spellings, are read each time.
                Head::Read(stamp, head) => match self.known.find(&stamp) {
                    Some(place) if self.known.holds(place, &digest, &head) => {
                        self.used[place] = true;
                    }
                    _ if cfg!(unix) && !stamp.may_be_followed(begun) => {
                        let record = Record { stamp, digest, head: head.into_vec() };
                        self.learned.insert((stamp.device, stamp.inode), record);
                    }
                    _ => {}
                },
                Head::Unknown => {}
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
        self.known = Known::of(bytes);
        self.used = vec![false; self.known.records];
        self.learned.clear();
        Ok(true)
    }

    /// The file with what was learned.
    fn written(&self) -> Vec<u8> {
        let mut all: BTreeMap<(u64, u64), Kept<'_>> = BTreeMap::new();
        for (place, used) in self.used.iter().enumerate() {
            let Some((stamp, digest, head, unused)) = self.known.record(place) else { continue };
            let unused = if *used { 0 } else { unused.saturating_add(1) };
            if unused <= MAX_UNUSED {
                all.insert((stamp.device, stamp.inode), (stamp, digest, head, unused));
            }
        }
        for (key, record) in &self.learned {
            all.insert(*key, (record.stamp, *record.digest.as_bytes(), &record.head, 0));
        }
        let size = |all: &BTreeMap<_, Kept<'_>>| {
            MAGIC.len() + 4 + all.values().map(|(_, _, head, _)| RECORD + head.len()).sum::<usize>()
        };
        if size(&all) > MAX_BYTES {
            all.retain(|_, (_, _, _, unused)| *unused == 0);
        }
        // More than fits is read anew each time.
        while size(&all) > MAX_BYTES && all.pop_last().is_some() {}
        let mut bytes = Vec::with_capacity(size(&all));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&u32::try_from(all.len()).unwrap_or(u32::MAX).to_le_bytes());
        let mut place = MAGIC.len() + 4 + all.len() * RECORD;
        for (stamp, digest, head, unused) in all.values() {
            for number in [stamp.device, stamp.inode, stamp.size] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            for number in [stamp.modified, stamp.changed] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(digest);
            bytes.extend_from_slice(&(place as u64).to_le_bytes());
            bytes.extend_from_slice(&u32::try_from(head.len()).unwrap_or(0).to_le_bytes());
            bytes.extend_from_slice(&u32::from(*unused).to_le_bytes());
            place += head.len();
        }
        for (_, _, head, _) in all.values() {
            bytes.extend_from_slice(head);
        }
        bytes
    }
}

impl Known {
    fn of(bytes: Vec<u8>) -> Self {
        let records =
            bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk()).map(|count| u32::from_le_bytes(*count));
        let records = records.and_then(|records| usize::try_from(records).ok());
        let fits =
            |records: &usize| records.checked_mul(RECORD).is_some_and(|size| bytes.len() >= MAGIC.len() + 4 + size);
        match records.filter(fits) {
            Some(records) => Self { bytes, records },
            None => Self::default(),
        }
    }

    /// The header of this file and its digest, if the file is as it was.
    pub(crate) fn head(&self, stamp: &Stamp) -> Option<(Digest, &[u8])> {
        let (_, digest, head, _) = self.record(self.find(stamp)?)?;
        let found = Digest::of(head);
        (*found.as_bytes() == digest).then_some((found, head))
    }

    /// Whether the record there is undamaged, and of this header.
    fn holds(&self, place: usize, digest: &Digest, head: &[u8]) -> bool {
        self.record(place).is_some_and(|(_, of, kept, _)| of == *digest.as_bytes() && kept == head)
    }

    /// The place of the record of this very file.
    fn find(&self, stamp: &Stamp) -> Option<usize> {
        let key = (stamp.device, stamp.inode);
        let (mut low, mut high) = (0, self.records);
        while low < high {
            let middle = low + (high - low) / 2;
            let (device, inode) = (self.number(middle, 0)?, self.number(middle, 1)?);
            match (device, inode).cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let kept = self.stamp(middle)?;
                    return (Stamp { hard_linked: stamp.hard_linked, ..kept } == *stamp).then_some(middle);
                }
            }
        }
        None
    }

    fn stamp(&self, place: usize) -> Option<Stamp> {
        let signed = |at| Some(i64::from_le_bytes(self.number(place, at)?.to_le_bytes()));
        Some(Stamp {
            device: self.number(place, 0)?,
            inode: self.number(place, 1)?,
            size: self.number(place, 2)?,
            modified: signed(3)?,
            changed: signed(4)?,
            // Not kept: what the file says now is as good, for another name changes the file.
            hard_linked: false,
        })
    }

    fn record(&self, place: usize) -> Option<Kept<'_>> {
        let at = self.at(place);
        let digest = *self.bytes.get(at + 40..)?.first_chunk()?;
        let start = usize::try_from(self.number(place, 9)?).ok()?;
        let word = |at: usize| Some(u32::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?));
        let length = usize::try_from(word(at + 80)?).ok()?;
        let head = self.bytes.get(start..start.checked_add(length)?)?;
        let unused = u8::try_from(word(at + 84)?).unwrap_or(u8::MAX);
        Some((self.stamp(place)?, digest, head, unused))
    }

    fn at(&self, place: usize) -> usize {
        MAGIC.len() + 4 + place * RECORD
    }

    /// One of the numbers at the beginning of a record, or the one behind the digest.
    fn number(&self, place: usize, number: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.bytes.get(self.at(place) + number * 8..)?.first_chunk()?))
    }
}

#[cfg(all(test, unix))]
mod tests;
