//! Zip archives, of which every reader finds the same files: local entries from the first byte, one behind the other, then the
//! one central directory that says the same of each, then its end. Anything between or behind them is refused, and so is what two
//! readers could take differently.

use super::ImportError;
use super::collect::{Collector, special};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::Read;

const END: &[u8; 4] = b"PK\x05\x06";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const LOCAL: &[u8; 4] = b"PK\x03\x04";
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";

const END_BYTES: usize = 22;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

/// Flags: encrypted, sizes behind the data, strongly encrypted, names in UTF-8, masked headers.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const SIZES_BEHIND: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The extra field that gives an entry a second name.
const UNICODE_PATH: u16 = 0x7075;
const ZIP64: u16 = 0x0001;

struct Entry<'z> {
    name: &'z str,
    flags: u16,
    method: u16,
    crc: u32,
    stored: usize,
    size: u64,
    offset: usize,
    mode: u32,
}

/// Takes the files of the archive in.
pub(super) fn read(bytes: &[u8], collector: &mut Collector<'_>) -> Result<(), ImportError> {
    let (entries, directory_at) = central(bytes)?;
    let mut order: Vec<&Entry<'_>> = entries.iter().collect();
    order.sort_by_key(|entry| entry.offset);
    let mut at = 0;
    for entry in order {
        if entry.offset != at {
            return Err(refused(entry.name, "something stands between its entries, or two of them overlap"));
        }
        let data_at = local(bytes, entry)?;
        let end = data_at.checked_add(entry.stored).filter(|end| *end <= directory_at);
        let data = end.and_then(|end| bytes.get(data_at..end));
        let data = data.ok_or_else(|| refused(entry.name, "its data is damaged or cut off"))?;
        take(entry, data, collector)?;
        at = data_at + entry.stored + descriptor(bytes, data_at + entry.stored, entry)?;
    }
    if at == directory_at { Ok(()) } else { Err(whole("something stands between the files and the directory")) }
}

/// The entries of the central directory, and where it begins.
fn central(bytes: &[u8]) -> Result<(Vec<Entry<'_>>, usize), ImportError> {
    let earliest = bytes.len().saturating_sub(END_BYTES + usize::from(u16::MAX));
    let mut ends = (earliest..=bytes.len().saturating_sub(END_BYTES)).rev().filter(|at| has(bytes, *at, END));
    let end = ends.next().ok_or_else(|| whole("it has no end, so it is cut off or no zip"))?;
    if end + END_BYTES + usize::from(u16_at(bytes, end + 20)) != bytes.len() {
        return Err(whole("its end is not where it says, so that readers can find another directory"));
    }
    if u16_at(bytes, end + 4) != 0 || u16_at(bytes, end + 6) != 0 {
        return Err(whole("it is one of several volumes"));
    }
    let (count, size, start) = (u16_at(bytes, end + 10), u32_at(bytes, end + 12), u32_at(bytes, end + 16));
    if count == u16::MAX || size == u32::MAX || start == u32::MAX {
        return Err(whole("it is a ZIP64 archive, and a pack is never that large"));
    }
    let (start, size) = (start as usize, size as usize);
    if start.checked_add(size) != Some(end) || u16_at(bytes, end + 8) != count {
        return Err(whole("its directory is not where its end says, so that readers can find another"));
    }
    // A second end before this one, behind a directory of its own, would be found by whoever reads from the front.
    if start >= END_BYTES && ends.any(|at| at >= start) {
        return Err(whole("it has two ends"));
    }
    let mut entries = Vec::new();
    let mut at = start;
    for _ in 0..count {
        let (entry, next) = central_entry(bytes, at, end)?;
        entries.push(entry);
        at = next;
    }
    if at == end { Ok((entries, start)) } else { Err(whole("its directory has more entries than its end says")) }
}

fn central_entry(bytes: &[u8], at: usize, end: usize) -> Result<(Entry<'_>, usize), ImportError> {
    if !has(bytes, at, CENTRAL) || at + CENTRAL_BYTES > end {
        return Err(whole("its directory is damaged"));
    }
    let lengths = [28, 30, 32].map(|field| usize::from(u16_at(bytes, at + field)));
    let name_at = at + CENTRAL_BYTES;
    let next = name_at + lengths.iter().sum::<usize>();
    if next > end {
        return Err(whole("its directory is damaged"));
    }
    let name = bytes.get(name_at..name_at + lengths[0]).unwrap_or_default();
    let extra = bytes.get(name_at + lengths[0]..name_at + lengths[0] + lengths[1]).unwrap_or_default();
    let flags = u16_at(bytes, at + 8);
    let shown = String::from_utf8_lossy(name).into_owned();
    let name = std::str::from_utf8(name).map_err(|_| refused(&shown, "its name is not UTF-8"))?;
    if flags & UTF8 == 0 && !name.is_ascii() {
        return Err(refused(name, "its name is not said to be UTF-8, and readers take it for different letters"));
    }
    check_extra(extra, name)?;
    if flags & ENCRYPTED != 0 {
        return Err(refused(name, "it is encrypted"));
    }
    if u16_at(bytes, at + 34) != 0 {
        return Err(refused(name, "it is said to be on another volume"));
    }
    let (stored, size, offset) = (u32_at(bytes, at + 20), u32_at(bytes, at + 24), u32_at(bytes, at + 42));
    if [stored, size, offset].contains(&u32::MAX) {
        return Err(refused(name, "it is a ZIP64 entry, and a pack is never that large"));
    }
    let entry = Entry {
        name,
        flags,
        method: u16_at(bytes, at + 10),
        crc: u32_at(bytes, at + 16),
        stored: stored as usize,
        size: u64::from(size),
        offset: offset as usize,
        mode: u32_at(bytes, at + 38) >> 16,
    };
    Ok((entry, next))
}

