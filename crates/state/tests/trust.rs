//! Trust holds for the folder it was given to and for no other, whatever is moved, copied, replaced or claimed.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests make folders")]

use proptest::prelude::*;
use skillgate_core::{Digest, Right, Rights};
use skillgate_state::{
    FolderFault, FolderId, Standing, StateError, TrustError, TrustRecord, TrustStore, TrustedFile, TrustedSkill,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn dir(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("below")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn store(&self) -> TrustStore {
        TrustStore::open_ambient(self.path("store")).expect("a store")
    }

    fn open_error(&self) -> TrustError {
        TrustStore::open_ambient(self.path("store")).expect_err("refused")
    }

    /// A repository at `repo` with a worktree at `tree`, as git lays them out.
    fn worktree(&self) {
        self.dir("repo/.git/worktrees/tree");
        self.write("repo/.git/worktrees/tree/commondir", "../..\n");
        let dot_git = self.path("tree/.git");
        self.write("repo/.git/worktrees/tree/gitdir", &format!("{}\n", dot_git.display()));
        let entry = self.path("repo/.git/worktrees/tree");
        self.write("tree/.git", &format!("gitdir: {}\n", entry.display()));
    }
}

fn id(path: impl AsRef<Path>) -> FolderId {
    FolderId::of_ambient(path).expect("an identity")
}

fn record(path: impl AsRef<Path>) -> TrustRecord {
    TrustRecord { identity: id(path), skills: Vec::new() }
}

fn trusts(store: &TrustStore, path: impl AsRef<Path>) -> bool {
    FolderId::of_ambient(path).is_ok_and(|now| store.covering(&now).expect("readable").is_some())
}

#[test]
fn a_folder_is_known_by_every_way_to_it_and_by_nothing_else() {
    let home = Home::new();
    let store = home.store();
    home.dir("project/inner");
    symlink("project", home.path("link")).expect("a link");
    store.update(&[], |records| records.push(record(home.path("link")))).expect("added");
    for same in ["project", "link", "link/../project", "project/inner/.."] {
        assert!(trusts(&store, home.path(same)), "{same}");
    }
    for other in ["project/inner", ".", "nothing"] {
        assert!(!trusts(&store, home.path(other)), "{other}");
    }

    fs::rename(home.path("project"), home.path("moved")).expect("moved");
    assert!(!trusts(&store, home.path("moved")), "moved");
    assert_eq!(store.records().expect("readable")[0].standing_ambient(), Standing::Gone);
    home.dir("project");
    assert!(!trusts(&store, home.path("project")), "replaced");
    assert_eq!(store.records().expect("readable")[0].standing_ambient(), Standing::Replaced);
    fs::remove_dir(home.path("project")).expect("removed");
    fs::rename(home.path("moved"), home.path("project")).expect("moved back");
    assert!(trusts(&store, home.path("project")), "the control: it is back");
    assert_eq!(store.records().expect("readable")[0].standing_ambient(), Standing::Here);
}

/// A file system gives a freed number again at once; only the time of birth tells the two apart.
#[test]
fn a_folder_that_is_made_anew_is_another_even_when_it_gets_the_same_number() {
    let home = Home::new();
    let store = home.store();
    for round in 0..20 {
        let path = home.dir("project");
        let before = id(&path);
        store.update(&[], |records| *records = vec![record(&path)]).expect("added");
        assert!(trusts(&store, &path), "{round}");
        fs::remove_dir_all(&path).expect("removed");
        home.dir("project");
        if before.folder.born.is_some() || id(&path).folder.inode != before.folder.inode {
            assert!(!trusts(&store, &path), "{round}");
        }
    }
}

#[test]
fn a_repository_is_known_by_its_own_directory() {
    let home = Home::new();
    let store = home.store();
    home.dir("repo/.git");
    store.update(&[], |records| records.push(record(home.path("repo")))).expect("added");
    assert!(trusts(&store, home.path("repo")));
    fs::rename(home.path("repo/.git"), home.path("kept")).expect("moved");
    assert!(!trusts(&store, home.path("repo")), "without its repository");
    home.dir("repo/.git");
    assert!(!trusts(&store, home.path("repo")), "with another repository");
    fs::remove_dir(home.path("repo/.git")).expect("removed");
    home.dir("other");
    fs::rename(home.path("kept"), home.path("other/.git")).expect("moved");
    assert!(!trusts(&store, home.path("other")), "its repository in another folder");
    symlink("../other/.git", home.path("repo/.git")).expect("a link");
    assert!(!trusts(&store, home.path("repo")), "a link to it");
    fs::remove_file(home.path("repo/.git")).expect("removed");
    fs::rename(home.path("other/.git"), home.path("repo/.git")).expect("moved back");
    assert!(trusts(&store, home.path("repo")), "the control");

    // A folder that becomes a repository later is still the same folder.
    home.dir("plain");
    store.update(&[], |records| records.push(record(home.path("plain")))).expect("added");
    home.dir("plain/.git");
    assert!(trusts(&store, home.path("plain")));
}

#[test]
fn a_replaced_folder_does_not_become_trusted_by_the_old_repository_inside() {
    let home = Home::new();
    let store = home.store();
    home.dir("repo/.git");
    store.update(&[], |records| records.push(record(home.path("repo")))).expect("added");
    fs::rename(home.path("repo"), home.path("old")).expect("moved");
    home.dir("repo");
    fs::rename(home.path("old/.git"), home.path("repo/.git")).expect("moved");
    assert!(!trusts(&store, home.path("repo")));
}

#[test]
fn a_worktree_is_trusted_when_both_ends_name_each_other() {
    let home = Home::new();
    let store = home.store();
    home.worktree();
    store.update(&[], |records| records.push(record(home.path("repo")))).expect("added");
    assert!(trusts(&store, home.path("tree")));

    let entry = "repo/.git/worktrees/tree";
    let (back, there) = (format!("{}\n", home.path("tree/.git").display()), home.path(entry));
    let there = format!("gitdir: {}\n", there.display());
    let stranger = home.dir("stranger");
    for (file, good, bad) in [
        // The repository names another folder, nothing, or the folder and not its `.git`.
        ("repo/.git/worktrees/tree/gitdir", back.as_str(), format!("{}/.git\n", stranger.display())),
        ("repo/.git/worktrees/tree/gitdir", &back, String::new()),
        ("repo/.git/worktrees/tree/gitdir", &back, format!("{}\n", home.path("tree").display())),
        // The entry says that the repository is elsewhere.
        ("repo/.git/worktrees/tree/commondir", "../..\n", "..\n".to_owned()),
        // The folder names the repository itself, or says it twice.
        ("tree/.git", &there, format!("gitdir: {}\n", home.path("repo/.git").display())),
        ("tree/.git", &there, format!("{there}{there}")),
        ("tree/.git", &there, there.replace("gitdir: ", "")),
    ] {
        home.write(file, &bad);
        assert!(!trusts(&store, home.path("tree")), "{file}: {bad:?}");
        home.write(file, good);
        assert!(trusts(&store, home.path("tree")), "the control of {file}");
    }

    // Somebody else's folder that claims the worktree's place.
    home.write("stranger/.git", &there);
    assert!(!trusts(&store, &stranger));
    // A relative form, as newer versions of git write it.
    home.write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    home.write("repo/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    assert!(trusts(&store, home.path("tree")));
}

#[test]
fn trust_in_a_worktree_is_trust_in_its_repository_and_ends_with_it() {
    let home = Home::new();
    let store = home.store();
    home.worktree();
    store.update(&[], |records| records.push(record(home.path("tree")))).expect("added");
    assert!(trusts(&store, home.path("tree")) && trusts(&store, home.path("repo")));
    fs::rename(home.path("tree"), home.path("moved")).expect("moved");
    home.dir("tree");
    fs::rename(home.path("moved/.git"), home.path("tree/.git")).expect("moved");
    assert!(!trusts(&store, home.path("tree")), "another folder at the worktree's path");
}

/// A submodule's `.git` names a directory below `modules`, which names nobody back.
#[test]
fn a_submodule_stands_for_itself() {
    let home = Home::new();
    let store = home.store();
    home.dir("super/.git/modules/sub");
    home.write("super/sub/.git", "gitdir: ../.git/modules/sub\n");
    store.update(&[], |records| records.push(record(home.path("super")))).expect("added");
    assert!(!trusts(&store, home.path("super/sub")));
    store.update(&[], |records| records.push(record(home.path("super/sub")))).expect("added");
    assert!(trusts(&store, home.path("super/sub")));
}

#[test]
fn rights_hold_for_the_content_they_were_granted_for() {
    let home = Home::new();
    let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
    let rights = Rights::from_iter([Right::Hooks, Right::Write]);
    let file = TrustedFile { path: "SKILL.md".to_owned(), digest: old };
    let skill = TrustedSkill { path: "a/SKILL.md".to_owned(), content: old, rights: rights.clone(), files: vec![file] };
    let record = TrustRecord { identity: id(home.dir("project")), skills: vec![skill] };
    assert_eq!(record.rights("a/SKILL.md", old), rights);
    assert_eq!(record.rights("a/SKILL.md", new), Rights::NONE);
    assert_eq!(record.rights("b/SKILL.md", old), Rights::NONE);
}

#[test]
fn a_folder_without_an_identity_is_refused() {
    let home = Home::new();
    home.write("file", "x");
    for path in ["nothing", "file"] {
        assert!(matches!(FolderId::of_ambient(home.path(path)), Err(FolderFault::Unreadable { .. })), "{path}");
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let path = home.0.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        fs::create_dir(&path).expect("a directory");
        assert!(matches!(FolderId::of_ambient(path), Err(FolderFault::NotText { .. })));
    }
}

#[test]
fn a_store_that_others_reach_or_that_is_not_there_as_itself_is_refused() {
    let home = Home::new();
    home.store().update(&[], |records| records.push(record(home.dir("project")))).expect("added");
    let mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    let file = home.path("store/folders.json");
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(home.path("store")).expect("there").permissions().mode() & 0o777, 0o700);

    for open in [0o777, 0o770, 0o755] {
        mode(home.path("store"), open);
        assert!(matches!(home.open_error(), TrustError::State(StateError::Accessible { .. })), "{open:o}");
    }
    mode(home.path("store"), 0o700);
    mode(file.clone(), 0o666);
    let error = home.store().records().expect_err("refused");
    assert!(matches!(error, TrustError::State(StateError::Accessible { .. })), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("chmod 600")));
    mode(file.clone(), 0o600);
    assert!(trusts(&home.store(), home.path("project")), "the control");

    // A link in the file's place leads to a file that says the same.
    fs::rename(&file, home.path("elsewhere")).expect("moved");
    symlink("../elsewhere", &file).expect("a link");
    assert!(matches!(home.store().records(), Err(TrustError::State(StateError::Symlink { .. }))));
    assert!(home.store().update(&[], |_| ()).is_err(), "and is not written through");
    fs::remove_file(&file).expect("removed");
    fs::rename(home.path("elsewhere"), &file).expect("moved back");
    fs::rename(home.path("store"), home.path("real")).expect("moved");
    symlink("real", home.path("store")).expect("a link");
    assert!(matches!(home.open_error(), TrustError::State(StateError::Symlink { .. })));
}

