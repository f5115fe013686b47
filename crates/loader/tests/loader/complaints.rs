//! What users of other systems ran into, as far as it concerns links, names of files and places. The numbers are the rows of the
//! collection that the project was ordered with.

use crate::tree::{Tree, check, options};
use skillgate_core::Source::{Project, User};
use skillgate_loader::{Discovery, RootKind, SkillRoot, SkillRoots, discover_roots_ambient};

const SKILL: &str = "\n---\ndescription: Is a skill.\n---\nBody.\n";

#[test]
fn complaint_21_a_broken_skill_is_loaded_as_broken_with_its_path() {
    let tree = Tree::new("=== s/a/SKILL.md\n---\nname: a\n=== s/b/SKILL.md\n---\nx:\n  - a\ndescription: b\n---\nhi\n");
    let root = tree.root(User, RootKind::Skills, "s", &["s"]);
    let loaded = check(&tree, vec![root], "user:a s/a/SKILL.md\nuser:b s/b/SKILL.md");
    assert!(loaded.skills[0].header.is_lost() && !loaded.skills[0].model_invocable());
    assert!(!loaded.skills[1].header.is_lost() && loaded.skills[1].model_invocable(), "the control");
}

/// A root in which skills may be so deep.
fn deep(tree: &Tree, depth: u8) -> SkillRoot {
    SkillRoot { depth, ..tree.root(User, RootKind::Skills, "s", &[]) }
}

#[test]
fn complaint_37_skills_in_grouping_folders_are_found_as_deep_as_the_host_wants() {
    let tree = Tree::new(&format!(
        "=== s/one/SKILL.md{SKILL}=== s/one/inner/SKILL.md{SKILL}=== s/team/two/SKILL.md{SKILL}=== s/team/one/skill.md{SKILL}\
         === s/team/sub/three/SKILL.md{SKILL}=== s/team/notes.md\n=== s/team/empty/\n=== s/team/bad/SKILL.md/\n\
         === s/node_modules/pkg/SKILL.md{SKILL}=== s/linked -> team\n"
    ));
    let one = "user:one s/one/SKILL.md";
    check(&tree, vec![deep(&tree, 1)], one);
    // What is beside a skill's own file belongs to it, and a link is no group.
    let two = "user:one s/one/SKILL.md
         user:one s/team/one/skill.md file-name-case
         user:two s/team/two/SKILL.md
         broken user:bad s/team/bad file-not-regular";
    let loaded = check(&tree, vec![deep(&tree, 2)], two);
    assert_eq!(loaded.skills[2].directory, Some(tree.path("s/team/two")));
    let roots = SkillRoots::open_ambient([deep(&tree, 3)]);
    let loaded = roots.load(&options());
    let three = loaded.skills.iter().find(|skill| skill.id.command.as_str() == "three").expect("it is three deep");
    assert_eq!(roots.text(three, &options()).expect("its body is read").document.body(), "Body.\n");
    assert!(roots.text_stamp(three).is_some());
}

#[test]
fn groups_that_cannot_be_read_and_those_too_deep_hide_nothing() {
    let path: String = (1..=9).map(|number| format!("{number}/")).collect();
    let tree =
        Tree::new(&format!("=== s/{path}SKILL.md{SKILL}=== s/1/2/near/SKILL.md{SKILL}=== s/a/b/SKILL.md -> nowhere\n"));
    check(&tree, vec![deep(&tree, u8::MAX)], "user:near s/1/2/near/SKILL.md\nbroken user:b s/a/b file-unreadable");
}

#[test]
fn complaint_29_a_skill_file_that_is_a_link_is_followed_inside_and_else_the_rule_is_named() {
    let tree = Tree::new(&format!(
        "=== p/s/a/SKILL.md -> ../store/a.md\n=== p/s/store/a.md{SKILL}=== p/s/b/SKILL.md -> ^/store/b.md\n=== store/b.md{SKILL}"
    ));
    let loaded = check(
        &tree,
        vec![tree.root(Project, RootKind::Skills, "p/s", &["p"])],
        "project:a p/s/a/SKILL.md\nbroken project:b p/s/b file-unreadable",
    );
    let refused = &loaded.failures[0].diagnostic;
    assert!(refused.message.contains("outside of where links of project skills may lead"), "{}", refused.message);
    assert!(refused.help.is_some());
}

