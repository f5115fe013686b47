use crate::fixture::{World, schema};
use serde_json::Value;

/// The committed schemas are what the types give; `cargo xtask docs` writes them.
#[test]
fn committed_schemas_are_up_to_date() {
    let world = World::new("");
    for name in [
        "list",
        "show",
        "run",
        "check",
        "sandbox-run",
        "log-verify",
        "audit-record",
        "error",
        "frontmatter",
        "trust-add",
        "trust-list",
        "trust-remove",
        "trust-review",
        "policy-file",
        "policy-show",
        "policy-explain",
        "policy-check",
        "policy-import",
    ] {
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
