#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "fixtures are made outside the code under test")]

use crate::{SKILL, files};
use skillgate_bundle::{ImportError, ImportOptions, Imported, SourceForm, import_ambient};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

fn import(path: &Path) -> Result<Imported, ImportError> {
    import_ambient(path, &ImportOptions::default())
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    tree
}

#[test]
fn a_directory_and_a_single_skill_are_taken() {
    let tree =
        tree(&[("Team Skills/greet/SKILL.md", SKILL), ("Team Skills/greet/a/b.txt", "b\n"), ("one/SKILL.md", SKILL)]);
    let imported = import(&tree.path().join("Team Skills")).expect("it is taken");
    assert_eq!((imported.form, imported.pack.manifest().pack.name.as_str()), (SourceForm::Directory, "team-skills"));
    assert_eq!(files(&imported).len(), 2);
    let imported = import(&tree.path().join("one/SKILL.md")).expect("it is taken");
    assert_eq!((imported.form, imported.pack.manifest().skills[0].name.as_str()), (SourceForm::Skill, "one"));
    assert!(imported.digest.is_some());
    let error = import(&tree.path().join("nowhere")).expect_err("it is not there");
    assert!(matches!(error, ImportError::Io { .. }), "{error}");
}

#[test]
fn the_name_and_the_version_of_a_single_skill_are_its_own() {
    let text = "---\nname: hello\nversion: 2.1.0\ndescription: x\n---\nBody.\n";
    let tree = tree(&[("one/SKILL.md", text)]);
    let imported = import(&tree.path().join("one/SKILL.md")).expect("it is taken");
    let info = &imported.pack.manifest().pack;
    assert_eq!((info.name.as_str(), info.version.as_str()), ("hello", "2.1.0"));
}

#[test]
fn what_is_no_file_of_its_own_is_refused() {
    let outside = tree(&[("secret", "secret")]);
    let secret = outside.path().join("secret");
    type Plant = fn(&Path, &Path);
    let plants: [(&str, &str, Plant); 6] = [
        ("link to a file", "a link", |secret, at| symlink(secret, at).expect("a link")),
        ("link to a directory", "a link", |secret, at| symlink(secret.parent().expect("one"), at).expect("a link")),
        ("dangling link", "a link", |_, at| symlink("nowhere", at).expect("a link")),
        ("hard link", "hard link", |secret, at| fs::hard_link(secret, at).expect("a link")),
        ("pipe", "a pipe", |_, at| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, at, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        }),
        ("setuid", "setuid", |_, at| {
            fs::write(at, "x").expect("a file");
            fs::set_permissions(at, fs::Permissions::from_mode(0o4755)).expect("a mode");
        }),
    ];
    for (what, words, plant) in plants {
        let tree = tree(&[("greet/SKILL.md", SKILL)]);
        assert!(import(tree.path()).is_ok(), "the control of {what}");
        plant(&secret, &tree.path().join("greet/x"));
        let error = import(tree.path()).expect_err(what).to_string();
        assert!(error.contains(words) && error.contains("greet/x"), "{what}: {error}");
    }
    // As the skill's own file, too: nothing waits for a writer.
    let tree = tree(&[("greet/x", "")]);
    plants[4].2(&secret, &tree.path().join("greet/SKILL.md"));
    assert!(import(tree.path()).is_err() && import(&tree.path().join("greet/SKILL.md")).is_err());
}

#[test]
fn a_secret_key_is_not_packed() {
    let key = skillgate_bundle::SecretKey::generate().expect("a key");
    let tree = tree(&[("greet/SKILL.md", SKILL)]);
    fs::write(tree.path().join("key"), format!("{}\n", key.public())).expect("a file");
    assert!(import(tree.path()).is_ok(), "the control: the public one");
    fs::write(tree.path().join("key"), format!("{}\n", key.to_text())).expect("a file");
    let error = import(tree.path()).expect_err("it is secret");
    assert!(matches!(&error, ImportError::SecretKey { path } if path == "key"), "{error}");
    assert!(!error.to_string().contains(&key.to_text()[20..]), "and is not printed");
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn a_checkout_has_its_commit_and_not_its_repository() {
    let loose = [(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", COMMIT)];
    let packed_refs = format!("# pack-refs\n{COMMIT} refs/heads/main\n");
    let packed = [(".git/HEAD", "ref: refs/heads/main\n"), (".git/packed-refs", packed_refs.as_str())];
    let detached = [(".git/HEAD", COMMIT), (".git/config", "[core]\n fsmonitor = touch canary\n")];
    for refs in [loose, packed, detached] {
        let tree = tree(&[refs[0], refs[1], ("greet/SKILL.md", SKILL)]);
        let imported = import(tree.path()).expect("it is taken");
        assert_eq!((imported.form, imported.commit.as_deref()), (SourceForm::Checkout, Some(COMMIT)));
        assert_eq!(files(&imported).len(), 1, "the repository itself is no file of the pack");
    }
    let upwards = tree(&[(".git/HEAD", "ref: refs/../../secret\n"), ("secret", COMMIT), ("greet/SKILL.md", SKILL)]);
    assert_eq!(import(upwards.path()).expect("it is taken").commit, None);
    let linked = tree(&[
        ("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("main/.git/refs/heads/w", COMMIT),
        ("w/.git", "gitdir: ../main/.git/worktrees/w\n"),
        ("w/greet/SKILL.md", SKILL),
    ]);
    assert_eq!(import(&linked.path().join("w")).expect("it is taken").commit.as_deref(), Some(COMMIT));
}

#[test]
fn a_directory_that_is_swapped_while_it_is_read_shows_nothing_from_outside() {
    let outside = tree(&[("x.txt", "secret"), ("SKILL.md", "secret")]);
    let tree = tree(&[("greet/SKILL.md", SKILL), ("greet/sub/x.txt", "mine\n")]);
    let sub = tree.path().join("greet/sub");
    let done = std::sync::atomic::AtomicBool::new(false);
    let mut taken = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let aside = tree.path().join("aside");
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&sub, &aside).expect("moved");
                symlink(outside.path(), &sub).expect("a link");
                fs::remove_file(&sub).expect("removed");
                fs::rename(&aside, &sub).expect("moved back");
            }
        });
        for _ in 0..500 {
            if let Ok(imported) = import(tree.path()) {
                taken += 1;
                assert!(files(&imported).iter().all(|(_, text)| !text.contains("secret")));
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let calm = import(tree.path()).expect("it is taken when nobody swaps");
    assert_eq!(files(&calm).len(), 2);
    assert!(taken <= 500);
}
