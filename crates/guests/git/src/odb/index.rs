//! The index of a pack, version 2 and 1: which object lies at which offset.

use super::window::Window;
use gix_hash::ObjectId;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

const ID: usize = 20;
const FAN: usize = 256;

/// The index of one pack.
#[derive(Debug)]
pub(super) struct Index {
    window: Window,
    head: OnceCell<Head>,
    /// The sorted ids by their first byte.
    buckets: RefCell<HashMap<u8, Rc<[u8]>>>,
}

#[derive(Debug)]
struct Head {
    version: u32,
    fan: Vec<u32>,
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

impl Index {
    pub(super) fn new(path: &Path) -> Self {
        Self { window: Window::new(path), head: OnceCell::new(), buckets: RefCell::default() }
    }

    fn head(&self) -> io::Result<&Head> {
        if let Some(head) = self.head.get() {
            return Ok(head);
        }
        let start = self.window.read(0, 8 + 4 * FAN)?;
        let (version, fan) = match start[..4] {
            [0xff, b't', b'O', b'c'] => (number(&start[4..8]), &start[8..]),
            _ => (1, &start[..4 * FAN]),
        };
        if !matches!(version, 1 | 2) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("pack index version {version}")));
        }
        let fan: Vec<u32> = fan.chunks_exact(4).map(number).collect();
        if !fan.is_sorted() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(self.head.get_or_init(|| Head { version, fan }))
    }

    pub(super) fn count(&self) -> io::Result<usize> {
        Ok(self.head()?.fan.last().copied().unwrap_or_default() as usize)
    }

    /// The first and the last position of the ids that begin with this byte.
    fn range(&self, first: u8) -> io::Result<std::ops::Range<u32>> {
        let fan = &self.head()?.fan;
        let at = usize::from(first);
        let start = if at == 0 { 0 } else { fan[at - 1] };
        Ok(start..fan[at])
    }

    /// Bytes of one record before the id, and of the whole record.
    fn record(version: u32) -> (usize, usize) {
        if version == 1 { (4, 4 + ID) } else { (0, ID) }
    }

    fn start_of_ids(version: u32) -> u64 {
        if version == 1 { 4 * FAN as u64 } else { 8 + 4 * FAN as u64 }
    }

    /// The records of the ids that begin with this byte.
    fn bucket(&self, first: u8) -> io::Result<Rc<[u8]>> {
        if let Some(bucket) = self.buckets.borrow().get(&first) {
            return Ok(Rc::clone(bucket));
        }
        let version = self.head()?.version;
        let (_, size) = Self::record(version);
        let range = self.range(first)?;
        let at = Self::start_of_ids(version) + u64::from(range.start) * size as u64;
        let bucket: Rc<[u8]> = self.window.read(at, range.len() * size)?.into();
        self.buckets.borrow_mut().insert(first, Rc::clone(&bucket));
        Ok(bucket)
    }

    fn search(bucket: &[u8], version: u32, id: &ObjectId) -> Result<usize, usize> {
        let (before, size) = Self::record(version);
        let (mut low, mut high) = (0, bucket.len() / size);
        while low < high {
            let middle = low.midpoint(high);
            let found = &bucket[middle * size + before..(middle + 1) * size];
            match found.cmp(id.as_slice()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Where the object lies in the pack.
    pub(super) fn offset_of(&self, id: &ObjectId) -> io::Result<Option<u64>> {
        let Head { version, fan } = self.head()?;
        let first = id.as_slice()[0];
        let bucket = self.bucket(first)?;
        let Ok(at) = Self::search(&bucket, *version, id) else { return Ok(None) };
        if *version == 1 {
            let (_, size) = Self::record(1);
            return Ok(Some(u64::from(number(&bucket[at * size..at * size + 4]))));
        }
        let count = u64::from(fan[FAN - 1]);
        let position = u64::from(self.range(first)?.start) + at as u64;
        // Ids, then checksums, then 31-bit offsets, then 64-bit offsets.
        let offsets = Self::start_of_ids(2) + count * (ID as u64 + 4);
        let short = number(&self.window.read(offsets + position * 4, 4)?);
        if short & 0x8000_0000 == 0 {
            return Ok(Some(u64::from(short)));
        }
        let long = offsets + count * 4 + u64::from(short & 0x7fff_ffff) * 8;
        let bytes = self.window.read(long, 8)?;
        Ok(Some(u64::from(number(&bytes[..4])) << 32 | u64::from(number(&bytes[4..]))))
    }

    fn id(bucket: &[u8], version: u32, at: usize) -> Option<ObjectId> {
        let (before, size) = Self::record(version);
        bucket.get(at * size + before..(at + 1) * size).map(ObjectId::from_bytes_or_panic)
    }

    pub(super) fn ids_with_first_byte(&self, first: u8) -> io::Result<Vec<ObjectId>> {
        let version = self.head()?.version;
        let bucket = self.bucket(first)?;
        Ok((0..).map_while(|at| Self::id(&bucket, version, at)).collect())
    }

    /// The ids just before and after this one among those with the same first byte.
    pub(super) fn neighbours(&self, id: &ObjectId) -> io::Result<Vec<ObjectId>> {
        let version = self.head()?.version;
        let bucket = self.bucket(id.as_slice()[0])?;
        let (before, after) = match Self::search(&bucket, version, id) {
            Ok(at) => (at.checked_sub(1), at + 1),
            Err(at) => (at.checked_sub(1), at),
        };
        let before = before.and_then(|at| Self::id(&bucket, version, at));
        Ok(before.into_iter().chain(Self::id(&bucket, version, after)).collect())
    }
}
