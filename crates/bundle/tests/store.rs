//! The store: pinned, switched whole, and the same for whoever looks.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "what is damaged is damaged outside the code under test")]

use proptest::prelude::*;
use skillgate_bundle::{
    Change, Consent, Outcome, Pack, PackFile, PackInfo, PackSource, PackStore, SecretKey, StoreError,
    requested_authority,
};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const SKILL: &str = "---\ndescription: Greets.\nallowed-tools: Bash(git status:*)\n---\nSay hello.\n";

fn pack(version: &str, text: &str) -> Pack {
    named("team", version, &[("greet/SKILL.md", text), ("greet/names.txt", "Ada\n")])
}

fn named(name: &str, version: &str, files: &[(&str, &str)]) -> Pack {
    let info = PackInfo::new(name, version).expect("a name");
    let files = files.iter().map(|(path, text)| PackFile::new(*path, *text)).collect();
    Pack::build_with(info, files, |_, text| requested_authority(text)).expect("a pack")
}

fn signed(mut pack: Pack, keys: &[&SecretKey]) -> Pack {
    for key in keys {
        pack.sign(key.sign(pack.digest()));
    }
    pack
}

fn source() -> PackSource {
    PackSource { kind: "pack".to_owned(), location: "/srv/team.skillpack".to_owned(), digest: None, commit: None }
}

const UNSIGNED: Consent = Consent { unsigned: true, change: Change::Refused };
const ACCEPTED: Consent = Consent { unsigned: true, change: Change::Accepted };
const UPDATE: Consent = Consent { unsigned: false, change: Change::ByItsSigner };

struct World {
    tree: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { tree: tempfile::tempdir().expect("a directory") }
    }

    fn path(&self) -> PathBuf {
        self.tree.path().join("packs")
    }

    fn store(&self) -> PackStore {
        PackStore::open_ambient(self.path()).expect("a store")
    }

    fn object(&self, pack: &Pack) -> PathBuf {
        self.path().join("objects").join(format!("{}.skillpack", pack.digest()))
    }
}

