//! A directory of skills.

use crate::tree::{Tree, check, options};
use skillgate_core::{Source, Source::Project, Source::User};
use skillgate_loader::{Loaded, RootKind, read_file_ambient};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// Loads `s` as a root of `source` whose links may lead anywhere in `inside`.
#[track_caller]
fn check_root(tree: &Tree, source: Source, expected: &str) -> Loaded {
    check(tree, vec![tree.root(source, RootKind::Skills, "inside/s", &["inside"])], expected)
}

const GOOD: &str = "=== inside/s/good/SKILL.md\n---\ndescription: Is good.\n---\nBody.\n";

#[test]
fn one_level_of_directories_with_a_skill_file_is_loaded() {
    let tree = Tree::new(&format!(
        "{GOOD}\n=== inside/s/notes.md\n=== inside/s/empty/\n=== inside/s/group/deep/SKILL.md\n=== inside/s/a b/SKILL.md\nText."
    ));
    let loaded = check_root(
        &tree,
        Project,
        "project:a b inside/s/a b/SKILL.md
         project:good inside/s/good/SKILL.md",
    );
    let skill = &loaded.skills[1];
    assert_eq!(skill.directory, Some(tree.path("inside/s/good")));
    assert_eq!(skill.description.as_deref(), Some("Is good."));
    assert_eq!(skill.bytes, fs::metadata(&skill.path).expect("is there").len());
}

#[test]
fn a_bad_entry_is_broken_with_its_reason_and_hides_nothing() {
    let tree = Tree::new(&format!(
        "{GOOD}
=== inside/s/directory/SKILL.md/
=== inside/s/fifo/SKILL.md |
=== inside/s/large/SKILL.md
=== inside/s/dangling/SKILL.md -> nowhere
=== inside/s/gone -> nowhere
=== inside/s/loop -> loop
=== inside/s/device/SKILL.md -> /dev/zero
"
    ));
    tree.add("inside/s/large/SKILL.md", &vec![b'x'; 5_000_000]);
    tree.add("inside/s/latin/SKILL.md", b"---\ndescription: caf\xe9\n---\n");
    let at_limit = usize::try_from(options().max_file_bytes).expect("fits");
    tree.add("inside/s/limit/SKILL.md", &vec![b'x'; at_limit]);
    tree.add("inside/s/limit1/SKILL.md", &vec![b'x'; at_limit + 1]);
    fs::create_dir(tree.path("inside/s/socket")).expect("directory");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("inside/s/socket/SKILL.md")).expect("socket");
    let loaded = check_root(
        &tree,
        User,
        "user:good inside/s/good/SKILL.md
         user:latin inside/s/latin/SKILL.md not-utf8
         user:limit inside/s/limit/SKILL.md
         broken user:dangling inside/s/dangling file-unreadable
         broken user:device inside/s/device file-unreadable
         broken user:directory inside/s/directory file-not-regular
         broken user:fifo inside/s/fifo file-not-regular
         broken user:gone inside/s/gone file-unreadable
         broken user:large inside/s/large file-too-large
         broken user:limit1 inside/s/limit1 file-too-large
         broken user:loop inside/s/loop file-unreadable
         broken user:socket inside/s/socket file-not-regular",
    );
    let large = loaded.failures.iter().find(|failure| failure.name == "large").expect("listed");
    assert!(large.diagnostic.message.contains("1048576"), "{}", large.diagnostic.message);
}

#[test]
fn another_case_of_the_file_name_loads_once_with_a_diagnostic() {
    let tree = Tree::new(
        "=== inside/s/a/skill.md\nlower
=== inside/s/b/Skill.md\nfirst
=== inside/s/b/skill.MD\nsecond
=== inside/s/c/skill.md\nlower
=== inside/s/c/SKILL.md\nexact",
    );
    let loaded = check_root(
        &tree,
        User,
        "user:a inside/s/a/skill.md file-name-case
         user:b inside/s/b/Skill.md file-name-case
         user:c inside/s/c/SKILL.md",
    );
    assert_eq!(loaded.skills[2].bytes, "exact\n".len() as u64);
}

