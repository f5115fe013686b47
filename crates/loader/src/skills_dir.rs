//! The entries of a directory of skills.

use crate::SkillRoot;
use crate::entry::{Candidate, Shape};
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The entries of a directory that may be skills, sorted by name: directories, and links, which may lead to one. All names are in
/// one piece of memory.
#[cfg(unix)]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    /// Where each ends, and what it is.
    entries: Vec<(usize, Shape)>,
}

/// What kept names begin with.
#[cfg(unix)]
const KEPT: &[u8] = b"names\0";

#[cfg(unix)]
impl Names {
    fn push(&mut self, name: &OsStr, shape: Shape) {
        self.bytes.extend_from_slice(name.as_bytes());
        self.entries.push((self.bytes.len(), shape));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, at: usize) -> (&OsStr, Shape) {
        let start = at.checked_sub(1).map_or(0, |before| self.entries[before].0);
        let (end, shape) = self.entries[at];
        (OsStr::from_bytes(&self.bytes[start..end]), shape)
    }

    /// The names as an index keeps them: [`KEPT`], and of each what it is, the name, a NUL.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(KEPT.len() + self.bytes.len() + 2 * self.len());
        bytes.extend_from_slice(KEPT);
        for (name, shape) in self.iter() {
            bytes.push(if shape == Shape::Link { b'l' } else { b'd' });
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// The names that [`Names::to_bytes`] was given. `None` for what no listing gives.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(KEPT)?;
        let mut names = Self::default();
        let mut before: &[u8] = b"";
        while let Some((what, rest)) = bytes.split_first() {
            let shape = match what {
                b'd' => Shape::Directory,
                b'l' => Shape::Link,
                _ => return None,
            };
            let (name, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == 0)?)?;
            // In order each name comes once, and the first is not empty.
            if name <= before || name.contains(&b'/') || matches!(name, b"." | b"..") {
                return None;
            }
            names.push(OsStr::from_bytes(name), shape);
            (before, bytes) = (name, &rest[1..]);
        }
        Some(names)
    }
}

/// The entries of a directory that may be skills, sorted by name: directories, and links, which may lead to one.
#[cfg(not(unix))]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Names {
    entries: Vec<(std::ffi::OsString, Shape)>,
}

#[cfg(not(unix))]
impl Names {
    fn push(&mut self, name: &OsStr, shape: Shape) {
        self.entries.push((name.to_owned(), shape));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, at: usize) -> (&OsStr, Shape) {
        let (name, shape) = &self.entries[at];
        (name, *shape)
    }
}

impl Names {
    /// Everything in the directory that may be a skill.
    pub(crate) fn list(dir: &Dir) -> io::Result<Self> {
        let mut listed = Self::default();
        entries(dir, &mut |name, said| {
            if let Some(shape) = said.shape(dir, name.as_ref()) {
                listed.push(name, shape);
            }
        })?;
        let mut order: Vec<(&OsStr, Shape)> = listed.iter().collect();
        // Each is one name, so that bytes decide.
        order.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let mut sorted = Self::default();
        order.into_iter().for_each(|(name, shape)| sorted.push(name, shape));
        Ok(sorted)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, Shape)> {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// An entry as a candidate of the directory with this handle and path.
pub(crate) fn candidate(name: &OsStr, shape: Shape, dir: &Arc<Dir>, path: &Path) -> Candidate {
    Candidate {
        name: name.to_string_lossy().into_owned(),
        name_is_text: name.to_str().is_some(),
        base: Arc::clone(dir),
        path: path.join(name),
        rel: PathBuf::from(name),
        shape,
        linked: shape == Shape::Link,
        diagnostics: Vec::new(),
    }
}

/// Everything that may be a skill, sorted by name.
#[cfg(any(feature = "watch", test))]
pub(crate) fn candidates(dir: &Arc<Dir>, path: &Path) -> io::Result<Vec<Candidate>> {
    Ok(Names::list(dir)?.iter().map(|(name, shape)| candidate(name, shape, dir, path)).collect())
}

/// The shape of an entry of which the listing says what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    May(Shape),
    IsNone,
    Nothing,
}

impl Said {
    /// The entry's shape, if it may be a skill. Some file systems do not say; the entry itself does.
    fn shape(self, dir: &Dir, name: &Path) -> Option<Shape> {
        match self {
            Said::May(shape) => Some(shape),
            Said::IsNone => None,
            Said::Nothing => match dir.symlink_metadata(name) {
                Ok(metadata) if metadata.is_symlink() => Some(Shape::Link),
                Ok(metadata) if !metadata.is_dir() => None,
                _ => Some(Shape::Directory),
            },
        }
    }
}

/// All entries, in blocks of names that stay where the system wrote them.
#[cfg(target_os = "linux")]
fn entries(dir: &Dir, each: &mut dyn FnMut(&OsStr, Said)) -> io::Result<()> {
    use rustix::fs::{FileType, Mode, OFlags, RawDir, openat};
    use rustix::io::Errno;
    let own = openat(dir, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut block = Vec::with_capacity(BLOCK);
    let mut entries = RawDir::new(own, block.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            // The directory was removed, and its handle leads to one that is empty.
            Err(Errno::NOENT) => break,
            Err(error) => return Err(error.into()),
        };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let said = match entry.file_type() {
            _ if name == "." || name == ".." => Said::IsNone,
            FileType::Symlink => Said::May(Shape::Link),
            FileType::Directory => Said::May(Shape::Directory),
            FileType::Unknown => Said::Nothing,
            _ => Said::IsNone,
        };
        each(name, said);
    }
    Ok(())
}

/// Bytes of a directory that are asked for at a time.
#[cfg(target_os = "linux")]
const BLOCK: usize = 1 << 15;

#[cfg(not(target_os = "linux"))]
fn entries(dir: &Dir, each: &mut dyn FnMut(&OsStr, Said)) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let said = if kind.is_symlink() {
            Said::May(Shape::Link)
        } else if kind.is_dir() {
            Said::May(Shape::Directory)
        } else if is_known(kind) {
            Said::IsNone
        } else {
            Said::Nothing
        };
        each(&entry.file_name(), said);
    }
    Ok(())
}