fn modes(directory: &Path, found: &mut Vec<(bool, u32)>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let metadata = entry.metadata().expect("it is there");
        found.push((metadata.is_dir(), metadata.permissions().mode() & 0o7777));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[test]
fn looking_for_a_store_makes_none() {
    let world = World::new();
    assert!(PackStore::existing_ambient(world.path()).expect("it can be looked for").is_none());
    assert!(!world.path().exists());
}

#[test]
fn what_is_installed_is_verified_and_taken_to_disk_with_the_same_bytes() {
    let (world, key) = (World::new(), SecretKey::generate().expect("a key"));
    let pack = signed(pack("1.0.0", SKILL), &[&key]);
    let store = world.store();
    let outcome = store.install(&pack, source(), Consent::default()).expect("it is signed");
    assert_eq!(outcome, Outcome::Installed);
    let installed = store.get("team").expect("it is there");
    assert_eq!(installed.pack.expect("it holds"), pack);
    assert_eq!(installed.locked.keys, [key.public()]);
    let tree = store.materialise(&pack).expect("to disk");
    assert_eq!(tree, store.tree_of(pack.digest()));
    assert_eq!(fs::read_to_string(tree.join("greet/names.txt")).expect("a file"), "Ada\n");
    let mut found = Vec::new();
    modes(&world.path(), &mut found);
    assert!(found.iter().all(|(directory, mode)| *mode == if *directory { 0o700 } else { 0o600 }), "{found:?}");
}

#[test]
fn an_unsigned_pack_needs_a_word() {
    let world = World::new();
    let error = world.store().install(&pack("1.0.0", SKILL), source(), Consent::default()).expect_err("unsigned");
    assert!(
        matches!(&error, StoreError::Unsigned { .. })
            && error.help().is_some_and(|help| help.contains("--allow-unsigned"))
    );
    assert!(world.store().lock_file().expect("a lock file").packs.is_empty());
    assert!(world.store().install(&pack("1.0.0", SKILL), source(), UNSIGNED).is_ok());
}

#[test]
fn a_signature_that_does_not_hold_is_refused_whoever_else_signed() {
    let (world, key) = (World::new(), SecretKey::generate().expect("a key"));
    let other = pack("2.0.0", SKILL);
    let mut forged = signed(pack("1.0.0", SKILL), &[&key]);
    forged.sign(SecretKey::generate().expect("a key").sign(other.digest()));
    let error = world.store().install(&forged, source(), ACCEPTED).expect_err("it does not hold");
    assert!(matches!(error, StoreError::Signature(_)), "{error}");
}

#[test]
fn complaint_88_one_byte_changed_in_the_store_is_seen_with_the_files_name() {
    let world = World::new();
    let pack = pack("1.0.0", SKILL);
    let store = world.store();
    store.install(&pack, source(), UNSIGNED).expect("installed");
    let mut bytes = fs::read(world.object(&pack)).expect("the object");
    let at = bytes.len() - 2;
    bytes[at] ^= 1;
    fs::write(world.object(&pack), &bytes).expect("changed");
    let error = store.get("team").expect("it is listed").pack.expect_err("it does not hold");
    assert!(error.to_string().contains("`greet/names.txt`"), "{error}");
    // Any byte, wherever it is.
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = pack.to_bytes();
        flipped[at] ^= 0x10;
        fs::write(world.object(&pack), &flipped).expect("changed");
        assert!(store.get("team").expect("it is listed").pack.is_err(), "byte {at}");
    }
    fs::write(world.object(&pack), super_named().to_bytes()).expect("changed");
    let error = store.get("team").expect("it is listed").pack.expect_err("another pack");
    assert!(matches!(error, StoreError::OtherPack { .. }), "{error}");
    fs::remove_file(world.object(&pack)).expect("removed");
    assert!(matches!(store.get("team").expect("it is listed").pack, Err(StoreError::Gone { .. })));
    // The same pack again mends it.
    assert_eq!(store.install(&pack, source(), UNSIGNED).expect("again"), Outcome::Unchanged);
    assert!(store.get("team").expect("it is listed").pack.is_ok());
}

fn super_named() -> Pack {
    named("other", "1.0.0", &[("x/SKILL.md", SKILL)])
}

#[test]
fn a_signature_that_is_taken_away_is_missed() {
    let (world, key) = (World::new(), SecretKey::generate().expect("a key"));
    let bare = pack("1.0.0", SKILL);
    let store = world.store();
    store.install(&signed(bare.clone(), &[&key]), source(), Consent::default()).expect("installed");
    fs::write(world.object(&bare), bare.to_bytes()).expect("without the signature");
    let error = store.get("team").expect("it is listed").pack.expect_err("it is missed");
    assert!(matches!(error, StoreError::SignatureGone { .. }), "{error}");
    assert!(store.install(&bare, source(), ACCEPTED).is_err(), "and is not given up by installing it without");
}

#[test]
fn other_content_under_the_same_name_is_refused_with_what_is_different() {
    let world = World::new();
    let store = world.store();
    store.install(&pack("1.0.0", SKILL), source(), UNSIGNED).expect("installed");
    let changed = SKILL.replace("Bash(git status:*)", "Bash(git:*)").replace("hello", "HELLO");
    let moved = pack("1.0.0", &changed);
    for consent in [UNSIGNED, Consent { unsigned: true, ..UPDATE }] {
        let Err(StoreError::Drift { diff: Some(diff), .. }) = store.install(&moved, source(), consent) else {
            unreachable!("it is refused with the difference");
        };
        assert_eq!(diff.authority, ["-greet: tool Bash(git status:*)", "+greet: tool Bash(git:*)"]);
        assert!(diff.asks_for_more());
        let text = diff.files[0].text.as_deref().expect("a text");
        assert!(text.contains("-Say hello.") && text.contains("+Say HELLO."), "{text}");
    }
    assert_eq!(store.lock_file().expect("a lock file").packs[0].digest, pack("1.0.0", SKILL).digest());
    assert!(matches!(store.install(&moved, source(), ACCEPTED), Ok(Outcome::Replaced(_))));
}

