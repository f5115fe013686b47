#![expect(clippy::disallowed_methods, reason = "a fixture is made with `std::fs`, not through the code under test")]

use super::*;
use crate::{LoadOptions, Loaded, RootKind, SkillRoot, SkillRoots, stamp};
use skillgate_core::{Profile, Source};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

/// A place with skills and commands, and a directory for the index.
struct Place {
    tree: TempDir,
}

/// So long after the files were written that their times say all.
const LATER: i64 = 1_000_000_000;

impl Place {
    fn new() -> Self {
        let place = Self { tree: tempfile::tempdir().expect("temporary directory") };
        place.write("skills/a/SKILL.md", "---\nname: a\ndescription: The first.\nallowed-tools: Read\n---\nText.\n");
        place.write("skills/b/SKILL.md", "---\ndescription: \"The second.\"\n---\n");
        place.write("skills/c/skill.md", "---\ndescription: In another spelling.\n---\n");
        place.write("skills/d/SKILL.md", "No header describes this one.\n");
        place.write("skills/e/SKILL.md", "---\n: [\n---\n");
        place.write("skills/f/other.txt", "No skill.");
        place.write("commands/git/log.md", "---\ndescription: A command.\n---\nText.\n");
        symlink(place.path("skills/a"), place.path("skills/link")).expect("link");
        symlink(place.path("nowhere"), place.path("skills/dangling")).expect("link");
        fs::create_dir(place.path("index")).expect("directory");
        fs::set_permissions(place.path("index"), fs::Permissions::from_mode(0o700)).expect("mode");
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.tree.path().canonicalize().expect("the tree").join(below)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("below the tree")).expect("directories");
        fs::write(path, text).expect("file");
    }

    fn index(&self) -> HeaderIndex {
        let dir = OwnerDir::open_ambient(self.path("index")).expect("it is the user's");
        HeaderIndex::open(dir).expect("it can be opened")
    }

    fn roots(&self) -> SkillRoots {
        SkillRoots::open_ambient([
            SkillRoot::new(Source::User, RootKind::Skills, self.path("skills")),
            SkillRoot::new(Source::User, RootKind::Commands, self.path("commands")),
        ])
    }

    fn cold(&self) -> Loaded {
        self.cold_by(&LoadOptions::default())
    }

    fn cold_by(&self, options: &LoadOptions) -> Loaded {
        self.roots().load(options)
    }

    /// A load with the index, so long after `now`.
    fn warm(&self, index: &mut HeaderIndex, later: i64) -> Loaded {
        self.warm_by(&LoadOptions::default(), index, later)
    }

    fn warm_by(&self, options: &LoadOptions, index: &mut HeaderIndex, later: i64) -> Loaded {
        self.roots().load_with(options, Some(index), stamp::now() + later)
    }

    /// How many records hold the names in the directory of skills: one, where its file system tells when they change.
    fn names(&self) -> usize {
        #[cfg(target_os = "linux")]
        {
            use cap_std::fs::Dir;
            let dir = Dir::open_ambient_dir(self.path("skills"), cap_std::ambient_authority()).expect("it is there");
            usize::from(crate::listing::tells_changes(&dir))
        }
        #[cfg(not(target_os = "linux"))]
        0
    }

    /// Replaces the index by one with these records.
    fn craft(&self, records: Vec<Kept<'_>>) {
        fs::write(self.path("index").join(FILE), file::write(records)).expect("the index");
    }

    /// Loads and saves, and opens the index again.
    fn kept(&self) -> HeaderIndex {
        let mut index = self.index();
        self.warm(&mut index, LATER);
        assert!(index.save().expect("it can be written"), "there was something to keep");
        self.index()
    }
}

#[test]
fn a_load_with_the_index_is_the_load_without() {
    let place = Place::new();
    let cold = place.cold();
    assert_eq!((cold.skills.len(), cold.failures.len()), (6, 1), "{cold:?}");
    let mut index = place.kept();
    // Those whose header describes them.
    assert_eq!(index.known().len(), 3 + place.names());
    assert_eq!(place.warm(&mut index, LATER), cold);
    assert_eq!(index.used, vec![true; 3 + place.names()]);
}

