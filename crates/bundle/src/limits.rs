/// What a pack may have at most. Counted while reading; what a header claims is never believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackLimits {
    /// Files.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Bytes of the manifest.
    pub manifest_bytes: u64,
    /// Signatures.
    pub signatures: usize,
    /// How many times its stored size a compressed archive may grow to.
    pub ratio: u64,
}

impl PackLimits {
    /// Bytes of a file that a pack is read from or made of.
    #[must_use]
    pub fn archive_bytes(&self) -> u64 {
        self.total_bytes.saturating_add(self.manifest_bytes).saturating_add(16 << 20)
    }
}

impl Default for PackLimits {
    /// 10,000 files, 64 MiB a file, 512 MiB in all, 8 MiB of manifest, 16 signatures, 200 times the stored size.
    fn default() -> Self {
        Self {
            files: 10_000,
            file_bytes: 64 << 20,
            total_bytes: 512 << 20,
            manifest_bytes: 8 << 20,
            signatures: 16,
            ratio: 200,
        }
    }
}
