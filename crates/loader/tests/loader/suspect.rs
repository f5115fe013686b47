use crate::tree::Tree;
use skillgate_loader::find_skill_files_ambient;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Compares the codes of what is found beside `skill/SKILL.md` in a tree, each with the path it names.
#[track_caller]
fn check(tree: &Tree, expected: &[&str]) {
    let files = find_skill_files_ambient(tree.path("skill")).expect("it is there");
    let own = files.iter().find(|file| file.path == tree.path("skill/SKILL.md")).expect("the skill's file");
    let findings = own.companion_findings();
    let shown = findings.iter().map(|found| {
        assert!(found.help.is_some() && found.span.is_none(), "{found:?}");
        format!("{} {} {}", found.severity, found.code, found.message.split('`').nth(1).unwrap_or_default())
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn links_out_of_the_skill_are_reported_and_links_in_it_are_not() {
    let tree = Tree::new(
        "=== skill/SKILL.md\n=== skill/deep/notes.md -> ../../outside.md\n=== skill/etc -> /etc\n=== outside.md
=== skill/up -> ..\n",
    );
    check(
        &tree,
        &["deep/notes.md", "etc", "up"]
            .map(|path| format!("warning link-out-of-skill {path}"))
            .each_ref()
            .map(String::as_str),
    );
    let tree = Tree::new(
        "=== skill/SKILL.md\n=== skill/deep/notes.md -> ../notes.md\n=== skill/notes.md\n=== skill/gone -> nowhere
=== skill/all -> .\n=== skill/self -> self\n",
    );
    check(&tree, &[]);
}

#[test]
fn programs_that_do_not_look_like_programs_are_reported() {
    let tree = Tree::new("=== skill/SKILL.md\n");
    for (path, bytes) in [
        ("skill/bin/tool", &b"\x7fELF\x02\x01"[..]),
        ("skill/data.png", b"#!/bin/sh\n"),
        ("skill/.cache/run", b"#!/bin/sh\n"),
        ("skill/tool.exe", b"MZ\x90\0\x03"),
    ] {
        tree.add(path, bytes);
    }
    for (path, mode) in [("skill/setid", 0o4755), ("skill/marked.md", 0o755)] {
        tree.add(path, b"text");
        fs::set_permissions(tree.path(path), fs::Permissions::from_mode(mode)).expect("chmod");
    }
    check(
        &tree,
        &[
            "warning executable-companion .cache/run",
            "warning executable-companion bin/tool",
            "warning executable-companion data.png",
            "info executable-companion marked.md",
            "warning executable-companion setid",
            "warning executable-companion tool.exe",
        ],
    );
}

#[test]
fn scripts_that_look_like_scripts_are_ordinary() {
    let tree = Tree::new(
        "=== skill/SKILL.md\n=== skill/scripts/run.sh\n#!/bin/sh\n=== skill/scripts/run\n#!/usr/bin/env python3
=== skill/readme.md\n# not a script\n=== skill/.gitignore\n*.pyc\n=== skill/empty\n=== skill/MZ.txt\nMZ is a postcode\n",
    );
    fs::set_permissions(tree.path("skill/scripts/run.sh"), fs::Permissions::from_mode(0o755)).expect("chmod");
    check(&tree, &[]);
}

#[test]
fn an_inner_skill_and_a_command_file_have_their_own_findings() {
    let tree = Tree::new(
        "=== skill/SKILL.md\n=== skill/inner/SKILL.md\n=== skill/inner/x.md\n#!/bin/sh\n=== commands/c.md\n=== commands/x.md\n#!/bin/sh\n",
    );
    check(&tree, &[]);
    let files = find_skill_files_ambient(tree.path("")).expect("it is there");
    let counts: Vec<(String, usize)> =
        files.iter().map(|file| (tree.short(&file.path), file.companion_findings().len())).collect();
    let expected = [("commands/c.md", 0), ("commands/x.md", 0), ("skill/SKILL.md", 0), ("skill/inner/SKILL.md", 1)];
    assert_eq!(counts, expected.map(|(path, count)| (path.to_owned(), count)));
}

#[test]
fn the_walk_is_bounded_and_a_fifo_is_not_waited_for() {
    let tree = Tree::new(&format!("=== skill/SKILL.md\n=== skill/a |\n=== skill/{}x.md\n#!/bin/sh\n", "d/".repeat(12)));
    check(&tree, &[]);
    let tree = Tree::new("=== skill/SKILL.md\n");
    for number in 0..1200 {
        tree.add(&format!("skill/f{number:04}.md"), b"#!/bin/sh\n");
    }
    let files = find_skill_files_ambient(tree.path("skill")).expect("it is there");
    assert_eq!(files[0].companion_findings().len(), 16);
}
