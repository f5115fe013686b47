//! The answer depends on names, not on the order in which they were made or listed, nor on the threads that read.

use crate::tree::{Tree, options};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_order::shuffled;
use skillgate_core::Source::{Project, User};
use skillgate_loader::{LoadOptions, Loaded, RootKind, SkillRoots};
use std::num::NonZero;

mod rand_order {
    use super::TestRng;
    use proptest::prelude::Rng;

    /// The numbers below `len` in some order.
    pub(super) fn shuffled(len: usize, rng: &mut TestRng) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for i in (1..len).rev() {
            let j = usize::try_from(rng.next_u64() % (i as u64 + 1)).expect("below a usize");
            order.swap(i, j);
        }
        order
    }
}

const ENTRIES: &[&str] = &[
    "p/s/a/SKILL.md",
    "p/s/b/skill.md",
    "p/s/c -> a",
    "p/s/d -> ../shared",
    "p/s/e -> ../shared",
    "p/s/B/SKILL.md",
    "p/s/broken -> nowhere",
    "p/s/pipe/SKILL.md |",
    "p/shared/SKILL.md",
    "p/c/x.md",
    "p/c/y/x.md",
    "p/c/z -> y",
    "h/s/a/SKILL.md",
    "h/s/own -> ^/p/s/b",
];

fn load(tree: &Tree, threads: usize) -> Loaded {
    let options = LoadOptions { threads: NonZero::new(threads).expect("not zero"), ..options() };
    SkillRoots::open_ambient([
        tree.root(Project, RootKind::Skills, "p/s", &["p"]),
        tree.root(Project, RootKind::Commands, "p/c", &["p"]),
        tree.root(User, RootKind::Skills, "h/s", &["h", "p"]),
    ])
    .load(&options)
}

#[test]
fn a_thousand_orders_of_creation_give_one_answer() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let build = |order: &[usize]| {
        let tree = Tree::new("");
        for index in order {
            tree.add(ENTRIES[*index], ENTRIES[*index].as_bytes());
        }
        let loaded = load(&tree, 2);
        tree.summary(&loaded)
    };
    let expected = build(&(0..ENTRIES.len()).collect::<Vec<_>>());
    assert_eq!(expected.lines().count(), 13, "{expected}");
    for _ in 0..1000 {
        let order = shuffled(ENTRIES.len(), &mut rng);
        assert_eq!(build(&order), expected, "{order:?}");
    }
}

#[test]
fn any_number_of_threads_gives_one_answer() {
    let tree = Tree::new("");
    for i in 0..700 {
        tree.add(&format!("p/s/skill-{i}/SKILL.md"), format!("Text {i}.\n").as_bytes());
    }
    let expected = load(&tree, 1);
    assert_eq!(expected.skills.len(), 700);
    for threads in [2, 3, 8] {
        assert_eq!(load(&tree, threads), expected, "{threads} threads");
    }
}
