//! The JSON Schema of a policy file, for editors. It is made from the table that the parser reads by.

use schemars::Schema;
use serde_json::{Map, Value, json};
use skillgate_policy::file::{Key, Kind, SECTIONS, Section, Setter, Shape, Unit, greatest};

/// The schema of a policy file of any level; what a level may not hold is said in the descriptions.
pub(crate) fn schema() -> Schema {
    let properties: Map<String, Value> =
        SECTIONS.iter().map(|section| (section.name.to_owned(), of_section(section))).collect();
    let mut schema = Schema::default();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("Skillgate policy"));
    schema.insert("description".to_owned(), json!("A policy file of Skillgate (docs/policy.md)."));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn of_section(section: &Section) -> Value {
    let table = of_table(section);
    match section.shape {
        Shape::Table => table,
        Shape::Named => json!({
            "type": "object",
            "description": section.about,
            "propertyNames": { "pattern": r"^[^-\s/\\][^\s/\\]*$" },
            "additionalProperties": table,
        }),
        Shape::List => json!({ "type": "array", "description": section.about, "items": table }),
    }
}

fn of_table(section: &Section) -> Value {
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), of_key(section, key))).collect();
    let required: Vec<&str> = section.keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
    let mut table = json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

fn of_key(section: &Section, key: &Key) -> Value {
    let mut schema = of_kind(section, key);
    let setter = match key.setter {
        Setter::Everybody => "",
        Setter::Host => " Not in a project's policy.",
        Setter::Managed => " Only in the managed policy.",
    };
    let unit = match key.kind {
        Kind::Number(unit) if unit != Unit::Count => format!(" In {}.", unit.as_str()),
        _ => String::new(),
    };
    schema["description"] = json!(format!("{}{unit}{setter}", key.about));
    schema
}

fn of_kind(section: &Section, key: &Key) -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items, "uniqueItems": true });
    match key.kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Words(words) => list(json!({ "enum": words })),
        Kind::Patterns => list(json!({ "type": "string", "pattern": r"^\s*[^\s()]+(\(.*\))?\s*$" })),
        Kind::SkillNames => list(json!({ "type": "string", "pattern": r"^/?[^\s/][^\s]*$" })),
        Kind::SkillSets => json!({
            "type": "object",
            "additionalProperties": list(json!({ "type": "string", "pattern": r"^/?[^\s/][^\s]*$" })),
        }),
        Kind::Path => json!({ "type": "string", "pattern": "^(/|~/)" }),
        Kind::AbsolutePath => json!({ "type": "string", "pattern": "^/" }),
        Kind::AbsolutePaths => list(json!({ "type": "string", "pattern": "^/" })),
        Kind::ProjectPaths => list(json!({ "type": "string", "pattern": r"^[^/\\]" })),
        Kind::Variables => list(json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" })),
        Kind::Digest => json!({ "type": "string", "pattern": "^[0-9a-fA-F]{64}$" }),
        Kind::PublicKey => json!({ "type": "string", "pattern": "^([0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$" }),
        Kind::Name => json!({ "type": "string", "pattern": r"^\S+$" }),
        Kind::Date => json!({ "type": "string", "format": "date" }),
        Kind::Number(_) => {
            let most = greatest(section.name, key.name);
            let mut number = json!({ "type": "integer", "minimum": 1, "maximum": most });
            // Without it another key's number holds, whatever that is.
            if let Ok(default) = key.default.parse::<u64>() {
                number["default"] = json!(default);
            } else if key.default.is_empty() {
                number["default"] = json!(most);
            }
            number
        }
    }
}
