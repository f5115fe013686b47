//! What tells that a file is the one that was read, without opening it.

use crate::file::Identity;
use cap_std::fs::{Dir, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Writes that come within this of each other may have one time: a kernel's clock for files ticks in steps of up to ten
/// milliseconds.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// A regular file as the system describes it. Two equal stamps are one file with one text, unless it was written again within
/// the [`TICK`] in which the first of them was taken; see [`Stamp::may_be_followed`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i64,
    /// When anything of the file last changed, its mode and its names as well; nobody can set it. The time of modification
    /// where the system does not know it.
    pub(crate) changed: i64,
    /// Whether other names of the same file exist on the disk.
    pub(crate) hard_linked: bool,
}

impl Stamp {
    /// The stamp of a regular file beneath the handle; `None` for what is missing or something else, a link among that.
    ///
    /// Nothing is opened: should a directory on the way have become a link meanwhile, nothing but the numbers of a file comes
    /// from where it leads.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_regular(dir: &Dir, path: &Path) -> Option<Self> {
        use rustix::fs::{AtFlags, FileType, StatxFlags, makedev, statx};
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let said = statx(dir, path, flags, StatxFlags::BASIC_STATS).ok()?;
        let is_regular = FileType::from_raw_mode(said.stx_mode.into()) == FileType::RegularFile;
        is_regular.then(|| Self {
            device: makedev(said.stx_dev_major, said.stx_dev_minor),
            inode: said.stx_ino,
            size: said.stx_size,
            modified: nanoseconds(said.stx_mtime.tv_sec, said.stx_mtime.tv_nsec),
            changed: nanoseconds(said.stx_ctime.tv_sec, said.stx_ctime.tv_nsec),
            hard_linked: said.stx_nlink > 1,
        })
    }

    /// As on Linux, with a handle for the directory on the way.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_regular(dir: &Dir, path: &Path) -> Option<Self> {
        let metadata = dir.symlink_metadata(path).ok()?;
        metadata.is_file().then(|| Self::of(&metadata))
    }

    /// The stamp of a file that is open.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use cap_std::fs::MetadataExt;
        let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or(0);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), nanos(metadata.mtime_nsec())),
            changed: nanoseconds(metadata.ctime(), nanos(metadata.ctime_nsec())),
            hard_linked: metadata.nlink() > 1,
        }
    }

    /// The stamp of a file that is open.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().map_or(0, |time| since_1970(time.into_std()));
        Self { device: 0, inode: 0, size: metadata.len(), modified, changed: modified, hard_linked: false }
    }

    /// Which file it is; `None` where the system has no numbers for it.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let Self { device, inode, hard_linked, .. } = *self;
        if cfg!(unix) { Some(Identity { device, inode, hard_linked }) } else { None }
    }

    /// Whether another write can leave the stamp as it is, when this one was taken at `taken`.
    pub(crate) fn may_be_followed(&self, taken: i64) -> bool {
        let tick = i64::try_from(TICK.as_nanos()).unwrap_or(i64::MAX);
        self.changed.max(self.modified) >= taken.saturating_sub(tick)
    }
}

/// This moment as stamps count, nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    since_1970(SystemTime::now())
}

fn since_1970(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(unix)]
fn nanoseconds(seconds: i64, nanos: u32) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use cap_std::ambient_authority;

    fn dir() -> (tempfile::TempDir, Dir) {
        let tree = tempfile::tempdir().expect("temporary directory");
        let dir = Dir::open_ambient_dir(tree.path(), ambient_authority()).expect("open");
        (tree, dir)
    }

    #[test]
    fn both_ways_to_a_stamp_give_the_same() {
        let (_tree, dir) = dir();
        dir.create_dir("a").expect("directory");
        dir.write("a/SKILL.md", "Text.").expect("file");
        let open = dir.open("a/SKILL.md").and_then(|file| file.metadata()).expect("metadata");
        assert_eq!(Stamp::of_regular(&dir, Path::new("a/SKILL.md")), Some(Stamp::of(&open)));
        assert_eq!(Stamp::of(&open).size, 5);
    }

    #[test]
    fn what_is_no_regular_file_has_none() {
        let (_tree, dir) = dir();
        dir.create_dir("a").expect("directory");
        dir.write("file", "Text.").expect("file");
        dir.symlink("file", "link").expect("link");
        for path in ["a", "link", "missing", "file/inside"] {
            assert_eq!(Stamp::of_regular(&dir, Path::new(path)), None, "{path}");
        }
        assert!(Stamp::of_regular(&dir, Path::new("file")).is_some(), "control");
    }

    #[test]
    fn a_file_that_was_just_written_may_be_followed_and_an_old_one_not() {
        let stamp = Stamp { device: 1, inode: 1, size: 1, modified: 0, changed: 1_000_000_000, hard_linked: false };
        let tick = i64::try_from(TICK.as_nanos()).expect("small");
        for (later, followed) in [(-5, true), (0, true), (tick, true), (tick + 1, false)] {
            assert_eq!(stamp.may_be_followed(1_000_000_000 + later), followed, "{later}");
        }
    }
}