#[test]
fn an_update_is_its_signers_and_asks_for_no_more() {
    let (old, new, stranger) = (
        SecretKey::generate().expect("a key"),
        SecretKey::generate().expect("a key"),
        SecretKey::generate().expect("a key"),
    );
    let world = World::new();
    let store = world.store();
    store.install(&signed(pack("1.0.0", SKILL), &[&old]), source(), Consent::default()).expect("installed");
    let text = SKILL.replace("hello", "good day");
    let wider = SKILL.replace("allowed-tools: Bash(git status:*)\n", "");
    for (what, pack, words) in [
        ("a stranger", signed(pack("1.1.0", &text), &[&stranger]), "none of its keys"),
        ("an older version", signed(pack("0.9.0", &text), &[&old]), "newer"),
        ("the same version", signed(pack("1.0.0", &text), &[&old]), "newer"),
        ("more authority", signed(pack("1.1.0", &wider), &[&old]), "asks for more"),
    ] {
        let error = store.install(&pack, source(), UPDATE).expect_err(what).to_string();
        assert!(error.contains(words), "{what}: {error}");
    }
    // A manifest that both signed hands over from one to the other.
    let handover = signed(pack("1.1.0", &text), &[&old, &new]);
    assert!(matches!(store.install(&handover, source(), UPDATE), Ok(Outcome::Replaced(_))));
    let by_the_new = signed(pack("1.2.0", SKILL), &[&new]);
    assert!(matches!(store.install(&by_the_new, source(), UPDATE), Ok(Outcome::Replaced(_))));
    let by_the_old = signed(pack("1.3.0", &text), &[&old]);
    assert!(store.install(&by_the_old, source(), UPDATE).is_err(), "it was handed over");
}

#[test]
fn one_can_go_back_and_forth_and_no_further() {
    let world = World::new();
    let store = world.store();
    let (first, second) = (pack("1.0.0", SKILL), pack("2.0.0", &SKILL.replace("hello", "goodbye")));
    store.install(&first, source(), UNSIGNED).expect("installed");
    assert!(matches!(store.roll_back("team"), Err(StoreError::NoPrevious { .. })));
    store.install(&second, source(), ACCEPTED).expect("replaced");
    store.materialise(&second).expect("to disk");
    for pack in [&first, &second, &first] {
        assert_eq!(store.roll_back("team").expect("back").digest, pack.digest());
        assert_eq!(&store.get("team").expect("it is there").pack.expect("it holds"), pack);
    }
    let third = pack("3.0.0", SKILL);
    store.install(&third, source(), ACCEPTED).expect("replaced");
    assert!(!world.object(&second).exists(), "what nothing names is removed");
    assert!(!store.tree_of(second.digest()).exists());
    assert!(world.object(&first).exists());
    store.remove("team").expect("removed");
    assert!(!world.object(&first).exists() && !world.object(&third).exists());
    assert!(matches!(store.remove("team"), Err(StoreError::NotInstalled { .. })));
}

#[test]
fn no_two_packs_have_a_skill_of_one_name() {
    let world = World::new();
    let store = world.store();
    store.install(&pack("1.0.0", SKILL), source(), UNSIGNED).expect("installed");
    let other = named("other", "1.0.0", &[("greet/SKILL.md", SKILL)]);
    let error = store.install(&other, source(), UNSIGNED).expect_err("it is taken");
    assert!(error.help().is_some_and(|help| help.contains("pack disable team")), "{error}");
    store.set_enabled("team", false).expect("switched off");
    store.install(&other, source(), UNSIGNED).expect("installed");
    assert!(matches!(store.set_enabled("team", true), Err(StoreError::SkillTaken { .. })));
}