#[test]
fn nothing_is_written_when_nothing_is_new() {
    let place = Place::new();
    let mut index = place.kept();
    place.warm(&mut index, LATER);
    assert!(!index.save().expect("nothing to do"));
    place.write("skills/new/SKILL.md", "---\ndescription: New.\n---\n");
    place.warm(&mut index, LATER);
    assert!(index.save().expect("it can be written"), "control");
}

#[test]
fn a_file_that_changed_is_read_again() {
    let place = Place::new();
    let mut index = place.kept();
    let file = place.path("skills/a/SKILL.md");
    let before = file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    // As long as before, and with the time of before.
    place.write("new", "---\nname: a\ndescription: The third.\nallowed-tools: Edit\n---\nText.\n");
    fs::rename(place.path("new"), &file).expect("rename");
    fs::File::options().write(true).open(&file).and_then(|file| file.set_modified(before)).expect("time");
    let warm = place.warm(&mut index, LATER);
    assert_eq!(warm, place.cold());
    assert_eq!(warm.skills[0].description.as_deref(), Some("The third."));
}

#[test]
fn names_that_come_go_and_become_something_else_are_seen() {
    let place = Place::new();
    let mut index = place.kept();
    place.write("skills/added/SKILL.md", "---\ndescription: Added.\n---\n");
    assert_eq!(place.warm(&mut index, LATER), place.cold(), "added");
    fs::remove_dir_all(place.path("skills/b")).expect("removed");
    assert_eq!(place.warm(&mut place.kept(), LATER), place.cold(), "removed");
    fs::rename(place.path("skills/a"), place.path("elsewhere")).expect("moved");
    fs::write(place.path("skills/a"), "a file").expect("file");
    let warm = place.warm(&mut place.kept(), LATER);
    assert_eq!(warm, place.cold(), "replaced");
    assert_eq!(warm.skills.iter().map(|skill| skill.label.as_str()).next(), Some("added"));
}

#[test]
fn what_is_read_otherwise_is_not_what_was_kept() {
    let place = Place::new();
    drop(place.kept());
    // The same file by another name: the label, and what is said of it, follow the directory.
    fs::rename(place.path("skills/a"), place.path("skills/renamed")).expect("renamed");
    let warm = place.warm(&mut place.index(), LATER);
    assert_eq!(warm, place.cold());
    drop(place.kept());
    let renamed = warm.skills.iter().find(|skill| skill.id.command.as_str() == "renamed").expect("it is there");
    assert_eq!(renamed.diagnostics.len(), 1, "the name in the header is another one now");
    let ways = [
        LoadOptions { profile: Profile::Claude, ..LoadOptions::default() },
        LoadOptions { profile: Profile::Strict, ..LoadOptions::default() },
        LoadOptions { max_header_bytes: 40, ..LoadOptions::default() },
        LoadOptions { max_file_bytes: 60, ..LoadOptions::default() },
    ];
    for options in ways {
        let mut index = place.index();
        assert_eq!(place.warm_by(&options, &mut index, LATER), place.cold_by(&options), "{options:?}");
        assert!(index.save().expect("it can be written"), "{options:?} reads otherwise");
    }
    // Each has its own records by now.
    for options in ways.iter().chain([&LoadOptions::default()]) {
        let mut index = place.index();
        assert_eq!(place.warm_by(options, &mut index, LATER), place.cold_by(options), "{options:?}");
        assert!(!index.save().expect("nothing to do"), "{options:?}");
    }
}

