//! Places that were made to break a load: the rest loads, and each is one finding.

use crate::tree::{Tree, check, options};
use skillgate_core::Source::User;
use skillgate_loader::{
    Discovery, GitUser, LoadOptions, NestedDiscovery, PathDiagnostic, RootKind, SkillRoots, discover_roots_ambient,
    load_root_ambient, project_ambient,
};
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

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

/// The places of findings, which all say that something cannot be read.
fn unreadable(tree: &Tree, found: &[PathDiagnostic]) -> Vec<String> {
    assert!(found.iter().all(|found| found.diagnostic.code.rule() == "file-unreadable"), "{found:#?}");
    found.iter().map(|found| tree.short(&found.path)).collect()
}

/// Whether the mode keeps this user out; root may read everything.
fn close(tree: &Tree, path: &str) -> bool {
    set_permissions(tree.path(path), Permissions::from_mode(0o000)).expect("a mode");
    std::fs::read_dir(tree.path(path)).is_err()
}

fn open_again(tree: &Tree, path: &str) {
    set_permissions(tree.path(path), Permissions::from_mode(0o700)).expect("a mode");
}

#[test]
fn places_of_plugins_that_cannot_be_read_are_one_finding_each() {
    let plugin = |name: &str| {
        format!(
            "=== h/.claude/plugins/{name}/.claude-plugin/plugin.json\n{{\"name\": \"{name}\"}}\n=== h/.claude/plugins/{name}/skills/s/SKILL.md{SKILL}"
        )
    };
    let discover = |tree: &Tree| {
        let found = discover_roots_ambient(&Discovery { home: Some(tree.path("h")), ..Discovery::default() });
        let found = found.expect("nothing that was named is missing");
        let loaded = SkillRoots::open_ambient(found.roots).load(&options());
        let names: Vec<String> = loaded.skills.iter().map(|skill| skill.id.command.as_str().to_owned()).collect();
        (names, unreadable(tree, &found.diagnostics))
    };
    let place = "h/.claude/plugins";
    let tree = Tree::new(&format!(
        "{}{}=== {place}/self -> self\n=== {place}/gone -> nowhere\n=== {place}/out -> ^/elsewhere\n=== elsewhere/\n=== {place}/config.json\n{{}}\n=== {place}/no-plugin/\n=== {place}/a-file/.claude-plugin\nx\n=== {place}/marketplaces/loop -> loop\n=== {place}/again -> good\n",
        plugin("good"),
        plugin("shut")
    ));
    let mut expected = vec!["gone", "out", "self"];
    let is_shut = close(&tree, &format!("{place}/shut"));
    if is_shut {
        expected.push("shut");
    }
    expected.push("marketplaces/loop");
    let (names, found) = discover(&tree);
    open_again(&tree, &format!("{place}/shut"));
    assert_eq!(names, if is_shut { vec!["good:s"] } else { vec!["good:s", "shut:s"] });
    let whole: Vec<String> = expected.iter().map(|name| format!("{place}/{name}")).collect();
    assert_eq!(found, whole);

    for (plugins, expected) in [
        ("=== h/.claude/plugins\nA file.\n", "h/.claude/plugins"),
        ("=== h/.claude/plugins -> plugins\n", "h/.claude/plugins"),
        ("=== h/.claude/plugins -> nowhere\n", "h/.claude/plugins"),
        ("=== h/.claude/plugins/marketplaces\nA file.\n", "h/.claude/plugins/marketplaces"),
        ("=== h/.claude/plugins/marketplaces -> marketplaces\n", "h/.claude/plugins/marketplaces"),
    ] {
        let tree = Tree::new(&format!("{plugins}=== h/.claude/skills/own/SKILL.md{SKILL}"));
        assert_eq!(discover(&tree), (vec!["own".to_owned()], vec![expected.to_owned()]), "{plugins}");
    }
    let tree = Tree::new(&format!("=== h/.claude/skills/own/SKILL.md{SKILL}"));
    assert_eq!(discover(&tree).1, Vec::<String>::new(), "what is not there is no finding");
}

#[test]
fn nested_places_that_cannot_be_read_are_one_finding_each() {
    let tree = Tree::new(&format!(
        "=== p/.git/HEAD\n=== p/good/.claude/skills/s/SKILL.md{SKILL}=== p/none/x\n=== p/file\nx\n=== p/loop/.claude/skills -> skills\n=== p/gone/.claude/skills -> nowhere\n=== p/flat/.claude\nA file.\n=== p/shut/.claude/skills/s/SKILL.md{SKILL}=== p/inner/.claude/skills/s/SKILL.md{SKILL}"
    ));
    let is_shut = close(&tree, "p/shut") & close(&tree, "p/inner/.claude");
    let project = project_ambient(&tree.path("p"), None).expect("a project");
    let new = || NestedDiscovery::new(project.clone(), GitUser::default());
    let touches = ["good/x", "none/x", "file/x", "loop/x", "gone/x", "flat/x", "shut/x", "inner/x", "missing/x"];
    let (mut touching, mut walking) = (new(), new());
    let found = [touching.touch_ambient(touches), walking.walk_ambient(100)].map(|touched| {
        let loaded: Vec<_> = touched.roots.iter().map(|root| load_root_ambient(root, &options())).collect();
        let findings = loaded.iter().flat_map(|loaded| loaded.diagnostics.iter()).chain(&touched.diagnostics);
        let mut findings = unreadable(&tree, &findings.cloned().collect::<Vec<_>>());
        findings.sort();
        (loaded.iter().map(|loaded| loaded.skills.len()).sum::<usize>(), findings)
    });
    open_again(&tree, "p/shut");
    open_again(&tree, "p/inner/.claude");
    let places =
        ["p/flat/.claude/skills", "p/gone/.claude/skills", "p/inner/.claude/skills", "p/loop/.claude/skills", "p/shut"];
    let always = |place: &&str| is_shut || !matches!(*place, "p/inner/.claude/skills" | "p/shut");
    let places: Vec<String> = places.iter().filter(|place| always(place)).map(|place| (*place).to_owned()).collect();
    for (skills, findings) in found {
        assert_eq!((skills, findings), (if is_shut { 1 } else { 3 }, places.clone()));
    }
    assert_eq!(touching.touch_ambient(touches).diagnostics, Vec::new(), "each is said once");
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
