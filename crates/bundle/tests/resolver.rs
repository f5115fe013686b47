//! The two ways to open a path agree, whatever stands on the way.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a fixture is made with `std::fs`, not through the code under test")]

use proptest::prelude::*;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use skillgate_bundle::Resolver;
use skillgate_core::RelPath;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What is put at a path before the two look.
#[derive(Clone, Copy, Debug)]
enum Plant {
    Directory,
    File,
    LinkInside,
    LinkOutside,
    LinkToParent,
    Dangling,
    Loop,
}

fn plant(root: &Path, path: &str, plant: Plant) {
    let path = root.join(path);
    if let Some(parent) = path.parent() {
        // A file may stand there already: then there is nothing to plant.
        let _parents = fs::create_dir_all(parent);
    }
    let _planted = match plant {
        Plant::Directory => fs::create_dir(&path),
        Plant::File => fs::write(&path, "x"),
        Plant::LinkInside => symlink(root.join("a"), &path),
        Plant::LinkOutside => symlink("/", &path),
        Plant::LinkToParent => symlink("..", &path),
        Plant::Dangling => symlink("nowhere", &path),
        Plant::Loop => symlink(path.file_name().unwrap_or_default(), &path),
    };
}

fn open(root: &Path) -> OwnedFd {
    openat(CWD, root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("the root")
}

fn identity(opened: Result<OwnedFd, rustix::io::Errno>) -> Option<(u64, u64)> {
    let stat = fstat(opened.ok()?).expect("it is open");
    Some((stat.st_dev, stat.st_ino))
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]", 1..4).prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn both_resolvers_agree(
        plants in prop::collection::vec(
            (path(), prop::sample::select(vec![
                Plant::Directory, Plant::File, Plant::LinkInside, Plant::LinkOutside,
                Plant::LinkToParent, Plant::Dangling, Plant::Loop,
            ])),
            0..8,
        ),
        asked in path(),
    ) {
        let tree = tempfile::tempdir().expect("a directory");
        for (path, what) in &plants {
            plant(tree.path(), path, *what);
        }
        let root = open(tree.path());
        let asked = RelPath::new(asked).expect("it stays below");
        let both = [Resolver::Kernel, Resolver::Walk];
        let directories = both.map(|resolver| identity(resolver.open_directory(root.as_fd(), &asked)));
        prop_assert_eq!(directories[0], directories[1], "directory");
        let files = both.map(|resolver| identity(resolver.open_file(root.as_fd(), &asked)));
        prop_assert_eq!(files[0], files[1], "file");
        // No link is on the way of what was opened.
        if files[0].is_some() {
            let mut at = tree.path().to_path_buf();
            for part in asked.components() {
                at.push(part);
                prop_assert!(!fs::symlink_metadata(&at).expect("it is there").is_symlink());
            }
        }
        // Making succeeds for one exactly when it does for the other: what the first made is taken away again.
        let made = both.map(|resolver| {
            let made = resolver.create_file(root.as_fd(), &asked).is_ok();
            if made {
                fs::remove_file(tree.path().join(asked.as_str())).expect("it was made there");
            }
            made
        });
        prop_assert_eq!(made[0], made[1], "create file");
        let made = both.map(|resolver| {
            let made = resolver.create_directory(root.as_fd(), &asked).is_ok();
            if made {
                fs::remove_dir(tree.path().join(asked.as_str())).expect("it was made there");
            }
            made
        });
        prop_assert_eq!(made[0], made[1], "create directory");
    }
}