#[test]
fn records_that_somebody_made_are_ignored() {
    let place = Place::new();
    let cold = place.cold();
    let index = place.kept();
    let known = Arc::clone(index.known());
    let all = || (0..known.len()).filter_map(|at| known.kept(at));
    assert_eq!(all().count(), 3 + place.names());
    // With sums that are right.
    for header in [&b""[..], b"\x01", &[0xff; 64], b"\xff\xff\xff\x7f", b"names\0d../skills/a\0", b"names\0da"] {
        place.craft(all().map(|kept| Kept { header, ..kept }).collect());
        assert_eq!(place.warm(&mut place.index(), LATER), cold, "{header:?}");
    }
    // Headers of other files.
    let headers: Vec<_> = all().map(|kept| kept.header.to_vec()).collect();
    place.craft(all().zip(headers.iter().rev()).map(|(kept, header)| Kept { header, ..kept }).collect());
    let names = place.names();
    assert_eq!(place.warm(&mut place.index(), LATER), cold, "{names} directories");
    // Many of one file, and none.
    place.craft(all().cycle().take(10_000).collect());
    assert_eq!(place.warm(&mut place.index(), LATER), cold);
    place.craft(Vec::new());
    assert_eq!(place.warm(&mut place.index(), LATER), cold);
}

#[test]
fn an_index_of_the_version_before_is_an_empty_one() {
    let place = Place::new();
    let cold = place.cold();
    let good = {
        drop(place.kept());
        fs::read(place.path("index").join(FILE)).expect("the index")
    };
    for begins in ["sg-headers-1", "sg-headers-3", ""] {
        let other = [begins.as_bytes(), &good[file::MAGIC.len()..]].concat();
        fs::write(place.path("index").join(FILE), other).expect("another version");
        let mut index = place.index();
        assert_eq!(index.known().len(), 0, "{begins}");
        assert_eq!(place.warm(&mut index, LATER), cold);
        assert!(index.save().expect("it can be written"));
        assert_eq!(place.index().known().len(), 3 + place.names());
    }
}

#[test]
fn a_file_that_was_just_written_is_not_kept() {
    let place = Place::new();
    let mut index = place.index();
    // On a slow machine the fixture may be old by now.
    place.warm(&mut index, -LATER);
    assert!(!index.save().expect("nothing to do"), "every file is new");
    place.warm(&mut index, LATER);
    assert!(index.save().expect("it can be written"), "control");
}

#[test]
fn whatever_is_damaged_is_read_again() {
    let place = Place::new();
    let cold = place.cold();
    drop(place.kept());
    let file = place.path("index").join(FILE);
    let good = fs::read(&file).expect("the index");
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x21;
        fs::write(&file, &damaged).expect("damage");
        assert_eq!(place.warm(&mut place.index(), LATER), cold, "byte {at}");
    }
    for length in (0..good.len()).step_by(7) {
        fs::write(&file, &good[..length]).expect("damage");
        assert_eq!(place.warm(&mut place.index(), LATER), cold, "cut at {length}");
    }
    fs::remove_file(&file).expect("removed");
    assert_eq!(place.warm(&mut place.index(), LATER), cold, "deleted");
}

#[test]
fn what_is_not_used_for_long_is_forgotten() {
    let place = Place::new();
    drop(place.kept());
    fs::remove_dir_all(place.path("commands")).expect("removed");
    for round in 0..=MAX_UNUSED {
        let mut index = place.index();
        assert_eq!(index.known().len(), 3 + place.names(), "round {round}");
        place.write("skills/b/SKILL.md", &format!("---\ndescription: Number {round}.\n---\n"));
        place.warm(&mut index, LATER);
        assert!(index.save().expect("it can be written"));
    }
    assert_eq!(place.index().known().len(), 2 + place.names());
}

#[test]
fn a_link_in_the_indexs_place_is_refused() {
    let place = Place::new();
    drop(place.kept());
    let file = place.path("index").join(FILE);
    fs::rename(&file, place.path("elsewhere")).expect("rename");
    symlink(place.path("elsewhere"), &file).expect("link");
    let dir = OwnerDir::open_ambient(place.path("index")).expect("it is the user's");
    assert!(matches!(HeaderIndex::open(dir), Err(StateError::Symlink { .. })));
}
