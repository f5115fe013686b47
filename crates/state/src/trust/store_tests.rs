//! The steps of a change, with the writer killed at each.

#![expect(clippy::disallowed_methods, reason = "the test looks at what was left on disk")]

use super::*;
use crate::atomic::TempFile;
use crate::platform::DirHandle;
use crate::{Standing, TrustedFile, TrustedSkill};
use skillgate_core::{Right, Rights};
use std::io::Write;
use tempfile::TempDir;

struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { root: tempfile::tempdir().expect("a directory") }
    }

    fn store(&self) -> TrustStore {
        TrustStore::open_ambient(self.root.path().join("trust")).expect("a store")
    }

    fn record(&self, name: &str, text: &[u8]) -> TrustRecord {
        let folder = self.root.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = TrustedFile { path: "SKILL.md".to_owned(), digest: Digest::of(text) };
        let skill = TrustedSkill {
            path: ".claude/skills/x/SKILL.md".to_owned(),
            content: Digest::of(text),
            rights: Rights::from_iter([Right::Write]),
            files: vec![file],
        };
        TrustRecord { identity: FolderId::of_ambient(folder).expect("an identity"), skills: vec![skill] }
    }
}

fn add(store: &TrustStore, record: TrustRecord, text: &[u8]) {
    store.update(&[text], |records| records.push(record)).expect("added");
}

fn names(store: &TrustStore) -> Vec<String> {
    let folder = |record: TrustRecord| record.identity.folder.path;
    store.records().expect("readable").into_iter().map(folder).collect()
}

#[test]
fn a_writer_killed_at_any_step_leaves_the_old_trust_or_the_new() {
    for step in ["text half written", "text written", "created", "half written", "written", "renamed"] {
        let home = Home::new();
        let store = home.store();
        add(&store, home.record("a", b"old"), b"old");
        let before = store.records().expect("readable");
        let mut after = before.clone();
        after.push(home.record("b", b"new"));

        // What `update` does, up to the step; a killed writer's destructors do not run, and its lock is gone.
        let path = store.dir.path().to_path_buf();
        let (dir, texts) = (DirHandle::open_ambient(&path), DirHandle::open_ambient(&path.join(TEXTS)));
        let (dir, texts) = (dir.expect("a handle"), texts.expect("a handle"));
        let bytes = serde_json::to_vec(&Contents { version: 1, written_by: "x".to_owned(), folders: after.clone() });
        let bytes = bytes.expect("JSON");
        if step == "text half written" {
            let mut temp = TempFile::create(&texts, &path).expect("a file");
            temp.file().write_all(b"ne").expect("written");
            std::mem::forget(temp);
        } else {
            store.texts.write_atomic(&Digest::of(b"new").to_string(), b"new").expect("written");
        }
        if !step.starts_with("text") {
            let mut temp = TempFile::create(&dir, &path).expect("a file");
            let part = match step {
                "created" => 0,
                "half written" => bytes.len() / 2,
                _ => bytes.len(),
            };
            temp.file().write_all(&bytes[..part]).expect("written");
            if step == "renamed" {
                temp.persist(FILE, &path).expect("renamed");
            } else {
                std::mem::forget(temp);
            }
        }

        let later = home.store();
        let expected = if step == "renamed" { &after } else { &before };
        assert_eq!(&later.records().expect("readable"), expected, "{step}");
        for record in expected {
            let digest = record.skills[0].files[0].digest;
            assert!(later.text(digest).expect("readable").is_some(), "{step}: what is named is kept");
        }
        add(&later, home.record("c", b"later"), b"later");
        let kept: BTreeSet<String> = later.texts.list().expect("a list").into_iter().collect();
        let named: BTreeSet<String> =
            named(&later.records().expect("readable")).map(|digest| digest.to_string()).collect();
        assert_eq!(kept, named, "{step}: the next change removes what nothing names");
    }
}

#[test]
fn two_writers_at_once_both_have_their_trust() {
    let home = Home::new();
    home.store();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = &home;
            scope.spawn(move || {
                let store = home.store();
                for count in 0..8 {
                    let text = format!("{writer} {count}");
                    add(&store, home.record(&format!("{writer}-{count}"), text.as_bytes()), text.as_bytes());
                }
            });
        }
    });
    let store = home.store();
    assert_eq!(names(&store).len(), 32);
    for record in store.records().expect("readable") {
        assert!(store.text(record.skills[0].files[0].digest).expect("readable").is_some());
        assert_eq!(record.standing_ambient(), Standing::Here);
    }
}

#[test]
fn a_file_that_cannot_be_understood_is_an_error_and_is_not_written_over() {
    let home = Home::new();
    let store = home.store();
    add(&store, home.record("a", b"x"), b"x");
    let path = store.dir.path().join(FILE);
    let good = std::fs::read(&path).expect("a file");
    let text = String::from_utf8(good.clone()).expect("text");
    let newer = text.replace("\"version\": 1", "\"version\": 2").replace("\"folders\"", "\"places\"");
    let newer = newer.replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    let widened = text.replace("\"rights\"", "\"everything\"");
    let unknown = text.replace("\"write\"", "\"rule-the-world\"");
    for (bad, expected) in [
        (newer.as_str(), "written by skillgate 9.9.9"),
        ("", "nothing is trusted"),
        ("{}", "nothing is trusted"),
        ("[]", "nothing is trusted"),
        (&text[..text.len() / 2], "nothing is trusted"),
        (&widened, "nothing is trusted"),
        (&unknown, "nothing is trusted"),
    ] {
        store.dir.write_atomic(FILE, bad.as_bytes()).expect("written");
        let error = store.records().expect_err("cannot be understood");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.help().is_some_and(|help| help.contains("skillgate")), "{error}");
        assert!(store.update(&[], |records| records.clear()).is_err(), "not changed either");
        assert_eq!(std::fs::read(&path).expect("a file"), bad.as_bytes());
    }
    store.dir.write_atomic(FILE, &good).expect("written");
    assert_eq!(names(&store).len(), 1, "the control");
}

#[test]
fn an_accepted_text_that_was_changed_is_noticed() {
    let home = Home::new();
    let store = home.store();
    add(&store, home.record("a", b"x"), b"x");
    let digest = Digest::of(b"x");
    assert_eq!(store.text(digest).expect("readable").as_deref(), Some(b"x".as_slice()));
    store.texts.write_atomic(&digest.to_string(), b"y").expect("written");
    assert!(matches!(store.text(digest), Err(TrustError::Text { .. })));
    assert_eq!(store.text(Digest::of(b"z")).expect("readable"), None);
}