#[test]
fn complaint_30_a_place_that_is_itself_a_link_is_searched() {
    let tree = Tree::new(&format!("=== home/p/.agents/skills -> ^/home/shared\n=== home/shared/a/SKILL.md{SKILL}"));
    let discovery = Discovery { home: Some(tree.path("home")), ..Discovery::default() };
    let mut roots = discover_roots_ambient(&discovery).expect("discovered").roots;
    for root in &mut roots {
        root.path = tree.path("home/p/.agents/skills");
    }
    roots.truncate(1);
    check(&tree, roots, "user:a home/p/.agents/skills/a/SKILL.md");
}

#[test]
fn complaint_31_a_link_in_the_users_own_directory_leads_to_the_users_sources() {
    let tree = Tree::new(&format!("=== home/.claude/skills/a -> ^/home/src/a\n=== home/src/a/SKILL.md{SKILL}"));
    let discovery = Discovery { home: Some(tree.path("home")), ..Discovery::default() };
    let roots = discover_roots_ambient(&discovery).expect("discovered").roots;
    let loaded = check(&tree, roots, "user:a home/.claude/skills/a/SKILL.md");
    assert_eq!(loaded.skills[0].directory, Some(tree.path("home/src/a")));
}

#[test]
fn complaint_32_a_dangling_link_is_one_finding_and_the_rest_loads() {
    let tree = Tree::new(&format!("=== s/x -> missing\n=== s/a/SKILL.md{SKILL}"));
    let root = tree.root(User, RootKind::Skills, "s", &["s"]);
    check(&tree, vec![root], "user:a s/a/SKILL.md\nbroken user:x s/x file-unreadable");
}

#[test]
fn complaint_33_two_links_to_one_directory_are_one_skill_and_always_the_same() {
    let tree = Tree::new(&format!("=== s/b -> ../store/one\n=== s/a -> ../store/one\n=== store/one/SKILL.md{SKILL}"));
    for _ in 0..8 {
        let root = tree.root(User, RootKind::Skills, "s", &["s", "store"]);
        check(&tree, vec![root], "user:a s/a/SKILL.md\nduplicate s/b/SKILL.md of s/a/SKILL.md");
    }
}

#[test]
fn complaint_35_a_loop_of_links_in_a_skill_ends_and_says_nothing_twice() {
    let tree = Tree::new(&format!("=== s/a/SKILL.md{SKILL}=== s/a/b -> ..\n=== s/c -> c\n=== s/d -> .\n"));
    let roots = SkillRoots::open_ambient([tree.root(User, RootKind::Skills, "s", &["s"])]);
    let loaded = roots.load(&options());
    let failed: Vec<&str> = loaded.failures.iter().map(|failure| failure.name.as_str()).collect();
    assert_eq!((loaded.skills.len(), failed), (1, vec!["c"]), "{}", tree.summary(&loaded));
    let beside = roots.companions(&loaded.skills[0]);
    assert!(beside.iter().all(|(path, _)| !path.to_string().contains("b/")), "{beside:?}");
}

#[test]
fn complaint_36_any_case_of_the_file_name_is_read_and_the_exact_one_first() {
    let tree = Tree::new(&format!(
        "=== s/a/skill.md{SKILL}=== s/b/SKILL.MD{SKILL}=== s/c/skill.md\nother\n=== s/c/SKILL.md{SKILL}"
    ));
    let loaded = check(
        &tree,
        vec![tree.root(User, RootKind::Skills, "s", &["s"])],
        "user:a s/a/skill.md file-name-case\nuser:b s/b/SKILL.MD file-name-case\nuser:c s/c/SKILL.md",
    );
    assert!(loaded.skills.iter().all(|skill| skill.description.as_deref() == Some("Is a skill.")));
}