#[test]
fn a_name_that_cannot_be_a_command_is_broken_when_it_holds_a_skill() {
    let tree = Tree::new(&format!("{GOOD}\n=== inside/s/a\u{200b}b/SKILL.md\n=== inside/s/c\u{202e}d/\n"));
    let latin = tree.path("inside/s").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&latin).expect("directory");
    fs::write(latin.join("SKILL.md"), "x").expect("file");
    let loaded = check_root(
        &tree,
        User,
        "user:good inside/s/good/SKILL.md
         broken user:a\u{200b}b inside/s/a\u{200b}b command-name-invalid
         broken user:caf\u{fffd} inside/s/caf\u{fffd} command-name-invalid",
    );
    assert!(loaded.failures[0].diagnostic.message.contains("U+200B"));
}

const LINKS: &str = "
=== inside/s/own/SKILL.md
own
=== inside/s/to-own -> own
=== inside/elsewhere/SKILL.md
inside
=== inside/s/near -> ../elsewhere
=== inside/s/near-absolute -> ^/inside/elsewhere
=== outside/skill/SKILL.md
outside
=== inside/s/far -> ../../outside/skill
=== inside/s/far-absolute -> ^/outside/skill
=== inside/s/back -> ..
=== inside/s/self -> .
=== inside/s/readme -> ../readme.txt
=== inside/readme.txt
=== inside/s/file-own/SKILL.md -> text.md
=== inside/s/file-own/text.md
own text
=== inside/s/file-root/SKILL.md -> ../file-own/other.md
=== inside/s/file-own/other.md
other text
=== inside/s/file-near/SKILL.md -> ../../secret.env
=== inside/secret.env
secret
=== inside/s/file-far/SKILL.md -> ../../../outside/passwd
=== outside/passwd
secret
";

#[test]
fn a_projects_links_to_directories_stay_in_the_project_and_links_to_files_in_the_root() {
    let tree = Tree::new(LINKS);
    let loaded = check_root(
        &tree,
        Project,
        "project:file-own inside/s/file-own/SKILL.md
         project:file-root inside/s/file-root/SKILL.md
         project:near inside/s/near/SKILL.md
         project:own inside/s/own/SKILL.md
         broken project:far inside/s/far file-unreadable
         broken project:far-absolute inside/s/far-absolute file-unreadable
         broken project:file-far inside/s/file-far file-unreadable
         broken project:file-near inside/s/file-near file-unreadable
         duplicate inside/s/near-absolute/SKILL.md of inside/s/near/SKILL.md
         duplicate inside/s/to-own/SKILL.md of inside/s/own/SKILL.md",
    );
    let near = loaded.skills.iter().find(|skill| skill.id.command.as_str() == "near").expect("loaded");
    assert_eq!(near.directory, Some(tree.path("inside/elsewhere")), "what is mounted is where the link leads");
    for failure in &loaded.failures {
        let message = &failure.diagnostic.message;
        assert!(message.contains("outside of where links of project skills may lead"), "{message}");
        assert!(failure.diagnostic.help.as_ref().is_some_and(|help| help.contains("move it into")));
    }
}

#[test]
fn a_users_links_to_files_may_leave_the_root_too_but_not_the_named_places() {
    let tree = Tree::new(LINKS);
    check_root(
        &tree,
        User,
        "user:file-near inside/s/file-near/SKILL.md
         user:file-own inside/s/file-own/SKILL.md
         user:file-root inside/s/file-root/SKILL.md
         user:near inside/s/near/SKILL.md
         user:own inside/s/own/SKILL.md
         broken user:far inside/s/far file-unreadable
         broken user:far-absolute inside/s/far-absolute file-unreadable
         broken user:file-far inside/s/file-far file-unreadable
         duplicate inside/s/near-absolute/SKILL.md of inside/s/near/SKILL.md
         duplicate inside/s/to-own/SKILL.md of inside/s/own/SKILL.md",
    );
}