/// Refuses extra fields that give a second name or a second size.
fn check_extra(mut extra: &[u8], name: &str) -> Result<(), ImportError> {
    while extra.len() >= 4 {
        let (id, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        match id {
            UNICODE_PATH => return Err(refused(name, "it has two names")),
            ZIP64 => return Err(refused(name, "it is a ZIP64 entry, and a pack is never that large")),
            _ => {}
        }
        extra = extra.get(4 + length..).ok_or_else(|| refused(name, "its extra fields are damaged"))?;
    }
    Ok(())
}

/// Checks that the local header says what the directory says, and gives where the data begins.
fn local(bytes: &[u8], entry: &Entry<'_>) -> Result<usize, ImportError> {
    let at = entry.offset;
    if !has(bytes, at, LOCAL) || at + LOCAL_BYTES > bytes.len() {
        return Err(refused(entry.name, "the directory names a place where no entry is"));
    }
    let name_length = usize::from(u16_at(bytes, at + 26));
    let extra_length = usize::from(u16_at(bytes, at + 28));
    let name_at = at + LOCAL_BYTES;
    let differs = || refused(entry.name, "the entry and the directory do not say the same of it");
    if bytes.get(name_at..name_at + name_length) != Some(entry.name.as_bytes())
        || u16_at(bytes, at + 6) != entry.flags
        || u16_at(bytes, at + 8) != entry.method
    {
        return Err(differs());
    }
    let said = [u32_at(bytes, at + 14), u32_at(bytes, at + 18), u32_at(bytes, at + 22)];
    let behind = entry.flags & SIZES_BEHIND != 0;
    if said != directory_says(entry) && !(behind && said == [0; 3]) {
        return Err(differs());
    }
    let data_at = name_at + name_length + extra_length;
    check_extra(bytes.get(name_at + name_length..data_at).unwrap_or_default(), entry.name)?;
    Ok(data_at)
}

fn directory_says(entry: &Entry<'_>) -> [u32; 3] {
    // Both came from 32 bits.
    [entry.crc, u32::try_from(entry.stored).unwrap_or(u32::MAX), u32::try_from(entry.size).unwrap_or(u32::MAX)]
}

/// The length of the sizes behind the data, which have to be those of the directory.
fn descriptor(bytes: &[u8], at: usize, entry: &Entry<'_>) -> Result<usize, ImportError> {
    if entry.flags & SIZES_BEHIND == 0 {
        return Ok(0);
    }
    let signature = if has(bytes, at, DESCRIPTOR) { 4 } else { 0 };
    let said = [0, 4, 8].map(|field| u32_at(bytes, at + signature + field));
    if said == directory_says(entry) && at + signature + 12 <= bytes.len() {
        Ok(signature + 12)
    } else {
        Err(refused(entry.name, "the sizes behind its data are not those of the directory"))
    }
}

fn take(entry: &Entry<'_>, data: &[u8], collector: &mut Collector<'_>) -> Result<(), ImportError> {
    let directory = entry.name.strip_suffix('/');
    if let Some(found) = special(entry.mode, directory.is_some()) {
        return Err(ImportError::NotAFile { path: entry.name.to_owned(), found });
    }
    if let Some(path) = directory {
        if !data.is_empty() || entry.size != 0 {
            return Err(refused(entry.name, "it is a directory with data"));
        }
        return collector.directory(path);
    }
    let (taken, left) = match entry.method {
        STORED => (collector.file(entry.name, data)?, 0),
        DEFLATED => {
            let mut decoder = DeflateDecoder::new(data);
            // One byte more than is said shows that there is more.
            let taken = collector.file(entry.name, (&mut decoder).take(entry.size.saturating_add(1)))?;
            let left = data.len() as u64 - decoder.total_in().min(data.len() as u64);
            (taken, left)
        }
        _ => return Err(refused(entry.name, "it is compressed in a way that not every reader knows")),
    };
    let mut crc = Crc::new();
    crc.update(taken);
    if taken.len() as u64 != entry.size || left != 0 {
        return Err(refused(entry.name, "its size is not what the directory says"));
    }
    if crc.sum() == entry.crc { Ok(()) } else { Err(refused(entry.name, "its check sum is not that of its data")) }
}

fn refused(entry: &str, reason: &'static str) -> ImportError {
    ImportError::Ambiguous { entry: Some(entry.to_owned()), reason }
}

fn whole(reason: &'static str) -> ImportError {
    ImportError::Ambiguous { entry: None, reason }
}

fn has(bytes: &[u8], at: usize, signature: &[u8; 4]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(signature))
}

/// A number behind the end is 0: whoever reads one checks where the structure ends.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|field| field.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|field| field.try_into().ok()).map_or(0, u32::from_le_bytes)
}
