//! What the reader of a file knows about it.

use skillgate_core::{LoadedFrom, Profile};

/// Which reader of headers this is. Whoever keeps what a header was read as keeps this with it: what another one read is not what
/// this one reads. It rises whenever a header gives other values, another label or description, or other findings than before, their
/// words included; `tests/reader.rs` notices.
pub const READER: u32 = 2;

/// How a file is read, and what the loader saw of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// Which description of the format is followed.
    pub profile: Profile,
    /// Bytes a file may have; a larger one is refused, never read in part.
    pub max_file_bytes: u64,
    /// Bytes a header may have, delimiters included.
    pub max_header_bytes: u64,
    /// The name of the directory the file stands in.
    pub directory_name: Option<String>,
    /// The file's name as it is on disk.
    pub file_name: Option<String>,
    /// In what kind of place it was found.
    pub loaded_from: LoadedFrom,
}

impl Default for ReadOptions {
    /// Profile `safe`, a skill, with the default bounds of the format: 1 MiB for a file, 64 KiB for a header.
    fn default() -> Self {
        Self {
            profile: Profile::Safe,
            max_file_bytes: 1024 * 1024,
            max_header_bytes: 64 * 1024,
            directory_name: None,
            file_name: None,
            loaded_from: LoadedFrom::Skills,
        }
    }
}

impl ReadOptions {
    /// The name the file would be invoked by, unchecked: the directory's name, for a command file its stem.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        match (self.loaded_from, self.file_name.as_deref()) {
            (LoadedFrom::Commands, Some(file)) if !file.eq_ignore_ascii_case("SKILL.md") => {
                Some(file.strip_suffix(".md").unwrap_or(file)).filter(|stem| !stem.is_empty())
            }
            _ => self.directory_name.as_deref(),
        }
    }
}
