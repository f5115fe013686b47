//! Tar archives as an attacker writes them.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

const BLOCK: usize = 512;

/// One entry of an archive.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// `0` a file, `1` a hard link, `2` a link, `3` a device, `5` a directory, `6` a pipe.
    pub(crate) kind: u8,
    pub(crate) mode: u32,
    pub(crate) target: &'static str,
    pub(crate) data: Vec<u8>,
    /// What the header says of the size, where that is not so.
    pub(crate) size: Option<u64>,
}

impl Entry {
    pub(crate) fn file(name: &str, text: &str) -> Self {
        let data = text.as_bytes().to_vec();
        Self { name: name.to_owned(), kind: b'0', mode: 0o644, target: "", data, size: None }
    }

    pub(crate) fn directory(name: &str) -> Self {
        Self { kind: b'5', mode: 0o755, ..Self::file(name, "") }
    }

    /// The header and the data. Names here are short.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut block = [0_u8; BLOCK];
        let mut put = |at: usize, text: &[u8]| {
            for (place, byte) in block.iter_mut().skip(at).zip(text) {
                *place = *byte;
            }
        };
        let size = self.size.unwrap_or(self.data.len() as u64);
        put(0, self.name.as_bytes());
        put(100, format!("{:07o}\0", self.mode).as_bytes());
        put(124, format!("{size:011o}\0").as_bytes());
        put(148, b"        ");
        put(156, &[self.kind]);
        put(157, self.target.as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = block.iter().copied().map(u32::from).sum();
        for (place, byte) in block.iter_mut().skip(148).zip(format!("{sum:06o}\0 ").bytes()) {
            *place = byte;
        }
        let mut bytes = block.to_vec();
        bytes.extend(&self.data);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }
}

/// An archive with its end.
pub(crate) fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut bytes: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    bytes
}

/// The parts, compressed as one.
pub(crate) fn gzip(parts: &[&[u8]]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for part in parts {
        // Memory takes everything.
        let _infallible = encoder.write_all(part);
    }
    encoder.finish().unwrap_or_default()
}
