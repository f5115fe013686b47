//! What an owner-only directory refuses, and that what it accepts works.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "a fixture is made and looked at with `std::fs`, not through the code under test"
)]

use skillgate_state::{OwnerDir, StateError};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary directory"))
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.0.path().join(rel)
    }

    fn dir(&self, rel: &str, mode: u32) -> PathBuf {
        let path = self.path(rel);
        fs::create_dir_all(&path).expect("directory");
        chmod(&path, mode);
        path
    }

    fn state(&self) -> OwnerDir {
        OwnerDir::open_ambient(self.path("state")).expect("open")
    }
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("is there").mode() & 0o7777
}

/// The error's variant, which is what a caller can act on.
fn kind(error: &StateError) -> &'static str {
    match error {
        StateError::Symlink { .. } => "symlink",
        StateError::NotDirectory { .. } => "not a directory",
        StateError::NotRegular { .. } => "not regular",
        StateError::NotOwned { .. } => "not owned",
        StateError::Accessible { .. } => "accessible",
        StateError::UnsafeParent { .. } => "unsafe parent",
        StateError::PathNotUsable { .. } => "path",
        StateError::InvalidName { .. } => "name",
        StateError::TooLarge { .. } => "too large",
        StateError::Io { .. } => "io",
        _ => "other",
    }
}

#[test]
fn missing_directories_are_made_for_the_owner_alone() {
    let home = Home::new();
    let dir = OwnerDir::open_ambient(home.path("a/b/c")).expect("open");
    for rel in ["a", "a/b", "a/b/c"] {
        assert_eq!(mode(&home.path(rel)), 0o700, "{rel}");
    }
    dir.write_atomic("x", b"1").expect("write");
    assert_eq!(mode(&home.path("a/b/c/x")), 0o600);
    let inner = dir.open_dir("d").expect("open inside");
    assert_eq!((mode(&home.path("a/b/c/d")), inner.path()), (0o700, home.path("a/b/c/d").as_path()));
    OwnerDir::open_ambient(home.path("a/b/c")).expect("open again");
}

#[test]
fn a_directory_that_others_reach_is_refused_with_the_command_that_closes_it() {
    let home = Home::new();
    for bad in [0o755, 0o750, 0o701, 0o770, 0o777, 0o1777] {
        let path = home.dir("state", bad);
        let error = OwnerDir::open_ambient(&path).expect_err("others reach it");
        assert_eq!(kind(&error), "accessible", "{bad:o}");
        assert_eq!(error.help(), Some(format!("run `chmod 700 '{}'`", path.display())));
        chmod(&path, 0o700);
        OwnerDir::open_ambient(&path).expect("control: closed");
    }
}

#[test]
fn what_is_no_directory_of_ours_is_refused() {
    let home = Home::new();
    home.dir("real", 0o700);
    symlink("real", home.path("link")).expect("link");
    symlink("nowhere", home.path("dangling")).expect("link");
    fs::write(home.path("file"), "x").expect("file");
    for (path, expected) in [
        (home.path("link"), "symlink"),
        (home.path("link/"), "symlink"),
        (home.path("dangling"), "symlink"),
        (home.path("file"), "not a directory"),
        (home.path("file/below"), "not a directory"),
        (home.path("real/.."), "path"),
        (PathBuf::from("/"), "path"),
    ] {
        let error = OwnerDir::open_ambient(&path).expect_err("refused");
        assert_eq!(kind(&error), expected, "{}: {error}", path.display());
    }
    assert!(!home.path("nowhere").exists(), "a dangling link makes nothing");
}

#[test]
fn a_parent_that_others_can_change_is_refused_and_a_sticky_one_is_not() {
    let home = Home::new();
    for (mode, accepted) in [(0o777, false), (0o757, false), (0o1777, true), (0o755, true), (0o700, true)] {
        let parent = home.dir("parent", mode);
        let opened = OwnerDir::open_ambient(parent.join("state"));
        match opened {
            Ok(_) => assert!(accepted, "{mode:o} was accepted"),
            Err(error) => {
                assert_eq!(kind(&error), "unsafe parent", "{error}");
                assert!(!accepted, "{mode:o} was refused");
                assert_eq!(error.path(), Some(parent.as_path()));
            }
        }
        chmod(&parent, 0o700);
        fs::remove_dir_all(&parent).expect("clean up");
    }
}

