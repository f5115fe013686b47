use crate::tree::Tree;
use skillgate_loader::{NestedDiscovery, Touched, project_ambient};
use std::path::Path;

fn nested(tree: &Tree, project: &str) -> NestedDiscovery {
    let project = project_ambient(&tree.path(project), None).expect("a project");
    NestedDiscovery::new(project, Some(tree.path("global")))
}

fn roots(tree: &Tree, touched: &Touched) -> Vec<String> {
    touched.roots.iter().map(|root| tree.short(&root.path)).collect()
}

/// The roots that one touch of `files` finds in a repository.
fn found(tree: &Tree, files: &[&str]) -> Vec<String> {
    roots(tree, &nested(tree, "p").touch_ambient(files))
}

const SKILLS: &str = "=== p/.git/HEAD\n=== p/.claude/skills/own/SKILL.md\n=== p/a/.claude/skills/x/SKILL.md
=== p/a/b/.claude/skills/y/SKILL.md\n=== p/a/b/c/d.rs\n=== p/z/.claude/skills/w/SKILL.md\n";

#[test]
fn directories_up_to_the_root_are_looked_at_deepest_first_and_the_root_is_not() {
    let tree = Tree::new(SKILLS);
    assert_eq!(found(&tree, &["a/b/c/d.rs"]), ["p/a/b/.claude/skills", "p/a/.claude/skills"]);
    assert_eq!(found(&tree, &["d.rs"]), Vec::<String>::new());
    assert_eq!(found(&tree, &["a/b/c/not-there-yet.rs"]).len(), 2);
}

#[test]
fn each_directory_is_looked_at_once() {
    let tree = Tree::new(SKILLS);
    let mut nested = nested(&tree, "p");
    assert_eq!(roots(&tree, &nested.touch_ambient(["a/one.rs"])), ["p/a/.claude/skills"]);
    assert_eq!(roots(&tree, &nested.touch_ambient(["a/two.rs", "a/b/three.rs"])), ["p/a/b/.claude/skills"]);
    assert_eq!(roots(&tree, &nested.touch_ambient(["a/two.rs"])), Vec::<String>::new());
}

#[test]
fn the_levels_of_a_project_inside_a_repository_are_known_already() {
    let tree = Tree::new(SKILLS);
    let touched = nested(&tree, "p/a/b").touch_ambient(["c/d.rs", "../../z/x.rs"]);
    assert_eq!(roots(&tree, &touched), ["p/z/.claude/skills"]);
    assert_eq!(touched.files, ["a/b/c/d.rs", "z/x.rs"]);
}

#[test]
fn a_file_is_the_same_however_it_is_named_and_one_outside_is_none() {
    let tree = Tree::new(SKILLS);
    let whole = tree.path("p/a/./x/../b/d.rs");
    let touched = nested(&tree, "p").touch_ambient([
        whole.as_path(),
        Path::new("../q/x"),
        Path::new("/etc/passwd"),
        Path::new(""),
    ]);
    assert_eq!(touched.files, ["a/b/d.rs"]);
}

#[test]
fn what_git_ignores_is_not_looked_at_nor_anything_inside() {
    for (rules, file) in [
        ("=== p/.gitignore\na/\n", "a/b/c/d.rs"),
        ("=== p/.gitignore\n/a\n", "a/b/c/d.rs"),
        ("=== p/.git/info/exclude\na/\n", "a/b/c/d.rs"),
        ("=== global\na/\n", "a/b/c/d.rs"),
        ("=== p/.gitignore\n*\n!b\n", "a/b/c/d.rs"),
    ] {
        let tree = Tree::new(&format!("{SKILLS}{rules}"));
        assert_eq!(found(&tree, &[file]), Vec::<String>::new(), "{rules}");
    }
}

#[test]
fn the_nearest_rules_decide() {
    let tree = Tree::new(&format!(
        "{SKILLS}=== p/.gitignore\nb\n=== p/a/.gitignore\n!b\n=== global\nz\n=== p/.git/info/exclude\n!z\n"
    ));
    assert_eq!(found(&tree, &["a/b/c/d.rs"]).len(), 2);
    assert_eq!(found(&tree, &["z/x"]), ["p/z/.claude/skills"]);
    let tree = Tree::new(&format!("{SKILLS}=== p/a/.gitignore\n/b/\n"));
    assert_eq!(found(&tree, &["a/b/c/d.rs"]), ["p/a/.claude/skills"]);
}

#[test]
fn a_linked_directory_leads_nowhere() {
    let tree = Tree::new(&format!(
        "{SKILLS}=== outside/.claude/skills/evil/SKILL.md\n=== p/link -> ^/outside\n=== p/inner -> a\n"
    ));
    assert_eq!(found(&tree, &["link/x.rs", "inner/x.rs"]), Vec::<String>::new());
}

#[test]
fn the_repositorys_own_directory_is_never_looked_at() {
    let tree = Tree::new(&format!("{SKILLS}=== p/.git/hooks/.claude/skills/evil/SKILL.md\n"));
    assert_eq!(found(&tree, &[".git/hooks/x"]), Vec::<String>::new());
}

#[test]
fn ignore_rules_that_cannot_be_read_are_reported_once_and_hang_nothing() {
    let tree = Tree::new(SKILLS);
    rustix::fs::mknodat(rustix::fs::CWD, tree.path("p/.gitignore"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .expect("a fifo");
    let mut nested = nested(&tree, "p");
    let touched = nested.touch_ambient(["a/x", "z/x"]);
    assert_eq!(touched.roots.len(), 2);
    assert_eq!(touched.diagnostics.len(), 1, "{:?}", touched.diagnostics);
    assert!(nested.touch_ambient(["a/b/x"]).diagnostics.is_empty());
}

#[test]
fn a_very_deep_path_is_looked_at_to_a_bound() {
    let tree = Tree::new(SKILLS);
    assert_eq!(found(&tree, &[&"deep/".repeat(100_000)]), Vec::<String>::new());
}

#[test]
fn a_whole_project_is_walked_to_a_bound() {
    let tree = Tree::new(&format!("{SKILLS}=== p/.gitignore\nz/\n=== p/node_modules/x/.claude/skills/n/SKILL.md\n"));
    let all = nested(&tree, "p").walk_ambient(100);
    assert_eq!(roots(&tree, &all), ["p/a/b/.claude/skills", "p/a/.claude/skills"]);
    assert!(all.diagnostics.is_empty());
    let mut bounded = nested(&tree, "p");
    let few = bounded.walk_ambient(1);
    assert_eq!((roots(&tree, &few), few.diagnostics.len()), (vec!["p/a/.claude/skills".to_owned()], 1));
    assert_eq!(
        roots(&tree, &bounded.touch_ambient(["a/b/x"])),
        ["p/a/b/.claude/skills"],
        "the rest can still be found"
    );
}
