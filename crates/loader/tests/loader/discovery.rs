//! Which places are looked into.

use crate::tree::Tree;
use skillgate_loader::{Discovery, DiscoveryError, RootKind, discover_roots_ambient};
use std::path::PathBuf;

fn discovery(tree: &Tree, project: &str, home: &str) -> Discovery {
    let optional = |rel: &str| (!rel.is_empty()).then(|| tree.path(rel));
    Discovery { project: optional(project), home: optional(home), ..Discovery::default() }
}

#[track_caller]
fn check(tree: &Tree, discovery: &Discovery, expected: &[&str]) {
    let found = discover_roots_ambient(discovery).expect("discovered");
    let lines: Vec<_> = found
        .roots
        .iter()
        .map(|root| {
            let kind = if root.kind == RootKind::Commands { " commands" } else { "" };
            format!("{} {}{kind}", root.source, tree.short(&root.path))
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_project_is_searched_up_to_its_repositorys_root() {
    for marker in ["=== home/repo/.git/", "=== home/repo/.git\ngitdir: elsewhere"] {
        let tree = Tree::new(&format!("{marker}\n=== home/repo/pkg/src/\n=== home/.claude/skills/\n"));
        check(
            &tree,
            &discovery(&tree, "home/repo/pkg/src", ""),
            &[
                "project home/repo/pkg/src/.claude/skills",
                "project home/repo/pkg/src/.agents/skills",
                "project home/repo/pkg/src/.claude/commands commands",
                "project home/repo/pkg/.claude/skills",
                "project home/repo/pkg/.agents/skills",
                "project home/repo/pkg/.claude/commands commands",
                "project home/repo/.claude/skills",
                "project home/repo/.agents/skills",
                "project home/repo/.claude/commands commands",
            ],
        );
        let found = discover_roots_ambient(&discovery(&tree, "home/repo/pkg/src", "")).expect("discovered");
        let project = found.project.expect("a project");
        assert_eq!((project.path, project.root), (tree.path("home/repo/pkg/src"), tree.path("home/repo")));
        assert!(found.roots.iter().all(|root| root.link_roots == [tree.path("home/repo")]));
    }
}

#[test]
fn without_a_repository_and_above_the_home_the_project_stands_alone() {
    let alone = |project: &str| {
        [".claude/skills", ".agents/skills", ".claude/commands commands"].map(|rel| format!("project {project}/{rel}"))
    };
    let tree = Tree::new("=== home/work/deep/\n=== .git/\n");
    let found = discover_roots_ambient(&discovery(&tree, "home/work/deep", "home")).expect("discovered");
    let projects: Vec<_> = found
        .roots
        .iter()
        .filter(|root| root.source == skillgate_core::Source::Project)
        .map(|root| {
            let kind = if root.kind == RootKind::Commands { " commands" } else { "" };
            format!("project {}{kind}", tree.short(&root.path))
        })
        .collect();
    assert_eq!(projects, alone("home/work/deep"), "the repository is above the home");
}

#[test]
fn in_a_project_that_is_the_home_the_users_places_stay_the_users() {
    let tree = Tree::new("=== home/.git/\n");
    check(
        &tree,
        &discovery(&tree, "home", "home"),
        &["user home/.claude/skills", "user home/.agents/skills", "user home/.claude/commands commands"],
    );
}

#[test]
fn every_source_has_its_places() {
    let tree = Tree::new("=== home/\n=== p/\n=== more/\n=== link -> more\n=== conf/\n=== managed/\n");
    let all = Discovery {
        config_dir: Some(tree.path("conf")),
        managed: Some(tree.path("managed")),
        additional: vec![tree.path("link")],
        ..discovery(&tree, "p", "home")
    };
    check(
        &tree,
        &all,
        &[
            "managed managed/.claude/skills",
            "project p/.claude/skills",
            "project p/.agents/skills",
            "project p/.claude/commands commands",
            "additional more/.claude/skills",
            "additional more/.agents/skills",
            "user conf/skills",
            "user home/.agents/skills",
            "user conf/commands commands",
        ],
    );
    check(&tree, &Discovery::default(), &[]);
}

#[test]
fn a_named_place_that_is_not_there_is_an_error() {
    let tree = Tree::new("=== home/\n=== file\n");
    let kind = |error: DiscoveryError| match error {
        DiscoveryError::Missing { path } => format!("missing {}", tree.short(&path)),
        DiscoveryError::NotDirectory { path } => format!("not a directory {}", tree.short(&path)),
        other => other.to_string(),
    };
    for (project, expected) in [("none", "missing none"), ("file", "not a directory file")] {
        let error = discover_roots_ambient(&discovery(&tree, project, "home")).expect_err("not there");
        assert_eq!(kind(error), expected);
    }
    let additional: Vec<PathBuf> = vec![tree.path("none")];
    let discovery = Discovery { additional, ..discovery(&tree, "home", "") };
    assert_eq!(kind(discover_roots_ambient(&discovery).expect_err("not there")), "missing none");
    // The home and the administrator's directory are nobody's word.
    let places = Discovery { managed: Some(tree.path("none")), home: Some(tree.path("none")), ..Discovery::default() };
    assert_eq!(discover_roots_ambient(&places).expect("nothing there").roots.len(), 4);
}

/// Only root can make files of somebody else.
#[test]
fn a_repository_of_somebody_else_above_the_project_is_not_the_projects() {
    let tree = Tree::new("=== shared/.git/\n=== shared/work/\n");
    let chown = |uid| std::os::unix::fs::chown(tree.path("shared/.git"), Some(uid), None);
    if chown(12345).is_err() {
        return;
    }
    let found = discover_roots_ambient(&discovery(&tree, "shared/work", "")).expect("discovered");
    assert_eq!(found.project.expect("a project").root, tree.path("shared/work"));
    assert_eq!(tree.short(&found.diagnostics[0].path), "shared/.git");
    chown(0).expect("chown");
    let found = discover_roots_ambient(&discovery(&tree, "shared/work", "")).expect("discovered");
    assert_eq!(found.project.expect("a project").root, tree.path("shared"), "control");
}
