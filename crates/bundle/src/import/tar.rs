//! Tar archives, of which every reader finds the same files: regular files and directories, with the long names of GNU and of
//! pax, up to an end behind which there is nothing.

use super::ImportError;
use super::collect::{Collector, special};
use flate2::bufread::GzDecoder;
use std::io::{self, Read};

const BLOCK: usize = 512;

/// Bytes of the headers that come before an entry.
const MAX_EXTENDED: u64 = 1 << 20;

/// Whether the bytes begin as a tar archive does.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.len() >= BLOCK && bytes.get(257..262) == Some(b"ustar")
}

/// Takes the files of a gzip-compressed archive in; it is one gzip member.
pub(super) fn read_compressed(bytes: &[u8], collector: &mut Collector<'_>) -> Result<(), ImportError> {
    let mut decoder = GzDecoder::new(bytes);
    read(&mut decoder, collector)?;
    // Some readers go on with what stands behind, and others do not.
    if decoder.into_inner().is_empty() { Ok(()) } else { Err(whole("something stands behind the compressed data")) }
}

/// Takes the files of an archive in.
pub(super) fn read(mut input: impl Read, collector: &mut Collector<'_>) -> Result<(), ImportError> {
    let mut extended = Extended::default();
    loop {
        let Some(block) = next(&mut input)? else { return Err(whole("it is cut off")) };
        if is_zero(&block) {
            return if extended.is_empty() { end(input) } else { Err(whole("a header stands for no entry")) };
        }
        let header = Header::of(&block)?;
        match header.kind {
            b'x' | b'g' => {
                collector.entry()?;
                let records = data(&mut input, header.size.min(MAX_EXTENDED + 1))?;
                pass(&mut input, padding(header.size))?;
                if records.len() as u64 > MAX_EXTENDED {
                    return Err(whole("a header is larger than any name needs"));
                }
                extended.take_pax(&records, header.kind == b'g')?;
            }
            b'L' => {
                collector.entry()?;
                let name = data(&mut input, header.size.min(MAX_EXTENDED + 1))?;
                pass(&mut input, padding(header.size))?;
                let name = name.strip_suffix(b"\0").unwrap_or(&name);
                extended.take_name(text(name)?)?;
            }
            _ => entry(&header, std::mem::take(&mut extended), &mut input, collector)?,
        }
    }
}

fn entry(
    header: &Header,
    extended: Extended,
    input: &mut impl Read,
    collector: &mut Collector<'_>,
) -> Result<(), ImportError> {
    let name = match extended.name {
        Some(name) => name,
        None => header.name.clone()?,
    };
    if extended.size.is_some_and(|size| size != header.size) {
        return Err(refused(&name, "it has two sizes"));
    }
    // `tar -c .` begins every name so.
    let path = name.strip_prefix("./").unwrap_or(&name);
    let found = match header.kind {
        b'0' | 0 => special(header.mode & 0o7777, false),
        b'5' => None,
        b'1' => Some("a second name of a file (hard link)"),
        b'2' => Some("a link"),
        b'3' | b'4' => Some("a device"),
        b'6' => Some("a pipe"),
        b'K' => Some("a link with a long name"),
        b'S' => Some("a sparse file"),
        _ => Some("of no kind that is known"),
    };
    if let Some(found) = found {
        return Err(ImportError::NotAFile { path: name, found });
    }
    if header.kind == b'5' {
        if header.size != 0 {
            return Err(refused(&name, "it is a directory with data"));
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        return if matches!(path, "" | ".") { collector.entry() } else { collector.directory(path) };
    }
    let taken = collector.file(path, input.by_ref().take(header.size))?.len() as u64;
    if taken != header.size {
        return Err(refused(&name, "its data is damaged or cut off"));
    }
    pass(input, padding(header.size))
}

/// What stands before an entry and is about it.
#[derive(Default)]
struct Extended {
    name: Option<String>,
    size: Option<u64>,
}

impl Extended {
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.size.is_none()
    }

    fn take_name(&mut self, name: String) -> Result<(), ImportError> {
        match self.name.replace(name) {
            None => Ok(()),
            Some(_) => Err(whole("an entry has two names")),
        }
    }

    /// `LENGTH KEY=VALUE\n`, one behind the other.
    fn take_pax(&mut self, mut records: &[u8], global: bool) -> Result<(), ImportError> {
        let damaged = || whole("a pax header is damaged");
        while !records.is_empty() {
            let blank = records.iter().position(|byte| *byte == b' ').ok_or_else(damaged)?;
            let length: usize = records
                .get(..blank)
                .filter(|digits| digits.iter().all(u8::is_ascii_digit))
                .and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
                .ok_or_else(damaged)?;
            let record = records.get(blank + 1..length).and_then(|record| record.strip_suffix(b"\n"));
            let record = record.ok_or_else(damaged)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(damaged)?;
            let (key, value) = (&record[..equals], &record[equals + 1..]);
            match key {
                // Of everything that follows: no archive program gives all files one name, size or kind.
                b"path" | b"size" | b"linkpath" if global => return Err(whole("a global header gives names or sizes")),
                b"path" => self.take_name(text(value)?)?,
                b"size" => {
                    let size = text(value)?.parse().map_err(|_| damaged())?;
                    if self.size.replace(size).is_some() {
                        return Err(whole("an entry has two sizes"));
                    }
                }
                b"linkpath" => return Err(whole("it has a link")),
                _ if key.starts_with(b"GNU.sparse.") => return Err(whole("it has a sparse file")),
                // Times, owners, attributes, comments.
                _ => {}
            }
            records = records.get(length..).unwrap_or_default();
        }
        Ok(())
    }
}