#[test]
fn a_root_may_be_missing_a_file_a_link_or_unreadable() {
    let tree = Tree::new(&format!(
        "{GOOD}
=== inside/file
=== inside/linked -> s
=== inside/linked-out -> ../outside
=== inside/dangling -> nowhere
=== inside/round -> round
=== outside/stolen/SKILL.md
"
    ));
    let root = |rel: &str| tree.root(User, RootKind::Skills, rel, &["inside"]);
    for (rel, expected) in [
        ("inside/missing", ""),
        ("inside/missing/deeper", ""),
        ("inside/file", "finding inside/file file-not-regular"),
        ("inside/file/below", "finding inside/file/below file-unreadable"),
        ("inside/linked", "user:good inside/linked/good/SKILL.md"),
        ("inside/linked-out", "finding inside/linked-out file-unreadable"),
        ("inside/dangling", "finding inside/dangling file-unreadable"),
        ("inside/round", "finding inside/round file-unreadable"),
    ] {
        check(&tree, vec![root(rel)], expected);
    }
    // All at once, the good one loads.
    let roots = ["inside/file", "inside/dangling", "inside/s", "inside/linked-out"].map(root);
    check(
        &tree,
        roots.into(),
        "user:good inside/s/good/SKILL.md
         finding inside/file file-not-regular
         finding inside/dangling file-unreadable
         finding inside/linked-out file-unreadable",
    );
}

#[test]
fn the_same_directory_by_two_roots_loads_once() {
    let tree = Tree::new(&format!("{GOOD}\n=== inside/.agents/skills -> ../s\n"));
    let roots = ["inside/.agents/skills", "inside/s"].map(|rel| tree.root(User, RootKind::Skills, rel, &["inside"]));
    check(
        &tree,
        roots.into(),
        "user:good inside/.agents/skills/good/SKILL.md
         duplicate inside/s/good/SKILL.md of inside/.agents/skills/good/SKILL.md",
    );
}

#[test]
fn a_file_that_user_and_project_share_is_the_users() {
    let tree = Tree::new(&format!("{GOOD}\n=== home/s/mine -> ^/inside/s/good\n"));
    let roots = vec![
        tree.root(Project, RootKind::Skills, "inside/s", &["inside"]),
        tree.root(User, RootKind::Skills, "home/s", &["home", "inside"]),
    ];
    check(&tree, roots, "user:mine home/s/mine/SKILL.md\nduplicate inside/s/good/SKILL.md of home/s/mine/SKILL.md");
}

#[test]
fn hard_links_in_two_directories_are_two_skills() {
    let tree = Tree::new(&format!("{GOOD}\n=== inside/s/copy/\n=== inside/s/copy-link -> copy\n"));
    fs::hard_link(tree.path("inside/s/good/SKILL.md"), tree.path("inside/s/copy/SKILL.md")).expect("hard link");
    check_root(
        &tree,
        User,
        "user:copy inside/s/copy/SKILL.md
         user:good inside/s/good/SKILL.md
         duplicate inside/s/copy-link/SKILL.md of inside/s/copy/SKILL.md",
    );
}

/// Root may read everything; what it cannot enter are directories that do not let it, which do not exist.
#[test]
fn what_may_not_be_read_is_reported_once() {
    let tree = Tree::new(&format!("{GOOD}\n=== inside/s/closed/SKILL.md\nx\n=== inside/s/sealed/SKILL.md\nx\n"));
    let closed = [tree.path("inside/s/closed"), tree.path("inside/s/sealed/SKILL.md")];
    for path in &closed {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).expect("chmod");
    }
    let is_root = fs::read_dir(&closed[0]).is_ok();
    check_root(
        &tree,
        User,
        if is_root {
            "user:closed inside/s/closed/SKILL.md
             user:good inside/s/good/SKILL.md
             user:sealed inside/s/sealed/SKILL.md"
        } else {
            "user:good inside/s/good/SKILL.md
             broken user:closed inside/s/closed file-unreadable
             broken user:sealed inside/s/sealed file-unreadable"
        },
    );
    for path in &closed {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("chmod");
    }
}

#[test]
fn a_file_named_by_a_person_is_read_under_the_same_bounds() {
    let tree = Tree::new("=== a.md\ntext\n=== link.md -> a.md\n=== pipe |\n=== dir/\n");
    assert_eq!(read_file_ambient(tree.path("a.md"), 5).expect("fits"), b"text\n");
    assert_eq!(read_file_ambient(tree.path("link.md"), 5).expect("fits"), b"text\n");
    for (rel, expected) in [
        ("a.md", "it has more than 4 bytes, the limit for a skill's file"),
        ("pipe", "it is a fifo, not a regular file"),
        ("dir", "it is a directory, not a regular file"),
        ("none", "there is no such file"),
    ] {
        assert_eq!(read_file_ambient(tree.path(rel), 4).expect_err("refused").to_string(), expected, "{rel}");
    }
}
