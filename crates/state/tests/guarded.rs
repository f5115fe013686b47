//! Files that decide over authority: only what the user and root alone can have written is read.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests make files")]

use skillgate_state::{StateError, read_guarded_ambient};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn a_file_of_the_users_own_is_read_and_one_that_is_not_there_is_none() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("policy.toml");
    for missing in [file.clone(), home.path().join("no/such/policy.toml")] {
        assert_eq!(read_guarded_ambient(&missing, 10).expect("nothing there"), None);
        assert!(!missing.parent().is_some_and(|parent| parent.ends_with("such") && parent.exists()), "nothing is made");
    }
    fs::write(&file, "text").expect("a file");
    for readable in [0o600, 0o644, 0o400] {
        mode(&file, readable);
        assert_eq!(read_guarded_ambient(&file, 4).expect("own").as_deref(), Some(b"text".as_slice()), "{readable:o}");
    }
    assert!(matches!(read_guarded_ambient(&file, 3), Err(StateError::TooLarge { limit: 3, .. })));
}

#[test]
fn what_others_can_write_is_refused_with_the_command_that_mends_it() {
    let home = tempfile::tempdir().expect("a directory");
    let inner = home.path().join("config");
    fs::create_dir(&inner).expect("a directory");
    mode(&inner, 0o700);
    let file = inner.join("policy.toml");
    fs::write(&file, "text").expect("a file");
    mode(&file, 0o602);
    let error = read_guarded_ambient(&file, 10).expect_err("everybody can write it");
    assert!(matches!(error, StateError::Writable { .. }), "{error}");
    assert!(error.to_string().contains("everybody can write to it, mode 0602"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("chmod go-w") && help.contains("policy.toml")));
    mode(&file, 0o600);
    mode(&inner, 0o777);
    assert!(matches!(read_guarded_ambient(&file, 10), Err(StateError::UnsafeParent { .. })));
    mode(&inner, 0o700);
    assert!(read_guarded_ambient(&file, 10).is_ok(), "the control");
}

#[test]
fn a_link_is_followed_and_its_target_checked() {
    let home = tempfile::tempdir().expect("a directory");
    let dotfiles = home.path().join("dotfiles");
    fs::create_dir(&dotfiles).expect("a directory");
    mode(&dotfiles, 0o700);
    fs::write(dotfiles.join("policy"), "text").expect("a file");
    mode(&dotfiles.join("policy"), 0o600);
    let link = home.path().join("policy.toml");
    symlink("dotfiles/policy", &link).expect("a link");
    assert_eq!(read_guarded_ambient(&link, 10).expect("through the link").as_deref(), Some(b"text".as_slice()));
    mode(&dotfiles, 0o777);
    assert!(matches!(read_guarded_ambient(&link, 10), Err(StateError::UnsafeParent { .. })));
    mode(&dotfiles, 0o700);
    let dangling = home.path().join("dangling");
    symlink("nowhere/at/all", &dangling).expect("a link");
    assert_eq!(read_guarded_ambient(&dangling, 10).expect("nothing there"), None);
    let circle = home.path().join("circle");
    symlink("circle", &circle).expect("a link");
    assert!(matches!(read_guarded_ambient(&circle, 10), Err(StateError::Io { .. })));
    assert!(matches!(read_guarded_ambient(&dotfiles, 10), Err(StateError::NotRegular { .. })));
}