#[test]
fn links_above_are_followed_where_nobody_else_can_change_them() {
    let home = Home::new();
    home.dir("disk/cache", 0o755);
    symlink("disk", home.path("relative")).expect("link");
    symlink(home.path("disk/cache"), home.path("absolute")).expect("link");
    symlink("loop", home.path("loop")).expect("link");
    for via in ["relative/cache", "absolute", "relative/cache/../cache"] {
        let dir = OwnerDir::open_ambient(home.path(via).join("state")).expect(via);
        dir.write_atomic("x", via.as_bytes()).expect("write");
        assert_eq!(fs::read(home.path("disk/cache/state/x")).expect("same place"), via.as_bytes());
    }
    let error = OwnerDir::open_ambient(home.path("loop/state")).expect_err("a loop ends");
    assert_eq!(kind(&error), "io");

    // The same link in a directory that everybody can write to is not followed.
    chmod(home.0.path(), 0o777);
    let error = OwnerDir::open_ambient(home.path("relative/cache/state")).expect_err("refused");
    assert_eq!(kind(&error), "unsafe parent");
}

#[test]
fn names_are_single_components_in_every_operation() {
    let home = Home::new();
    let dir = home.state();
    fs::write(home.path("outside"), "x").expect("file");
    for name in ["", ".", "..", "../outside", "a/b", "/etc/passwd", "a\\b", "a\0b", ".skillgate-tmp.1-1-1"] {
        let refusals = [
            ("write", dir.write_atomic(name, b"x").err()),
            ("read", dir.read(name, 10).err()),
            ("open", dir.open_read(name).err()),
            ("path", dir.path_of(name).err()),
            ("lock", dir.lock(name).err()),
            ("try_lock", dir.try_lock(name).err()),
            ("remove", dir.remove(name).err()),
            ("open_dir", dir.open_dir(name).err()),
        ];
        for (operation, error) in refusals {
            assert_eq!(error.as_ref().map(kind), Some("name"), "{operation} {name:?}");
        }
    }
    assert_eq!(fs::read(home.path("outside")).expect("untouched"), b"x");
}

#[test]
fn planted_files_are_refused_when_they_are_read_and_replaced_when_they_are_written() {
    let home = Home::new();
    let dir = home.state();
    fs::write(home.path("secret"), "secret").expect("file");
    let at = |name: &str| home.path("state").join(name);
    symlink(home.path("secret"), at("link")).expect("link");
    symlink("nowhere", at("dangling")).expect("link");
    fs::create_dir(at("directory")).expect("directory");
    let socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("socket");
    fs::write(at("open"), "x").expect("file");
    chmod(&at("open"), 0o644);
    make_fifo(&at("fifo"));
    for (name, expected) in [
        ("link", "symlink"),
        ("dangling", "symlink"),
        ("directory", "not regular"),
        ("socket", "not regular"),
        ("fifo", "not regular"),
        ("open", "accessible"),
    ] {
        let error = dir.read(name, 100).expect_err("refused");
        assert_eq!(kind(&error), expected, "{name}: {error}");
    }
    drop(socket);
    for name in ["link", "dangling", "fifo", "socket", "open"] {
        dir.write_atomic(name, b"ours").expect(name);
        assert_eq!(dir.read(name, 100).expect(name).as_deref(), Some(b"ours".as_slice()), "{name}");
    }
    assert_eq!(fs::read(home.path("secret")).expect("untouched"), b"secret");
    assert!(!home.path("nowhere").exists());

    let error = dir.write_atomic("directory", b"x").expect_err("a directory is not replaced");
    assert_eq!(kind(&error), "io");
}

#[test]
fn planted_lock_files_are_refused() {
    let home = Home::new();
    let dir = home.state();
    symlink(home.path("target"), home.path("state/.skillgate-lock.a")).expect("link");
    fs::create_dir(home.path("state/.skillgate-lock.b")).expect("directory");
    make_fifo(&home.path("state/.skillgate-lock.c"));
    for (name, expected) in [("a", "symlink"), ("b", "not regular"), ("c", "not regular")] {
        assert_eq!(kind(&dir.lock(name).expect_err("refused")), expected, "{name}");
    }
    assert!(!home.path("target").exists());
}

#[test]
fn reading_is_bounded_and_absence_is_no_error() {
    let home = Home::new();
    let dir = home.state();
    dir.write_atomic("x", b"12345").expect("write");
    assert_eq!(dir.read("x", 5).expect("fits").as_deref(), Some(b"12345".as_slice()));
    assert_eq!(kind(&dir.read("x", 4).expect_err("too large")), "too large");
    assert_eq!(dir.read("y", 5).expect("absent"), None);
    assert!(dir.open_read("y").expect("absent").is_none());
    let mut text = String::new();
    dir.open_read("x").expect("open").expect("is there").read_to_string(&mut text).expect("read");
    assert_eq!(text, "12345");
}

