use crate::tree::Tree;
use skillgate_loader::{SkillFile, find_skill_files_ambient, find_skill_files_watched_ambient, read_file_ambient};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

/// What is found below a path of the tree, a line each, with the code of its fault.
fn found(tree: &Tree, below: &str) -> Vec<String> {
    let files = find_skill_files_ambient(tree.path(below)).expect("it is there");
    let line = |file: &SkillFile| match &file.fault {
        Some(fault) => format!("{} {} {}", tree.short(&file.path), fault.severity, fault.code),
        None => tree.short(&file.path),
    };
    files.iter().map(line).collect()
}

#[test]
fn skills_and_command_files_are_found_at_any_depth_and_links_to_directories_are_not_followed() {
    let tree = Tree::new(
        "=== p/a/SKILL.md\n=== p/b/c/skill.md\n=== p/commands/x.md\n=== p/commands/x.txt\n=== p/notes/x.md
=== p/node_modules/d/SKILL.md\n=== p/.git/d/SKILL.md\n=== p/loop -> .\n=== p/self -> self\n=== p/a/up -> ..\n",
    );
    assert_eq!(found(&tree, "p"), ["p/a/SKILL.md", "p/b/c/skill.md", "p/commands/x.md"]);
    assert_eq!(found(&tree, "p/notes/x.md"), ["p/notes/x.md"]);
    assert_eq!(found(&tree, "p/notes"), Vec::<String>::new());
}

#[test]
fn a_named_file_is_read_only_as_what_its_name_says() {
    let tree =
        Tree::new("=== p/a.py\n=== p/a\n=== p/.md\n=== p/a.md\n=== p/B.MD\n=== p/skill.md\n=== p/commands/c.Md\n");
    for name in ["a.py", "a", ".md"] {
        assert_eq!(found(&tree, &format!("p/{name}")), [format!("p/{name} error not-a-skill-file")]);
    }
    for name in ["a.md", "B.MD", "skill.md"] {
        assert_eq!(found(&tree, &format!("p/{name}")), [format!("p/{name}")]);
    }
    assert_eq!(found(&tree, "p"), ["p/commands/c.Md", "p/skill.md"]);
}

#[test]
fn every_directory_that_is_looked_into_is_counted() {
    let tree = Tree::new("=== p/a/SKILL.md\n=== p/b/c/x.txt\n=== p/.git/d/x\n=== p/link -> a\n");
    let mut count = 0;
    let files = find_skill_files_watched_ambient(tree.path("p"), &mut || count += 1).expect("it is there");
    assert_eq!((files.len(), count), (1, 4), "p, a, b, b/c");
}

#[test]
fn a_skill_file_that_is_a_link_is_read_where_it_stays_in_the_named_directory() {
    let tree = Tree::new(
        "=== p/a/SKILL.md -> ../texts/a.md\n=== p/texts/a.md\n=== p/b/SKILL.md -> ^/outside.md\n=== outside.md
=== p/c/SKILL.md -> nowhere.md\n",
    );
    let files = find_skill_files_ambient(tree.path("p")).expect("it is there");
    let nowhere = files[2].fault.as_ref().map(|fault| fault.message.as_str());
    assert_eq!(nowhere, Some("the link leads to nothing: `nowhere.md`"));
    let link = |path: &str| format!("{path} error file-unreadable");
    assert_eq!(found(&tree, "p"), ["p/a/SKILL.md".to_owned(), link("p/b/SKILL.md"), link("p/c/SKILL.md")]);
    assert_eq!(found(&tree, "p/a"), [link("p/a/SKILL.md")], "here the same link leads out");
    assert_eq!(found(&tree, "p/b/SKILL.md"), ["p/b/SKILL.md"], "who names the link itself means it");
}

#[test]
fn what_cannot_be_looked_into_is_a_fault_and_what_is_not_there_an_error() {
    let tree = Tree::new("=== p/closed/SKILL.md\n=== p/open/SKILL.md\n=== loop -> loop\n=== file\n");
    for missing in ["none", "file/SKILL.md", "none/SKILL.md"] {
        assert!(find_skill_files_ambient(tree.path(missing)).is_err(), "{missing}");
    }
    assert_eq!(found(&tree, "loop"), ["loop error file-unreadable"]);
    let closed = tree.path("p/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("chmod");
    // Root may look into everything.
    let expected = if fs::read_dir(&closed).is_ok() { "p/closed/SKILL.md" } else { "p/closed error file-unreadable" };
    assert_eq!(found(&tree, "p"), [expected, "p/open/SKILL.md"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("chmod");
}

#[test]
fn a_tree_that_is_too_deep_is_said_to_be() {
    let deep = format!("p/{}", "d/".repeat(17));
    let tree = Tree::new(&format!("=== {deep}SKILL.md\n=== p/a/SKILL.md\n"));
    let [skill, end] = found(&tree, "p").try_into().expect("two");
    assert_eq!(skill, "p/a/SKILL.md");
    assert!(end.ends_with("warning limit"), "{end}");
}

#[test]
fn a_name_that_loading_refuses_is_a_finding_here_too() {
    let tree = Tree::new("=== p/good/SKILL.md\n=== p/a:b/SKILL.md\n=== p/a\u{200b}b/SKILL.md\n=== p/commands/c:d.md\n");
    let latin = tree.path("p").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&latin).expect("directory");
    fs::write(latin.join("SKILL.md"), "x").expect("file");
    let files = find_skill_files_ambient(tree.path("p")).expect("it is there");
    let findings: Vec<String> = files
        .iter()
        .filter_map(SkillFile::name_finding)
        .map(|found| format!("{} {}", found.severity, found.code))
        .collect();
    let (full, refused) = ("warning command-name-invalid", "error command-name-invalid");
    assert_eq!((files.len(), findings), (5, [full, refused, refused, full].map(str::to_owned).to_vec()));
}

/// A file of a gigabyte without a block on the disk.
#[test]
fn a_file_beyond_the_limit_is_refused_by_its_size() {
    let tree = Tree::new("=== p/big/SKILL.md\n=== p/good/SKILL.md\n---\ndescription: x\n---\n");
    let file = fs::OpenOptions::new().write(true).open(tree.path("p/big/SKILL.md")).expect("open");
    file.set_len(1 << 30).expect("a hole");
    let error = read_file_ambient(tree.path("p/big/SKILL.md"), 1 << 20).expect_err("refused");
    assert_eq!(error.diagnostic().code.to_string(), "file-too-large");
    let root = tree.root(skillgate_core::Source::User, skillgate_loader::RootKind::Skills, "p", &[]);
    crate::tree::check(&tree, vec![root], "user:good p/good/SKILL.md\nbroken user:big p/big file-too-large");
}