#[test]
fn no_two_packs_have_skills_whose_names_look_alike() {
    let world = World::new();
    let store = world.store();
    store.install(&pack("1.0.0", SKILL), source(), UNSIGNED).expect("installed");
    for name in ["Greet", "g\u{433}\u{435}\u{435}t-x", "\u{ff47}reet"] {
        let path = format!("{}/SKILL.md", name.trim_end_matches("-x"));
        let built =
            Pack::build(PackInfo::new("other", "1.0.0").expect("a name"), vec![PackFile::new(path.as_str(), SKILL)]);
        let Ok(other) = built else {
            // A word in two alphabets is no name of a skill of a pack.
            assert!(name.ends_with("-x"), "{name}: {built:?}");
            continue;
        };
        let error = store.install(&other, source(), UNSIGNED).expect_err(name);
        assert!(matches!(&error, StoreError::SkillLooksLike { known, .. } if known == "greet"), "{name}: {error}");
        assert!(error.help().is_some_and(|help| help.contains("pack disable team")));
    }
    // All of a word in another alphabet: it is one word, and looks like `scope` all the same.
    store.install(&named("scopes", "1.0.0", &[("scope/SKILL.md", SKILL)]), source(), UNSIGNED).expect("installed");
    let cyrillic = named("other", "1.0.0", &[("\u{455}\u{441}\u{43e}\u{440}\u{435}/SKILL.md", SKILL)]);
    let error = store.install(&cyrillic, source(), UNSIGNED).expect_err("it looks like one");
    assert!(matches!(error, StoreError::SkillLooksLike { .. }), "{error}");
    // The control: another name, and the same one when the other is switched off.
    store.install(&named("fine", "1.0.0", &[("отчет/SKILL.md", SKILL)]), source(), UNSIGNED).expect("installed");
    store.set_enabled("scopes", false).expect("switched off");
    store.install(&cyrillic, source(), UNSIGNED).expect("installed");
    assert!(matches!(store.set_enabled("scopes", true), Err(StoreError::SkillLooksLike { .. })));
}

#[test]
fn what_an_installation_left_that_was_killed_is_not_used_and_goes() {
    let world = World::new();
    let store = world.store();
    let (first, second) = (pack("1.0.0", SKILL), named("other", "1.0.0", &[("other/SKILL.md", SKILL)]));
    store.install(&first, source(), UNSIGNED).expect("installed");
    // Killed before the lock file named it: its file is there, and a tree of it too.
    fs::write(world.object(&second), second.to_bytes()).expect("written");
    store.materialise(&second).expect("to disk");
    let names = |store: &PackStore| -> Vec<String> {
        store.installed().expect("a lock file").into_iter().map(|pack| pack.locked.name).collect()
    };
    assert_eq!(names(&store), ["team"]);
    store.set_enabled("team", true).expect("the next change");
    assert!(!world.object(&second).exists() && !store.tree_of(second.digest()).exists());
    assert!(world.object(&first).exists(), "the control: what is named stays");
}

#[test]
fn complaint_90_a_lock_file_of_an_older_version_is_kept_and_of_a_newer_one_left_alone() {
    let world = World::new();
    let store = world.store();
    let pack = pack("1.0.0", SKILL);
    store.install(&pack, source(), UNSIGNED).expect("installed");
    let lock = world.path().join("skills.lock");
    let first = format!(
        "version = 1\n[[pack]]\nname = \"team\"\nversion = \"1.0.0\"\ndigest = \"{}\"\nsource = \"/srv/team\"\n",
        pack.digest()
    );
    fs::write(&lock, first).expect("written");
    assert!(store.get("team").expect("it is read").pack.is_ok());
    store.set_enabled("team", false).expect("changed");
    let text = fs::read_to_string(&lock).expect("it is there");
    assert!(text.contains("version = 2") && text.contains("/srv/team"), "{text}");
    fs::write(&lock, text.replace("version = 2", "version = 9")).expect("written");
    assert!(matches!(store.remove("team"), Err(StoreError::NewerLock { found: 9, .. })));
    fs::write(&lock, "nonsense").expect("written");
    assert!(matches!(store.install(&pack, source(), ACCEPTED), Err(StoreError::Lock(_))));
    assert_eq!(fs::read_to_string(&lock).expect("it is there"), "nonsense");
}

