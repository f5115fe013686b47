//! What a right is bound to: every file of a skill, and nothing where that cannot be said.

use crate::tree::Tree;
use skillgate_core::{Digest, Source};
use skillgate_loader::{ContentFault, LoadOptions, RootKind, SkillContent, SkillRoot, SkillRoots};

const SKILL: &str = "\
=== skills/x/SKILL.md
---
description: x
---
x
=== skills/x/scripts/run.sh
echo
=== skills/x/node_modules/a.js
a
=== skills/y/SKILL.md
---
description: y
---
y
";

fn content(tree: &Tree) -> Result<SkillContent, ContentFault> {
    let root = SkillRoot::new(Source::Project, RootKind::Skills, tree.path("skills"));
    let roots = SkillRoots::open_ambient([root]);
    let loaded = roots.load(&LoadOptions::default());
    let skill = loaded.skills.iter().find(|skill| skill.id.command.as_str() == "x").expect("x is there");
    roots.content(skill, &LoadOptions::default())
}

fn digest(tree: &Tree) -> Digest {
    content(tree).expect("can be read whole").digest
}

#[test]
fn every_file_of_the_directory_belongs_to_it_and_no_other() {
    let tree = Tree::new(SKILL);
    let before = content(&tree).expect("can be read whole");
    let paths: Vec<&str> = before.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "node_modules/a.js", "scripts/run.sh"]);
    assert_eq!(digest(&tree), before.digest, "the same again");
    std::fs::write(tree.path("skills/y/SKILL.md"), "other").expect("written");
    assert_eq!(digest(&tree), before.digest, "another skill");
    for (path, text) in [
        ("skills/x/scripts/run.sh", "echo x"),
        ("skills/x/node_modules/a.js", "b"),
        ("skills/x/new", ""),
        ("skills/x/SKILL.md", "---\ndescription: x\n---\nx!\n"),
    ] {
        let old = std::fs::read(tree.path(path)).ok();
        std::fs::write(tree.path(path), text).expect("written");
        assert_ne!(digest(&tree), before.digest, "{path}");
        match old {
            Some(old) => std::fs::write(tree.path(path), old).expect("written"),
            None => std::fs::remove_file(tree.path(path)).expect("removed"),
        }
        assert_eq!(digest(&tree), before.digest, "the control of {path}");
    }
    std::fs::rename(tree.path("skills/x/scripts/run.sh"), tree.path("skills/x/scripts/go.sh")).expect("renamed");
    assert_ne!(digest(&tree), before.digest, "a name is content");
}

#[test]
fn what_cannot_be_read_whole_has_no_content() {
    for extra in
        ["=== skills/x/link -> /etc/hostname\n", "=== skills/x/scripts/link -> run.sh\n", "=== skills/x/pipe |\n"]
    {
        let error = content(&Tree::new(&format!("{SKILL}{extra}"))).expect_err("no file");
        assert!(matches!(error, ContentFault::NotAFile { .. }), "{extra}: {error}");
    }
    let deep = format!("=== skills/x/{}file\nx\n", "d/".repeat(9));
    let many: String = (0..1001).map(|index| format!("=== skills/x/f{index}\n")).collect();
    for extra in [deep, many] {
        let error = content(&Tree::new(&format!("{SKILL}{extra}"))).expect_err("too large");
        assert!(matches!(error, ContentFault::TooLarge { .. }), "{error}");
    }
    let large = Tree::new(SKILL);
    let file = std::fs::File::create(large.path("skills/x/large")).expect("a file");
    file.set_len((16 << 20) + 1).expect("a length");
    assert!(matches!(content(&large), Err(ContentFault::TooLarge { .. })));
}
