//! What is another in one catalogue than in the one before.

mod skills;

use skillgate_core::Skill;
use skillgate_registry::{Catalogue, CatalogueChanges};
use skills::{described, parse, trusted};
use std::sync::Arc;

fn build(lines: &[&str]) -> Catalogue {
    let (skills, broken): (Vec<_>, Vec<_>) = lines.iter().map(|line| parse(line)).partition(Result::is_ok);
    let skills = skills.into_iter().filter_map(Result::ok).collect();
    let broken = broken.into_iter().filter_map(Result::err).map(|failure| *failure).collect();
    Catalogue::build(skills, broken, &trusted())
}

fn check(before: &[&str], after: &[&str], expected: [&[&str]; 4], offered: bool) {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let [added, changed, removed, affected] = expected.map(names);
    let expected = CatalogueChanges { added, changed, removed, affected, offered };
    let (before, after) = (build(before), build(after));
    assert_eq!(after.clone().changes_since(&before, |_| true), expected);
    // Sharing what is the same changes no answer.
    let shared = after.clone().sharing_with(&before);
    assert_eq!(shared, after);
    assert_eq!(shared.changes_since(&before, |_| true), expected);
}

#[test]
fn each_change_has_its_name() {
    let (x, y) = ("project /p/x", "user /u/y");
    check(&[x, y], &[y, x], [&[], &[], &[], &[]], false);
    check(&[x], &[x, y], [&["user:y"], &[], &[], &[]], true);
    check(&[x, y], &[x], [&[], &[], &["user:y"], &[]], true);
    check(&[x, y], &["project /p/x hidden", y], [&[], &["project:x"], &[], &[]], true);
    check(&[x, y], &[x, "user /elsewhere/y"], [&[], &["user:y"], &[], &[]], true);
    // What no model is offered changes nothing for it.
    check(&[x], &[x, "user /u/y user-only"], [&["user:y"], &[], &[], &[]], false);
    // One that cannot be read any more is not there.
    check(&[x, y], &[x, "user /u/y broken"], [&[], &[], &["user:y"], &[]], true);
    check(&[x, "user /u/y broken"], &[x, y], [&["user:y"], &[], &[], &[]], true);
}

#[test]
fn what_others_do_to_a_skill_is_told_apart_from_its_own_changes() {
    let x = "user /u/x";
    check(&[x], &[x, "project /p/x"], [&["project:x"], &[], &[], &["user:x"]], true);
    check(&[x, "project /p/x"], &[x], [&[], &[], &["project:x"], &["user:x"]], true);
    let needs = "user /u/n needs=x";
    check(&[x, needs], &[needs], [&[], &[], &["user:x"], &["user:n"]], true);
}

#[test]
fn another_text_behind_the_same_header_is_a_change() {
    let catalogue = build(&["project /p/x", "user /u/y"]);
    let another = |skill: &Skill| skill.path.to_string_lossy() != "/u/y";
    let changes = catalogue.changes_since(&catalogue.clone(), another);
    assert_eq!((changes.changed.as_slice(), changes.offered), (["user:y".to_owned()].as_slice(), false));
    assert!(catalogue.changes_since(&catalogue.clone(), |_| true).is_empty());
}

#[test]
fn what_is_the_same_is_shared_and_what_a_file_activated_is_no_change() {
    let lines = ["project /p/x", "user /u/y paths=src/**"];
    let before = build(&lines);
    let shared = build(&lines).sharing_with(&before);
    assert!(before.entries().iter().zip(shared.entries()).all(|(one, other)| Arc::ptr_eq(one, other)));
    let mut activated = shared.clone();
    assert!(activated.activate("user:y"));
    assert_eq!(activated.changes_since(&before, |_| true).affected, [""; 0]);
    let more = Catalogue::build(
        vec![described("user /u/y paths=src/**", "Does something."), described("project /p/y", "New.")],
        Vec::new(),
        &trusted(),
    );
    // The skill itself is shared also where it stands otherwise.
    let more = more.sharing_with(&before);
    let skill = |catalogue: &Catalogue| Arc::clone(catalogue.qualified("user:y").expect("it is there").skill());
    assert!(Arc::ptr_eq(&skill(&before), &skill(&more)));
}
