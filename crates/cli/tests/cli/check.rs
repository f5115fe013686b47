use crate::fixture::World;

const TREE: &str = "\
@ project/pack/good/SKILL.md
---
name: good
description: Good.
---
# Good
@ project/pack/colon/SKILL.md
---
name: colon
description: Tidies. Use when: asked.
---
# Steps
@ project/pack/open/SKILL.md
---
description: never closed
";

#[test]
fn findings_have_their_place_and_errors_exit_1() {
    let world = World::new(TREE);
    let ran = world.run(&["check", "pack/good"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let ran = world.run(&["check", "pack/colon/SKILL.md"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.starts_with("pack/colon/SKILL.md:3:1: warning[yaml-recovered:description]:"), "{}", ran.stdout);
    let ran = world.run(&["check", "pack"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("frontmatter-unclosed") && ran.stderr.contains("3 files"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(world.run(&["check", "nope"]).status, 3);
    assert_eq!(world.run(&["check"]).status, 2);
}

#[test]
fn json_gives_the_fields_of_each_file() {
    let world = World::new(TREE);
    let (status, value) = world.json("check", &["check", "pack"]);
    assert_eq!(status, 1);
    let files = value["files"].as_array().expect("a list");
    let colon = files.iter().find(|file| file["command"] == "colon").expect("it is there");
    assert_eq!(colon["frontmatter"], "recovered");
    assert_eq!(colon["description"], "Tidies. Use when: asked.");
    assert_eq!(colon["body_first_line"], "# Steps");
    assert_eq!(colon["diagnostics"][0]["line"], 3);
    assert_eq!(colon["fields"]["name"], "colon");
}
