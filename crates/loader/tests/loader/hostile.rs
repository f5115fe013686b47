//! Places that were made to break a load: the rest loads, and each is one finding.

use crate::tree::{Tree, check};
use skillgate_core::Source::User;
use skillgate_loader::{LoadOptions, RootKind, SkillRoots};

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

#[test]
fn a_directory_that_goes_while_it_is_read_costs_its_own_skills_alone() {
    let tree = Tree::new(&format!("=== s/a/SKILL.md{SKILL}=== t/b/SKILL.md{SKILL}=== t/c/SKILL.md{SKILL}"));
    let roots = ["s", "t"].map(|root| tree.root(User, RootKind::Skills, root, &[]));
    let open = SkillRoots::open_ambient(roots);
    // Its handle is open, and nothing is in it any more.
    std::fs::remove_dir_all(tree.path("t")).expect("it is there");
    let loaded = open.load(&LoadOptions::default());
    assert_eq!(tree.summary(&loaded), "user:a s/a/SKILL.md\n");
    // One that was moved away is read where it is, beneath the handle.
    let open = SkillRoots::open_ambient([tree.root(User, RootKind::Skills, "s", &[])]);
    std::fs::rename(tree.path("s"), tree.path("elsewhere")).expect("it is there");
    assert_eq!(open.load(&LoadOptions::default()).skills.len(), 1);
}

/// A load beside somebody who makes and removes skills: what nobody touches is there each time, and what goes in the middle of it
/// is at most one finding for each.
#[test]
fn skills_that_come_and_go_during_a_load_hide_no_other() {
    let tree = Tree::new(&format!("=== s/first/SKILL.md{SKILL}=== s/last/SKILL.md{SKILL}"));
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            for number in 0..2_000 {
                let directory = tree.path("s").join(format!("goes-{}", number % 7));
                std::fs::create_dir_all(&directory).expect("a directory");
                std::fs::write(directory.join("SKILL.md"), SKILL.trim_start()).expect("a file");
                std::fs::remove_dir_all(&directory).expect("it is there");
            }
        });
        while !others.is_finished() {
            let loaded = SkillRoots::open_ambient([tree.root(User, RootKind::Skills, "s", &[])]);
            let loaded = loaded.load(&LoadOptions::default());
            let stay = |name: &&str| loaded.skills.iter().any(|skill| skill.id.command.as_str() == *name);
            assert!(["first", "last"].iter().all(stay), "{loaded:?}");
            assert!(loaded.diagnostics.len() + loaded.failures.len() <= 7, "{loaded:?}");
        }
    });
}