#[test]
fn listing_is_sorted_and_removal_says_what_was_there() {
    let home = Home::new();
    let dir = home.state();
    for name in ["b", "a", ".c"] {
        dir.write_atomic(name, b"").expect("write");
    }
    drop(dir.lock("a").expect("lock"));
    assert_eq!(dir.list().expect("list"), [".c", "a", "b"]);
    assert!(dir.remove("a").expect("remove"));
    assert!(!dir.remove("a").expect("remove"));
    assert_eq!(dir.list().expect("list"), [".c", "b"]);
}

#[test]
fn a_lock_excludes_every_other_handle_until_it_is_dropped() {
    let home = Home::new();
    let (first, second) = (home.state(), home.state());
    let held = first.lock("x").expect("lock");
    assert!(second.try_lock("x").expect("try").is_none());
    assert!(first.try_lock("x").expect("try").is_none(), "also through the same handle");
    assert!(second.try_lock("y").expect("try").is_some(), "another name is free");
    drop(held);
    assert!(second.try_lock("x").expect("try").is_some());
}

#[test]
fn read_change_write_under_the_lock_loses_no_change() {
    let home = Home::new();
    let path = home.path("state");
    home.state().write_atomic("count", b"0").expect("write");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let dir = OwnerDir::open_ambient(&path).expect("open");
                for _ in 0..25 {
                    let _lock = dir.lock("count").expect("lock");
                    let bytes = dir.read("count", 20).expect("read").expect("is there");
                    let count: u32 = String::from_utf8(bytes).expect("text").parse().expect("number");
                    dir.write_atomic("count", (count + 1).to_string().as_bytes()).expect("write");
                }
            });
        }
    });
    assert_eq!(home.state().read("count", 20).expect("read").as_deref(), Some(b"100".as_slice()));
}

#[test]
fn readers_beside_writers_see_whole_files_only() {
    let home = Home::new();
    let path = home.path("state");
    let version = |byte: u8| vec![byte; 100_000];
    home.state().write_atomic("x", &version(b'a')).expect("write");
    std::thread::scope(|scope| {
        let writers: Vec<_> = [b'b', b'c']
            .into_iter()
            .map(|byte| {
                let path = &path;
                scope.spawn(move || {
                    let dir = OwnerDir::open_ambient(path).expect("open");
                    for _ in 0..20 {
                        let write = |file: &mut fs::File| {
                            let bytes = version(byte);
                            file.write_all(&bytes[..50_000])?;
                            file.write_all(&bytes[50_000..])
                        };
                        dir.write_atomic_with("x", write).expect("write");
                    }
                })
            })
            .collect();
        let dir = OwnerDir::open_ambient(&path).expect("open");
        let mut last_round = false;
        loop {
            let bytes = dir.read("x", 200_000).expect("read").expect("never absent");
            assert_eq!(bytes, version(bytes[0]));
            if last_round {
                break;
            }
            last_round = writers.iter().all(|writer| writer.is_finished());
        }
    });
    assert_eq!(home.state().list().expect("list"), ["x"]);
}

#[test]
fn only_old_unfinished_files_of_our_own_are_removed() {
    let home = Home::new();
    drop(home.state());
    let plant = |name: &str, hours: u64| {
        let path = home.path("state").join(name);
        let file = fs::File::create(&path).expect("file");
        chmod(&path, 0o600);
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600)).expect("age");
    };
    plant(".skillgate-tmp.1-1-old", 2);
    plant(".skillgate-tmp.1-1-new", 0);
    plant(".skillgate-lock.x", 2);
    plant(".tmp-of-somebody-else", 2);
    plant("x", 2);
    symlink("x", home.path("state/.skillgate-tmp.1-1-link")).expect("link");
    drop(home.state());
    let mut left: Vec<_> = fs::read_dir(home.path("state"))
        .expect("list")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("text"))
        .collect();
    left.sort();
    assert_eq!(
        left,
        [".skillgate-lock.x", ".skillgate-tmp.1-1-link", ".skillgate-tmp.1-1-new", ".tmp-of-somebody-else", "x"]
    );
}

/// Only root can make files of somebody else, and only somebody else's files can be refused as such.
#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let home = Home::new();
    let ours = fs::metadata(home.0.path()).expect("metadata").uid();
    if ours == 0 {
        let path = home.dir("state", 0o700);
        std::os::unix::fs::chown(&path, Some(12345), None).expect("chown");
        assert_eq!(kind(&OwnerDir::open_ambient(&path).expect_err("refused")), "not owned");
        assert_eq!(kind(&OwnerDir::open_ambient(path.join("x")).expect_err("refused")), "unsafe parent");
    } else {
        assert_eq!(kind(&OwnerDir::open_ambient("/usr").expect_err("refused")), "not owned");
    }
}

fn make_fifo(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("fifo");
}
