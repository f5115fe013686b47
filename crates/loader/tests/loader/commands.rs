//! A directory of legacy commands.

use crate::tree::{Tree, check};
use skillgate_core::{LoadedFrom, Source, Source::Project, Source::User};
use skillgate_loader::{Loaded, RootKind};

#[track_caller]
fn check_root(tree: &Tree, source: Source, expected: &str) -> Loaded {
    check(tree, vec![tree.root(source, RootKind::Commands, "inside/c", &["inside"])], expected)
}

#[test]
fn the_stem_is_the_name_and_a_directory_with_a_skill_file_is_one_command() {
    let tree = Tree::new(
        "=== inside/c/fix.md\nFix it.
=== inside/c/git/commit.MD\nCommit.
=== inside/c/git/log.v2.md\nLog.
=== inside/c/notes.txt
=== inside/c/.md
=== inside/c/deploy/SKILL.md\nDeploy.
=== inside/c/deploy/reference.md\nNot a command.
=== inside/c/ops/restart/skill.md\nRestart.",
    );
    let loaded = check_root(
        &tree,
        User,
        "user:commit inside/c/git/commit.MD
         user:deploy inside/c/deploy/SKILL.md
         user:fix inside/c/fix.md
         user:log.v2 inside/c/git/log.v2.md
         user:restart inside/c/ops/restart/skill.md file-name-case",
    );
    assert!(loaded.skills.iter().all(|skill| skill.loaded_from == LoadedFrom::Commands));
    let directories: Vec<_> = loaded.skills.iter().map(|skill| skill.directory.as_deref()).collect();
    let (deploy, restart) = (tree.path("inside/c/deploy"), tree.path("inside/c/ops/restart"));
    assert_eq!(directories, [None, Some(deploy.as_path()), None, None, Some(restart.as_path())]);
}

#[test]
fn stems_that_clash_take_their_folders_as_a_prefix() {
    let tree = Tree::new(
        "=== inside/c/x.md\ntop
=== inside/c/a/x.md\na
=== inside/c/a/b/x.md\na b
=== inside/c/z/x/SKILL.md\nz
=== inside/c/a/only.md\nonly",
    );
    check_root(
        &tree,
        User,
        "user:a:b:x inside/c/a/b/x.md name-collision
         user:a:x inside/c/a/x.md name-collision
         user:only inside/c/a/only.md
         user:x inside/c/x.md
         user:z:x inside/c/z/x/SKILL.md name-collision",
    );
}

#[test]
fn bad_entries_are_broken_and_links_keep_to_their_places() {
    let tree = Tree::new(
        "=== inside/c/good.md\nGood.
=== inside/c/pipe.md |
=== inside/c/dangling.md -> nowhere
=== inside/c/same.md -> good.md
=== inside/c/secret.md -> ../secret.env
=== inside/secret.env\nsecret
=== inside/c/shared -> ../shared
=== inside/shared/tool.md\nTool.
=== inside/c/out -> ../../outside
=== outside/stolen.md\nStolen.
=== inside/c/a/loop -> ..
=== inside/c/again -> a
=== inside/c/a/deep.md\nDeep.
=== inside/c/dead -> nowhere
=== inside/c/text -> ../plain.txt
=== inside/plain.txt",
    );
    check_root(
        &tree,
        Project,
        "project:deep inside/c/a/deep.md
         project:good inside/c/good.md
         project:tool inside/c/shared/tool.md
         broken project:dangling inside/c/dangling.md file-unreadable
         broken project:pipe inside/c/pipe.md file-not-regular
         broken project:secret inside/c/secret.md file-unreadable
         duplicate inside/c/same.md of inside/c/good.md
         finding inside/c/a/loop file-unreadable
         finding inside/c/again file-unreadable
         finding inside/c/dead file-unreadable
         finding inside/c/out file-unreadable",
    );
}

#[test]
fn folders_are_entered_to_a_bounded_depth() {
    let deep = |levels: usize| "d/".repeat(levels);
    let tree = Tree::new(&format!("=== inside/c/{}in.md\nIn.\n=== inside/c/{}out.md\nOut.\n", deep(16), deep(17)));
    check_root(
        &tree,
        User,
        &format!("user:in inside/c/{}in.md\nfinding inside/c/{} limit", deep(16), deep(17).trim_end_matches('/')),
    );
}
