use crate::fixture::{World, schema, schemas};
use serde_json::Value;

/// The committed schemas are what the types give; `cargo xtask docs` writes them.
#[test]
fn committed_schemas_are_up_to_date() {
    let world = World::new("");
    let names = world.run(&["schema", "--names"]).stdout;
    let mut committed: Vec<String> = std::fs::read_dir(schemas())
        .expect("the schemas")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().trim_end_matches(".json").to_owned())
        .collect();
    committed.sort();
    let mut named: Vec<&str> = names.lines().collect();
    named.sort_unstable();
    assert_eq!(committed, named, "run `cargo xtask docs`, and delete what is no schema any more");
    for name in named {
        let ran = world.run(&["schema", name]);
        let generated: Value = serde_json::from_str(&ran.stdout).expect("a schema is JSON");
        assert_eq!(generated, schema(name), "{name}: run `cargo xtask docs`");
    }
}

#[test]
fn every_key_of_the_format_is_in_the_headers_schema_and_no_other() {
    let schema = schema("frontmatter");
    let properties = schema["properties"].as_object().expect("properties");
    let mut known: Vec<&str> = skillgate_format::known_keys().collect();
    known.sort_unstable();
    let mut described: Vec<&str> = properties.keys().map(String::as_str).collect();
    described.sort_unstable();
    assert_eq!(described, known);
    for (key, property) in properties {
        assert!(property["description"].is_string(), "{key} says what it does");
    }
}
