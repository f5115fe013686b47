//! The index's file.
//!
//! In this order: [`MAGIC`]; the number of records, four bytes; the records, of [`RECORD`] bytes each, in the order in which the
//! files are found, so that a load meets them one after the other; the places of the records by their keys, four bytes each; and
//! what is kept of the headers. All numbers have their lowest byte first.
//!
//! Each record has a checksum of itself and of its header. It tells what a disk or a crash made of the file, not what somebody
//! did to it on purpose: whoever can write here is the user, to whom the trust store and the policy beside it belong as well. Rights
//! are decided on the header that is read from the skill's own file when it is invoked.

use super::header;
use crate::stamp::Stamp;
use skillgate_core::{Frontmatter, FrontmatterStore};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// What the file begins with; another version is another beginning.
pub(super) const MAGIC: &[u8; 12] = b"sg-headers-2";
/// A larger file is not read, and not written: 100,000 skills are about 70 MiB.
pub(super) const MAX_BYTES: usize = 256 << 20;
/// The magic and the number of records.
const BEGINNING: usize = MAGIC.len() + 4;
/// Checksum, number of the context, five numbers of the file, place and length of the header, how long it was not used.
const RECORD: usize = 4 + 4 + 5 * 8 + 8 + 4 + 4;
/// Where the numbers stand in a record.
const CONTEXT: usize = 4;
const DEVICE: usize = 8;
const INODE: usize = 16;
const SIZE: usize = 24;
const MODIFIED: usize = 32;
const CHANGED: usize = 40;
const PLACE: usize = 48;
const LENGTH: usize = 56;
const UNUSED: usize = 60;

/// Which header: the file, and the number of what its reading depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    device: u64,
    inode: u64,
    context: u32,
}

impl Key {
    pub(super) fn new(stamp: &Stamp, context: u32) -> Self {
        Self { device: stamp.device, inode: stamp.inode, context }
    }
}

/// One header for the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'k> {
    pub(super) stamp: Stamp,
    pub(super) context: u32,
    pub(crate) header: &'k [u8],
    /// Saves since it was used.
    pub(super) unused: u8,
    /// Where in the file the header stands, for one that is in it.
    pub(crate) start: usize,
}

/// The file, read.
#[derive(Default)]
pub(crate) struct Known {
    bytes: Vec<u8>,
    records: usize,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} records in {} bytes)", self.records, self.bytes.len())
    }
}

type Record = [u8; RECORD];

impl Known {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let records =
            bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk()).map(|count| u32::from_le_bytes(*count));
        let records = records.and_then(|records| usize::try_from(records).ok());
        let fits = |records: &usize| {
            records
                .checked_mul(RECORD + 4)
                .and_then(|size| size.checked_add(BEGINNING))
                .is_some_and(|end| end <= bytes.len())
        };
        match records.filter(fits) {
            Some(records) => Self { bytes, records },
            None => Self::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.records
    }

    /// What is kept of this very file, read in the context of this number, and its place. `near` is where it is looked for first:
    /// behind the one that was found before.
    pub(crate) fn header(&self, stamp: &Stamp, context: u32, near: &mut usize) -> Option<(usize, Kept<'_>)> {
        let key = Key::new(stamp, context);
        let place = if self.key(*near) == Some(key) { *near } else { self.find(key)? };
        *near = place + 1;
        let kept = self.kept(place)?;
        (Stamp { hard_linked: stamp.hard_linked, ..kept.stamp } == *stamp).then_some((place, kept))
    }

    /// Whether exactly this is kept, undamaged, and where.
    pub(super) fn holds(&self, stamp: &Stamp, context: u32, header: &[u8]) -> Option<usize> {
        let mut nowhere = usize::MAX;
        let (place, kept) = self.header(stamp, context, &mut nowhere)?;
        (kept.header == header).then_some(place)
    }

    /// The record there, if it is undamaged.
    pub(super) fn kept(&self, place: usize) -> Option<Kept<'_>> {
        let record = self.record(place)?;
        let start = usize::try_from(long(record, PLACE)).ok()?;
        let length = usize::try_from(word(record, LENGTH)).ok()?;
        let header = self.bytes.get(start..start.checked_add(length)?)?;
        if word(record, 0) != checksum(record, header) {
            return None;
        }
        let signed = |at| i64::from_le_bytes(long(record, at).to_le_bytes());
        let stamp = Stamp {
            device: long(record, DEVICE),
            inode: long(record, INODE),
            size: long(record, SIZE),
            modified: signed(MODIFIED),
            changed: signed(CHANGED),
            // Not kept: what the file says now is as good, for another name changes the file.
            hard_linked: false,
        };
        let unused = u8::try_from(word(record, UNUSED)).unwrap_or(u8::MAX);
        Some(Kept { stamp, context: word(record, CONTEXT), header, unused, start })
    }

    /// The place of the record with this key.
    fn find(&self, key: Key) -> Option<usize> {
        let by_key = BEGINNING + self.records * RECORD;
        let (mut low, mut high) = (0, self.records);
        while low < high {
            let middle = low + (high - low) / 2;
            let place = u32::from_le_bytes(*self.bytes.get(by_key + middle * 4..)?.first_chunk()?);
            let place = usize::try_from(place).ok()?;
            match self.key(place)?.cmp(&key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(place),
            }
        }
        None
    }

    fn key(&self, place: usize) -> Option<Key> {
        let record = self.record(place)?;
        Some(Key { device: long(record, DEVICE), inode: long(record, INODE), context: word(record, CONTEXT) })
    }

    fn record(&self, place: usize) -> Option<&Record> {
        if place >= self.records {
            return None;
        }
        self.bytes.get(BEGINNING + place * RECORD..)?.first_chunk()
    }
}

