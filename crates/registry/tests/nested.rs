//! Skills that are found inside the project, one directory after the other.

mod skills;

use proptest::prelude::*;
use skillgate_registry::{Catalogue, CatalogueOptions, Lookup};
use skills::{parse, trusted};
use std::sync::Arc;

fn skill(line: &str) -> skillgate_core::Skill {
    parse(line).unwrap_or_else(|failure| unreachable!("{}", failure.name))
}

fn build(lines: &[&str]) -> Catalogue {
    Catalogue::build(lines.iter().map(|line| skill(line)).collect(), Vec::new(), &trusted())
}

/// Adds each directory's skills, `DIR NAME…`.
fn add(catalogue: &mut Catalogue, directories: &[&str], options: &CatalogueOptions) -> Vec<String> {
    let mut added = Vec::new();
    for directory in directories {
        let (dir, names) = directory.split_once(' ').expect("names");
        let found = names.split(' ').map(|name| skill(&format!("project /p/{dir}/.claude/skills/{name}")));
        added.extend(catalogue.add_nested(found.collect(), Vec::new(), dir, options));
    }
    added
}

fn called(catalogue: &Catalogue) -> Vec<(&str, &str)> {
    catalogue.entries().iter().map(|entry| (entry.called(), entry.qualified_name())).collect()
}

#[test]
fn who_has_a_name_keeps_it_and_both_can_be_used() {
    let mut catalogue = build(&["project /p/x", "user /u/y"]);
    assert_eq!(add(&mut catalogue, &["a x y z"], &trusted()), ["a:x", "a:y", "a:z"]);
    let expected = [("x", "project:x"), ("a:x", "a:x"), ("y", "user:y"), ("a:y", "a:y"), ("z", "a:z")];
    assert_eq!(called(&catalogue), expected);
    assert!(catalogue.entries().iter().all(|entry| entry.is_offered_to_model() && entry.is_open_to_user()));
    for (name, path) in [("x", "/p/x"), ("a:x", "/p/a/.claude/skills/x"), ("/z", "/p/a/.claude/skills/z")] {
        match catalogue.lookup(name) {
            Lookup::Found(entry) => assert_eq!(entry.skill().path.to_string_lossy(), path),
            other => unreachable!("{name}: {other:?}"),
        }
    }
}

#[test]
fn what_is_added_again_or_cannot_be_used_changes_nothing_for_others() {
    let mut catalogue = build(&["project /p/x"]);
    add(&mut catalogue, &["a x y"], &trusted());
    assert_eq!(add(&mut catalogue, &["a x y"], &trusted()), Vec::<String>::new());
    let mut untrusted = build(&["user /u/x"]);
    let before = untrusted.clone();
    add(&mut untrusted, &["a x"], &CatalogueOptions::default());
    assert_eq!(untrusted.lookup("x"), before.lookup("x"));
    assert_eq!(untrusted.offered_to_model().count(), 1);
}

#[test]
fn a_nested_skill_that_needs_another_is_unavailable_without_it() {
    let mut catalogue = build(&["user /u/there"]);
    let needy = ["project /p/a/.claude/skills/one needs=there", "project /p/a/.claude/skills/two needs=gone"];
    catalogue.add_nested(needy.map(skill).to_vec(), Vec::new(), "a", &trusted());
    let states: Vec<&str> = catalogue.entries().iter().map(|entry| entry.state().as_str()).collect();
    assert_eq!(states, ["active", "active", "unavailable"]);
}

#[test]
fn a_clone_shares_what_it_does_not_change() {
    let catalogue = build(&["user /u/a paths=*.rs", "user /u/b"]);
    let mut clone = catalogue.clone();
    assert!(clone.activate("user:a") && !clone.activate("user:a") && !clone.activate("user:b"));
    let shared: Vec<bool> =
        catalogue.entries().iter().zip(clone.entries()).map(|(one, other)| Arc::ptr_eq(one, other)).collect();
    assert_eq!(shared, [false, true]);
    assert_eq!(catalogue.entries()[0].state().as_str(), "conditional");
}

proptest! {
    /// Of two directories one inside the other the deeper takes a free name, in whatever order they are found.
    #[test]
    fn the_order_in_which_directories_are_found_decides_nothing(
        order in Just(vec!["a x y", "a/b x z", "a/b/c x y", "d y z"]).prop_shuffle(),
    ) {
        let mut found = build(&["user /u/x"]);
        add(&mut found, &order, &trusted());
        let mut by_name: Vec<(&str, &str)> = called(&found);
        by_name.sort_unstable();
        let names = [
            ("a/b/c:x", "a/b/c:x"), ("a/b:x", "a/b:x"), ("a:x", "a:x"), ("a:y", "a:y"), ("d:y", "d:y"),
            ("d:z", "d:z"), ("x", "user:x"), ("y", "a/b/c:y"), ("z", "a/b:z"),
        ];
        prop_assert_eq!(by_name, names);
        for entry in found.entries() {
            prop_assert_eq!(found.lookup(entry.qualified_name()), Lookup::Found(entry));
            prop_assert_eq!(found.lookup(entry.called()), Lookup::Found(entry));
        }
    }
}