/// Only root can give a file away, so as another user there is nothing to look at.
#[cfg(target_os = "linux")]
#[test]
fn a_store_of_another_user_is_refused() {
    use std::os::unix::fs::chown;
    let home = Home::new();
    home.store().update(&[], |records| records.push(record(home.dir("project")))).expect("added");
    let file = home.path("store/folders.json");
    if chown(&file, Some(12345), None).is_err() {
        assert!(!rustix::process::geteuid().is_root(), "root can give files away");
        return;
    }
    let error = home.store().records().expect_err("refused");
    assert!(matches!(error, TrustError::State(StateError::NotOwned { owner: 12345, .. })), "{error}");
    chown(&file, Some(0), None).expect("given back");
    assert!(trusts(&home.store(), home.path("project")), "the control");
    chown(home.path("store"), Some(12345), None).expect("given away");
    assert!(matches!(home.open_error(), TrustError::State(StateError::NotOwned { .. })));
}

/// A worktree's path that was removed without git's knowledge is free for others to take.
#[cfg(target_os = "linux")]
#[test]
fn a_worktree_of_another_user_is_not_the_repositorys() {
    use std::os::unix::fs::lchown;
    let home = Home::new();
    let store = home.store();
    home.worktree();
    store.update(&[], |records| records.push(record(home.path("repo")))).expect("added");
    assert!(trusts(&store, home.path("tree")), "the control");
    for path in ["tree/.git", "tree"] {
        if lchown(home.path(path), Some(12345), None).is_err() {
            assert!(!rustix::process::geteuid().is_root(), "root can give files away");
            return;
        }
        assert!(!trusts(&store, home.path("tree")), "{path}");
        lchown(home.path(path), Some(0), None).expect("given back");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(usize),
    Remove(usize),
    Move(usize, usize),
    Copy(usize, usize),
    Replace(usize),
    Edit(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || 0..4_usize;
    let step = prop_oneof![
        place().prop_map(Step::Add),
        place().prop_map(Step::Remove),
        (place(), place()).prop_map(|(from, to)| Step::Move(from, to)),
        (place(), place()).prop_map(|(from, to)| Step::Copy(from, to)),
        place().prop_map(Step::Replace),
        place().prop_map(Step::Edit),
    ];
    proptest::collection::vec(step, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The model knows each folder by a number of its own and its trust by (number, place); the store must agree.
    #[test]
    fn trust_never_reaches_another_folder(steps in steps()) {
        let home = Home::new();
        let store = home.store();
        let place = |index: usize| home.path(&format!("place{index}"));
        let mut next = 0;
        // What is at each place, and which of it was trusted there.
        let mut there: BTreeMap<usize, u32> = BTreeMap::new();
        let mut trusted: BTreeMap<usize, u32> = BTreeMap::new();
        let mut fresh = |there: &mut BTreeMap<usize, u32>, index: usize, repository: bool| {
            fs::create_dir_all(place(index).join(if repository { ".git" } else { "x" })).expect("a directory");
            there.insert(index, next);
            next += 1;
        };
        for index in 0..4 {
            fresh(&mut there, index, index % 2 == 0);
        }
        for step in steps {
            match step {
                Step::Add(index) => {
                    if let Some(number) = there.get(&index) {
                        let new = record(place(index));
                        let path = new.identity.folder.path.clone();
                        store.update(&[], |records| {
                            records.retain(|record| record.identity.folder.path != path);
                            records.push(new);
                        }).expect("added");
                        trusted.insert(index, *number);
                    }
                }
                Step::Remove(index) => {
                    let path = home.0.path().canonicalize().expect("there").join(format!("place{index}"));
                    store.update(&[], |records| {
                        records.retain(|record| Path::new(&record.identity.folder.path) != path);
                    }).expect("removed");
                    trusted.remove(&index);
                }
                Step::Move(from, to) => {
                    if there.contains_key(&from) && !there.contains_key(&to) {
                        fs::rename(place(from), place(to)).expect("moved");
                        let number = there.remove(&from).expect("is there");
                        there.insert(to, number);
                    }
                }
                Step::Copy(from, to) => {
                    if there.contains_key(&from) && !there.contains_key(&to) {
                        let repository = place(from).join(".git").exists();
                        fresh(&mut there, to, repository);
                    }
                }
                Step::Replace(index) => {
                    if there.remove(&index).is_some() {
                        fs::rename(place(index), home.path(&format!("away{}", fs::read_dir(home.0.path()).expect("a list").count()))).expect("moved away");
                        fresh(&mut there, index, index % 2 == 0);
                    }
                }
                Step::Edit(index) => {
                    if there.contains_key(&index) {
                        fs::write(place(index).join("file"), "edited").expect("written");
                    }
                }
            }
            for index in 0..4 {
                let expected = there.get(&index).is_some_and(|number| trusted.get(&index) == Some(number));
                prop_assert_eq!(trusts(&store, place(index)), expected, "place{}", index);
            }
        }
    }
}
