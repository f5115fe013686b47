//! Places that were made to break a load: the rest loads, and each is one finding.

use crate::tree::{Tree, check};
use skillgate_core::Source::User;
use skillgate_loader::RootKind;

const SKILL: &str = "\n---\ndescription: Is a skill.\n---\nText.\n";

#[test]
fn loops_of_links_are_one_finding_each() {
    let tree = Tree::new(&format!(
        "=== s/a/SKILL.md{SKILL}=== s/itself -> itself\n=== s/one -> two\n=== s/two -> one\n=== s/up -> ../s\n=== s/b/SKILL.md -> SKILL.md\n"
    ));
    check(
        &tree,
        vec![tree.root(User, RootKind::Skills, "s", &["s"])],
        "user:a s/a/SKILL.md
        broken user:b s/b file-unreadable
        broken user:itself s/itself file-unreadable
        broken user:one s/one file-unreadable
        broken user:two s/two file-unreadable",
    );
}

#[test]
fn loops_of_links_among_commands_are_one_finding_each() {
    let tree = Tree::new(&format!("=== c/a.md{SKILL}=== c/d/b.md{SKILL}=== c/d/up -> ../../c\n=== c/x -> x\n"));
    check(
        &tree,
        vec![tree.root(User, RootKind::Commands, "c", &["c"])],
        "user:a c/a.md
        user:b c/d/b.md
        finding c/d/up file-unreadable
        finding c/x file-unreadable",
    );
}

#[test]
fn a_hundred_thousand_entries_hide_no_skill() {
    let tree = Tree::new(&format!("=== s/first/SKILL.md{SKILL}=== s/last/SKILL.md{SKILL}"));
    let directory = tree.path("s");
    for number in 0..100_000 {
        std::fs::write(directory.join(format!("file-{number}")), "").expect("file");
    }
    let root = tree.root(User, RootKind::Skills, "s", &[]);
    check(&tree, vec![root], "user:first s/first/SKILL.md\nuser:last s/last/SKILL.md");
}
