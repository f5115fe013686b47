use crate::fixture::{World, schema};
use serde_json::Value;

/// The committed schemas are what the types give; `cargo xtask docs` writes them.
#[test]
fn committed_schemas_are_up_to_date() {
    let world = World::new("");
    for name in ["list", "show", "run", "check", "sandbox-run", "error"] {
        let ran = world.run(&["schema", name]);
        let generated: Value = serde_json::from_str(&ran.stdout).expect("a schema is JSON");
        assert_eq!(generated, schema(name), "{name}: run `cargo xtask docs`");
    }
}
