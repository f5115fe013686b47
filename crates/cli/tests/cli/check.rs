use crate::check_cases::cases;
use crate::fixture::{World, schema, validate};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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
    assert!(ran.stdout.starts_with("  warning[yaml-recovered:description]: "), "{}", ran.stdout);
    let excerpt = ",-[pack/colon/SKILL.md:3:1]\n 3 | description: Tidies. Use when: asked.\n   : ^^^";
    assert!(ran.stdout.contains(excerpt), "{}", ran.stdout);
    assert!(ran.stdout.contains("help: ") && ran.stdout.contains("`--fix` writes: description: \""), "{}", ran.stdout);
    assert_eq!(ran.stderr, "1 file: 1 warning\n");
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

/// Every file below a directory, with its bytes.
fn bytes(below: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(below).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(bytes(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).expect("a file"));
        }
    }
    files
}

#[test]
fn fixing_leaves_nothing_that_has_a_fix_and_a_second_run_changes_nothing() {
    let (world, _) = cases();
    let pack = world.path("project/pack");
    let ran = world.run(&["check", "--fix", "pack"]);
    // The header that is never closed stays a person's business.
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for says in [
        "pack/colon-in-description/SKILL.md: fixed yaml-recovered:description\n",
        "pack/text-before/SKILL.md: fixed frontmatter-not-at-start\n",
        "pack/bom-first/SKILL.md: fixed bom-stripped\n",
        "error[frontmatter-unclosed]",
        "[pack/unclosed/SKILL.md:1:1]",
    ] {
        assert!(ran.stdout.contains(says), "{says}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("not fixed"), "{}", ran.stdout);
    let fixed = bytes(&pack);
    assert_eq!(fixed.len(), 25, "nothing is left beside the files");
    let (_, value) = world.json("check", &["check", "pack"]);
    for file in value["files"].as_array().expect("a list") {
        for found in file["diagnostics"].as_array().expect("a list") {
            assert!(found["fix"].is_null(), "{file:#}");
        }
    }
    let again = world.run(&["check", "--fix", "pack"]);
    assert!(again.stderr.contains("25 files, 0 fixed"), "{}", again.stderr);
    assert_eq!(bytes(&pack), fixed);
}

#[test]
fn comments_order_and_the_rest_of_a_file_stay() {
    let text = "# the header's comment\nb: 1\nname: x # why\ndescription: a: b\nallowed_tools: Read\n";
    let world = World::new("");
    world.write("project/x/SKILL.md", &format!("---\r\n{text}---\r\nBody:\ttext \r\n"));
    let ran = world.run(&["check", "--fix", "x"]);
    assert!(ran.stdout.starts_with("x/SKILL.md: fixed yaml-recovered:description, key-spelling:allowed-tools\n"));
    let fixed = text.replace("a: b", "\"a: b\"").replace("allowed_tools", "allowed-tools");
    assert_eq!(
        fs::read_to_string(world.path("project/x/SKILL.md")).expect("a file"),
        format!("---\r\n{fixed}---\r\nBody:\ttext \r\n")
    );
}

#[test]
fn a_dry_run_prints_a_patch_and_writes_nothing() {
    let world = World::new(TREE);
    let before = bytes(&world.path("project"));
    let ran = world.run(&["check", "--fix", "--dry-run", "pack"]);
    assert_eq!(ran.status, 1, "one header is never closed");
    assert_eq!(
        ran.stdout,
        "\
--- pack/colon/SKILL.md
+++ pack/colon/SKILL.md
@@ -1,5 +1,5 @@
 ---
 name: colon
-description: Tidies. Use when: asked.
+description: \"Tidies. Use when: asked.\"
 ---
 # Steps
"
    );
    for says in
        ["pack/colon/SKILL.md: would fix yaml-recovered:description", "1 would be fixed", "frontmatter-unclosed"]
    {
        assert!(ran.stderr.contains(says), "{says}\n{}", ran.stderr);
    }
    let (_, value) = world.json("check", &["check", "--fix", "--dry-run", "pack/colon"]);
    let file = &value["files"][0];
    assert_eq!(file["fixed"], serde_json::json!(["yaml-recovered:description"]));
    assert!(file["diff"].as_str().is_some_and(|diff| diff.contains("+description")), "{file:#}");
    assert_eq!(bytes(&world.path("project")), before);
    assert_eq!(world.run(&["check", "--dry-run", "pack"]).status, 2, "only --fix has a dry run");
}

#[cfg(unix)]
#[test]
fn a_link_is_not_fixed_and_a_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = World::new(TREE);
    let outside = world.path("home/outside.md");
    fs::rename(world.path("project/pack/colon/SKILL.md"), &outside).expect("moved");
    symlink(&outside, world.path("project/pack/colon/SKILL.md")).expect("a link");
    let before = fs::read(&outside).expect("a file");
    let link = "pack/colon/SKILL.md";
    for arguments in [&["check", "--fix", link][..], &["check", "--fix", "--dry-run", link]] {
        let ran = world.run(arguments);
        assert_eq!(ran.status, 1, "{arguments:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("pack/colon/SKILL.md: not fixed: it is a symbolic link"), "{said}");
    }
    // Found in a directory instead of named, it is not even read: what it names is not the pack's.
    let ran = world.run(&["check", "pack/colon"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("it is a link that leads out of the directory that is checked")
            && !ran.stdout.contains("Tidies")
    );
    assert_eq!(fs::read(&outside).expect("a file"), before);

    // The control: the file itself, with an odd mode.
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o604)).expect("a mode");
    let ran = world.run(&["check", "--fix", "../home/outside.md"]);
    assert!(ran.stdout.contains("fixed yaml-recovered:description"), "{}", ran.stdout);
    assert_ne!(fs::read(&outside).expect("a file"), before);
    assert_eq!(fs::metadata(&outside).expect("a file").permissions().mode() & 0o7777, 0o604);
}

#[test]
fn a_file_that_is_not_utf8_is_left_as_it_is() {
    let world = World::new("");
    let text = b"\xef\xbb\xbf---\ndescription: caf\xe9: x\n---\n";
    world.write("project/latin/SKILL.md", "");
    fs::write(world.path("project/latin/SKILL.md"), text).expect("a file");
    let ran = world.run(&["check", "--fix", "latin"]);
    assert!(ran.stdout.contains("not-utf8") && ran.stderr.contains("0 fixed"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read(world.path("project/latin/SKILL.md")).expect("a file"), text);
}

#[test]
fn command_files_are_read_and_fixed_by_the_same_code() {
    let world = World::new("@ project/commands/x.md\n---\ndescription: x\nargument-hint: [next] [other]\n---\nDo $1.");
    let (status, value) = world.json("check", &["check", "."]);
    assert_eq!(status, 0);
    let file = &value["files"][0];
    assert_eq!((&file["command"], &file["fields"]["argument-hint"]), (&"x".into(), &"[next] [other]".into()));
    assert_eq!(file["diagnostics"][0]["code"], "yaml-recovered:argument-hint");
    let ran = world.run(&["check", "--fix", "commands/x.md"]);
    assert!(ran.stdout.contains("fixed yaml-recovered:argument-hint"), "{}", ran.stdout);
    let fixed = fs::read_to_string(world.path("project/commands/x.md")).expect("a file");
    assert!(fixed.contains("argument-hint: \"[next] [other]\"\n"), "{fixed}");
}

#[test]
fn many_files_are_told_in_the_same_order_every_time() {
    let world = World::new("");
    for number in 0..300 {
        let broken = if number % 3 == 0 { "Use when: asked." } else { "Good." };
        let text = format!("---\nname: s{number}\ndescription: {broken}\n---\nBody {number}\n");
        world.write(&format!("project/many/s{number}/SKILL.md"), &text);
    }
    let first = world.run(&["check", "many"]);
    assert_eq!(first.stdout.matches("yaml-recovered").count(), 100);
    assert!(!first.stderr.contains('\u{1b}') && first.stderr.contains("300 files"), "{}", first.stderr);
    let places: Vec<&str> = first.stdout.lines().filter(|line| line.contains("[many/")).collect();
    assert!(places.is_sorted() && places.len() == 100, "{places:?}");
    for _ in 0..3 {
        assert_eq!(world.run(&["check", "many"]).stdout, first.stdout);
    }
    // A file that two paths name is one file.
    assert!(world.run(&["check", "many", "many/s1/SKILL.md"]).stderr.contains("300 files"));
}

#[test]
fn sarif_is_valid_and_its_fixes_are_the_ones_that_are_applied() {
    let (world, _) = cases();
    let ran = world.run(&["--format", "sarif", "check", "pack"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let log: Value = serde_json::from_str(&ran.stdout).expect("SARIF is JSON");
    // One pattern of the published schema has a bracket that only loose engines take for itself.
    let published = include_str!("../data/sarif-2.1.0-rtm.5.json").replace("{2}]?$", r"{2}\\]?$");
    for text in [include_str!("../data/sarif-2.1.0.json"), &published] {
        let schema: Value = serde_json::from_str(text).expect("a schema is JSON");
        let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
        let errors: Vec<String> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        // The control: the schema refuses something.
        assert!(!validator.is_valid(&serde_json::json!({ "version": "2.1.0", "runs": [{ "results": [] }] })));
    }

    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    let of = |path: &str, rule: &str| {
        let is = |result: &&Value| {
            result["ruleId"] == rule && result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == path
        };
        results.iter().find(is).unwrap_or_else(|| unreachable!("{path} {rule}: {results:#?}"))
    };
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let colon = of("pack/colon-in-description/SKILL.md", "yaml-recovered");
    assert_eq!(
        (&colon["level"], &colon["locations"][0]["physicalLocation"]["region"]["startLine"]),
        (&"warning".into(), &3.into())
    );
    assert!(colon["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"].is_string());
    assert_eq!(of("pack/unclosed/SKILL.md", "frontmatter-unclosed")["level"], "error");
    let mark = of("pack/bom-first/SKILL.md", "bom-stripped");
    assert_eq!(
        (&mark["level"], &mark["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]),
        (&"note".into(), &serde_json::json!({ "byteOffset": 0, "byteLength": 3 }))
    );
}

#[test]
fn only_check_prints_sarif() {
    let world = World::new(TREE);
    for arguments in [
        &["--format", "sarif", "list"][..],
        &["--format", "sarif", "show", "x"],
        &["--format", "sarif", "run", "x"],
        &["--format", "sarif", "sandbox", "run", "--", "ls"],
        &["--format", "sarif", "check", "--fix", "--dry-run", "pack"],
        &["--format", "sarif", "check", "--export", "pack/good"],
        &["--format", "json", "check", "--export", "pack/good"],
        &["check", "--export", "--fix", "pack/good"],
    ] {
        let ran = world.run(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments:?}\n{}", ran.stderr);
    }
    let ran = world.run(&["--format", "sarif", "check", "pack/good"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn the_standard_form_of_one_file_is_printed() {
    let world = World::new(TREE);
    world.write("project/pack/good/SKILL.md", "---\nname: good\nversion: 2\ndescription: Good.\n---\n# Good\n");
    let ran = world.run(&["check", "--export", "pack/good"]);
    let standard = "---\nname: good\ndescription: Good.\nmetadata:\n  version: \"2\"\n---\n# Good\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (0, standard), "{}", ran.stderr);
    // What is exported passes as standard.
    world.write("project/out/good/SKILL.md", &ran.stdout);
    let ran = world.run(&["--profile", "strict", "check", "out"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let ran = world.run(&["check", "--export", "pack"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("name 3"), "{}", ran.stderr);
    let ran = world.run(&["check", "--export", "pack/open"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("frontmatter-unclosed"), "{}", ran.stderr);
}

#[test]
fn the_headers_of_the_cases_follow_the_published_schema() {
    let (world, _) = cases();
    let (_, value) = world.json("check", &["check", "pack"]);
    for file in value["files"].as_array().expect("a list") {
        validate("frontmatter", &file["fields"]);
    }
    let schema = jsonschema::validator_for(&schema("frontmatter")).expect("the schema is a schema");
    for (header, valid) in [
        (
            r#"{"name": "x", "version": 1.1, "user-invocable": "off", "effort": 3, "shell": {"command": "sh"}, "own": []}"#,
            true,
        ),
        (r#"{"disable-model-invocation": "maybe"}"#, false),
        (r#"{"context": "elsewhere"}"#, false),
        (r#"{"allowed-tools": {"Read": true}}"#, false),
        (r#"{"effort": "huge"}"#, false),
    ] {
        let header: Value = serde_json::from_str(header).expect("JSON");
        assert_eq!(schema.is_valid(&header), valid, "{header}");
    }
}
