//! Deltas: an object as copies from its base and new bytes between them.

use std::io;

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> io::Result<u8> {
        let (first, rest) = self.0.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.0 = rest;
        Ok(*first)
    }

    fn size(&mut self) -> io::Result<usize> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return usize::try_from(value).map_err(io::Error::other);
            }
            if shift > 56 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    /// The little-endian number of which `present` says which bytes are there.
    fn sparse(&mut self, present: u8, bytes: u32) -> io::Result<usize> {
        let mut value = 0;
        for at in 0..bytes {
            if present & 1 << at != 0 {
                value |= usize::from(self.byte()?) << (8 * at);
            }
        }
        Ok(value)
    }
}

/// The object that `delta` makes of `base`.
pub(super) fn apply(base: &[u8], delta: &[u8]) -> io::Result<Vec<u8>> {
    let mut reader = Reader(delta);
    if reader.size()? != base.len() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let size = reader.size()?;
    let mut out = Vec::with_capacity(size.min(1 << 27));
    while let Some((&instruction, rest)) = reader.0.split_first() {
        reader.0 = rest;
        if instruction & 0x80 != 0 {
            let offset = reader.sparse(instruction & 0x0f, 4)?;
            let length = match reader.sparse(instruction >> 4 & 0x07, 3)? {
                0 => 0x1_0000,
                length => length,
            };
            let end = offset.checked_add(length).ok_or(io::ErrorKind::InvalidData)?;
            out.extend_from_slice(base.get(offset..end).ok_or(io::ErrorKind::InvalidData)?);
        } else {
            let length = usize::from(instruction);
            let (new, rest) =
                reader.0.split_at_checked(length).filter(|_| length != 0).ok_or(io::ErrorKind::InvalidData)?;
            out.extend_from_slice(new);
            reader.0 = rest;
        }
        if out.len() > size {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    if out.len() == size { Ok(out) } else { Err(io::ErrorKind::InvalidData.into()) }
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn copies_and_new_bytes_make_the_object() {
        // Base of 6, result of 7: copy 3 from 1, new "XY", copy 2 from 0.
        let delta = [6, 7, 0x91, 1, 3, 2, b'X', b'Y', 0x90, 2];
        assert_eq!(apply(b"abcdef", &delta).expect("it applies"), b"bcdXYab");
    }

    #[test]
    fn what_reaches_outside_is_an_error() {
        for delta in [&[6, 3, 0x91, 5, 3][..], &[6, 3, 3, b'a'], &[5, 1, 0x90, 1], &[6, 1, 0], &[6, 2, 0x90, 3], &[]] {
            assert!(apply(b"abcdef", delta).is_err(), "{delta:?}");
        }
    }
}
