#![expect(clippy::disallowed_methods, reason = "a fixture is made with `std::fs`, not through the code under test")]

use super::*;
use crate::{LoadOptions, Loaded, RootKind, SkillRoot, SkillRoots, stamp};
use skillgate_core::Source;
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
        self.roots().load(&LoadOptions::default())
    }

    /// A load with the index, so long after `now`.
    fn warm(&self, index: &mut HeaderIndex, later: i64) -> Loaded {
        self.roots().load_with(&LoadOptions::default(), Some(index), stamp::now() + later)
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
    assert_eq!(index.known().records, 4);
    assert_eq!(place.warm(&mut index, LATER), cold);
    assert_eq!(index.used, [true; 4]);
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
        assert_eq!(index.known().records, 4, "round {round}");
        place.write("skills/b/SKILL.md", &format!("---\ndescription: Number {round}.\n---\n"));
        place.warm(&mut index, LATER);
        assert!(index.save().expect("it can be written"));
    }
    assert_eq!(place.index().known().records, 3);
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
