//! Reading a skill's text when it is used.

use crate::tree::{Tree, options};
use skillgate_core::Digest;
use skillgate_core::Source::{Project, User};
use skillgate_loader::{BodyError, LoadOptions, RootKind, SkillRoots};
use std::fs;

const TREE: &str = "
=== p/s/a/SKILL.md
Text of a.
=== p/s/b -> ../shared
=== p/shared/SKILL.md -> text.md
=== p/shared/text.md
Text of b.
=== p/s/c/skill.md
Text of c.
=== p/c/git/commit.md
Text of commit.
=== p/c/more -> ../linked
=== p/linked/tool.md
Text of tool.
=== p/c/deploy/SKILL.md
Text of deploy.
";

fn roots(tree: &Tree) -> SkillRoots {
    SkillRoots::open_ambient([
        tree.root(Project, RootKind::Skills, "p/s", &["p"]),
        tree.root(Project, RootKind::Commands, "p/c", &["p"]),
    ])
}

#[test]
fn the_text_that_was_loaded_is_read_again() {
    let tree = Tree::new(TREE);
    let roots = roots(&tree);
    let loaded = roots.load(&options());
    let texts: Vec<_> = loaded
        .skills
        .iter()
        .map(|skill| String::from_utf8(roots.read(skill, &options()).expect("unchanged")).expect("text"))
        .collect();
    let names = ["a", "b", "c", "commit", "deploy", "tool"];
    assert_eq!(texts, names.map(|name| format!("Text of {name}.\n")));
    for skill in &loaded.skills {
        let document = roots.document(skill, &options()).expect("unchanged");
        assert_eq!(document.label(), skill.label);
        assert_eq!(document.diagnostics(), skill.diagnostics);
    }
}

#[test]
fn a_text_that_is_another_now_is_not_given() {
    let tree = Tree::new(TREE);
    let roots = roots(&tree);
    let loaded = roots.load(&options());
    let skill = &loaded.skills[0];
    let path = tree.path("p/s/a/SKILL.md");
    let kind = |expected: &str| {
        let error = roots.read(skill, &options()).expect_err("not the text that was loaded");
        let kind = match &error {
            BodyError::Changed { .. } => "changed",
            BodyError::Gone { .. } => "gone",
            BodyError::Unreadable { .. } => "unreadable",
            _ => "other",
        };
        assert_eq!(kind, expected, "{error}");
    };
    fs::write(&path, "Text of A.\n").expect("same length");
    kind("changed");
    fs::remove_file(&path).expect("remove");
    kind("gone");
    tree.add("p/s/a/SKILL.md |", b"");
    kind("unreadable");
    fs::remove_file(&path).expect("remove");
    tree.add("outside/SKILL.md", b"Text of a.\n");
    tree.add("p/s/a/SKILL.md -> ^/outside/SKILL.md", b"");
    kind("unreadable");
    fs::remove_dir_all(tree.path("p/s/a")).expect("remove");
    kind("gone");
    tree.add("p/s/a -> ^/outside", b"");
    kind("unreadable");
    fs::remove_file(tree.path("p/s/a")).expect("remove");
    tree.add("p/s/a/SKILL.md", b"Text of a.\n");
    assert_eq!(roots.read(skill, &options()).expect("control: the same text again"), b"Text of a.\n");

    let small = LoadOptions { max_file_bytes: 3, ..options() };
    assert!(matches!(roots.read(skill, &small), Err(BodyError::Unreadable { .. })));
}

#[test]
fn only_skills_of_these_roots_are_read() {
    let tree = Tree::new(TREE);
    let loaded = roots(&tree).load(&options());
    let others = SkillRoots::open_ambient([tree.root(User, RootKind::Skills, "p/s", &["p"])]);
    for skill in &loaded.skills {
        assert!(matches!(others.read(skill, &options()), Err(BodyError::NotOurs { .. })));
    }
}

/// A header that describes the skill is all that is loaded; the body is what it is when it is used.
#[test]
fn a_header_stays_what_was_loaded_and_a_body_is_read_when_it_is_used() {
    let header = |description: &str| format!("---\ndescription: {description}\nallowed-tools: Read\n---\n");
    let long = "word ".repeat(1_000);
    for (description, body_may_change) in [("Does it.", true), (long.as_str(), false)] {
        let tree = Tree::new("=== p/c/\n");
        let write = |text: &[u8]| tree.add("p/s/a/SKILL.md", text);
        let with_body = |body: &[u8]| [header(description).as_bytes(), body].concat();
        write(&with_body(b"One.\n"));
        let roots = roots(&tree);
        let loaded = roots.load(&options());
        let skill = &loaded.skills[0];
        assert_eq!(skill.bytes, with_body(b"One.\n").len() as u64);

        let other = with_body(b"Another body\xff.\n");
        write(&other);
        let text = roots.text(skill, &options());
        if body_may_change {
            let text = text.expect("the header is the same");
            assert_eq!(text.digest, Digest::of(&other), "a decision is about what is there now");
            assert_eq!(text.document.body(), "Another body\u{fffd}.\n");
            assert_eq!(text.document.frontmatter(), &*skill.frontmatter);
        } else {
            // The header ends behind what is read at first, so all of the file was loaded.
            assert!(matches!(text, Err(BodyError::Changed { .. })));
        }
        let widened = String::from_utf8(with_body(b"One.\n")).expect("text").replace("-tools: Read", "-tools: Bash");
        write(widened.as_bytes());
        assert!(matches!(roots.text(skill, &options()), Err(BodyError::Changed { .. })), "the header is another");
        write(&with_body(b"One.\n"));
        assert_eq!(roots.read(skill, &options()).expect("control"), with_body(b"One.\n"));
    }
}
