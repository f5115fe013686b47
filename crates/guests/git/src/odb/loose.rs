//! Loose objects: one compressed file each.

use crate::files;
use gix_hash::ObjectId;
use gix_object::Kind;
use gix_zlib::{Decompress, FlushDecompress, Status};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn path(directory: &Path, id: &ObjectId) -> PathBuf {
    let hex = id.to_hex().to_string();
    directory.join(&hex[..2]).join(&hex[2..])
}

/// The object of this id, if it is loose in this directory.
pub(super) fn read(directory: &Path, id: &ObjectId) -> io::Result<Option<(Kind, Vec<u8>)>> {
    let Some(packed) = files::read_optional(&path(directory, id))? else { return Ok(None) };
    let unpacked = unpack(&packed)?;
    let end = unpacked.iter().position(|byte| *byte == 0).ok_or(io::ErrorKind::InvalidData)?;
    let header = std::str::from_utf8(&unpacked[..end]).map_err(|_| io::ErrorKind::InvalidData)?;
    let (kind, size) = header.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    let kind = Kind::from_bytes(kind.as_bytes()).map_err(|_| io::ErrorKind::InvalidData)?;
    if size.parse() != Ok(unpacked.len() - end - 1) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut data = unpacked;
    data.drain(..=end);
    Ok(Some((kind, data)))
}

fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut inflate = Decompress::new();
    let mut out = Vec::new();
    let mut chunk = vec![0; (packed.len() * 4).clamp(256, 1 << 20)];
    loop {
        let (read, written) = (position(inflate.total_in()), inflate.total_out());
        let status =
            inflate.decompress(&packed[read..], &mut chunk, FlushDecompress::None).map_err(io::Error::other)?;
        let added = position(inflate.total_out() - written);
        out.extend_from_slice(&chunk[..added]);
        match status {
            Status::StreamEnd => return Ok(out),
            _ if added == 0 && position(inflate.total_in()) == read => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {}
        }
    }
}

fn position(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The ids of the loose objects in this directory that begin with this byte.
pub(super) fn ids_with_first_byte(directory: &Path, first: u8) -> Vec<ObjectId> {
    let fan = format!("{first:02x}");
    let Ok(entries) = std::fs::read_dir(directory.join(&fan)) else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| {
        let hex = format!("{fan}{}", entry.file_name().to_str()?);
        ObjectId::from_hex(hex.as_bytes()).ok()
    });
    ids.collect()
}
