//! One pack: entries by offset, deltas applied.

use super::delta;
use super::index::Index;
use super::window::Window;
use crate::files;
use gix_hash::ObjectId;
use gix_object::Kind;
use gix_zlib::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// Bytes of decoded bases that are kept for the next delta.
const KEPT_BASES: usize = 16 << 20;
/// How long a chain of deltas may be; git makes 50, and never more than 4,095.
const MAX_CHAIN: usize = 4_096;
/// The largest object that is read.
const MAX_OBJECT: u64 = 128 << 20;

/// A pack and its index.
#[derive(Debug)]
pub(super) struct Pack {
    index: Index,
    window: Window,
    modified: (i64, u32),
    bases: RefCell<Bases>,
}

#[derive(Debug, Default)]
struct Bases {
    size: usize,
    objects: HashMap<u64, (Kind, Rc<[u8]>)>,
}

/// What an entry of a pack is.
enum Entry {
    Whole(Kind),
    OffsetDelta(u64),
    IdDelta(ObjectId),
}

impl Pack {
    /// The packs in an `objects` directory.
    pub(super) fn find(objects: &Path) -> Vec<Self> {
        let directory = objects.join("pack");
        let Ok(entries) = files::list(&directory) else { return Vec::new() };
        let packs = entries.iter().filter_map(|(name, status)| {
            let stem = std::str::from_utf8(name).ok()?.strip_suffix(".idx")?;
            Some(Self {
                index: Index::new(&directory.join(format!("{stem}.idx"))),
                window: Window::new(&directory.join(format!("{stem}.pack"))),
                modified: status.modified,
                bases: RefCell::default(),
            })
        });
        packs.collect()
    }

    pub(super) fn modified(&self) -> (i64, u32) {
        self.modified
    }

    pub(super) fn count(&self) -> usize {
        self.index.count().unwrap_or_default()
    }

    pub(super) fn offset_of(&self, id: &ObjectId) -> io::Result<Option<u64>> {
        self.index.offset_of(id)
    }

    pub(super) fn ids_with_first_byte(&self, first: u8) -> io::Result<Vec<ObjectId>> {
        self.index.ids_with_first_byte(first)
    }

    pub(super) fn neighbours(&self, id: &ObjectId) -> io::Result<Vec<ObjectId>> {
        self.index.neighbours(id)
    }

    /// The object at this offset, whatever chain of deltas it is made of.
    pub(super) fn object_at(&self, offset: u64) -> io::Result<(Kind, Rc<[u8]>)> {
        let mut chain = Vec::new();
        let mut at = offset;
        let (kind, mut data) = loop {
            if let Some((kind, data)) = self.bases.borrow().objects.get(&at) {
                break (*kind, Rc::clone(data));
            }
            let (entry, size, start) = self.header(at)?;
            let data = self.inflate(start, size)?;
            match entry {
                Entry::Whole(kind) => {
                    let data: Rc<[u8]> = data.into();
                    if !chain.is_empty() {
                        self.keep(at, kind, &data);
                    }
                    break (kind, data);
                }
                Entry::OffsetDelta(back) => {
                    chain.push((at, data));
                    at = at.checked_sub(back).filter(|base| *base < at).ok_or(io::ErrorKind::InvalidData)?;
                }
                Entry::IdDelta(base) => {
                    chain.push((at, data));
                    at = self.offset_of(&base)?.ok_or(io::ErrorKind::InvalidData)?;
                }
            }
            if chain.len() > MAX_CHAIN {
                return Err(io::ErrorKind::InvalidData.into());
            }
        };
        while let Some((at, delta)) = chain.pop() {
            data = delta::apply(&data, &delta)?.into();
            self.keep(at, kind, &data);
        }
        Ok((kind, data))
    }

    fn keep(&self, offset: u64, kind: Kind, data: &Rc<[u8]>) {
        if data.len() > KEPT_BASES / 4 {
            return;
        }
        let mut bases = self.bases.borrow_mut();
        if bases.size + data.len() > KEPT_BASES {
            *bases = Bases::default();
        }
        bases.size += data.len();
        bases.objects.insert(offset, (kind, Rc::clone(data)));
    }

    /// What lies at this offset, the size of its content, and where that begins.
    fn header(&self, offset: u64) -> io::Result<(Entry, u64, u64)> {
        let mut at = offset;
        let mut next = || -> io::Result<u8> {
            let (piece, position) = self.window.piece(at)?;
            at += 1;
            piece.get(position).copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        };
        let first = next()?;
        let mut size = u64::from(first & 0x0f);
        let mut shift = 4;
        let mut byte = first;
        while byte & 0x80 != 0 {
            byte = next()?;
            if shift > 56 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        let entry = match first >> 4 & 7 {
            1 => Entry::Whole(Kind::Commit),
            2 => Entry::Whole(Kind::Tree),
            3 => Entry::Whole(Kind::Blob),
            4 => Entry::Whole(Kind::Tag),
            6 => {
                let mut byte = next()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = next()?;
                    back =
                        back.checked_add(1).and_then(|back| back.checked_mul(128)).ok_or(io::ErrorKind::InvalidData)?;
                    back += u64::from(byte & 0x7f);
                }
                Entry::OffsetDelta(back)
            }
            7 => {
                let mut id = [0; 20];
                for byte in &mut id {
                    *byte = next()?;
                }
                Entry::IdDelta(ObjectId::from(id))
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok((entry, size, at))
    }

    fn inflate(&self, mut offset: u64, size: u64) -> io::Result<Vec<u8>> {
        if size > MAX_OBJECT {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("an object of {size} bytes")));
        }
        // One byte more than expected, so that the end of the stream is seen, and a longer one is an error.
        let mut out = vec![0; usize::try_from(size).map_err(io::Error::other)? + 1];
        let mut inflate = Decompress::new();
        loop {
            let (piece, at) = self.window.piece(offset)?;
            let (read, written) = (inflate.total_in(), usize::try_from(inflate.total_out()).unwrap_or(usize::MAX));
            let room = out.get_mut(written..).filter(|room| !room.is_empty()).ok_or(io::ErrorKind::InvalidData)?;
            let status = inflate.decompress(&piece[at..], room, FlushDecompress::None).map_err(io::Error::other)?;
            offset += inflate.total_in() - read;
            if matches!(status, Status::StreamEnd) {
                break;
            }
            if inflate.total_in() == read && inflate.total_out() == written as u64 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if inflate.total_out() != size {
            return Err(io::ErrorKind::InvalidData.into());
        }
        out.pop();
        Ok(out)
    }
}