#[test]
fn what_a_tree_became_is_not_used() {
    let world = World::new();
    let store = world.store();
    let pack = pack("1.0.0", SKILL);
    store.install(&pack, source(), UNSIGNED).expect("installed");
    let tree = store.materialise(&pack).expect("to disk");
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil); 6] = [
        ("other bytes", |tree| fs::write(tree.join("greet/names.txt"), "Eve\n").expect("written")),
        ("a further file", |tree| fs::write(tree.join("greet/more"), "x").expect("written")),
        ("a missing file", |tree| fs::remove_file(tree.join("greet/names.txt")).expect("removed")),
        ("a link", |tree| {
            fs::remove_file(tree.join("greet/names.txt")).expect("removed");
            std::os::unix::fs::symlink("/etc/hostname", tree.join("greet/names.txt")).expect("a link");
        }),
        ("a second name", |tree| {
            fs::hard_link(tree.join("greet/names.txt"), tree.parent().expect("one").join("x")).expect("a link");
        }),
        ("open to others", |tree| {
            fs::set_permissions(tree.join("greet"), fs::Permissions::from_mode(0o777)).expect("a mode");
        }),
    ];
    for (what, spoil) in spoils {
        spoil(&tree);
        store.materialise(&pack).expect(what);
        assert_eq!(fs::read_to_string(tree.join("greet/names.txt")).expect("a file"), "Ada\n", "{what}");
        assert_eq!(fs::read_dir(tree.join("greet")).expect("a directory").count(), 2, "{what}");
    }
    fs::create_dir(tree.parent().expect("one").join(".new-half-made")).expect("a directory");
    fs::write(tree.join("greet/more"), "x").expect("written");
    store.materialise(&pack).expect("again");
    assert!(!tree.parent().expect("one").join(".new-half-made").exists());
}

#[test]
fn many_at_once_lose_nothing() {
    let world = World::new();
    let packs: Vec<Pack> =
        (0..8).map(|n| named(&format!("p{n}"), "1.0.0", &[(&format!("s{n}/SKILL.md"), SKILL)])).collect();
    std::thread::scope(|scope| {
        for pack in &packs {
            // Each has a store of its own, as another process would.
            let world = &world;
            scope.spawn(move || {
                let store = world.store();
                store.install(pack, source(), UNSIGNED).expect("installed");
                store.materialise(pack).expect("to disk");
                store.installed().expect("a whole lock file");
            });
        }
    });
    let installed = world.store().installed().expect("a lock file");
    assert_eq!(installed.len(), packs.len());
    assert!(installed.iter().all(|pack| pack.pack.is_ok()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn installed_verified_and_loaded_bytes_are_the_same(
        files in proptest::collection::btree_map("[a-z]{1,8}(/[a-z]{1,8}){0,2}\\.x", proptest::collection::vec(any::<u8>(), 0..2_000), 0..6),
    ) {
        let world = World::new();
        let mut all = vec![PackFile::new("a/SKILL.md", SKILL)];
        all.extend(files.iter().map(|(path, bytes)| PackFile::new(path.as_str(), bytes.clone())));
        let pack = Pack::build(PackInfo::new("team", "1.0.0").expect("a name"), all.clone()).expect("a pack");
        let store = world.store();
        store.install(&pack, source(), UNSIGNED).expect("installed");
        let read = world.store().get("team").expect("it is there").pack.expect("it holds");
        let tree = store.materialise(&read).expect("to disk");
        for file in all {
            prop_assert_eq!(read.file(&file.path), Some(file.bytes.as_slice()));
            prop_assert_eq!(fs::read(tree.join(&file.path)).expect("a file"), file.bytes);
        }
    }
}