/// The directory itself as the one skill of a root.
pub(crate) fn itself(dir: &Arc<Dir>, spec: &SkillRoot) -> Candidate {
    let own = spec.path.file_name().unwrap_or_default();
    let plugin = spec.plugin.as_ref().filter(|plugin| plugin.root == spec.path).map(|plugin| plugin.name.clone());
    Candidate {
        name_is_text: plugin.is_some() || own.to_str().is_some(),
        name: plugin.unwrap_or_else(|| own.to_string_lossy().into_owned()),
        base: Arc::clone(dir),
        rel: PathBuf::from("."),
        path: spec.path.clone(),
        shape: Shape::Directory,
        linked: false,
        diagnostics: Vec::new(),
    }
}

/// Whether the listing said what the entry is.
#[cfg(not(target_os = "linux"))]
fn is_known(kind: cap_std::fs::FileType) -> bool {
    if kind.is_file() {
        return true;
    }
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::entry::{self, Outcome};
    use crate::links::Places;
    use crate::root::{RootKind, SkillRoot};
    use cap_std::ambient_authority;
    use skillgate_core::Source;

    #[test]
    fn what_may_be_a_skill_is_listed_and_files_are_not() {
        let home = tempfile::tempdir().expect("temporary directory");
        let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).expect("open");
        // More than one block of names.
        let names: Vec<String> = (0..2_000).map(|number| format!("{}-{number:04}", "long-".repeat(8))).collect();
        for name in names.iter().rev() {
            dir.create_dir(name).expect("directory");
        }
        dir.write("file", "Text.").expect("file");
        dir.symlink("file", "a-link").expect("link");
        let listed = Names::list(&dir).expect("listed");
        let mut expected: Vec<(&OsStr, _)> = vec![("a-link".as_ref(), Shape::Link)];
        expected.extend(names.iter().map(|name| (name.as_ref(), Shape::Directory)));
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected);
        assert_eq!(Names::of_bytes(&listed.to_bytes()), Some(listed));
        for (said, name, shape) in [
            (Said::Nothing, "a-link", Some(Shape::Link)),
            (Said::Nothing, "file", None),
            (Said::Nothing, names[0].as_str(), Some(Shape::Directory)),
            (Said::IsNone, names[0].as_str(), None),
        ] {
            assert_eq!(said.shape(&dir, name.as_ref()), shape, "{name}");
        }
    }

    #[test]
    fn names_that_no_listing_gives_are_refused() {
        let of = |names: &[u8]| Names::of_bytes(&[KEPT, names].concat()).map(|names| names.len());
        assert_eq!((of(b""), of(b"da\0lb\0")), (Some(0), Some(2)), "control");
        let refused =
            [&b"d\0"[..], b"da", b"da\0d", b"fa\0", b"db\0da\0", b"da\0da\0", b"d.\0", b"d..\0", b"da/b\0", b"d/\0"];
        for names in refused {
            assert_eq!(of(names), None, "{names:?}");
        }
        assert_eq!(Names::of_bytes(b""), None);
    }

    #[test]
    fn what_goes_between_listing_and_reading_is_one_finding_and_the_rest_is_read() {
        let home = tempfile::tempdir().expect("temporary directory");
        let dir = Arc::new(Dir::open_ambient_dir(home.path(), ambient_authority()).expect("open"));
        for name in ["emptied", "gone", "replaced", "stays"] {
            dir.create_dir(name).expect("directory");
            dir.write(format!("{name}/SKILL.md"), "Text.").expect("file");
        }
        let candidates = candidates(&dir, home.path()).expect("listed");
        dir.remove_dir_all("gone").expect("remove");
        dir.remove_file("emptied/SKILL.md").expect("remove");
        dir.remove_dir_all("replaced").expect("remove");
        dir.write("replaced", "a file").expect("file");

        let root = SkillRoot::new(Source::User, RootKind::Skills, home.path());
        let places = Places::new(&root, home.path().to_path_buf());
        let outcomes = candidates.iter().map(|candidate| match entry::open(candidate, &places, 100) {
            Outcome::Opened(_) => "read",
            Outcome::NotASkill => "no skill",
            Outcome::Vanished => "vanished",
            Outcome::Failed(_) => "failed",
        });
        assert_eq!(outcomes.collect::<Vec<_>>(), ["no skill", "vanished", "no skill", "read"]);
    }
}
