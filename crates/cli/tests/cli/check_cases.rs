//! `check --fix` and `check --export` over every published shape.

use crate::fixture::World;
use serde_json::Value;
use skillgate_format::{Document, ReadOptions};
use std::fs;
use std::path::Path;

/// Cases of which there is no standard form, with what is missing: a header that is never closed gives no description, and
/// nothing may be made up for it.
const WITHOUT_STANDARD_FORM: [(&str, &str); 1] = [("unclosed", "`description` is missing")];

/// A world whose `project/pack` holds every case in a directory of the name it is expected in, and those names.
pub(crate) fn cases() -> (World, Vec<String>) {
    let world = World::new("");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format");
    let mut names = Vec::new();
    for case in fs::read_dir(&from).expect("the cases are in the project") {
        let case = case.expect("a case").path();
        let expected = fs::read_to_string(case.join("expected.json")).expect("expected.json");
        let expected: Value = serde_json::from_str(&expected).expect("JSON");
        let (dir, file) = (expected["dir"].as_str().expect("dir"), expected["file"].as_str().expect("file"));
        let to = world.path("project/pack").join(dir);
        fs::create_dir_all(&to).expect("a directory");
        fs::copy(case.join(file), to.join(file)).expect("a copy");
        names.push(format!("{dir}/{file}"));
    }
    names.sort();
    assert_eq!(names.len(), 25);
    (world, names)
}

fn findings(file: &Value) -> &[Value] {
    file["diagnostics"].as_array().expect("a list")
}

#[test]
fn a_fix_keeps_comments_and_order_and_what_is_left_is_printed() {
    let (world, names) = cases();
    let read = |name: &str| {
        let bytes = fs::read(world.path("project/pack").join(name)).expect("a file");
        let mut parts = name.split('/').map(str::to_owned);
        let options = ReadOptions { directory_name: parts.next(), file_name: parts.next(), ..ReadOptions::default() };
        Document::read(&bytes, &options)
    };
    let before: Vec<Document> = names.iter().map(|name| read(name)).collect();
    let ran = world.run(&["check", "--fix", "pack"]);
    let (_, value) = world.json("check", &["check", "pack"]);
    for (name, before) in names.iter().zip(&before) {
        let after = read(name);
        let keys = |document: &Document| document.entries().iter().map(|entry| entry.key.clone()).collect::<Vec<_>>();
        let comments = |document: &Document| {
            let header = document.header_span().and_then(|span| span.slice(document.source())).unwrap_or_default();
            header.lines().filter(|line| line.trim_start().starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(keys(&after), keys(before), "{name}");
        assert_eq!(comments(&after), comments(before), "{name}");
        assert_eq!(after.body(), before.body(), "{name}");
        assert_eq!(
            after.frontmatter().allowed_tools.present().map(Vec::len),
            before.frontmatter().allowed_tools.present().map(Vec::len)
        );
        let path = format!("pack/{name}");
        let file = value["files"].as_array().expect("a list").iter().find(|file| file["path"] == path.as_str());
        for found in findings(file.unwrap_or_else(|| unreachable!("{path}"))) {
            assert!(found["fix"].is_null(), "{path}: {found:#}");
            if found["severity"] != "info" {
                let heading =
                    format!("{}[{}]", found["severity"].as_str().expect("text"), found["code"].as_str().expect("text"));
                let place = found["line"].as_u64().map_or(path.clone(), |line| format!("{path}:{line}:"));
                assert!(
                    ran.stdout.contains(&heading) && ran.stdout.contains(&place),
                    "{path}: {found:#}\n{}",
                    ran.stdout
                );
            }
        }
    }
}

#[test]
fn the_standard_form_of_every_case_passes_as_standard() {
    let (world, names) = cases();
    for name in &names {
        let ran = world.run(&["check", "--export", &format!("pack/{name}")]);
        let (directory, _) = name.split_once('/').expect("a directory");
        world.write(&format!("project/out/{directory}/SKILL.md"), &ran.stdout);
    }
    let (_, value) = world.json("check", &["--profile", "strict", "check", "out"]);
    let files = value["files"].as_array().expect("a list");
    assert_eq!(files.len(), names.len());
    for file in files {
        let path = file["path"].as_str().expect("a path");
        let known = WITHOUT_STANDARD_FORM.iter().find(|(directory, _)| path == format!("out/{directory}/SKILL.md"));
        let errors: Vec<&str> = findings(file)
            .iter()
            .filter(|found| found["severity"] == "error")
            .map(|found| found["message"].as_str().expect("text"))
            .collect();
        assert_eq!(errors, known.map(|(_, message)| *message).into_iter().collect::<Vec<_>>(), "{file:#}");
    }
}
