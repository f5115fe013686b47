//! Archives that are made at random: valid ones are taken as they are, and changed ones are refused or say the same to another
//! reader.

use crate::zips::{Entry, zip};
use crate::{SKILL, files, import, tars};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

/// `SKILLGATE_LONG` makes it 100,000 archives in all.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("SKILLGATE_LONG").is_some() { 25_000 } else { 500 };
    ProptestConfig { cases, ..ProptestConfig::default() }
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,3}(/[a-zé]{1,3}){0,2}",
        1 => "(\\.\\./|/|[A-Z]:|a\\\\)?[a-zA-Z.]{1,4}",
    ]
}

fn trees() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    proptest::collection::vec((names(), proptest::collection::vec(any::<u8>(), 0..200)), 0..6)
}

/// What another reader finds in a zip; `None` when it refuses it.
fn other_zip_reader(bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut found = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).ok()?;
        if file.is_file() {
            let name = file.name().ok()?.into_owned();
            let mut data = Vec::new();
            file.read_to_end(&mut data).ok()?;
            found.insert(name, data);
        }
    }
    Some(found)
}

fn other_tar_reader(bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(bytes).entries().ok()? {
        let mut entry = entry.ok()?;
        let path = entry.path().ok()?.to_str()?.to_owned();
        if entry.header().entry_type().is_file() {
            let mut data = Vec::new();
            entry.read_to_end(&mut data).ok()?;
            found.insert(path, data);
        }
    }
    Some(found)
}

fn taken(imported: &skillgate_bundle::Imported) -> BTreeMap<String, Vec<u8>> {
    imported.pack.files().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect()
}

/// What stays below its directory whatever reads it.
fn stays(path: &str) -> bool {
    !path.starts_with('/')
        && !path.contains(['\\', ':'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_zip_of_files_is_taken_whole_or_refused(tree in trees(), deflate: bool) {
        let mut entries = vec![Entry::stored("s/SKILL.md", SKILL)];
        entries.extend(tree.iter().map(|(name, data)| {
            if deflate { Entry::deflated(name, data) } else { Entry::stored(name, data) }
        }));
        let bytes = zip(&entries);
        if let Ok(imported) = import(&bytes) {
            let found = taken(&imported);
            prop_assert!(found.keys().all(|path| stays(path)));
            prop_assert_eq!(found.len(), entries.len());
            prop_assert_eq!(Some(found), other_zip_reader(&bytes));
        } else {
            // Nothing but a name is wrong with it.
            let mut lowered: Vec<String> = tree.iter().map(|(name, _)| name.to_lowercase()).collect();
            lowered.sort();
            let meets = lowered.windows(2).any(|pair| pair[1].starts_with(&pair[0]));
            let odd = |name: &String| !stays(name) || name.starts_with("s/") || name == "s" || name.ends_with('.')
                || name.chars().any(|c| c.is_uppercase()) || ["aux", "con", "nul", "prn"].iter().any(|device| name.split('/').any(|part| part.split('.').next() == Some(device)));
            prop_assert!(meets || tree.iter().any(|(name, _)| odd(name)), "{:?}", import(&bytes));
        }
    }

    #[test]
    fn a_changed_zip_is_refused_or_the_same_to_another_reader(
        tree in trees(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut entries = vec![Entry::deflated("s/SKILL.md", SKILL)];
        entries.extend(tree.iter().map(|(name, data)| Entry::stored(name, data)));
        let mut bytes = zip(&entries);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(imported) = import(&bytes) && imported.form == skillgate_bundle::SourceForm::Zip {
            let found = taken(&imported);
            prop_assert!(found.keys().all(|path| stays(path)));
            if let Some(other) = other_zip_reader(&bytes) {
                prop_assert_eq!(found, other);
            }
        }
    }

    #[test]
    fn a_changed_tar_is_refused_or_the_same_to_another_reader(
        tree in proptest::collection::vec(("[a-z]{1,3}(/[a-z]{1,3}){0,2}", "[a-z]{0,700}"), 0..4),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut entries = vec![tars::file("s/SKILL.md", SKILL)];
        entries.extend(tree.iter().map(|(name, text)| tars::file(name, text)));
        let mut bytes = tars::tar(&entries);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(imported) = import(&bytes) && imported.form == skillgate_bundle::SourceForm::Tar {
            let found = taken(&imported);
            prop_assert!(found.keys().all(|path| stays(path)));
            prop_assert_eq!(Some(found), other_tar_reader(&bytes));
        }
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_taken_without_harm(
        start in prop::sample::select(vec![&b"PK\x03\x04"[..], b"PK\x05\x06", b"\x1f\x8b\x08\0", b"SKLPACK\n", b""]),
        rest in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let bytes = [start, &rest].concat();
        if let Ok(imported) = import(&bytes) {
            prop_assert!(files(&imported).iter().all(|(path, _)| stays(path)));
        }
    }
}
