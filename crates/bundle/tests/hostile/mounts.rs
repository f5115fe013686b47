//! File systems that take no more, and that take nothing.

use crate::support::{FILES, begin, entries, is_empty, limited, tests_as_both, within};
use rustix::mount::{MountFlags, mount_remount};
use skillgate_bundle::{
    Consent, ExtractError, LazyExtraction, Pack, PackFile, PackInfo, PackSource, PackStore, Step, StoreError,
};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

const SKILL: &str = "---\ndescription: Greets.\n---\nSay hello.\n";

/// That the error is the system's at this step, with the way out.
fn fails(error: &ExtractError, wanted: Step, kind: ErrorKind, way_out: &str) {
    let ExtractError::Io { step, source, .. } = error else { unreachable!("{error}") };
    assert_eq!((*step, source.kind()), (wanted, kind), "{error}");
    assert!(error.help().is_some_and(|help| help.contains(way_out)), "{:?}", error.help());
}

/// Changes what is mounted: `mount` would give the owner again, whom this namespace has no number for.
fn remount(place: &Path, flags: MountFlags, options: &str) {
    mount_remount(place, flags, options).expect(options);
}

fn pack(name: &str, bytes: usize) -> Pack {
    let files = vec![
        PackFile::new(format!("{name}/SKILL.md"), SKILL),
        PackFile::new(format!("{name}/data"), vec![b'x'; bytes]),
    ];
    Pack::build(PackInfo::new(name, "1.0.0").expect("a name"), files).expect("a pack")
}

fn install(store: &PackStore, pack: &Pack) -> Result<(), StoreError> {
    let source = PackSource { kind: "pack".to_owned(), location: "/x".to_owned(), digest: None, commit: None };
    store.install(pack, source, Consent { unsigned: true, ..Consent::default() }).map(drop)
}

tests_as_both! {
    fn a_disk_that_is_full_is_said_and_nothing_is_left() {
        let mounted = "mount -t tmpfs -o size=32k,mode=700 none \"$PLACE\"";
        within(TEST, mounted, |place| {
            let extraction = begin(place).expect("begins");
            let large = vec![b'x'; 64 << 10];
            let files = [("SKILL.md", b"text".as_slice()), ("large", large.as_slice())];
            let error = extraction.extract("skill", files).expect_err("it does not fit");
            fails(&error, Step::WriteFile, ErrorKind::StorageFull, "make room");
            assert_eq!(entries(extraction.path()), BTreeSet::from([".lock".to_owned()]));
            extraction.extract("skill", FILES).expect("what fits still works");
            drop(extraction);
            assert!(is_empty(place));
        });
    }

    /// A limit on the size of files is what a quota looks like to a writer: the kernel takes no more.
    fn a_limit_of_the_process_is_said_and_nothing_is_left() {
        // The signal that comes with the limit is ignored, as a program that handles its errors does.
        limited(TEST, "trap '' XFSZ && ulimit -f 8", |place| {
            let extraction = begin(place).expect("begins");
            let large = vec![b'x'; 64 << 10];
            let files = [("SKILL.md", b"text".as_slice()), ("large", large.as_slice())];
            let error = extraction.extract("skill", files).expect_err("it does not fit");
            fails(&error, Step::WriteFile, ErrorKind::FileTooLarge, "make room");
            assert_eq!(entries(extraction.path()), BTreeSet::from([".lock".to_owned()]));
            extraction.extract("skill", FILES).expect("what fits still works");
        });
    }

    fn a_disk_without_room_for_names_is_said_at_each_step_and_nothing_is_left() {
        // The directory of the mount is the first of the names.
        let mounted = "mount -t tmpfs -o nr_inodes=8,mode=700 none \"$PLACE\"";
        within(TEST, mounted, |place| {
            let mut seen = BTreeSet::new();
            for names in 2..=8 {
                remount(place, MountFlags::empty(), &format!("nr_inodes={names}"));
                let error = match begin(place) {
                    Err(error) => error,
                    Ok(extraction) => match extraction.extract("skill", FILES) {
                        Err(error) => {
                            assert_eq!(entries(extraction.path()), BTreeSet::from([".lock".to_owned()]));
                            error
                        }
                        Ok(_) => {
                            assert!(names > 6, "the control: there are names enough");
                            seen.insert("whole");
                            continue;
                        }
                    },
                };
                let ExtractError::Io { step, .. } = &error else { unreachable!("{error}") };
                fails(&error, *step, ErrorKind::StorageFull, "make room");
                seen.insert(step.as_str());
                assert!(is_empty(place), "{names}");
            }
            let steps = [Step::LockRoot, Step::MakeDirectory, Step::CreateFile].map(Step::as_str);
            assert_eq!(seen, steps.into_iter().chain(["whole"]).collect());
        });
    }

    fn a_disk_that_is_read_only_is_said_and_nothing_is_left() {
        let mounted = "mount -t tmpfs -o ro,mode=700 none \"$PLACE\"";
        within(TEST, mounted, |place| {
            fails(&begin(place).expect_err("read-only"), Step::MakeRoot, ErrorKind::ReadOnlyFilesystem, "TMPDIR");
            let lazy = LazyExtraction::inside(place).expect("a name");
            let error = lazy.extract("skill", FILES).expect_err("read-only");
            fails(&error, Step::MakeRoot, ErrorKind::ReadOnlyFilesystem, "TMPDIR");
            assert!(PackStore::open_ambient(place.join("store")).is_err());
            assert!(PackStore::existing_ambient(place.join("store")).is_ok_and(|store| store.is_none()));
            assert!(is_empty(place));

            remount(place, MountFlags::empty(), "");
            lazy.extract("skill", FILES).expect("the control: it can be written, and the same one works now");
            drop(lazy);
            assert!(is_empty(place));
        });
    }

    fn a_store_that_may_not_grow_is_as_it_was() {
        // Without a namespace, in which the directories above would be somebody's who has no number there.
        limited(TEST, "trap '' XFSZ && ulimit -f 64", |place| {
            let store = PackStore::open_ambient(place.join("store")).expect("a store");
            let (small, large) = (pack("small", 10), pack("large", 128 << 10));
            install(&store, &small).expect("it fits");
            let error = install(&store, &large).expect_err("it does not fit");
            assert!(matches!(&error, StoreError::State(_)), "{error}");
            assert!(error.to_string().contains("File too large"), "{error}");
            let installed = store.installed().expect("the lock file is whole");
            let [only] = installed.as_slice() else { unreachable!("{installed:?}") };
            assert!(only.pack.as_ref().is_ok_and(|pack| *pack == small), "{only:?}");
            assert_eq!(entries(&place.join("store/objects")), BTreeSet::from([format!("{}.skillpack", small.digest())]));

            store.materialise(&small).expect("to disk");
            let Err(StoreError::Extract(error)) = store.materialise(&large) else { unreachable!("it does not fit") };
            fails(&error, Step::WriteFile, ErrorKind::FileTooLarge, "make room");
            let trees = entries(&place.join("store/trees"));
            assert!(!trees.iter().any(|name| name.starts_with(".new-") || *name == large.digest().to_string()), "{trees:?}");
            drop(store);
            std::fs::remove_dir_all(place.join("store")).expect("it is the test's own");
        });
    }
}