/// The file as what makes the values of the headers in it. Each thread that loads has one of its own, so that they need not share
/// a count of the skills that refer to it.
#[derive(Clone, Debug)]
pub(crate) struct Store(pub(crate) Arc<Known>);

impl FrontmatterStore for Store {
    fn frontmatter(&self, place: usize) -> Frontmatter {
        // The skill was loaded, so the record is undamaged, and its values were passed over.
        self.0.kept(place).and_then(|kept| header::frontmatter_of(kept.header)).unwrap_or_else(header::lost)
    }

    fn text(&self, start: usize, end: usize) -> &str {
        header::text_of(&self.0.bytes, start, end)
    }
}

/// The file that holds these, each key once, as many as fit.
pub(super) fn write(mut all: Vec<Kept<'_>>) -> Vec<u8> {
    let size = |kept: &Kept<'_>| RECORD + 4 + kept.header.len();
    let mut whole = BEGINNING + all.iter().map(size).sum::<usize>();
    if whole > MAX_BYTES {
        all.retain(|kept| kept.unused == 0);
        whole = BEGINNING + all.iter().map(size).sum::<usize>();
    }
    // What does not fit is read anew each time.
    while whole > MAX_BYTES {
        whole -= all.pop().as_ref().map_or(whole, size);
    }
    let mut bytes = Vec::with_capacity(whole);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&short(all.len()).to_le_bytes());
    let mut place = BEGINNING + all.len() * (RECORD + 4);
    for Kept { stamp, context, header, unused, .. } in &all {
        let mut record: Record = [0; RECORD];
        put(&mut record, CONTEXT, context.to_le_bytes());
        put(&mut record, DEVICE, stamp.device.to_le_bytes());
        put(&mut record, INODE, stamp.inode.to_le_bytes());
        put(&mut record, SIZE, stamp.size.to_le_bytes());
        put(&mut record, MODIFIED, stamp.modified.to_le_bytes());
        put(&mut record, CHANGED, stamp.changed.to_le_bytes());
        put(&mut record, PLACE, (place as u64).to_le_bytes());
        put(&mut record, LENGTH, short(header.len()).to_le_bytes());
        put(&mut record, UNUSED, u32::from(*unused).to_le_bytes());
        let sum = checksum(&record, header);
        put(&mut record, 0, sum.to_le_bytes());
        bytes.extend_from_slice(&record);
        place += header.len();
    }
    let mut by_key: Vec<(Key, usize)> =
        all.iter().enumerate().map(|(place, kept)| (Key::new(&kept.stamp, kept.context), place)).collect();
    by_key.sort_unstable();
    for (_, place) in by_key {
        bytes.extend_from_slice(&short(place).to_le_bytes());
    }
    for kept in &all {
        bytes.extend_from_slice(kept.header);
    }
    bytes
}

/// Of a record, behind the checksum itself, and its header.
fn checksum(record: &Record, header: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&record[CONTEXT..]);
    sum.update(header);
    sum.finalize()
}

fn put<const N: usize>(record: &mut Record, at: usize, bytes: [u8; N]) {
    record[at..at + N].copy_from_slice(&bytes);
}

fn word(record: &Record, at: usize) -> u32 {
    record[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn long(record: &Record, at: usize) -> u64 {
    record[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// A number below [`MAX_BYTES`].
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
