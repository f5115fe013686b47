//! One component: its names, and its bytes when somebody asks for them.

use flate2::read::GzDecoder;
use skillgate_core::Digest;
use std::fmt;
use std::io::Read as _;

/// A `wasi:cli/command` component and the commands it offers.
#[derive(Clone)]
pub struct Component {
    pub(crate) name: &'static str,
    pub(crate) digest: Digest,
    pub(crate) size: usize,
    pub(crate) commands: &'static [&'static str],
    pub(crate) packed: &'static [u8],
}

impl Component {
    /// The component's own name, for messages and cache files: `coreutils`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The SHA-256 of the uncompressed component, the bytes that [`Self::wasm`] returns.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The size in bytes of the uncompressed component.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The names it answers to as argument zero, in byte order.
    #[must_use]
    pub const fn commands(&self) -> &'static [&'static str] {
        self.commands
    }

    /// Unpacks the component. Takes some tens of milliseconds for a large one; keep what is compiled from it instead of asking
    /// again.
    ///
    /// # Errors
    ///
    /// The packed bytes are damaged: not a gzip stream, longer or shorter than recorded, or with another digest. At most one
    /// byte beyond the recorded size is unpacked to find out.
    pub fn wasm(&self) -> Result<Vec<u8>, PackError> {
        let name = self.name;
        let mut wasm = Vec::with_capacity(self.size.saturating_add(1));
        let limit = u64::try_from(self.size).unwrap_or(u64::MAX).saturating_add(1);
        GzDecoder::new(self.packed)
            .take(limit)
            .read_to_end(&mut wasm)
            .map_err(|error| PackError::Corrupt { name, reason: error.to_string() })?;
        if wasm.len() > self.size {
            return Err(PackError::TooLarge { name, size: self.size });
        }
        if wasm.len() < self.size {
            return Err(PackError::TooSmall { name, size: self.size, found: wasm.len() });
        }
        let found = Digest::of(&wasm);
        if found == self.digest { Ok(wasm) } else { Err(PackError::Digest { name, recorded: self.digest, found }) }
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .field("size", &self.size)
            .field("commands", &self.commands)
            .finish_non_exhaustive()
    }
}

/// The bytes of a component are not the ones that were recorded when it was built. A fault of ours, never of a skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The packed bytes are no gzip stream, or end early.
    #[error("the component {name} cannot be unpacked: {reason}")]
    Corrupt {
        /// The component.
        name: &'static str,
        /// What the decoder said.
        reason: String,
    },
    /// There is more in the stream than was recorded; the rest was not unpacked.
    #[error("the component {name} unpacks to more than the recorded {size} bytes")]
    TooLarge {
        /// The component.
        name: &'static str,
        /// The recorded size in bytes.
        size: usize,
    },
    /// There is less in the stream than was recorded.
    #[error("the component {name} unpacks to {found} bytes instead of {size}")]
    TooSmall {
        /// The component.
        name: &'static str,
        /// The recorded size in bytes.
        size: usize,
        /// The size in bytes that was found.
        found: usize,
    },
    /// The size is right and the bytes are others.
    #[error("the component {name} has the digest {found} instead of {recorded}")]
    Digest {
        /// The component.
        name: &'static str,
        /// The digest recorded when it was built.
        recorded: Digest,
        /// The digest of what was unpacked.
        found: Digest,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    const WASM: &[u8] = b"\0asm and the rest of a component";

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("writing to a Vec");
        encoder.finish().expect("writing to a Vec")
    }

    /// A component that speaks of [`WASM`] and carries `packed`.
    fn component(packed: Vec<u8>) -> Component {
        Component {
            name: "made",
            digest: Digest::of(WASM),
            size: WASM.len(),
            commands: &["one"],
            packed: packed.leak(),
        }
    }

    #[test]
    fn whole_bytes_come_back() {
        assert_eq!(component(packed(WASM)).wasm().as_deref(), Ok(WASM));
    }

    #[test]
    fn every_kind_of_damage_has_its_error() {
        let cut = {
            let mut bytes = packed(WASM);
            bytes.truncate(bytes.len() / 2);
            bytes
        };
        let other = [WASM.get(1..).unwrap_or_default(), b"x"].concat();
        assert!(matches!(component(Vec::new()).wasm(), Err(PackError::Corrupt { name: "made", .. })));
        assert!(matches!(component(b"no gzip".to_vec()).wasm(), Err(PackError::Corrupt { .. })));
        assert!(matches!(component(cut).wasm(), Err(PackError::Corrupt { .. })));
        assert_eq!(
            component(packed(b"short")).wasm(),
            Err(PackError::TooSmall { name: "made", size: WASM.len(), found: 5 })
        );
        assert_eq!(
            component(packed(&other)).wasm(),
            Err(PackError::Digest { name: "made", recorded: Digest::of(WASM), found: Digest::of(&other) })
        );
    }

    #[test]
    fn a_flipped_bit_anywhere_is_found() {
        let good = packed(WASM);
        // The gzip header (time, system, flags of the compressor) carries nothing that reaches the component.
        for at in 10..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            assert!(component(bytes).wasm().is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = component(packed(&vec![0; 16 << 20]));
        assert_eq!(bomb.wasm(), Err(PackError::TooLarge { name: "made", size: WASM.len() }));
    }
}
