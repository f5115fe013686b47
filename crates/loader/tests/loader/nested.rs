use crate::tree::Tree;
use skillgate_loader::{GitUser, NestedDiscovery, Touched, project_ambient};
use std::path::Path;

fn nested(tree: &Tree, project: &str) -> NestedDiscovery {
    let project = project_ambient(&tree.path(project), None).expect("a project");
    NestedDiscovery::new(project, GitUser { home: Some(tree.path("home")), config: None })
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
fn a_path_through_links_is_the_place_that_they_lead_to() {
    let tree = Tree::new(&format!("{SKILLS}=== q -> p\n=== deep -> p/a/b\n=== one.rs -> p/a/one.rs\n=== p/a/one.rs\n"));
    for (named, file, expected) in [
        // The root, a directory in it, and a file.
        ("q/z/new.rs", "z/new.rs", &["p/z/.claude/skills"][..]),
        ("deep/c/d.rs", "a/b/c/d.rs", &["p/a/b/.claude/skills", "p/a/.claude/skills"]),
        ("deep/none/../x.rs", "a/b/x.rs", &["p/a/b/.claude/skills", "p/a/.claude/skills"]),
        ("one.rs", "a/one.rs", &["p/a/.claude/skills"]),
        // Behind a link `..` is the directory above the place that it leads to, as for everybody who opens it.
        ("deep/../x.rs", "a/x.rs", &["p/a/.claude/skills"]),
    ] {
        let touched = nested(&tree, "p").touch_ambient([tree.path(named)]);
        assert_eq!(touched.files, [file], "{named}");
        assert_eq!(roots(&tree, &touched), expected, "{named}");
    }
    assert_eq!(nested(&tree, "q").touch_ambient(["z/x"]).files, ["z/x"]);
    let outside = Tree::new(&format!("{SKILLS}=== q -> elsewhere\n=== elsewhere/\n=== loop -> loop\n"));
    for named in ["q/x.rs", "loop/x.rs", "gone/x.rs"] {
        assert_eq!(nested(&outside, "p").touch_ambient([outside.path(named)]).files, Vec::<String>::new(), "{named}");
    }
}

#[test]
fn a_link_inside_is_its_name_and_its_place() {
    let tree = Tree::new(&format!(
        "{SKILLS}=== p/link.md -> a/one.rs\n=== p/a/one.rs\n=== p/out.rs -> ^/out.rs\n=== out.rs\n"
    ));
    let touched = nested(&tree, "p").touch_ambient(["link.md", "out.rs"]);
    assert_eq!(touched.files, ["link.md", "a/one.rs", "out.rs"]);
    assert_eq!(touched.roots, Vec::new(), "a link brings the skills of no other directory");
}

#[test]
fn what_git_ignores_is_not_looked_at_nor_anything_inside() {
    for (rules, file) in [
        ("=== p/.gitignore\na/\n", "a/b/c/d.rs"),
        ("=== p/.gitignore\n/a\n", "a/b/c/d.rs"),
        ("=== p/.git/info/exclude\na/\n", "a/b/c/d.rs"),
        ("=== home/.config/git/ignore\na/\n", "a/b/c/d.rs"),
        ("=== home/.gitconfig\n[core]\n\texcludesFile = ~/mine\n=== home/mine\na/\n", "a/b/c/d.rs"),
        ("=== home/.config/git/config\n[core]\n\texcludesFile = mine\n=== p/mine\na/\n", "a/b/c/d.rs"),
        ("=== p/.gitignore\n*\n!b\n", "a/b/c/d.rs"),
    ] {
        let tree = Tree::new(&format!("{SKILLS}{rules}"));
        assert_eq!(found(&tree, &[file]), Vec::<String>::new(), "{rules}");
    }
}

#[test]
fn the_users_own_rules_are_those_that_git_would_take() {
    let mine = "=== home/mine\na/\n=== home/.config/git/ignore\nz/\n=== xdg/git/ignore\na/\nz/\n";
    let rules = format!("{SKILLS}{mine}=== home/.gitconfig\n[core]\nexcludesFile = ~/mine\n");
    // The one that the configuration names stands for the usual one, and the home's configuration is the last.
    let tree = Tree::new(&format!("{rules}=== home/.config/git/config\n[core]\nexcludesFile = ~/none\n"));
    assert_eq!(found(&tree, &["a/b/c/d.rs", "z/x"]), ["p/z/.claude/skills"]);
    let tree = Tree::new(&format!("{SKILLS}{mine}"));
    assert_eq!(found(&tree, &["a/x", "z/x"]), ["p/a/.claude/skills"]);
    let project = project_ambient(&tree.path("p"), None).expect("a project");
    let user = GitUser { home: Some(tree.path("home")), config: Some(tree.path("xdg")) };
    assert_eq!(roots(&tree, &NestedDiscovery::new(project.clone(), user).touch_ambient(["a/x", "z/x"])).len(), 0);
    let nobody = NestedDiscovery::new(project, GitUser::default()).touch_ambient(["a/x", "z/x"]);
    assert_eq!((roots(&tree, &nobody).len(), nobody.diagnostics), (2, Vec::new()));
    // None at all.
    let tree = Tree::new(&format!("{SKILLS}{mine}=== home/.gitconfig\n[core]\nexcludesFile =\n"));
    assert_eq!(found(&tree, &["a/x", "z/x"]).len(), 2);
}

#[test]
fn a_configuration_of_git_that_cannot_be_read_is_one_finding() {
    let tree = Tree::new(&format!("{SKILLS}=== home/.gitconfig |\n=== home/.config/git/ignore\nz/\n"));
    let touched = nested(&tree, "p").touch_ambient(["a/x", "z/x"]);
    assert_eq!(roots(&tree, &touched), ["p/a/.claude/skills"], "the usual rules hold");
    let paths: Vec<String> = touched.diagnostics.iter().map(|found| tree.short(&found.path)).collect();
    assert_eq!(paths, ["home/.gitconfig"]);
}

#[test]
fn a_working_tree_has_the_excludes_of_its_repository() {
    let skills = SKILLS.replace("=== p/.git/HEAD\n", "");
    for (marker, rules) in [
        ("gitdir: ^/main/.git/worktrees/p\n", "main/.git"),
        ("gitdir: ../main/.git/worktrees/p\n", "main/.git"),
        ("gitdir: ../main/.git/modules/p\n", "main/.git/modules/p"),
    ] {
        let tree = Tree::new(&format!(
            "{skills}=== main/.git/worktrees/p/commondir\n../..\n=== main/.git/modules/p/HEAD\n=== {rules}/info/exclude\na/\n"
        ));
        let whole = tree.path("");
        tree.add("p/.git", marker.replace("^/", whole.to_str().expect("text")).as_bytes());
        let touched = nested(&tree, "p").touch_ambient(["a/b/c/d.rs", "z/x"]);
        assert_eq!(roots(&tree, &touched), ["p/z/.claude/skills"], "{marker}");
        assert_eq!(touched.diagnostics, Vec::new(), "{marker}");
    }
    // A marker that leads nowhere says nothing of rules.
    let tree = Tree::new(&format!("{skills}=== p/.git\ngitdir: ../nowhere\n"));
    let touched = nested(&tree, "p").touch_ambient(["a/x"]);
    assert_eq!((roots(&tree, &touched).len(), touched.diagnostics), (1, Vec::new()));
}

#[test]
fn the_nearest_rules_decide() {
    let tree = Tree::new(&format!(
        "{SKILLS}=== p/.gitignore\nb\n=== p/a/.gitignore\n!b\n=== home/.config/git/ignore\nz\n=== p/.git/info/exclude\n!z\n"
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
