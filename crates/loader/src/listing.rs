//! The names in a directory of skills, out of the index where the directory has not changed.
//!
//! A directory's times change with every name that comes, goes or is replaced in it. Not every file system sees to that (those of
//! other machines may be late, those that lie above others show what is changed below, and some of other systems have no such
//! times), so names are kept of those alone that do.

use crate::index::{self, Head, HeaderBytes, Known};
use crate::skills_dir::Names;
use cap_std::fs::Dir;
use std::io;
use std::sync::Arc;

/// The names in the directory. The index, if there is one, is told of them.
#[cfg(target_os = "linux")]
pub(crate) fn names(dir: &Dir, known: Option<&Arc<Known>>, heads: &mut Vec<Head>) -> io::Result<Names> {
    use crate::stamp::Stamp;
    // Before the names are listed: what changes meanwhile makes another stamp.
    let of_directory =
        known.filter(|_| tells_changes(dir)).and_then(|known| Some((known, Stamp::of(&dir.dir_metadata().ok()?))));
    let Some((known, stamp)) = of_directory else { return Names::list(dir) };
    let mut nowhere = usize::MAX;
    if let Some((place, kept)) = known.header(&stamp, index::NAMES, &mut nowhere)
        && let Some(names) = Names::of_bytes(kept.header)
    {
        heads.push(Head::Known(place));
        return Ok(names);
    }
    let names = Names::list(dir)?;
    let header = Arc::new(HeaderBytes(names.to_bytes()));
    heads.push(Head::Read(Box::new(index::Read { stamp, context: index::NAMES, header })));
    Ok(names)
}

/// The names in the directory.
#[cfg(not(target_os = "linux"))]
pub(crate) fn names(dir: &Dir, _known: Option<&Arc<Known>>, _heads: &mut Vec<Head>) -> io::Result<Names> {
    Names::list(dir)
}

/// Whether the directory is on a file system that changes a directory's times with its names, whoever changes them.
#[cfg(target_os = "linux")]
pub(crate) fn tells_changes(dir: &Dir) -> bool {
    /// ext2 and its successors, XFS, Btrfs, tmpfs, F2FS, bcachefs.
    const KINDS: [u64; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0xca45_1a4e];
    let kind = rustix::fs::fstatfs(dir).ok().and_then(|said| u64::try_from(said.f_type).ok());
    kind.is_some_and(|kind| KINDS.contains(&kind))
}