struct Header {
    name: Result<String, NameIsNoText>,
    kind: u8,
    size: u64,
    mode: u32,
}

/// The name in a header is not UTF-8. A long name may stand in its place.
#[derive(Clone)]
struct NameIsNoText;

impl From<NameIsNoText> for ImportError {
    fn from(_: NameIsNoText) -> Self {
        whole("a name is not UTF-8")
    }
}

impl Header {
    fn of(block: &[u8; BLOCK]) -> Result<Self, ImportError> {
        let sum: u32 = block
            .iter()
            .enumerate()
            .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
            .sum();
        if octal(&block[148..156]) != Some(u64::from(sum)) {
            return Err(whole("the check sum of a header is wrong"));
        }
        let size = octal(&block[124..136]).ok_or_else(|| whole("the size of an entry is no octal number"))?;
        let mode = octal(&block[100..108]).and_then(|mode| u32::try_from(mode).ok());
        let mode = mode.ok_or_else(|| whole("the mode of an entry is no octal number"))?;
        let is_posix = &block[257..263] == b"ustar\0";
        let field = |range: std::ops::Range<usize>| block[range].split(|byte| *byte == 0).next().unwrap_or_default();
        let (name, prefix) = (field(0..100), if is_posix { field(345..500) } else { b"" });
        let whole = if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() };
        Ok(Self { name: String::from_utf8(whole).map_err(|_| NameIsNoText), kind: block[156], size, mode })
    }
}

/// An octal number with blanks or zeros around it. Numbers in base 256 are for sizes that no pack has.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.split(|byte| *byte == 0).next().unwrap_or_default().trim_ascii();
    if digits.is_empty() {
        return Some(0);
    }
    let digits = digits.iter().all(|byte| (b'0'..=b'7').contains(byte)).then_some(digits)?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// Behind the last entry: a second block of zeros, and nothing but zeros.
fn end(mut input: impl Read) -> Result<(), ImportError> {
    let mut blocks = 0;
    while let Some(block) = next(&mut input)? {
        if !is_zero(&block) {
            return Err(whole("something stands behind its end, which some readers go on to"));
        }
        blocks += 1;
        // Archives are filled up to a tape's block; more than that is a bomb of zeros.
        if blocks > 4 * 2_048 {
            return Err(whole("it has too much behind its end"));
        }
    }
    if blocks > 0 { Ok(()) } else { Err(whole("it is cut off")) }
}

/// The next block; `None` at the end of the input.
fn next(input: &mut impl Read) -> Result<Option<[u8; BLOCK]>, ImportError> {
    let mut block = [0; BLOCK];
    let mut filled = 0;
    while filled < BLOCK {
        match input.read(&mut block[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(whole("it is cut off")),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(whole("its compressed data is damaged")),
        }
    }
    Ok(Some(block))
}

fn data(input: &mut impl Read, size: u64) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(size).read_to_end(&mut bytes);
    match read {
        Ok(read) if read as u64 == size => Ok(bytes),
        _ => Err(whole("it is cut off")),
    }
}

fn pass(input: &mut impl Read, bytes: u64) -> Result<(), ImportError> {
    data(input, bytes).map(drop)
}

fn padding(size: u64) -> u64 {
    size.wrapping_neg() % BLOCK as u64
}

fn is_zero(block: &[u8]) -> bool {
    block.iter().all(|byte| *byte == 0)
}

fn text(bytes: &[u8]) -> Result<String, ImportError> {
    Ok(String::from_utf8(bytes.to_vec()).map_err(|_| NameIsNoText)?)
}

fn refused(entry: &str, reason: &'static str) -> ImportError {
    ImportError::Ambiguous { entry: Some(entry.to_owned()), reason }
}

fn whole(reason: &'static str) -> ImportError {
    ImportError::Ambiguous { entry: None, reason }
}
